// Independent tasks shared out among threads.
#pragma once

#include "float_mode.hpp"
#include "scaledot/attention.hpp"

namespace scaledot {

// A caller's loop, if it has a run(), in the caller's floating-point mode.
class CallersLoop {
 public:
  CallersLoop(const ParallelFor& own, DefaultFloatMode& mode) noexcept : own_(own), mode_(mode) {}
  ParallelFor in_callers_mode() noexcept;

 private:
  ParallelFor own_;
  DefaultFloatMode& mode_;
};

// Calls task(data, index, worker) once for each index in [0, count), each worker (0 to threads - 1)
// taking the next index that is left, and returns when all are done. Worker 0 is the caller; the
// others come from a pool that all callers share, as far as they have nothing else to do and can be
// started. If `own` has a run(), that shares out the tasks instead.
void parallel_for(const ParallelFor& own, Index count, int threads, ParallelFor::Task task,
                  void* data) noexcept;

// The pool's threads at this moment, for tests and benchmarks.
struct PoolThreads {
  int started = 0;
  int parked = 0;  // asleep until there is work
};
PoolThreads pool_threads() noexcept;

}  // namespace scaledot
