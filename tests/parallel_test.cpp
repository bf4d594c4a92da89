// The pool: each task once, workers' numbers, callers at once, parking, what workers inherit.
#include "parallel.hpp"

#include <cfenv>
#include <csignal>
#include <set>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include "bug_case.hpp"
#include "cases.hpp"
#include "dispatch.hpp"
#include "fresh_process.hpp"
#include "meeting.hpp"

namespace scaledot::tests {
namespace {

// What the tasks of one region saw.
struct Record {
  Record(Index count, int threads)
      : runs(static_cast<std::size_t>(count)), inside(static_cast<std::size_t>(threads)) {}

  std::vector<std::atomic<int>> runs;    // of each task
  std::vector<std::atomic<int>> inside;  // tasks under way on each worker
  std::atomic<int> faults{0};

  static void task(void* data, Index index, int worker) {
    Record& record = *static_cast<Record*>(data);
    if (worker < 0 || worker >= static_cast<int>(record.inside.size())) {
      ++record.faults;
      return;
    }
    std::atomic<int>& inside = record.inside[static_cast<std::size_t>(worker)];
    if (inside++ != 0) ++record.faults;
    ++record.runs[static_cast<std::size_t>(index)];
    inside--;
  }

  bool is_right() const {
    for (const std::atomic<int>& count : runs)
      if (count != 1) return false;
    return faults == 0;
  }
};

bool each_once(Index count, int threads, const ParallelFor& own = {}) {
  Record record(count, threads);
  parallel_for(own, count, threads, Record::task, &record);
  return record.is_right();
}

TEST(Parallel, each_task_is_run_once) {
  for (const int threads : {1, 2, 3, 8})
    for (const Index count : {0, 1, 2, 3, 7, 8, 9, 1000})
      for (int n = 0; n < 20; ++n)
        EXPECT_TRUE(each_once(count, threads)) << threads << ' ' << count;
}

TEST(Parallel, callers_at_once_do_not_disturb_each_other) {
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int n = 0; n < 16; ++n)
    callers.emplace_back([&wrong, n] {
      for (Index run = 0; run < effort(500); ++run)
        if (!each_once(1 + run % 40, 1 + (n + static_cast<int>(run)) % 5)) ++wrong;
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Parallel, every_thread_asked_for_takes_part) {
  for (const int threads : {2, 3, 9, 2}) {
    std::mutex mutex;
    std::set<int> workers;
    std::set<std::thread::id> ids;
    const std::thread::id caller = std::this_thread::get_id();
    meet(threads, [&](int worker) {
      const std::lock_guard lock(mutex);
      workers.insert(worker);
      ids.insert(std::this_thread::get_id());
      EXPECT_EQ(worker == 0, std::this_thread::get_id() == caller);
    });
    EXPECT_EQ(workers.size(), static_cast<std::size_t>(threads));
    EXPECT_EQ(*workers.rbegin(), threads - 1);
    EXPECT_EQ(ids.size(), static_cast<std::size_t>(threads));
  }
}

TEST(Parallel, workers_are_kept_park_and_wake) {
  meet(3, [](int) {});
  const int started = pool_threads().started;
  EXPECT_GE(started, 2);
  for (int n = 0; n < 10; ++n) {
    wait_until_parked();
    meet(3, [](int) {});
    meet(2, [](int) {});
    EXPECT_EQ(pool_threads().started, started);
  }
}

TEST(Parallel, one_thread_needs_no_pool) {
  const int before = pool_threads().started;
  EXPECT_TRUE(each_once(100, 1));
  EXPECT_TRUE(each_once(1, before + 5));
  EXPECT_EQ(pool_threads().started, before);
}

// A signal must find a thread of the process's own; a fault must still find its handler.
TEST(Parallel, workers_block_signals_but_faults) {
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  meet(pool_threads().started + 2, [](int worker) {
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    for (const int signal : {SIGINT, SIGTERM, SIGCHLD, SIGUSR1, SIGALRM, SIGPROF})
      EXPECT_EQ(sigismember(&blocked, signal), worker > 0 ? 1 : 0) << signal;
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS})
      EXPECT_EQ(sigismember(&blocked, signal), 0) << signal;
  });
}

// A worker was started under another mask than the one its caller has by now.
TEST(Parallel, workers_go_where_their_caller_may_go) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  meet(2, [](int) {});
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &all)) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    meet(2, [&one](int) {
      cpu_set_t now;
      EXPECT_EQ(sched_getaffinity(0, sizeof now, &now), 0);
      EXPECT_TRUE(CPU_EQUAL(&now, &one));
    });
    ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  }
  meet(2, [&all](int) {
    cpu_set_t now;
    EXPECT_EQ(sched_getaffinity(0, sizeof now, &now), 0);
    EXPECT_TRUE(CPU_EQUAL(&now, &all));
  });
}

// A loop of the caller's: a thread of its own for each worker, indices dealt out from the last.
struct OwnLoop {
  int calls = 0, most_threads = 0;

