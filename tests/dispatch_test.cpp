// Which kernel table is used, and what SCALEDOT_ISA and SCALEDOT_THREADS have to say.
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dispatch.hpp"
#include "fresh_process.hpp"
#include "scaledot/attention.h"
#include "scaledot/attention.hpp"
#include "scaledot/machine.hpp"

namespace scaledot::tests {
namespace {

// Two queries on keys enough for several splits, so that more threads want more scratch memory.
struct Shape {
  std::vector<float> memory = std::vector<float>(12000 * 8, 0.5f);
  std::vector<float> result = std::vector<float>(2 * 8, -1);
  Tensor query = contiguous(memory.data(), DType::f32, {2, 8});
  Tensor key = contiguous(memory.data(), DType::f32, {12000, 8});
  Outputs outputs{contiguous(result.data(), DType::f32, {2, 8}), {}, {}};

  Status attended(const Options& options = {}) { return attend(query, key, key, outputs, options); }
  std::size_t bytes(int threads) {
    Options options;
    options.threads = threads;
    std::size_t bytes = 0;
    EXPECT_TRUE(workspace_bytes(query, key, key, outputs, options, bytes).ok());
    return bytes;
  }
};

void expect_refused(const char* variable) {
  Shape shape;
  Status status = shape.attended();
  EXPECT_EQ(status.code, Status::Code::option);
  EXPECT_STREQ(status.argument, variable);
  EXPECT_NE(describe(status).find(variable), std::string::npos) << describe(status);
  EXPECT_EQ(shape.result, std::vector<float>(16, -1));
  std::size_t bytes = 1;
  status = workspace_bytes(shape.query, shape.key, shape.key, shape.outputs, {}, bytes);
  EXPECT_EQ(status.code, Status::Code::option);
  EXPECT_STREQ(status.argument, variable);
}

bool usable(const kernels::KernelTable* table) {
  for (const kernels::KernelTable* one : usable_tables())
    if (one == table) return true;
  return false;
}

TEST(Dispatch, tables_are_listed_best_first) {
  std::size_t next = 0;
  for (const kernels::KernelTable* table : usable_tables()) {
    while (next < all_tables().size() && all_tables()[next] != table) ++next;
    EXPECT_LT(next, all_tables().size()) << table->name << " is out of order";
  }
  EXPECT_EQ(all_tables().back(), &kernels::scalar_table);
  EXPECT_TRUE(usable(&kernels::scalar_table));
}

// So those that are usable are the last ones.
TEST(Dispatch, each_table_needs_what_those_behind_it_need) {
  for (std::size_t n = 1; n < all_tables().size(); ++n)
    EXPECT_EQ(all_tables()[n]->needs & ~all_tables()[n - 1]->needs, 0u) << all_tables()[n]->name;
  EXPECT_EQ(all_tables().back()->needs, 0u);
}

TEST(Dispatch, without_the_variable_the_best_is_used) {
  if (!fresh_process()) {
    EXPECT_EQ(in_fresh_process(this_test().c_str(), {"SCALEDOT_ISA", "SCALEDOT_THREADS"}), 0);
    return;
  }
  EXPECT_EQ(table_in_use(), usable_tables().front());
  EXPECT_STREQ(scaledot_isa(), usable_tables().front()->name);
  EXPECT_TRUE(Shape().attended().ok());
}

// A script that sets a variable to nothing means that it is not set.
TEST(Dispatch, an_empty_variable_is_none) {
  if (!fresh_process()) {
    EXPECT_EQ(in_fresh_process(this_test().c_str(), {"SCALEDOT_ISA=", "SCALEDOT_THREADS="}), 0);
    return;
  }
  ASSERT_STREQ(std::getenv("SCALEDOT_ISA"), "");
  ASSERT_STREQ(std::getenv("SCALEDOT_THREADS"), "");
  EXPECT_EQ(table_in_use(), usable_tables().front());
  Shape shape;
  EXPECT_TRUE(shape.attended().ok());
  EXPECT_EQ(shape.bytes(0), shape.bytes(machine().cores));
  EXPECT_EQ(machine().threads, machine().cores);
}

TEST(Dispatch, the_variable_forces_a_table_or_an_error) {
  if (!fresh_process()) {
    for (const kernels::KernelTable* table : all_tables())
      EXPECT_EQ(in_fresh_process(this_test().c_str(), {std::string("SCALEDOT_ISA=") + table->name}),
                0);
    return;
  }
  const std::string name = std::getenv("SCALEDOT_ISA");
  const kernels::KernelTable* named = nullptr;
  for (const kernels::KernelTable* table : all_tables())
    if (table->name == name) named = table;
  ASSERT_NE(named, nullptr);
  if (usable(named)) {
    EXPECT_EQ(table_in_use(), named);
    EXPECT_STREQ(scaledot_isa(), name.c_str());
    EXPECT_TRUE(Shape().attended().ok());
  } else {
    EXPECT_EQ(table_in_use(), nullptr);
    expect_refused("SCALEDOT_ISA");
  }
  for (const InstructionSet& set : machine().instruction_sets) {
    const bool runs_f32 = name == "amx" && std::string(set.name) == "avx512";
    EXPECT_EQ(set.in_use, usable(named) && (set.name == name || runs_f32)) << set.name;
    EXPECT_EQ(std::string(set.why_not).empty(), set.in_use) << set.name;
  }
}

TEST(Dispatch, an_unknown_name_is_an_error) {
  if (!fresh_process()) {
    for (const char* name : {"avx1024", "AVX2", " avx2", "avx2 ", "avx", "avx512f", "scalar,avx2"})
      EXPECT_EQ(in_fresh_process(this_test().c_str(), {std::string("SCALEDOT_ISA=") + name}), 0)
          << name;
    return;
  }
  EXPECT_EQ(table_in_use(), nullptr);
  expect_refused("SCALEDOT_ISA");
  for (const InstructionSet& set : machine().instruction_sets) EXPECT_FALSE(set.in_use);
}

// The flags of a table's source file and the features that are asked of the processor for it are
// one list. SCALEDOT_KERNEL_FLAGS is "avx2:-mavx2,-mfma|..." by the build.
TEST(Dispatch, flags_equal_needs) {
  const std::map<std::string, std::uint32_t> bits = {
      {"-mavx2", kernels::avx2},         {"-mfma", kernels::fma},
      {"-mf16c", kernels::f16c},         {"-mavx512f", kernels::avx512f},
      {"-mavx512bw", kernels::avx512bw}, {"-mavx512dq", kernels::avx512dq},
      {"-mavx512vl", kernels::avx512vl}, {"-mamx-tile", kernels::amx_tile},
      {"-mamx-bf16", kernels::amx_bf16}};
  std::map<std::string, std::uint32_t> flags;
  std::istringstream list(SCALEDOT_KERNEL_FLAGS);
  for (std::string entry; std::getline(list, entry, '|');) {
    const std::size_t colon = entry.find(':');
    std::uint32_t& needs = flags[entry.substr(0, colon)];
    std::istringstream rest(entry.substr(colon + 1));
    for (std::string flag; std::getline(rest, flag, ',');) {
      if (flag.rfind("-m", 0) != 0) continue;
      ASSERT_EQ(bits.count(flag), 1u) << flag;
      needs |= bits.at(flag);
    }
  }
  // Every AArch64 processor has NEON, so there is no flag for it.
  if (flags.count("neon") != 0) flags["neon"] = kernels::neon;
  ASSERT_EQ(flags.size(), all_tables().size());
  for (const kernels::KernelTable* table : all_tables())
    EXPECT_EQ(table->needs, flags.at(table->name)) << table->name;
}

#if defined(__x86_64__)
// The kernel lists a feature in /proc/cpuinfo only if it saves the registers that belong to it.
TEST(Dispatch, usable_is_what_the_operating_system_says) {
  std::ifstream file("/proc/cpuinfo");
  std::set<std::string> features;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("flags", 0) != 0) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    for (std::string word; words >> word;) features.insert(word);
    break;
  }
  if (features.empty()) GTEST_SKIP() << "no /proc/cpuinfo";
  const std::map<std::uint32_t, std::string> names = {
      {kernels::avx2, "avx2"},         {kernels::fma, "fma"},
      {kernels::f16c, "f16c"},         {kernels::avx512f, "avx512f"},
      {kernels::avx512bw, "avx512bw"}, {kernels::avx512dq, "avx512dq"},
      {kernels::avx512vl, "avx512vl"}, {kernels::amx_tile, "amx_tile"},
      {kernels::amx_bf16, "amx_bf16"}, {kernels::neon, "neon"}};
  for (const kernels::KernelTable* table : all_tables()) {
    bool all = true;
    for (const auto& [bit, name] : names)
      if ((table->needs & bit) != 0) all = all && features.count(name) == 1;
    EXPECT_EQ(usable(table), all) << table->name;
  }
}
#endif

TEST(Dispatch, the_variable_sets_the_threads) {
  Shape shape;
  if (!fresh_process()) {
    for (const char* threads : {"1", "2", "7"})
      EXPECT_EQ(in_fresh_process(this_test().c_str(), {std::string("SCALEDOT_THREADS=") + threads}),
                0);
    return;
  }
  EXPECT_EQ(shape.bytes(0), shape.bytes(std::atoi(std::getenv("SCALEDOT_THREADS"))));
  EXPECT_LT(shape.bytes(1), shape.bytes(7));
  EXPECT_EQ(machine().threads, std::atoi(std::getenv("SCALEDOT_THREADS")));
  EXPECT_TRUE(shape.attended().ok());
}

TEST(Dispatch, a_number_of_threads_without_meaning_is_an_error) {
  if (!fresh_process()) {
    for (const char* threads : {"0", "-1", "two", "2x", "1.5", "99999999999999999999", " "})
      EXPECT_EQ(in_fresh_process(this_test().c_str(), {std::string("SCALEDOT_THREADS=") + threads}),
                0)
          << threads;
    return;
  }
  expect_refused("SCALEDOT_THREADS");
  EXPECT_EQ(machine().threads, 0);
}

}  // namespace
}  // namespace scaledot::tests
