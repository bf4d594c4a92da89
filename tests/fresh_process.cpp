#include "fresh_process.hpp"

#include <cstdlib>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace scaledot::tests {

bool fresh_process() { return std::getenv("SCALEDOT_TEST_FRESH") != nullptr; }

int in_fresh_process(const char* test, const Environment& environment) {
  const std::string filter = std::string("--gtest_filter=") + test;
  const pid_t child = fork();
  if (child == 0) {
    setenv("SCALEDOT_TEST_FRESH", "1", 1);
    for (const std::string& variable : environment) {
      const std::size_t equals = variable.find('=');
      const std::string name = variable.substr(0, equals);
      if (equals == std::string::npos)
        unsetenv(name.c_str());
      else
        setenv(name.c_str(), variable.c_str() + equals + 1, 1);
    }
    execl("/proc/self/exe", "test", filter.c_str(), "--gtest_brief=1", static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

std::string this_test() {
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  return std::string(test->test_suite_name()) + "." + test->name();
}

}  // namespace scaledot::tests
