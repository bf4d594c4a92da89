// Every bug case from D001 to D102 is a test here or waits for a feature that it names.
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace scaledot::tests {
namespace {

// SCALEDOT_TESTS_FOLDER is this folder, by the build.
std::set<int> tested() {
  std::set<int> cases;
  const std::regex name(R"(^TEST\((?:Large)?BugCases, D(\d{3})_)");
  for (const auto& entry : std::filesystem::directory_iterator(SCALEDOT_TESTS_FOLDER)) {
    if (entry.path().extension() != ".cpp") continue;
    std::ifstream file(entry.path());
    std::smatch match;
    for (std::string line; std::getline(file, line);)
      if (std::regex_search(line, match, name)) cases.insert(std::stoi(match[1]));
  }
  return cases;
}

struct Pending {
  std::string feature, tested_now;
};

std::map<int, Pending> pending() {
  std::map<int, Pending> cases;
  const std::regex row(R"(^\| D(\d{3}) \| [^|]+ \| ([^|]+) \| ?([^|]*) ?\|$)");
  std::ifstream file(std::string(SCALEDOT_TESTS_FOLDER) + "/pending_bug_cases.md");
  std::smatch match;
  for (std::string line; std::getline(file, line);)
    if (std::regex_search(line, match, row)) cases[std::stoi(match[1])] = {match[2], match[3]};
  return cases;
}

TEST(BugList, every_case_is_a_test_or_waits) {
  const std::set<int> tests = tested();
  const std::map<int, Pending> waiting = pending();
  for (int number = 1; number <= 102; ++number) {
    const auto wait = waiting.find(number);
    if (wait == waiting.end()) {
      EXPECT_EQ(tests.count(number), 1u) << "D" << number << " is neither a test nor listed";
    } else {
      EXPECT_FALSE(wait->second.feature.empty()) << "D" << number;
      EXPECT_EQ(tests.count(number) == 1, !wait->second.tested_now.empty())
          << "D" << number << ": the list says '" << wait->second.tested_now << "'";
    }
  }
  EXPECT_GE(*tests.begin(), 1);
  EXPECT_LE(*tests.rbegin(), 102);
}

TEST(BugList, the_readme_counts_them) {
  const std::map<int, Pending> waiting = pending();
  std::size_t in_part = 0;
  for (const auto& [number, wait] : waiting)
    if (!wait.tested_now.empty()) ++in_part;
  const std::size_t whole = tested().size() - in_part;
  std::ifstream file(std::string(SCALEDOT_TESTS_FOLDER) + "/../README.md");
  const std::regex row(R"(^\| (\d+) faults .*; (\d+) more wait .* of which (\d+) are .*\|$)");
  std::smatch match;
  bool is_found = false;
  for (std::string line; std::getline(file, line);) {
    if (!std::regex_search(line, match, row)) continue;
    is_found = true;
    EXPECT_EQ(match[1], std::to_string(whole));
    EXPECT_EQ(match[2], std::to_string(waiting.size()));
    EXPECT_EQ(match[3], std::to_string(in_part));
  }
  EXPECT_TRUE(is_found);
}

}  // namespace
}  // namespace scaledot::tests
