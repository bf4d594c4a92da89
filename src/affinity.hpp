// The processors that a thread may run on.
#pragma once

#if defined(__linux__)
#include <sched.h>
#endif

namespace scaledot {

// That of the thread which makes it.
class Affinity {
 public:
#if defined(__linux__)
  Affinity() noexcept : is_known_(sched_getaffinity(0, sizeof mask_, &mask_) == 0) {}
  // Moves this thread, which has this affinity, to another's processors.
  void follow(const Affinity& other) noexcept {
    if (!is_known_ || !other.is_known_ || CPU_EQUAL(&mask_, &other.mask_)) return;
    if (sched_setaffinity(0, sizeof other.mask_, &other.mask_) == 0) mask_ = other.mask_;
  }

 private:
  cpu_set_t mask_{};
  bool is_known_;
#else
  void follow(const Affinity&) noexcept {}
#endif
};

}  // namespace scaledot
