// Bugs of numbers: finite sentinels, NaN and infinity, the range and precision of 16-bit types.
#include <cfenv>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "bug_case.hpp"

namespace scaledot::tests {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

// One query of 1, so that with a scale of 1 the keys are the logits.
Call logits_call(const std::vector<float>& logits, const std::vector<float>& values) {
  const auto keys = static_cast<Index>(logits.size());
  Call call{constant(1, {1, 1, 1, 1}),
            {{1, 1, keys, 1}, logits},
            {{1, 1, keys, 1}, values},
            {},
            {},
            {},
            {}};
  call.options.scale = 1.0f;
  return call;
}

// flashinfer#4267: every logit below the finite start of the running maximum gave 0.
TEST(BugCases, D008_all_logits_far_below_zero) {
  expect_output(logits_call({-65000, -70000}, {3, 7}), {3});
  expect_lse(logits_call({-65000, -70000}, {3, 7}), {-65000});
  for (const float least : {-0x1p6f, -0x1p10f, -0x1p17f, -0x1p40f, -0x1p125f}) {
    expect_output(logits_call({2 * least, least}, {3, 7}), {7});
    expect_output(logits_call({least, least}, {3, 7}), {5});
    expect_lse(logits_call({least, 2 * least}, {3, 7}), {least});
  }
}

// flashinfer#4451: one key with a logit of -2e5 gave 0.
TEST(BugCases, D009_single_key_far_below_zero) {
  Call call = logits_call({1}, {2.5});
  call.query = constant(-200000, {1, 1, 1, 1});
  for (const Causal causal : {Causal::off, Causal::top_left, Causal::bottom_right}) {
    call.options.causal = causal;
    expect_output(call, {2.5});
    expect_lse(call, {-200000});
  }
  call.key = {{1, 1, 3, 1}, {1, 0, nan}};
  call.value = {{1, 1, 3, 1}, {2.5, 100, nan}};
  call.key_lengths = std::vector<Index>{1};
  expect_output(call, {2.5});
}

// pytorch-seq2seq#191: -1e10 does not exist in f16 and becomes -inf there.
TEST(BugCases, D010_a_finite_mask_that_f16_cannot_hold) {
  const Index keys = 2;
  for (const auto& [dtype, all_hidden] :
       {std::pair{DType::f16, 0.0}, {DType::bf16, 2.0}, {DType::f32, 2.0}}) {
    const float hide = rounded(-1e10, dtype);
    Call call = mean_call({1, 1, 1, 4}, {1, 1, keys, 4}, Numbers{{1, 1, keys, 1}, {1, 3}});
    call.bias = Numbers{{1, 1, 1, keys}, {hide, 0}};
    expect_exactly(call, {3});
    call.bias = Numbers{{1, 1, 1, keys}, {hide, hide}};
    expect_exactly(call, {all_hidden});
  }
}

// pytorch#101967: a NaN in a key that the mask hides still made the row NaN.
TEST(BugCases, D011_a_hidden_key_takes_no_part) {
  Numbers rows{{1, 1, 2, 4}, {0, 1, 2, 3, 4, 5, 6, 7}};
  for (const float poison : {5.0f, 1e10f, nan}) {
    Call call{rows, rows, rows, {}, {}, {}, {}};
    call.key.at[4] = poison;
    call.mask = Numbers{{2, 2}, {1, 0, 1, 0}};
    expect_exactly(call, {0, 1, 2, 3, 0, 1, 2, 3});
  }
}

// Every way of hiding the keys from `seen` on, and garbage of every kind in them.
void expect_no_part(Index queries, Index keys, Index seen) {
  const Call clean{fill(3, {1, 1, queries, 8}),
                   fill(5, {1, 1, keys, 8}),
                   fill(7, {1, 1, keys, 9}),
                   {},
                   {},
                   {},
                   {}};
  Call masked = clean, biased = clean, shorter = clean, windowed = clean;
  masked.mask = each({1, 1, 1, keys}, [&](Index, Index, Index, Index j) { return j < seen; });
  biased.bias =
      each({1, 1, 1, keys}, [&](Index, Index, Index, Index j) { return j < seen ? 0 : -infinity; });
  shorter.key_lengths = std::vector<Index>{seen};
  windowed.options.window = {unlimited, seen - queries};
  for (Call call : {masked, biased, shorter, windowed}) {
    const Call same = call;
    // The last row of the window sees exactly the first `seen` keys; all see no more.
    for (const float poison : {nan, infinity, -infinity, 1e10f, 3e38f}) {
      for (Index j = seen; j < keys; ++j) {
        for (Index d = 0; d < 8; ++d) call.key.at[static_cast<std::size_t>(j * 8 + d)] = poison;
        for (Index d = 0; d < 9; ++d) call.value.at[static_cast<std::size_t>(j * 9 + d)] = -poison;
      }
      SCOPED_TRACE(std::to_string(poison) + " in keys " + std::to_string(seen) + " to " +
                   std::to_string(keys));
      for (const Way& way : ways(call)) {
        SCOPED_TRACE(way.name());
        const Results got = made(call, way), want = made(same, way);
        ASSERT_TRUE(got.status.ok()) << describe(got.status);
        ASSERT_TRUE(same_bits(got.output, want.output) && same_bits(got.lse, want.lse));
      }
    }
  }
}

TEST(BugCases, D011_garbage_in_hidden_keys_changes_no_bit) {
  expect_no_part(1, 2, 1);
  expect_no_part(1, 70, 33);
  expect_no_part(9, 40, 31);
  expect_no_part(33, 140, 65);
}

// mlx test_sdpa_inf_score: a logit of -inf that comes from the key itself.
TEST(BugCases, D012_a_computed_logit_of_minus_infinity) {
  Call call{constant(1, {1, 1, 1, 4}),
            constant(1, {1, 1, 8, 4}),
            positions({1, 1, 8, 1}),
            {},
            {},
            {},
            {}};
  call.options.scale = 1.0f;
  for (std::size_t d = 0; d < 4; ++d) call.key.at[d] = -infinity;
  expect_exactly(call, {4});
  expect_lse(call, {5.94591});

  call.value.at[0] = nan;  // its weight is 0, but the key is seen
  each_way(call, [](const Way&, const Results& got) { EXPECT_TRUE(std::isnan(got.output[0])); });
  call.value.at[0] = 0;
  call.key = constant(-infinity, {1, 1, 8, 4});
  expect_exactly(call, {0});
  expect_lse(call, {-infinity});
  call.key.at[31] = infinity;  // -inf + inf
  each_way(call, [](const Way&, const Results& got) { EXPECT_TRUE(std::isnan(got.output[0])); });
}

TEST(BugCases, D012_only_rows_that_see_it_become_nan) {
  for (const float poison : {nan, infinity}) {
    Call call = mean_call({1, 2, 70, 4}, {1, 2, 70, 4}, positions({1, 2, 70, 1}));
    call.query = constant(1, {1, 2, 70, 4});
    call.options.causal = Causal::top_left;
    call.key.at[40 * 4 + 1] = poison;  // key 40 of head 0
    each_way(call, [](const Way&, const Results& got) {
      for (std::size_t row = 0; row < 140; ++row)
        ASSERT_EQ(std::isnan(got.output[row]), row >= 40 && row < 70) << "row " << row;
    });
  }
}

// deepmd-kit#5715: exp of a hidden logit overflowed before the mask came.
TEST(BugCases, D013_a_hidden_logit_above_the_seen_ones) {
  for (const float hidden : {200.0f, 500.0f, 0x1p15f, 3e38f}) {
    Call call = logits_call({hidden, 0}, {5, 9});
    call.mask = Numbers{{1, 1, 1, 2}, {0, 1}};
    expect_exactly(call, {9});
    expect_lse(call, {0});
    call.mask.reset();
    call.bias = Numbers{{1, 1, 1, 2}, {-infinity, 0}};
    expect_exactly(call, {9});
    expect_lse(call, {0});
  }
}

// pytorch#160841: f16 logits beyond 65504.
TEST(BugCases, D014_logits_beyond_f16) {
  const Call call{constant(256, {1, 32, 23, 80}),
                  constant(256, {1, 32, 23, 80}),
                  constant(256, {1, 32, 23, 80}),
                  {},
                  {},
                  {},
                  {}};
  expect_exactly(call, std::vector<double>(32 * 23 * 80, 256));
}

// pytorch#119131: the product before the scale is beyond f16.
TEST(BugCases, D015_unscaled_product_beyond_f16) {
  Call call{constant(0, {1, 1, 1, 64}),
            constant(0, {1, 1, 2, 64}),
            {{1, 1, 2, 1}, {1, 2}},
            {},
            {},
            {},
            {}};
  for (const std::size_t d : {0u, 17u, 40u, 63u}) {
    call.query.at[d] = 576;
    call.key.at[d] = 340;
  }
  expect_exactly(call, {1});
  expect_lse(call, {97920});
}

// metal-flash-attention#8: the scale must not come after a product in half precision.
TEST(BugCases, D016_product_beyond_f16_before_a_small_scale) {
  const Call call{constant(48, {1, 1, 2, 64}),
                  constant(48, {1, 1, 2, 64}),
                  positions({1, 1, 2, 1}),
                  {},
                  {},
                  {},
                  {}};
  expect_exactly(call, {0.5, 0.5});
  expect_lse(call, {18432 + std::log(2.0), 18432 + std::log(2.0)});
}

// h3.c#3: the scaled query rounded to bf16 before the product.
TEST(BugCases, D018_the_scaled_query_is_not_rounded) {
  Call call{constant(1.0078125, {1, 1, 1, 128}),
            constant(0, {1, 1, 2, 128}),
            {{1, 1, 2, 1}, {0, 1}},
            {},
            {},
            {},
            {}};
  for (std::size_t d = 0; d < 31; ++d) {
    call.key.at[d] = 1;
    call.key.at[128 + d] = -1;
  }
  each_way(call, [](const Way& way, const Results& got) {
    const double bound = way.arithmetic == Arithmetic::bf16 ? 0.008 : 0.005;
    EXPECT_NEAR(got.output[0], 0.00397839, bound * 0.00397839);
  });
}

// pytorch#163588: masked keys at the end cost accuracy against a call without them.
TEST(BugCases, D019_masked_tail_equals_a_shorter_call) {
  const Call whole{
      fill(3, {1, 2, 1, 64}), fill(5, {1, 1, 1000, 64}), fill(7, {1, 1, 1000, 64}), {}, {}, {}, {}};
  for (const Index seen : {31, 129, 580}) {
    Call part = whole, masked = whole, biased = whole, shorter = whole;
    part.key = slice(whole.key, 0, seen);
    part.value = slice(whole.value, 0, seen);
    masked.mask = each({1, 1, 1, 1000}, [&](Index, Index, Index, Index j) { return j < seen; });
    biased.bias = each({1, 1, 1, 1000},
                       [&](Index, Index, Index, Index j) { return j < seen ? 0 : -infinity; });
    shorter.key_lengths = std::vector<Index>{seen};
    for (const Call& call : {masked, biased, shorter}) expect_same_bits(part, call);
  }
}

}  // namespace
}  // namespace scaledot::tests
