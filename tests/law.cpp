// The search for a case that breaks a law.
#include "law.hpp"
#include "tables.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

#if defined(HAS_RAPIDCHECK)
#include <rapidcheck.h>
#endif

namespace scaledot::tests {
namespace {

std::string broken(const Case& one, const Law& law) {
  for (const kernels::KernelTable* table : runnable_tables()) {
    const std::string why = law(one, table);
    if (!why.empty()) return "on " + std::string(table->name) + ": " + why + "\n" + line_of(one);
  }
  return "";
}

#if defined(HAS_RAPIDCHECK)
// The same cases in every run, unless RC_PARAMS says otherwise.
bool is_deterministic() {
  const std::string count = std::to_string(effort(100));
  return setenv("RC_PARAMS", ("seed=1 max_success=" + count).c_str(), 0) == 0;
}

void search(const Law& law, const std::function<void(Case&)>& adapt) {
  static const bool deterministic = is_deterministic();
  ASSERT_TRUE(deterministic);
  const auto draw = rc::gen::exec([&] {
    Case one = drawn([](Index count) {
      return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<Index>(0, count));
    });
    adapt(one);
    return one;
  });
  const char* name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  EXPECT_TRUE(rc::check(name, [&] {
    const std::string why = broken(*draw, law);
    if (!why.empty()) RC_FAIL(why);
  }));
}
#else
void search(const Law& law, const std::function<void(Case&)>& adapt) {
  for (Case& one : cases(effort(100), 1)) {
    adapt(one);
    ASSERT_EQ(broken(one, law), "");
  }
}
#endif

}  // namespace

void holds(const Law& law, const std::function<void(Case&)>& adapt) {
  if (const char* line = std::getenv("SCALEDOT_TEST_CASE"); line != nullptr)
    EXPECT_EQ(broken(case_of(line), law), "");
  else
    search(law, adapt);
}

void finite(Case& one) {
  if (one.logits >= Logits::infinite) one.logits = Logits::normal;
  if (one.values == Values::infinite) one.values = Values::normal;
}

void tame(Case& one) {
  finite(one);
  if (!one.tame()) one.logits = Logits::spread;
  one.output_type = DType::f32;
}

void all_keys(Case& one) {
  tame(one);
  one.causal = Causal::off;
  one.left = one.right = unlimited;
  one.key_lengths = false;
}

Arithmetic arithmetic_of(const Case& one) {
  return one.bf16() ? Arithmetic::bf16 : Arithmetic::f32;
}

How usual(const Case& one, const kernels::KernelTable* table) {
  return {table, {}, 1, one.output_type, Layout::contiguous, false};
}

std::string each_row(const Case& one,
                     const std::function<std::string(std::size_t, Index, Index, Index)>& visit) {
  std::size_t number = 0;
  for (Index b = 0; b < one.batch; ++b)
    for (Index h = 0; h < one.heads(); ++h)
      for (Index i = 0; i < one.queries; ++i)
        if (const std::string why = visit(number++, b, h, i); !why.empty())
          return "row " + std::to_string(number - 1) + ": " + why;
  return "";
}

}  // namespace scaledot::tests
