// A process that has called attend() forks, and the child calls it again.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fresh_process.hpp"
#include "meeting.hpp"
#include "scaledot/attention.hpp"

namespace {

// A thread that asks for this variable is held until it is let go, once.
constinit std::atomic<const char*> held_at{nullptr};
constinit std::atomic<bool> is_held{false}, is_let_go{false};

}  // namespace

// In place of the C library's.
extern "C" char* getenv(const char* name) noexcept {
  const char* const place = held_at;
  if (place != nullptr && std::strcmp(place, name) == 0 && !is_held.exchange(true))
    while (!is_let_go) std::this_thread::yield();
  const std::size_t length = std::strlen(name);
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
    if (std::strncmp(*variable, name, length) == 0 && (*variable)[length] == '=')
      return *variable + length + 1;
  return nullptr;
}

namespace scaledot::tests {
namespace {

bool call_is_right(int threads) {
  const Index length = 300;
  std::vector<float> zeros(static_cast<std::size_t>(length * 8)), value(zeros), output(zeros);
  for (std::size_t n = 0; n < value.size(); ++n) value[n] = static_cast<float>(n / 8 % 2);
  const auto tensor = [&](std::vector<float>& memory) {
    return contiguous(memory.data(), DType::f32, {length, 8});
  };
  Options options;
  options.threads = threads;
  const Status status =
      attend(tensor(zeros), tensor(zeros), tensor(value), {tensor(output), {}, {}}, options);
  return status.ok() && output == std::vector<float>(output.size(), 0.5f);
}

// What waitpid() says of a child that does this: 0 if it returns true. SIGALRM ends one that hangs.
template <class Work>
int in_child(const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    _exit(work() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

// Two threads meet there, so a helper has been started.
bool helper_comes() {
  std::atomic<int> came{0};
  meet(2, [&came](int) { ++came; });
  return came == 2;
}

// pytorch#17199: the child hung, since its parent's threads do not exist there.
TEST(BugCases, D071_call_fork_call) {
  ASSERT_TRUE(call_is_right(2));
  for (const int threads : {1, 2})
    EXPECT_EQ(in_child([=] { return call_is_right(threads); }), 0) << "threads " << threads;
  EXPECT_TRUE(call_is_right(2));
}

TEST(Fork, the_child_gets_helpers_of_its_own) {
  EXPECT_EQ(in_child(helper_comes), 0) << "before the parent has any";
  for (int n = 0; n < 20; ++n) {
    ASSERT_TRUE(helper_comes());
    ASSERT_EQ(in_child(helper_comes), 0) << "while the parent's spin";
    wait_until_parked();
    ASSERT_EQ(in_child(helper_comes), 0) << "while the parent's are parked";
  }
  EXPECT_EQ(in_child([] { return helper_comes() && in_child(helper_comes) == 0; }), 0);
  EXPECT_TRUE(helper_comes());
}

TEST(Fork, while_other_threads_call) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "its allocator has locks that a fork can catch, unlike the C library's";
#endif
  std::atomic<bool> enough{false};
  std::vector<std::thread> callers;
  for (int n = 0; n < 2; ++n)
    callers.emplace_back([&enough] {
      while (!enough && helper_comes() && call_is_right(2)) {
      }
    });
  for (int n = 0; n < 50 && !HasFailure(); ++n)
    EXPECT_EQ(in_child([] {
                const bool is_right = helper_comes() && call_is_right(2);
                release_memory();
                return is_right && call_is_right(2);
              }),
              0);
  enough = true;
  for (std::thread& caller : callers) caller.join();
}

// What a first call finds out once a process must not be behind a lock.
TEST(Fork, while_another_thread_is_in_the_first_call) {
  if (!fresh_process()) {
    EXPECT_EQ(in_fresh_process(this_test().c_str(), {"held=SCALEDOT_ISA"}), 0);
    EXPECT_EQ(in_fresh_process(this_test().c_str(), {"held=SCALEDOT_THREADS"}), 0);
    return;
  }
  held_at = std::getenv("held");
  std::atomic<bool> is_right{false};
  std::thread first([&] { is_right = call_is_right(0); });
  while (!is_held) std::this_thread::yield();
  EXPECT_EQ(in_child([] { return call_is_right(0); }), 0);
  is_let_go = true;
  first.join();
  EXPECT_TRUE(is_right);
}

// Static objects are destroyed under the feet of a thread that calls on.
TEST(Fork, exit_while_another_thread_calls) {
  for (int n = 0; n < 10; ++n)
    EXPECT_EQ(in_child([] {
                std::atomic<int> calls{0};
                std::thread([&calls] {
                  for (;; ++calls) call_is_right(2);
                }).detach();
                while (calls < 3) std::this_thread::yield();
                std::exit(0);
                return false;
              }),
              0);
}

}  // namespace
}  // namespace scaledot::tests
