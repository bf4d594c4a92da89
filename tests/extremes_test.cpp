// The same bits at the ends of what is promised: long rows, values of extreme size, denormal
// numbers, tensors of fewer axes.
#include <cmath>
#include <limits>
#include <optional>

#include <gtest/gtest.h>

#include "canonical.hpp"
#include "compare.hpp"
#include "inputs.hpp"
#include "tables.hpp"

namespace scaledot::tests {
namespace {

How usual(const Case& one, const kernels::KernelTable* table) {
  return {table, {}, 1, one.output_type, Layout::contiguous, false};
}

// The canonical row of every query, stored as `made` is.
Outcome canonical(const Case& one, const Arguments& arguments, const Outcome& made) {
  const Definition definition(arguments);
  Numbers output{extents_of(made.output.tensor), {}}, lse{extents_of(made.lse.tensor), {}};
  for (Index b = 0; b < one.batch; ++b)
    for (Index h = 0; h < one.heads(); ++h)
      for (Index i = 0; i < one.queries; ++i) {
        const CanonicalRow row = canonical_row(definition, one.bf16(), b, h, i);
        output.at.insert(output.at.end(), row.output.begin(), row.output.end());
        lse.at.push_back(row.lse);
      }
  Outcome expected;
  expected.output = held(output, one.output_type);
  expected.lse = held(lse, DType::f32);
  return expected;
}

// The canonical bits on every table and path, with one thread and with three.
void expect_canonical(const Case& one, const Arguments& arguments) {
  const double tiny = flushed_below(arguments);
  std::optional<Outcome> expected;
  for (const kernels::KernelTable* table : runnable_tables())
    for (const Paths paths :
         {Paths{}, Paths{.certified = false}, Paths{.shared_panels = false},
          Paths{.split_tasks = false}, Paths{.thin = false}, Paths{.far_panels = true}})
      for (const int threads : {1, 3}) {
        SCOPED_TRACE(::testing::Message()
                     << one << " on " << table->name << ", certified " << paths.certified
                     << ", shared panels " << paths.shared_panels << ", split tasks "
                     << paths.split_tasks << ", threads " << threads);
        How how = usual(one, table);
        how.paths = paths;
        how.threads = threads;
        const Outcome made = outcome(arguments, how);
        if (!expected) expected = canonical(one, arguments, made);
        expect_same(made, *expected, tiny);
        if (::testing::Test::HasFailure()) return;
      }
}

}  // namespace

// One query, as in decoding, and more than a tile of them, over dozens of splits.
TEST(Extremes, long_rows_have_the_canonical_bits) {
  for (const Index queries : {1, 3}) {
    for (const Logits logits : {Logits::normal, Logits::ascending, Logits::wild}) {
      Case one;
      one.seed = 40 + queries;
      one.queries = queries;
      one.group = 2;
      one.keys = effort(40001);
      one.head_dim = 5;
      one.value_dim = 4;
      one.causal = Causal::bottom_right;
      one.logits = logits;
      for (const DType dtype : {DType::f32, DType::bf16}) {
        one.query_type = one.key_type = one.value_type = dtype;
        const Inputs inputs = inputs_of(one);
        expect_canonical(one, arguments_of(inputs));
      }
    }
  }
}

// Both sides of where a row may be certified, down to where all is flushed and up to where the
// promise ends: keys * largest |value| < 2^118.
TEST(Extremes, values_of_any_size_have_the_canonical_bits) {
  for (const int power : {-140, -126, -110, -101, -80, -61, -60, -59, -30, 30, 57, 58, 61, 80, 105})
    for (const DType dtype : {DType::f32, DType::bf16})
      for (const Logits logits : {Logits::normal, Logits::spread, Logits::one_huge}) {
        Case one;
        one.seed = power + 200;
        one.queries = 17;
        one.keys = 140;
        one.causal = Causal::bottom_right;
        one.logits = logits;
        one.query_type = one.key_type = one.value_type = dtype;
        const Inputs inputs = inputs_of(one);
        Arguments arguments = arguments_of(inputs);
        Numbers numbers = numbers_of(arguments.value);
        std::size_t n = 0;  // some values stay at size 1
        for (float& number : numbers.at)
          if (n++ % 5 != 0 || power > 0) number = std::ldexp(number, power);
        const Held value = held(numbers, dtype);
        arguments.value = value.tensor;
        SCOPED_TRACE(power);
        expect_canonical(one, arguments);
        if (::testing::Test::HasFailure()) return;
      }
}

// Denormal numbers of f32 and bf16 count as 0; those of f16 are normal in f32 and do not.
TEST(Extremes, denormal_numbers_count_as_zero) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const float denormal = dtype == DType::f16 ? 0x1p-24f : 0x1p-130f;
    const float huge = dtype == DType::f16 ? 0x1p15f : 0x1p120f;
    const auto rows = [](float middle, float others) {
      return [=](Index, Index, Index j, Index) { return j == 1 ? middle : others; };
    };
    for (const kernels::KernelTable* table : runnable_tables()) {
      SCOPED_TRACE(::testing::Message() << static_cast<int>(dtype) << " on " << table->name);
      const auto made = [&](float query, float middle, float others) {
        const Held q = held(constant(query, {1, 1, 1, 16}), dtype);
        const Held k = held(each({1, 1, 3, 16}, rows(huge, 0)), dtype);
        const Held v = held(each({1, 1, 3, 2}, rows(middle, others)), dtype);
        const Outcome all = outcome({q.tensor, k.tensor, v.tensor, {}}, {table});
        return read(all.output.tensor)[0];
      };
      const float even = made(0, 4, 0);  // a third of 4
      if (dtype == DType::f16) {
        EXPECT_GT(made(denormal, 4, 0), even);
        EXPECT_EQ(made(0, denormal, denormal), denormal);
      } else {
        EXPECT_EQ(made(denormal, 4, 0), even);
        EXPECT_EQ(made(0, denormal, denormal), 0);
      }
    }
  }
}

namespace {

// The same tensor without its first `count` axes, which must have length 1.
Tensor without_axes(const Tensor& tensor, int count) {
  Tensor less = tensor;
  less.rank -= count;
  for (std::size_t axis = 0; axis < 4 - static_cast<std::size_t>(count); ++axis) {
    less.extent[axis] = tensor.extent[axis + static_cast<std::size_t>(count)];
    less.stride[axis] = tensor.stride[axis + static_cast<std::size_t>(count)];
  }
  return less;
}

}  // namespace

TEST(Extremes, tensors_of_fewer_axes_have_the_same_bits) {
  for (const int count : {1, 2}) {
    const auto fits = [&](const Case& one) {
      return one.batch == 1 && (count == 1 || one.heads() == 1);
    };
    for (const Case& one : cases(effort(60), 50 + count, fits)) {
      const Inputs inputs = inputs_of(one);
      const Arguments whole = arguments_of(inputs);
      const Arguments less{without_axes(whole.query, count), without_axes(whole.key, count),
                           without_axes(whole.value, count), whole.options};
      for (const kernels::KernelTable* table : runnable_tables()) {
        SCOPED_TRACE(::testing::Message() << one << " on " << table->name);
        How how = usual(one, table);
        how.weights = true;
        const Outcome a = outcome(less, how), b = outcome(whole, how);
        EXPECT_EQ(a.output.tensor.rank, 4 - count);
        expect_same(a, b, 0);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

}  // namespace scaledot::tests
