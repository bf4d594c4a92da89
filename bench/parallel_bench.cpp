// What it costs to share two tasks out among two threads: on the pool while its worker spins and
// while it is parked, and on a thread started for the purpose. In a meeting the tasks wait for each
// other, so that the time lasts until the second thread is at work. Look at the median: a mean has
// in it whatever else the machine did.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

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

}  // namespace

}  // namespace scaledot::bench

BENCHMARK_MAIN();
