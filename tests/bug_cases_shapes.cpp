// Bugs of shapes: empty axes, groups of heads, odd and unequal dims, tails of tiles, huge counts.
#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "bug_case.hpp"
#include "tables.hpp"

namespace scaledot::tests {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

Call filled(const Extents& query, const Extents& key, const Extents& value) {
  return {fill(3, query), fill(5, key), fill(7, value), {}, {}, {}, {}};
}

// flash-attention#2470: no keys read memory or divided by zero.
TEST(BugCases, D028_no_keys) {
  Call call = filled({2, 2, 3, 8}, {2, 2, 0, 8}, {2, 2, 0, 8});
  for (const Causal causal : {Causal::off, Causal::top_left, Causal::bottom_right}) {
    call.options.causal = causal;
    expect_exactly(call, std::vector<double>(2 * 2 * 3 * 8, 0));
    expect_lse(call, std::vector<double>(2 * 2 * 3, -infinity));
  }
}

// pytorch#174939: a crash for sizes of zero.
TEST(BugCases, D029_everything_empty) {
  expect_exactly(filled({0, 0, 2, 0}, {0, 0, 13, 0}, {0, 0, 13, 0}), {});
  expect_exactly(filled({0, 4, 2, 8}, {0, 2, 13, 8}, {0, 2, 13, 8}), {});  // no batch
  expect_exactly(filled({2, 0, 2, 8}, {2, 3, 13, 8}, {2, 3, 13, 8}), {});  // no query heads
  expect_exactly(filled({2, 4, 0, 8}, {2, 2, 13, 8}, {2, 2, 13, 8}), {});  // no queries
  expect_exactly(filled({2, 4, 2, 8}, {2, 2, 13, 8}, {2, 2, 13, 0}), {});  // no value dims
  expect_lse(mean_call({1, 1, 2, 8}, {1, 1, 13, 8}, constant(0, {1, 1, 13, 0})),
             {std::log(13.0), std::log(13.0)});
  // Without dims every logit is 0.
  const Call call = mean_call({1, 2, 3, 0}, {1, 1, 5, 0}, positions({1, 1, 5, 1}));
  expect_exactly(call, {2, 2, 2, 2, 2, 2});
  expect_lse(call, std::vector<double>(6, std::log(5.0)));
}

// pytorch#81077: a sequence of length 0 inside a batch gave NaN.
TEST(BugCases, D030_a_key_length_of_zero) {
  Call call = mean_call({3, 1, 4, 4}, {3, 1, 4, 4}, positions({3, 1, 4, 1}));
  call.key_lengths = std::vector<Index>{2, 0, 4};
  expect_exactly(call, {0.5, 0.5, 0.5, 0.5, 0, 0, 0, 0, 1.5, 1.5, 1.5, 1.5});
  expect_lse(call,
             {std::log(2.0), std::log(2.0), std::log(2.0), std::log(2.0), -infinity, -infinity,
              -infinity, -infinity, std::log(4.0), std::log(4.0), std::log(4.0), std::log(4.0)});
}

// Every query head sees the number of its key head.
void expect_groups(Index heads, Index key_heads) {
  for (const Index queries : {1, 3, 37}) {
    for (const Index keys : {1, 40}) {
      SCOPED_TRACE(std::to_string(queries) + " queries, " + std::to_string(keys) + " keys");
      Call call = mean_call(
          {2, heads, queries, 4}, {2, key_heads, keys, 4},
          each({2, key_heads, keys, 1}, [](Index b, Index h, Index, Index) { return 32 * b + h; }));
      std::vector<double> rows;
      for (Index b = 0; b < 2; ++b)
        for (Index h = 0; h < heads; ++h)
          rows.insert(rows.end(), static_cast<std::size_t>(queries),
                      static_cast<double>(32 * b + h * key_heads / heads));
      expect_exactly(call, rows);
    }
  }
}

// onnx#7274, jax-js#180: key heads tiled instead of repeated.
TEST(BugCases, D046_four_heads_on_two) { expect_groups(4, 2); }
// FreeToken#177: a tile of query heads crossed the border of a group.
TEST(BugCases, D047_groups_of_24) { expect_groups(48, 2); }
// HipKittens#22: right only where the group is as large as the number of key heads.
TEST(BugCases, D048_groups_of_4_on_3) {
  expect_groups(12, 3);
  for (const auto& [heads, key_heads] : {std::pair<Index, Index>{3, 3}, {5, 1}, {6, 3}, {34, 2}})
    expect_groups(heads, key_heads);
}

// flash-attention#753: the scale was taken from the width of the values.
TEST(BugCases, D049_values_wider_than_keys) {
  expect_output(filled({1, 2, 4, 8}, {1, 2, 4, 8}, {1, 2, 4, 16}),
                {-0.0958064, -0.0333064, 0.0291936}, (4 + 3) * 16 + 13);
}

// pytorch#193039: the output was sized by the width of the keys.
TEST(BugCases, D050_values_narrower_than_keys) {
  const Call call = filled({1, 2, 3, 192}, {1, 2, 3, 192}, {1, 2, 3, 128});
  each_way(call, [](const Way&, const Results& got) { ASSERT_EQ(got.output.size(), 768u); });
  // Each value dim stands for itself: the same as in a call with that dim alone.
  for (const Index dim : {0, 63, 64, 127}) {
    Call one = call;
    one.value = {{1, 2, 3, 1}, {}};
    for (std::size_t n = static_cast<std::size_t>(dim); n < call.value.at.size(); n += 128)
      one.value.at.push_back(call.value.at[n]);
    for (const Way& way : ways(call)) {
      const Results all = made(call, way), got = made(one, way);
      for (std::size_t row = 0; row < 6; ++row)
        ASSERT_EQ(got.output[row], all.output[row * 128 + static_cast<std::size_t>(dim)])
            << way.name();
    }
  }
}

// triton#621: half of 128 dims was used.
TEST(BugCases, D051_all_of_128_dims) {
  expect_output(filled({1, 1, 3, 128}, {1, 1, 3, 128}, {1, 1, 3, 128}),
                {0.490396, -0.259604, 0.615396}, 3 * 128 - 3);
}

// ipex-llm#12619: the default scale came from a padded width.
TEST(BugCases, D052_scale_of_five_dims) {
  expect_output(filled({1, 1, 2, 5}, {1, 1, 3, 5}, {1, 1, 3, 5}),
                {0.163773, -0.0445958, -0.245342, 0.0804042, -0.120342});
}

// The definition in double, for a call with one batch entry, as many heads and no options.
std::vector<double> defined(const Call& call) {
  const auto size = [](Index extent) { return static_cast<std::size_t>(extent); };
  const std::size_t heads = size(call.query.extent[1]), queries = size(call.query.extent[2]),
                    dims = size(call.query.extent[3]), keys = size(call.key.extent[2]),
                    value_dims = size(call.value.extent[3]);
  std::vector<double> output;
  for (std::size_t row = 0; row < heads * queries; ++row) {
    const std::size_t first = row / queries * keys;
    std::vector<double> weights(keys), sums(value_dims);
    double all = 0;
    for (std::size_t j = 0; j < keys; ++j) {
      double logit = 0;
      for (std::size_t d = 0; d < dims; ++d)
        logit += double{call.query.at[row * dims + d]} * call.key.at[(first + j) * dims + d];
      all += weights[j] = std::exp(logit / std::sqrt(static_cast<double>(dims)));
      for (std::size_t d = 0; d < value_dims; ++d)
        sums[d] += weights[j] * call.value.at[(first + j) * value_dims + d];
    }
    for (const double sum : sums) output.push_back(sum / all);
  }
  return output;
}

// pytorch#183809: bf16 results changed between releases.
TEST(BugCases, D017_bf16_is_the_exact_result_rounded_once) {
  const Call call = filled({1, 4, 32, 16}, {1, 4, 32, 16}, {1, 4, 32, 16});
  const std::vector<double> exact = defined(call);
  EXPECT_NEAR(exact[0], -0.0235066, 1e-7);
  EXPECT_NEAR(exact[1], -0.0329273, 1e-7);
  EXPECT_NEAR(exact[2], 0.0153087, 1e-7);
  each_way(call, [&](const Way& way, const Results& got) {
    if (way.dtype != DType::bf16) return;
    for (std::size_t n = 0; n < exact.size(); ++n) {
      const float once = rounded(exact[n], DType::bf16);
      // One unit in the last place, for a number that lies near a tie; weights of 8 bits else.
      const double bound = way.arithmetic == Arithmetic::f32
                               ? std::ldexp(1.0, std::ilogb(once == 0 ? 1e-6f : once) - 7)
                               : tolerance(call, way, exact[n]);
      ASSERT_NEAR(got.output[n], once, bound) << "element " << n;
    }
  });
}

// llama.cpp#20031, FasterTransformer#89: dims that no vector's width divides.
TEST(BugCases, D053_every_head_dim) {
  for (const Index dim : {1, 2, 3, 7, 40, 72, 80, 88, 96, 127, 129}) {
    SCOPED_TRACE("dim " + std::to_string(dim));
    const Call call = filled({1, 2, 9, dim}, {1, 2, 9, dim}, {1, 2, 9, dim});
    expect_output(call, defined(call));
  }
}

// pytorch#169222: garbage when the keys are no multiple of 32; after them lies NaN here.
TEST(BugCases, D054_keys_that_fill_no_tile) {
  for (const auto& [keys, expected] :
       {std::pair<Index, double>{38, 0.0145697}, {39, 0.00156461}, {70, -0.00120339}}) {
    Call call = filled({1, 1, 1, 64}, {1, 1, keys, 64}, {1, 1, keys, 64});
    expect_output(call, {expected});
    for (Numbers* rows : {&call.key, &call.value}) {
      rows->extent[2] = 128;
      rows->at.resize(128 * 64, std::numeric_limits<float>::quiet_NaN());
    }
    call.key_lengths = std::vector<Index>{keys};
    expect_output(call, {expected});
  }
}

// flashinfer#5090: the zeros that fill the last tile weighed exp(0).
TEST(BugCases, D055_filling_weighs_nothing) {
  for (const Index queries : {1, 5, 40}) {
    const Call call{constant(-2, {1, 1, queries, 8}),
                    constant(1, {1, 1, 65, 8}),
                    constant(1, {1, 1, 65, 8}),
                    {},
                    {},
                    {},
                    {}};
    expect_exactly(call, std::vector<double>(static_cast<std::size_t>(queries) * 8, 1));
    expect_lse(call, std::vector<double>(static_cast<std::size_t>(queries), -1.48247));
  }
}

// mlx#3875: some split counts dropped the last partial results.
TEST(BugCases, D056_every_number_of_threads) {
  const Call call = mean_call({1, 1, 1, 4}, {1, 1, 8192, 4}, positions({1, 1, 8192, 1}));
  for (const kernels::KernelTable* table : runnable_tables())
    for (int threads = 1; threads <= 40; ++threads)
      EXPECT_EQ(made(call, {table, DType::f32, Arithmetic::f32, {}, threads}).output[0], 4095.5f)
          << table->name << ", threads " << threads;
  for (const Index keys : {1023, 1024, 1025, 3000}) {
    Call shorter = call;
    shorter.key = slice(call.key, 0, keys);
    shorter.value = slice(call.value, 0, keys);
    expect_exactly(shorter, {static_cast<double>(keys - 1) / 2});
  }
}

// pytorch#146704: 65536 batch entries.
TEST(BugCases, D060_many_batch_entries_and_many_heads) {
  std::vector<float> values;
  std::vector<float> rows;
  for (int b = 0; b < 65536; ++b) {
    values.insert(values.end(), {static_cast<float>(b % 7), static_cast<float>(b % 7 + 1)});
    rows.insert(rows.end(), 2, static_cast<float>(b % 7) + 0.5f);
  }
  for (const Extents& extent : {Extents{65536, 1, 2, 1}, {1, 65536, 2, 1}}) {
    const Call call = mean_call(extent, extent, {extent, values});
    for (const kernels::KernelTable* table : runnable_tables())
      for (const DType dtype : {DType::f32, DType::bf16})
        ASSERT_EQ(made(call, {table, dtype, Arithmetic::automatic, {}, 2}).output, rows)
            << table->name;
  }
}

}  // namespace
}  // namespace scaledot::tests
