#include "fresh_process.hpp"

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace scaledot::tests {
namespace {

// How this program is started: its path, after the emulator that runs it if there is one.
// SCALEDOT_TEST_EMULATOR is that emulator's words, by the build.
std::vector<std::string> command() {
  std::vector<std::string> words;
  std::istringstream emulator(SCALEDOT_TEST_EMULATOR);
  for (std::string word; emulator >> word;) words.push_back(word);
  words.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
  return words;
}

}  // namespace

bool is_emulated() { return SCALEDOT_TEST_EMULATOR[0] != '\0'; }

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
    std::vector<std::string> words = command();
    words.insert(words.end(), {filter, "--gtest_brief=1"});
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
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
