// Bugs of scale, softcap and lse, of merging by lse, and of runs that differ.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "bug_case.hpp"
#include "cases.hpp"
#include "dispatch.hpp"
#include "tables.hpp"
#include "view.hpp"

namespace scaledot::tests {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// pytorch#105190: NaN with a negative scale.
TEST(BugCases, D062_negative_scale) {
  Call call{fill(3, {1, 1, 4, 4}), fill(3, {1, 1, 4, 4}), fill(3, {1, 1, 4, 4}), {}, {}, {}, {}};
  call.options.scale = -10000.0f;
  expect_exactly(call, {-0.75, -0.375, 0, 0.375});
  // With the sign in the query instead, the logits are the same.
  Call other = call;
  other.options.scale = 10000.0f;
  for (float& number : other.query.at) number = -number;
  expect_same_bits(call, other);
}

TEST(BugCases, D062_scale_of_zero) {
  Call call{fill(3, {1, 1, 4, 4}), fill(5, {1, 1, 6, 4}), positions({1, 1, 6, 1}), {}, {}, {}, {}};
  for (const float zero : {0.0f, -0.0f}) {
    call.options.scale = zero;
    expect_exactly(call, {2.5, 2.5, 2.5, 2.5});
  }
}

// cntkx#10: divided by the dims instead of their root.
TEST(BugCases, D063_default_scale) {
  Call call{constant(1, {1, 1, 1, 16}),
            constant(1, {1, 1, 2, 16}),
            Numbers{{1, 1, 2, 1}, {1, 0}},
            {},
            {},
            {},
            {}};
  for (std::size_t d = 16; d < 32; ++d) call.key.at[d] = 0;
  expect_output(call, {0.982014});
  Call same = call;
  same.options.scale = 0.25f;
  expect_same_bits(call, same);
}

// flash-attention#414, #384, #429: the last bits differ from run to run.
TEST(BugCases, D068_fifty_runs_on_one_to_eight_threads) {
  const Call call{
      fill(3, {2, 4, 300, 64}), fill(5, {2, 4, 300, 64}), fill(7, {2, 4, 300, 64}), {}, {}, {}, {}};
  for (const DType dtype : {DType::f32, DType::bf16}) {
    for (const kernels::KernelTable* table : runnable_tables()) {
      const Results first = made(call, {table, dtype, Arithmetic::automatic, {}});
      const bool all = table == usable_tables().front() && dtype == DType::f32;
      const Index runs = all ? larger(effort(50), 8) : 8;
      for (int run = 0; run < runs; ++run) {
        const Results again = made(call, {table, dtype, Arithmetic::automatic, {}, 1 + run % 8});
        ASSERT_TRUE(same_bits(again.output, first.output) && same_bits(again.lse, first.lse))
            << table->name << ", threads " << 1 + run % 8;
      }
    }
  }
}

// flash-attention#978: +inf for a query without keys.
TEST(BugCases, D077_lse_without_keys) {
  expect_lse(mean_call({1, 1, 2, 4}, {1, 1, 0, 4}, constant(0, {1, 1, 0, 4})),
             {-infinity, -infinity});
}

// tokenspeed#571, FlashMLA#106: a logarithm of base 2.
TEST(BugCases, D078_lse_is_natural) {
  expect_lse({fill(3, {1, 1, 2, 4}), fill(5, {1, 1, 3, 4}), fill(5, {1, 1, 3, 4}), {}, {}, {}, {}},
             {1.00719, 0.991389});
}

// Slices of the keys, each a call of its own, merged by the caller: the sum of output * exp(lse -
// the lse of all). A slice without keys must be neutral.
TEST(BugCases, D079_slices_merged_by_lse) {
  Call whole{
      fill(3, {1, 1, 5, 8}), fill(5, {1, 1, 4096, 8}), fill(7, {1, 1, 4096, 1}), {}, {}, {}, {}};
  for (const bool only_second : {true, false}) {
    whole.mask = each({1, 1, 1, 4096}, [&](Index, Index, Index, Index j) {
      return only_second ? j / 1024 == 1 : j % 3 != 0;
    });
    for (const Way& way : ways(whole)) {
      const Results all = made(whole, way);
      std::vector<double> merged(5);
      for (Index first = 0; first < 4096; first += 1024) {
        Call part = whole;
        part.key = slice(whole.key, first, first + 1024);
        part.value = slice(whole.value, first, first + 1024);
        part.mask =
            Numbers{{1, 1, 1, 1024},
                    {whole.mask->at.begin() + first, whole.mask->at.begin() + first + 1024}};
        const Results one = made(part, way);
        for (std::size_t row = 0; row < 5; ++row) {
          if (only_second && first != 1024) {
            ASSERT_EQ(one.lse[row], -infinity) << way.name();
          }
          merged[row] += one.output[row] * std::exp(double{one.lse[row]} - all.lse[row]);
        }
      }
      for (std::size_t row = 0; row < 5; ++row)
        ASSERT_NEAR(merged[row], all.output[row], 4 * tolerance(whole, way, all.output[row]))
            << way.name();
      if (!only_second) continue;
      // The splits that see nothing change no bit either.
      Call second = whole;
      second.mask.reset();
      second.key = slice(whole.key, 1024, 2048);
      second.value = slice(whole.value, 1024, 2048);
      ASSERT_TRUE(same_bits(made(second, way).output, all.output)) << way.name();
    }
  }
}

// onnx#7865, #7867: a cap after the mask made hidden keys weigh exp(-cap).
TEST(BugCases, D093_softcap_before_the_mask) {
  Call call{constant(1, {1, 1, 1, 1}),
            Numbers{{1, 1, 3, 1}, {4, 2, 9}},
            Numbers{{1, 1, 3, 1}, {1, 2, 1000}},
            {},
            {},
            {},
            {}};
  call.options.scale = 1.0f;
  call.options.softcap = 0.5f;
  call.mask = Numbers{{1, 1, 1, 3}, {1, 1, 0}};
  const auto near = [](const Way& way, const Results& got) {
    EXPECT_NEAR(got.output[0], 1.4999162, way.dtype == DType::f32 ? 1e-6 : 0x1p-7);
    EXPECT_NEAR(got.lse[0], 1.1929795, way.arithmetic == Arithmetic::bf16 ? 0x1p-8 : 2e-6);
  };
  each_way(call, near);
  call.mask.reset();
  call.bias = Numbers{{1, 1, 1, 3}, {0, 0, -infinity}};
  each_way(call, near);
}

// sgl-kernel-xpu#491: the cap took in the bias.
TEST(BugCases, D094_softcap_before_the_bias) {
  Call call{constant(1, {1, 1, 1, 1}),
            Numbers{{1, 1, 3, 1}, {4, 2, 9}},
            Numbers{{1, 1, 3, 1}, {1, 2, 1000}},
            {},
            {},
            {},
            {}};
  call.options.scale = 1.0f;
  call.options.softcap = 0.5f;
  call.bias = Numbers{{1, 1, 1, 3}, {0, 1, -1}};
  expect_output(call, {91.625777});
}

// imp#688, sglang#33915: one of several paths dropped the cap.
TEST(BugCases, D095_softcap_on_every_path) {
  for (const Index dim : {1, 2, 64, 128, 256}) {
    for (const Index queries : {1, 2, 300}) {
      if (queries == 300 && dim > 2) continue;  // says nothing new, and takes long
      const Index keys = queries == 300 ? 40 : 300;
      Call call{constant(3, {1, 1, queries, dim}),
                constant(3, {1, 1, keys, dim}),
                constant(1, {1, 1, keys, 1}),
                {},
                {},
                {},
                {}};
      SCOPED_TRACE(std::to_string(dim) + " dims, " + std::to_string(queries) + " queries");
      for (const bool masked : {false, true}) {
        if (masked) call.mask = constant(1, {1, 1, 1, keys});
        const double count = std::log(static_cast<double>(keys));
        const double logit = 9 * std::sqrt(static_cast<double>(dim));
        const auto rows = static_cast<std::size_t>(queries);
        call.options.softcap = 5;
        expect_lse(call, std::vector<double>(rows, count + 5 * std::tanh(logit / 5)));
        call.options.softcap = 0;
        expect_lse(call, std::vector<double>(rows, count + logit));
      }
    }
  }
}

// pytorch#193728: keys and values of different lengths were read past their end. The memory here
// cannot be read at all.
TEST(BugCases, D101_keys_and_values_of_different_lengths) {
  int nothing = 0;
  for (const auto& [keys, values] : {std::pair<Index, Index>{5, 6}, {6, 5}, {1, 4000000}}) {
    const Tensor query = contiguous(&nothing, DType::f32, {1, 1, 2, 8});
    const Tensor key = contiguous(&nothing + 1, DType::f32, {1, 1, keys, 8});
    const Tensor value = contiguous(&nothing + 1, DType::f32, {1, 1, values, 8});
    Outputs outputs;
    outputs.output = contiguous(&nothing + 1, DType::f32, {1, 1, 2, 8});
    const Status status = attend(query, key, value, outputs);
    EXPECT_EQ(status.code, Status::Code::extent);
    EXPECT_STREQ(status.argument, "value");
    EXPECT_STREQ(status.other, "key");
    EXPECT_EQ(status.axis, 2);
    EXPECT_EQ(status.got, values);
    EXPECT_EQ(status.expected, keys);
  }
}

// pytorch#189631: a query of lower rank than the keys; here that is an error.
TEST(BugCases, D102_query_of_lower_rank) {
  std::vector<float> memory(4 * 64);
  const Tensor query = contiguous(memory.data(), DType::f32, {1, 1, 64});
  const Tensor key = contiguous(memory.data() + 64, DType::f32, {2, 1, 1, 64});
  Outputs outputs;
  outputs.output = contiguous(memory.data() + 192, DType::f32, {1, 1, 64});
  const Status status = attend(query, key, key, outputs);
  EXPECT_EQ(status.code, Status::Code::rank);
  EXPECT_STREQ(status.argument, "key");
  EXPECT_STREQ(status.other, "query");
  EXPECT_EQ(status.got, 4);
  EXPECT_EQ(status.expected, 3);
}

}  // namespace
}  // namespace scaledot::tests
