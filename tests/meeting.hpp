// A region whose tasks wait for each other, so that as many threads as tasks must take part.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "parallel.hpp"

namespace scaledot::tests {

// Runs `each(worker)` on that many threads at once.
template <class Each>
void meet(int threads, const Each& each, const ParallelFor& own = {}) {
  struct Meeting {
    const Each& each;
    int expected;
    std::atomic<int> present{0};
  } meeting{each, threads};
  parallel_for(
      own, threads, threads,
      [](void* data, Index, int worker) {
        auto& all = *static_cast<Meeting*>(data);
        ++all.present;
        while (all.present < all.expected) std::this_thread::yield();
        all.each(worker);
      },
      &meeting);
}

inline void wait_until_parked() {
  for (PoolThreads now = pool_threads(); now.parked < now.started; now = pool_threads())
    std::this_thread::yield();
}

}  // namespace scaledot::tests
