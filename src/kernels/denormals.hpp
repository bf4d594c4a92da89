// The processor's floating-point mode inside kernels: denormals flushed, rounding to nearest.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace scaledot::kernels {

// A denormal operand makes a multiply-add some hundred times slower, and a caller's rounding mode
// would change the bits. The destructor puts the caller's control word back, flags included.
class DenormalsFlushed {
 public:
#if defined(__x86_64__)
  [[gnu::always_inline]] DenormalsFlushed() : before_(_mm_getcsr()) {
    _mm_setcsr(0x9FC0);  // flush to zero, denormals are zero, all exceptions masked, to nearest
  }
  [[gnu::always_inline]] ~DenormalsFlushed() { _mm_setcsr(before_); }
#elif defined(__aarch64__)
  [[gnu::always_inline]] DenormalsFlushed() {
    asm volatile("mrs %0, fpcr" : "=r"(before_));
    const std::uint64_t flush = std::uint64_t{1} << 24;
    asm volatile("msr fpcr, %0" : : "r"(flush) : "memory");
  }
  [[gnu::always_inline]] ~DenormalsFlushed() {
    asm volatile("msr fpcr, %0" : : "r"(before_) : "memory");
  }
#else
#error "This processor's control word is not known to scaledot."
#endif
  DenormalsFlushed(const DenormalsFlushed&) = delete;
  DenormalsFlushed& operator=(const DenormalsFlushed&) = delete;

 private:
#if defined(__x86_64__)
  std::uint32_t before_;
#else
  std::uint64_t before_ = 0;
#endif
};

}  // namespace scaledot::kernels