  static void run(void* context, Index count, int threads, ParallelFor::Task task, void* data) {
    auto& loop = *static_cast<OwnLoop*>(context);
    ++loop.calls;
    loop.most_threads = std::max(loop.most_threads, threads);
    std::vector<std::thread> workers;
    for (int worker = 0; worker < threads; ++worker)
      workers.emplace_back([=] {
        std::fesetround(FE_UPWARD);
        for (Index index = count - 1 - worker; index >= 0; index -= threads)
          task(data, index, worker);
      });
    for (std::thread& worker : workers) worker.join();
  }
  ParallelFor option() { return {run, this}; }
};

// On x86 fegetround() would ask the x87 unit, which the library leaves as it is.
bool rounds_to_nearest() {
  const volatile float one = 1, little = 0x1p-30f;
  return one + little == 1 && -one - little == -1;
}

TEST(Parallel, a_loop_of_the_callers_gets_the_tasks) {
  const int before = pool_threads().started;
  OwnLoop loop;
  EXPECT_TRUE(each_once(1000, before + 2, loop.option()));
  EXPECT_EQ(loop.calls, 1);
  EXPECT_EQ(loop.most_threads, before + 2);
  EXPECT_TRUE(each_once(3, 8, loop.option()));
  EXPECT_EQ(loop.calls, 2);
  EXPECT_TRUE(each_once(1, 8, loop.option()) && each_once(8, 1, loop.option()));
  EXPECT_EQ(loop.calls, 2) << "asked where one thread is enough";
  meet(
      before + 2, [](int) { EXPECT_TRUE(rounds_to_nearest()); }, loop.option());
  EXPECT_EQ(pool_threads().started, before) << "the pool was used too";
}

// Tiles, shared panels and splits, which take one region or two.
std::vector<Call> calls() {
  std::vector<Call> all;
  for (const auto& [queries, keys] : {std::pair<Index, Index>{70, 200}, {1, 2500}, {5, 40}})
    all.push_back({fill(3, {1, 4, queries, 16}),
                   fill(5, {1, 2, keys, 16}),
                   fill(7, {1, 2, keys, 16}),
                   {},
                   {},
                   {},
                   {}});
  return all;
}

TEST(Parallel, attend_gives_the_same_bits_on_a_loop_of_the_callers) {
  for (Call call : calls())
    for (const Way& way : ways(call)) {
      call.options.parallel_for = {};
      const Results want = made(call, way);
      OwnLoop loop;
      call.options.parallel_for = loop.option();
      EXPECT_TRUE(same_bits(made(call, way).output, want.output)) << way.name();
      EXPECT_EQ(loop.calls > 0, way.threads > 1) << way.name();
      EXPECT_LE(loop.most_threads, way.threads) << way.name();
    }
}

TEST(Parallel, attend_may_be_called_from_a_loop_of_the_callers) {
  const Call call = calls().front();
  const Way way{usable_tables().front(), DType::f32, Arithmetic::f32, {}, 2};
  const Results want = made(call, way);
  std::atomic<int> right{0};
  const auto nested = [&](int) {
    OwnLoop inner;
    Call again = call;
    right += same_bits(made(again, way).output, want.output);
    again.options.parallel_for = inner.option();
    right += same_bits(made(again, way).output, want.output);
  };
  OwnLoop loop;
  meet(3, nested, loop.option());
  meet(3, nested);
  EXPECT_EQ(right, 12);
}

// attend() with two threads: 2 * keys * (64 + 64 + 32) * (60 + 4) is 2^20 between 51 and 52 keys.
Status attended(Index keys, const ParallelFor& own = {}, bool with_weights = false) {
  static std::vector<float> memory(3 * 2 * 64 * 64, 0.5f), weights(2 * 60 * 64);
  const auto tensor = [](std::size_t place, Index rows) {
    return contiguous(memory.data() + place * memory.size() / 3, DType::f32, {2, rows, 64});
  };
  Options options;
  options.threads = 2;
  options.parallel_for = own;
  Outputs outputs{tensor(2, 60), {}, {}};
  if (with_weights) outputs.weights = contiguous(weights.data(), DType::f32, {2, 60, keys});
  return attend(tensor(0, 60), tensor(1, keys), tensor(1, keys), outputs, options);
}

TEST(Parallel, little_work_is_done_by_the_caller_alone) {
  if (!fresh_process()) {
    EXPECT_EQ(in_fresh_process(this_test().c_str(), {}), 0);
    return;
  }
  OwnLoop loop;
  for (int n = 0; n < 10; ++n) ASSERT_TRUE(attended(51).ok());
  ASSERT_TRUE(attended(51, loop.option()).ok());
  ASSERT_TRUE(attended(25, loop.option(), true).ok());
  EXPECT_EQ(pool_threads().started, 0);
  EXPECT_EQ(loop.calls, 0);
  ASSERT_TRUE(attended(52).ok());
  EXPECT_EQ(pool_threads().started, 1);
  ASSERT_TRUE(attended(52, loop.option()).ok());
  const int calls = loop.calls;
  EXPECT_GT(calls, 0);
  ASSERT_TRUE(attended(26, loop.option(), true).ok());
  EXPECT_GT(loop.calls, calls) << "weights take a second pass";
}

}  // namespace
}  // namespace scaledot::tests
