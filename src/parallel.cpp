// One pool a process, started as callers need it. A caller opens a region of tasks with seats for
// helpers; idle workers take seats, each of which is a worker's number. Nobody waits for a seat to
// be taken, only for tasks under way, so no number of callers can stand in each other's way.
#include "parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <mutex>
#include <new>
#include <type_traits>

#include <pthread.h>

#include "affinity.hpp"
#include "cores.hpp"
#include "float_mode.hpp"

namespace scaledot {

namespace {

constexpr int most_workers = 1023;                         // a process
constexpr auto spin_time = std::chrono::microseconds(50);  // then a thread that waits goes to sleep

// Leaves the core to its other hyper-thread for a moment.
void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" : : : "memory");
#endif
}

// Whether the condition came true within spin_time.
bool spins_until(const auto& is_true) noexcept {
  const auto end = std::chrono::steady_clock::now() + spin_time;
  do {
    for (int n = 0; n < 32; ++n) {
      if (is_true()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

// A caller's tasks. Lives on the caller's stack, until no helper is at work in it.
struct Region {
  Index count;
  ParallelFor::Task task;
  void* data;
  int seats;               // free ones
  Affinity affinity{};     // the caller's
  int helpers = 0;         // numbers given
  Region* next = nullptr;  // in the list of open ones
  alignas(64) std::atomic<Index> index{0};
  alignas(64) std::atomic<int> at_work{0};  // helpers; grows under the pool's mutex while open

  bool step(int worker) noexcept {
    const Index mine = index.fetch_add(1, std::memory_order_relaxed);
    if (mine < count) task(data, mine, worker);
    return mine < count;
  }
};

class Pool {
 public:
  void run(Region& region) noexcept;
  void end() noexcept;
  PoolThreads threads() noexcept;

 private:
  std::unique_lock<std::mutex> locked() noexcept;
  void open(Region& region) noexcept;
  void close(Region& region) noexcept;
  void start_workers(int most) noexcept;
  void help(std::unique_lock<std::mutex>& lock, Affinity& affinity) noexcept;
  void serve() noexcept;

  std::mutex mutex_;
  pthread_cond_t opened_ = PTHREAD_COND_INITIALIZER;    // or the pool has ended
  pthread_cond_t finished_ = PTHREAD_COND_INITIALIZER;  // some region's helpers
  Region* regions_ = nullptr;                           // those with free seats
  int started_ = 0, idle_ = 0, parked_ = 0;             // workers
  pthread_t workers_[most_workers] = {};
  alignas(64) std::atomic<int> seats_{0};  // free ones of all regions; changes under the mutex
  std::atomic<bool> ended_{false};
};

// The mutex is held for a few dozen instructions, so that sleeping for it would take longer.
std::unique_lock<std::mutex> Pool::locked() noexcept {
  std::unique_lock<std::mutex> lock(mutex_, std::defer_lock);
  for (int n = 0; n < 100; ++n, pause())
    if (lock.try_lock()) return lock;
  lock.lock();
  return lock;
}

void Pool::run(Region& region) noexcept {
  open(region);
  while (region.step(0)) {
  }
  std::unique_lock<std::mutex> lock = locked();
  close(region);
  lock.unlock();
  const auto is_done = [&] { return region.at_work.load(std::memory_order_acquire) == 0; };
  if (is_done() || spins_until(is_done)) return;
  lock.lock();
  while (!is_done()) pthread_cond_wait(&finished_, mutex_.native_handle());
}

void Pool::open(Region& region) noexcept {
  // Many callers at once get no more workers between them than there are processors.
  const int most = std::min(std::max(region.seats, default_threads() - 1), most_workers);
  std::unique_lock<std::mutex> lock = locked();
  if (ended_) return;
  const int seats = seats_ + region.seats;
  seats_ = seats;
  region.next = regions_;
  regions_ = &region;
  start_workers(most);
  const int asleep = std::min(parked_, seats - (idle_ - parked_));
  lock.unlock();
  for (int n = 0; n < asleep; ++n) pthread_cond_signal(&opened_);
}

// Takes its free seats away.
void Pool::close(Region& region) noexcept {
  for (Region** link = &regions_; *link != nullptr; link = &(*link)->next)
    if (*link == &region) {
      *link = region.next;
      seats_ = seats_ - region.seats;
      return;
    }
}

// As many as there are seats for, up to `most` in all.
void Pool::start_workers(int most) noexcept {
  if (idle_ >= seats_ || started_ >= most) return;
  // The process's signals are for its own threads. Those that a fault of ours would raise are left.
  sigset_t signals, before;
  sigfillset(&signals);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS})
    sigdelset(&signals, fault);
  pthread_sigmask(SIG_BLOCK, &signals, &before);
  const auto start = [](void* pool) -> void* {
    static_cast<Pool*>(pool)->serve();
    return nullptr;
  };
  for (; idle_ < seats_ && started_ < most; ++started_, ++idle_)
    if (pthread_create(&workers_[started_], nullptr, start, this) != 0) break;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Takes a seat in the first region, and tasks until none is left.
void Pool::help(std::unique_lock<std::mutex>& lock, Affinity& affinity) noexcept {
  Region& region = *regions_;
  const int worker = ++region.helpers;
  region.at_work.fetch_add(1, std::memory_order_relaxed);
  seats_ = seats_ - 1;
  if (--region.seats == 0) regions_ = region.next;
  --idle_;
  lock.unlock();
  affinity.follow(region.affinity);
  while (!ended_ && region.step(worker)) {
  }
  lock = locked();
  ++idle_;
  close(region);
  // From here on the region may be gone.
  if (region.at_work.fetch_sub(1, std::memory_order_release) == 1)
    pthread_cond_broadcast(&finished_);
}

void Pool::serve() noexcept {
  Affinity affinity;
  std::unique_lock<std::mutex> lock = locked();
  while (!ended_) {
    if (regions_ != nullptr) {
      help(lock, affinity);
      continue;
    }
    lock.unlock();
    const bool found = spins_until([&] { return seats_ > 0 || ended_; });
    lock = locked();
    if (found || regions_ != nullptr || ended_) continue;
    ++parked_;
    pthread_cond_wait(&opened_, mutex_.native_handle());
    --parked_;
  }
}

// Ends the workers. Regions opened later, or under way, are left to their callers.
void Pool::end() noexcept {
  std::unique_lock<std::mutex> lock = locked();
  ended_ = true;
  pthread_cond_broadcast(&opened_);
  lock.unlock();
  for (int n = 0; n < started_; ++n) pthread_join(workers_[n], nullptr);
}

PoolThreads Pool::threads() noexcept {
  const std::unique_lock<std::mutex> lock = locked();
  return {started_, parked_};
}

// Usable before and after every other static object.
static_assert(std::is_trivially_destructible_v<Pool>);
constinit Pool pool;

// A forked child has none of the threads, and perhaps a locked mutex: it begins with a new pool.
// When the process exits or the library is unloaded, the threads must be gone before their code is.
struct PoolLife {
  PoolLife() noexcept {
    if (pthread_atfork(nullptr, nullptr, [] { new (&pool) Pool; }) != 0) pool.end();
  }
  ~PoolLife() { pool.end(); }
};
const PoolLife pool_life;

// A task on a thread of the caller's, whatever that thread's floating-point mode.
struct CallersTask {
  ParallelFor::Task task;
  void* data;

  static void run(void* self, Index index, int worker) {
    const DefaultFloatMode mode;
    static_cast<CallersTask*>(self)->task(static_cast<CallersTask*>(self)->data, index, worker);
  }
};

}  // namespace

ParallelFor CallersLoop::in_callers_mode() noexcept {
  if (own_.run == nullptr) return own_;
  return {[](void* self, Index count, int threads, ParallelFor::Task task, void* data) {
            const auto& loop = *static_cast<CallersLoop*>(self);
            loop.mode_.lifted_for(
                [&] { loop.own_.run(loop.own_.context, count, threads, task, data); });
          },
          this};
}

void parallel_for(const ParallelFor& own, Index count, int threads, ParallelFor::Task task,
                  void* data) noexcept {
  const auto workers = static_cast<int>(std::min<Index>(count, threads));
  if (workers <= 1) {
    for (Index index = 0; index < count; ++index) task(data, index, 0);
  } else if (own.run != nullptr) {
    CallersTask callers{task, data};
    own.run(own.context, count, workers, CallersTask::run, &callers);
  } else {
    Region region{count, task, data, std::min(workers - 1, most_workers)};
    pool.run(region);
  }
}

PoolThreads pool_threads() noexcept { return pool.threads(); }

}  // namespace scaledot
