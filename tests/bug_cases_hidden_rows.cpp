// Bugs of rows that see no key, and of additive masks that hide whole tiles.
#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "bug_case.hpp"

namespace scaledot::tests {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float lowest = std::numeric_limits<float>::lowest();

// The rows that `hides` picks see no key: they are 0 and -inf, and all others keep their bits.
void expect_hidden_rows(const Call& open, const std::function<bool(Index)>& hides) {
  const Index queries = open.query.extent[2], keys = open.key.extent[2];
  const std::size_t dims = static_cast<std::size_t>(open.value.extent[3]);
  Call masked = open, biased = open;
  masked.mask = each({1, 1, queries, keys},
                     [&](Index, Index, Index i, Index) { return hides(i) ? 0.0f : 1.0f; });
  biased.bias = each({1, 1, queries, keys},
                     [&](Index, Index, Index i, Index) { return hides(i) ? -infinity : 0.0f; });
  for (const Call& call : {masked, biased}) {
    for (const Way& way : ways(call)) {
      SCOPED_TRACE(way.name());
      const Results got = made(call, way), all = made(open, way);
      ASSERT_TRUE(got.status.ok()) << describe(got.status);
      for (std::size_t n = 0; n < got.output.size(); ++n) {
        const bool hidden = hides(static_cast<Index>(n / dims) % queries);
        ASSERT_EQ(got.output[n], hidden ? 0 : all.output[n]) << "element " << n;
        ASSERT_EQ(got.lse[n / dims], hidden ? -infinity : all.lse[n / dims]) << "row " << n / dims;
      }
      for (std::size_t n = 0; n < got.weights.size(); ++n) {
        const Index row = static_cast<Index>(n) / keys % queries;
        ASSERT_EQ(got.weights[n], hides(row) ? 0 : all.weights[n]) << "weight " << n;
      }
    }
  }
}

// pytorch#103963: NaN in every row whose boolean mask is all false.
TEST(BugCases, D001_rows_without_a_true_in_the_mask) {
  Call call{fill(3, {1, 1, 8, 8}), fill(5, {1, 1, 8, 8}), fill(7, {1, 1, 8, 8}), {}, {}, {}, {}};
  call.mask = each({1, 1, 8, 8}, [](Index, Index, Index i, Index j) { return i < 4 && j < 4; });
  expect_output(call, {0.0498362, -0.259641, 0.174836});
  expect_exactly(call, std::vector<double>(32, 0), 32);
}

TEST(BugCases, D001_any_rows_hidden_leave_the_others_alone) {
  for (const Index queries : {1, 7, 33, 70}) {
    for (const Index keys : {1, 31, 130}) {
      SCOPED_TRACE(std::to_string(queries) + " queries, " + std::to_string(keys) + " keys");
      const Call call{fill(3, {1, 2, queries, 5}),
                      fill(5, {1, 1, keys, 5}),
                      fill(7, {1, 1, keys, 3}),
                      {},
                      {},
                      {},
                      {}};
      expect_hidden_rows(call, [](Index i) { return i == 0; });
      expect_hidden_rows(call, [&](Index i) { return i == queries - 1; });
      expect_hidden_rows(call, [](Index i) { return i % 3 != 1; });
      expect_hidden_rows(call, [](Index) { return true; });
    }
  }
}

// mlx#2395, #2608: a row without keys gave leftovers, others on another path.
TEST(BugCases, D002_one_hidden_row_is_the_same_on_every_path) {
  Call call{fill(3, {1, 1, 4, 2}), fill(5, {1, 1, 4, 2}), fill(7, {1, 1, 4, 2}), {}, {}, {}, {}};
  call.options.scale = 1.0f;
  call.mask = each({1, 1, 4, 4}, [](Index, Index, Index i, Index) { return i != 1; });
  expect_exactly(call, {0, 0}, 2);
  expect_output(call, {0.298516, -0.451484}, 4);
}

// pytorch#160064: a mask that hides everything of one head made NaN of all heads.
TEST(BugCases, D003_mask_that_switches_heads_off) {
  Call call = mean_call({1, 3, 5, 1}, {1, 3, 5, 1}, positions({1, 3, 5, 1}));
  call.mask = Numbers{{3, 1, 1}, {0, 0, 1}};
  std::vector<double> rows(10, 0);
  rows.insert(rows.end(), 5, 2.0);
  expect_exactly(call, rows);
  call.mask = each({1, 3, 5, 5}, [](Index, Index h, Index, Index) { return h == 2; });
  expect_exactly(call, rows);
}

// pytorch#110213, #109517: the lowest finite number as additive mask.
TEST(BugCases, D004_a_row_of_the_lowest_float_is_uniform) {
  Call call{fill(3, {1, 1, 3, 4}), fill(5, {1, 1, 3, 4}), positions({1, 1, 3, 1}), {}, {}, {}, {}};
  expect_output(call, {1.0057080, 0.9942920}, 1);
  for (const float least : {lowest, rounded(-3.3e38, DType::bf16), -0x1p127f}) {
    call.bias =
        each({1, 1, 3, 3}, [&](Index, Index, Index i, Index) { return i == 0 ? least : 1; });
    expect_exactly(call, {1});
    expect_output(call, {1.0057080, 0.9942920}, 1);
    each_way(call, [](const Way&, const Results& got) {
      EXPECT_TRUE(std::isfinite(got.lse[0])) << got.lse[0];
      EXPECT_LT(got.lse[0], -1e38f);
    });
  }
}

TEST(BugCases, D004_the_lowest_float_hides_nothing_from_huge_logits) {
  // A sum with a logit of -2e38 is beyond the type, yet both keys stay finite and equal.
  Call call{Numbers{{1, 1, 1, 1}, {0x1p64f}},
            Numbers{{1, 1, 2, 1}, {-0x1p63f, -0x1p63f}},
            Numbers{{1, 1, 2, 1}, {2, 4}},
            {},
            {},
            {},
            {}};
  call.options.scale = 1.0f;
  call.bias = constant(lowest, {1, 1, 1, 2});
  expect_exactly(call, {3});
  // Among ordinary keys a key with the lowest float weighs nothing.
  call = mean_call({1, 1, 1, 1}, {1, 1, 3, 1}, Numbers{{1, 1, 3, 1}, {2, 100, 4}});
  call.bias = Numbers{{1, 1, 1, 3}, {0, lowest, 0}};
  expect_exactly(call, {3});
}

// Row i of 640 sees the keys i - 9 to i.
std::vector<double> band_of_ten() {
  std::vector<double> rows;
  for (int i = 0; i < 640; ++i) rows.push_back(i < 9 ? i / 2.0 : i - 4.5);
  return rows;
}

// pytorch#127055: NaN once the first tile of keys of a row is all -inf.
TEST(BugCases, D005_band_of_minus_infinity_far_from_the_first_key) {
  Call call = mean_call({1, 1, 640, 4}, {1, 1, 640, 4}, positions({1, 1, 640, 1}));
  Call masked = call, windowed = call;
  call.bias = each({1, 1, 640, 640}, [](Index, Index, Index i, Index j) {
    return j > i || j <= i - 10 ? -infinity : 0;
  });
  expect_exactly(call, band_of_ten());
  masked.mask =
      each({1, 1, 640, 640}, [](Index, Index, Index i, Index j) { return j <= i && j > i - 10; });
  windowed.options.window = {9, 0};
  expect_exactly(masked, band_of_ten());
  expect_same_bits(masked, windowed);
}

// ik_llama.cpp#2344: NaN when the rows that see nothing come first.
TEST(BugCases, D006_block_of_hidden_rows_first_last_and_between) {
  for (const Index first : {0, 9, 18}) {
    Call call = mean_call({1, 1, 32, 4}, {1, 1, 64, 4}, positions({1, 1, 64, 1}));
    call.bias = each({1, 1, 32, 64}, [&](Index, Index, Index i, Index) {
      return first <= i && i < first + 14 ? -infinity : 0;
    });
    std::vector<double> rows(32, 31.5);
    std::fill_n(rows.begin() + first, 14, 0);
    expect_exactly(call, rows);
  }
}

// transformers#47678, #38690: queries of the padding on the left see no key.
TEST(BugCases, D007_left_padding_with_causal) {
  Call call = mean_call({2, 1, 33, 4}, {2, 1, 33, 4}, positions({2, 1, 33, 1}));
  call.options.causal = Causal::top_left;
  std::vector<double> rows;
  for (int i = 0; i < 33; ++i) rows.push_back(i / 2.0);
  for (int i = 0; i < 33; ++i) rows.push_back(i < 27 ? 0 : (27 + i) / 2.0);
  call.mask = each({2, 1, 1, 33}, [](Index b, Index, Index, Index j) { return b == 0 || j >= 27; });
  expect_exactly(call, rows);
  Call biased = call;
  biased.mask.reset();
  biased.bias = each({2, 1, 1, 33}, [](Index b, Index, Index, Index j) {
    return b == 0 || j >= 27 ? 0 : -infinity;
  });
  expect_exactly(biased, rows);
}

}  // namespace
}  // namespace scaledot::tests
