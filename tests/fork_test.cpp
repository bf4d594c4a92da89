// A process that has called attend() forks, and the child calls it again.
#include <csignal>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scaledot/attention.hpp"

namespace scaledot::tests {
namespace {

bool call_is_right(int threads) {
  const Index length = 300;
  std::vector<float> zeros(static_cast<std::size_t>(length * 4)), value(zeros), output(zeros);
  for (std::size_t n = 0; n < value.size(); ++n) value[n] = static_cast<float>(n / 4 % 2);
  const auto tensor = [&](std::vector<float>& memory) {
    return contiguous(memory.data(), DType::f32, {length, 4});
  };
  Options options;
  options.threads = threads;
  const Status status =
      attend(tensor(zeros), tensor(zeros), tensor(value), {tensor(output), {}, {}}, options);
  return status.ok() && output == std::vector<float>(output.size(), 0.5f);
}

// pytorch#17199: the child hung, since its parent's threads do not exist there.
TEST(BugCases, D071_call_fork_call) {
  ASSERT_TRUE(call_is_right(2));
  for (const int threads : {1, 2}) {
    const pid_t child = fork();
    ASSERT_NE(child, -1);
    if (child == 0) {
      alarm(30);  // ends the child if it hangs
      _exit(call_is_right(threads) ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "threads " << threads;
  }
  EXPECT_TRUE(call_is_right(2));
}

}  // namespace
}  // namespace scaledot::tests
