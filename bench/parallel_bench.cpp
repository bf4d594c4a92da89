// What it costs to share two tasks out among two threads: on the pool while its worker spins and
// while it is parked, on a thread started for the purpose, and on OpenMP's and oneTBB's pools where
// the build found them, at once and after a rest of a millisecond. In a meeting the tasks wait for
// each other, so that the time lasts until the second thread is at work. Look at the median: a mean
// has in it whatever else the machine did.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#if HAS_TBB
#include <tbb/parallel_for.h>
#endif

#include "parallel.hpp"

namespace scaledot::bench {

namespace {

struct Meeting {
  std::atomic<int> present{0};

  static void task(void* data, Index, int) {
    auto& present = static_cast<Meeting*>(data)->present;
    ++present;
    while (present.load(std::memory_order_relaxed) < 2) {
    }
  }
};

void nothing() {}

void wait_until_parked() {
  for (PoolThreads now = pool_threads(); now.parked < now.started; now = pool_threads())
    std::this_thread::yield();
}

void run_empty() {
  parallel_for(
      {}, 2, 2, [](void*, Index, int) {}, nullptr);
}

void meet() {
  Meeting meeting;
  parallel_for({}, 2, 2, Meeting::task, &meeting);
}

void meet_started_thread() {
  Meeting meeting;
  std::thread other([&meeting] { Meeting::task(&meeting, 0, 1); });
  Meeting::task(&meeting, 1, 0);
  other.join();
}

void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

#ifdef _OPENMP
void meet_openmp() {
  Meeting meeting;
#pragma omp parallel for num_threads(2) schedule(static, 1)
  for (int n = 0; n < 2; ++n) Meeting::task(&meeting, n, n);
}
#endif

#if HAS_TBB
void meet_tbb() {
  Meeting meeting;
  tbb::parallel_for(
      tbb::blocked_range<int>(0, 2, 1),
      [&meeting](const tbb::blocked_range<int>& one) {
        Meeting::task(&meeting, one.begin(), one.begin());
      },
      tbb::simple_partitioner());
}
#endif

void measure(benchmark::State& state, void (*before)(), void (*timed)()) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> microseconds;
  timed();
  for (auto _ : state) {
    before();
    const auto start = Clock::now();
    timed();
    const std::chrono::duration<double> taken = Clock::now() - start;
    state.SetIterationTime(taken.count());
    microseconds.push_back(taken.count() * 1e6);
  }
  std::sort(microseconds.begin(), microseconds.end());
  state.counters["median_us"] = microseconds[microseconds.size() / 2];
  state.counters["tenth_us"] = microseconds[microseconds.size() / 10];
}

BENCHMARK_CAPTURE(measure, empty, nothing, run_empty)->UseManualTime();
BENCHMARK_CAPTURE(measure, meeting_spinning, nothing, meet)->UseManualTime();
BENCHMARK_CAPTURE(measure, meeting_parked, wait_until_parked, meet)->UseManualTime();
BENCHMARK_CAPTURE(measure, meeting_started_thread, nothing, meet_started_thread)->UseManualTime();
#ifdef _OPENMP
BENCHMARK_CAPTURE(measure, openmp, nothing, meet_openmp)->UseManualTime();
BENCHMARK_CAPTURE(measure, openmp_rested, rest, meet_openmp)->UseManualTime();
#endif
#if HAS_TBB
BENCHMARK_CAPTURE(measure, tbb, nothing, meet_tbb)->UseManualTime();
BENCHMARK_CAPTURE(measure, tbb_rested, rest, meet_tbb)->UseManualTime();
#endif

}  // namespace

}  // namespace scaledot::bench

BENCHMARK_MAIN();
