#include "parallel.hpp"

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <new>
#include <system_error>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

namespace scaledot {

int cores_allowed() noexcept {
#if defined(__linux__)
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
#endif
  const unsigned count = std::thread::hardware_concurrency();
  return count == 0 ? 1 : static_cast<int>(count);
}

int default_threads() noexcept {
  static const int threads = [] {
    const char* text = std::getenv("SCALEDOT_THREADS");
    if (text == nullptr) return cores_allowed();
    int number = 0;
    const char* end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, number);
    return error == std::errc{} && stop == end && number >= 1 && number <= 65536 ? number : -1;
  }();
  return threads;
}

void parallel_for(Index count, int threads, void* context,
                  void (*task)(void* context, Index index, int worker)) noexcept {
  std::atomic<Index> next{0};
  const auto work = [&](int worker) {
    for (Index index; (index = next.fetch_add(1, std::memory_order_relaxed)) < count;)
      task(context, index, worker);
  };
  const Index wanted = count < threads ? count : threads;
  const auto others = static_cast<std::size_t>(wanted > 1 ? wanted - 1 : 0);
  std::thread* const pool = others == 0 ? nullptr : new (std::nothrow) std::thread[others];
  if (pool != nullptr) {
    try {
      for (std::size_t t = 0; t < others; ++t) pool[t] = std::thread(work, static_cast<int>(t) + 1);
    } catch (...) {
      // No more threads are to be had; those that run, and the caller, do the work.
    }
  }
  work(0);
  if (pool == nullptr) return;
  for (std::size_t t = 0; t < others; ++t)
    if (pool[t].joinable()) pool[t].join();
  delete[] pool;
}

}  // namespace scaledot
