// The same bits on every machine: hashes of the results of generated cases, made on one machine and
// compared on every table of every other. `golden_test --write` makes the file anew; that is right
// only together with docs/numerics.md.
#include <cmath>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "compare.hpp"
#include "inputs.hpp"
#include "tables.hpp"

namespace scaledot::tests {
namespace {

constexpr Index golden_count = 300, golden_seed = 2017;

// FNV-1a over the bits of all results. What may be flushed on one path and not on another is 0.
std::uint64_t hash_of(const Case& one, const kernels::KernelTable* table) {
  const Inputs inputs = inputs_of(one);
  const Arguments arguments = arguments_of(inputs);
  const Outcome made =
      outcome(arguments, {table, {}, 1, one.output_type, Layout::contiguous, true});
  const double tiny = flushed_below(arguments);
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const Tensor& tensor : {made.output.tensor, made.lse.tensor, made.weights.tensor}) {
    const std::vector<float> numbers = numbers_of(tensor).at;
    std::size_t n = 0;
    for (const std::uint32_t bits : bits_of(tensor)) {
      const bool ignored = std::fabs(numbers[n++]) < tiny;
      for (int byte = 0; byte < 4; ++byte)
        hash = (hash ^ (ignored ? 0 : bits >> 8 * byte & 0xFF)) * 0x100000001B3u;
    }
  }
  return hash;
}

}  // namespace

// Each line of the file is a hash and a case.
TEST(Golden, every_table_has_the_bits_of_the_file) {
  std::ifstream file(GOLDEN_BITS_FILE);
  ASSERT_TRUE(file) << GOLDEN_BITS_FILE;
  Index count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    std::istringstream words(line);
    std::uint64_t expected = 0;
    words >> std::hex >> expected;
    const Case one = case_of(line.substr(static_cast<std::size_t>(words.tellg())));
    for (const kernels::KernelTable* table : runnable_tables())
      ASSERT_EQ(hash_of(one, table), expected) << one << " on " << table->name;
  }
  EXPECT_EQ(count, golden_count);
}

// Writes the file, if the tables of this machine agree.
int write_golden_bits() {
  std::ostringstream lines;
  for (const Case& one : cases(golden_count, golden_seed)) {
    const std::uint64_t hash = hash_of(one, usable_tables().front());
    for (const kernels::KernelTable* table : runnable_tables())
      if (hash_of(one, table) != hash) {
        std::cerr << "the tables do not agree on " << one << '\n';
        return 1;
      }
    lines << std::hex;
    lines.width(16);
    lines.fill('0');
    lines << hash << ' ' << line_of(one) << '\n';
  }
  std::ofstream(GOLDEN_BITS_FILE) << lines.str();
  return 0;
}

}  // namespace scaledot::tests

int main(int count, char** arguments) {
  if (count == 2 && std::string(arguments[1]) == "--write")
    return scaledot::tests::write_golden_bits();
  ::testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}
