// attend() against the definition in double, on every usable table: within the derived bound,
// within twice the error of plain f32, and NaN exactly where the definition has it.
#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "compare.hpp"
#include "error_bound.hpp"
#include "inputs.hpp"
#include "tables.hpp"

namespace scaledot::tests {
namespace {

struct Made {
  const char* table;
  std::vector<float> output, lse, weights;
};

// The case on every usable table, with weights.
std::vector<Made> on_every_table(const Case& one, const Arguments& arguments) {
  std::vector<Made> all;
  for (const kernels::KernelTable* table : runnable_tables()) {
    const How how{table, {}, 1, one.output_type, one.layout, true};
    const Outcome made = outcome(arguments, how);
    all.push_back({table->name, numbers_of(made.output.tensor).at, numbers_of(made.lse.tensor).at,
                   numbers_of(made.weights.tensor).at});
  }
  return all;
}

void expect_near(double got, double expected, double bound, const std::string& what) {
  EXPECT_TRUE(is_near(got, expected, bound))
      << what << " is " << got << ", expected " << expected << " within " << bound;
}

// The distance may be the derived bound and the rounding of what is stored.
void check_row(const Case& one, const Definition& definition, const BoundedRow& bounded,
               Index number, const Made& made) {
  const auto& [row, output_bound, weights_bound, lse_bound] = bounded;
  const std::string where = " of row " + std::to_string(number) + " on " + made.table;
  const auto stored = [&](double expected, double bound) {
    return bound + store_error(std::fabs(expected) + bound, one.output_type);
  };
  const auto line = static_cast<std::size_t>(number);
  for (std::size_t d = 0; d < row.output.size(); ++d)
    expect_near(made.output[line * row.output.size() + d], row.output[d],
                stored(row.output[d], output_bound[d]), "element " + std::to_string(d) + where);
  expect_near(made.lse[line], row.lse, lse_bound, "lse" + where);
  std::vector<double> weights(static_cast<std::size_t>(definition.keys()), 0), bounds = weights;
  for (std::size_t n = 0; n < row.keys.size(); ++n) {
    weights[static_cast<std::size_t>(row.keys[n])] = row.weights[n];
    bounds[static_cast<std::size_t>(row.keys[n])] = stored(row.weights[n], weights_bound[n]);
  }
  for (std::size_t j = 0; j < weights.size(); ++j)
    expect_near(made.weights[line * weights.size() + j], weights[j], bounds[j],
                "weight " + std::to_string(j) + where);
}

double largest_difference(const std::vector<float>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t n = 0; n < a.size(); ++n)
    if (static_cast<double>(a[n]) != b[n]) largest = std::max(largest, std::fabs(a[n] - b[n]));
  return largest;
}

// Plain f32's results as the call would store them.
std::vector<float> stored(const std::vector<double>& numbers, DType dtype) {
  std::vector<float> all;
  for (const double number : numbers) all.push_back(rounded(number, dtype));
  return all;
}

void check_against_plain(const std::vector<float>& got, const std::vector<double>& exact,
                         const std::vector<double>& plain, DType dtype) {
  double largest = 0;
  for (const double number : exact)
    if (std::isfinite(number)) largest = std::max(largest, std::fabs(number));
  const double allowed = 2 * largest_difference(stored(plain, dtype), exact) + ulp(largest, dtype);
  EXPECT_LE(largest_difference(got, exact), allowed);
}

}  // namespace

TEST(Attend, is_within_the_derived_bound_of_the_definition) {
  const auto tame = [](const Case& one) { return one.tame(); };
  for (const Case& one : cases_or_replayed(1200, 1, tame)) {
    SCOPED_TRACE(::testing::Message() << one);
    const Inputs inputs = inputs_of(one);
    const Arguments arguments = arguments_of(inputs);
    const Definition definition(arguments);
    const std::vector<Made> all = on_every_table(one, arguments);
    const Arithmetic arithmetic = one.bf16() ? Arithmetic::bf16 : Arithmetic::f32;
    Index number = 0;
    for (Index b = 0; b < one.batch; ++b)
      for (Index h = 0; h < one.heads(); ++h)
        for (Index i = 0; i < one.queries; ++i, ++number) {
          const BoundedRow bounded = bounded_row(definition, arithmetic, b, h, i);
          for (const Made& made : all) check_row(one, definition, bounded, number, made);
          if (::testing::Test::HasFailure()) return;
        }
  }
}

// The rule for numbers as they occur: the largest error of an output is at most twice that of plain
// f32 (for bf16 arithmetic, of plain f32 with rounded weights) and one ulp. The lse and single
// weights, which no sum evens out, show that our log2 and exp2 are not those of libm.
TEST(Attend, errs_at_most_twice_as_much_as_plain_f32) {
  const auto usual = [](const Case& one) {
    return one.logits == Logits::normal && one.values == Values::normal && one.keys >= 31 &&
           one.batch * one.heads() * one.queries * one.value_dim >= 400 && one.head_dim >= 8;
  };
  for (const Case& one : cases_or_replayed(300, 2, usual)) {
    SCOPED_TRACE(::testing::Message() << one);
    const Inputs inputs = inputs_of(one);
    const Arguments arguments = arguments_of(inputs);
    const Reference exact = reference(arguments);
    const Reference plain = reference(arguments, one.bf16() ? Steps::bf16_weights : Steps::f32);
    for (const Made& made : on_every_table(one, arguments)) {
      SCOPED_TRACE(made.table);
      check_against_plain(made.output, exact.output, plain.output, one.output_type);
    }
    if (::testing::Test::HasFailure()) return;
  }
}

// A weight that is flushed to 0 makes a NaN of an infinite value, where double keeps infinity.
TEST(Attend, is_nan_and_infinite_where_the_definition_is) {
  const auto not_finite = [](const Case& one) {
    return one.logits == Logits::infinite || one.logits == Logits::nan ||
           one.values == Values::infinite;
  };
  for (const Case& one : cases_or_replayed(400, 3, not_finite)) {
    SCOPED_TRACE(::testing::Message() << one);
    const Inputs inputs = inputs_of(one);
    const Arguments arguments = arguments_of(inputs);
    const Reference exact = reference(arguments);
    const auto check = [](const std::vector<float>& got, const std::vector<double>& expected,
                          const char* what) {
      ASSERT_EQ(got.size(), expected.size());
      for (std::size_t n = 0; n < got.size(); ++n) {
        ASSERT_TRUE(std::isnan(got[n]) || !std::isnan(expected[n])) << what << " " << n;
        ASSERT_EQ(std::isfinite(got[n]), std::isfinite(expected[n])) << what << " " << n;
      }
    };
    for (const Made& made : on_every_table(one, arguments)) {
      SCOPED_TRACE(made.table);
      check(made.output, exact.output, "output");
      check(made.lse, exact.lse, "lse");
      check(made.weights, exact.weights, "weights");
    }
    if (::testing::Test::HasFailure()) return;
  }
}

// The lists of lengths in cases.cpp go around what the kernels of this machine do.
TEST(Attend, cases_have_the_lengths_around_every_tile) {
  std::vector<Index> queries;
  for (const Case& one : cases(4000, 1)) queries.push_back(one.queries * one.group);
  for (const kernels::KernelTable* table : runnable_tables())
    for (const Index around : {table->lanes, table->rows})
      for (const Index length : {around - 1, around, around + 1})
        EXPECT_TRUE(length == 0 || std::count(queries.begin(), queries.end(), length) > 0)
            << table->name << " has tiles of " << around;
}

}  // namespace scaledot::tests
