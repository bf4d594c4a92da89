// Bugs of positions: causal alignment, sliding windows, key lengths, prompts and decoding.
#include <cmath>

#include <gtest/gtest.h>

#include "bug_case.hpp"

namespace scaledot::tests {
namespace {

// The mean of the numbers of the keys that each row sees.
Call mean_of_keys(Index queries, Index keys) {
  return mean_call({1, 1, queries, 4}, {1, 1, keys, 4}, positions({1, 1, keys, 1}));
}

// mlx#2835, #2836: one alignment where the caller meant the other.
TEST(BugCases, D020_causal_with_more_keys_than_queries) {
  Call call = mean_of_keys(3, 6);
  call.options.causal = Causal::top_left;
  expect_exactly(call, {0, 0.5, 1});
  call.options.causal = Causal::bottom_right;
  expect_exactly(call, {1.5, 2, 2.5});
}

// flash-attention#1778, pytorch#108108: rows before the first key.
TEST(BugCases, D021_causal_with_more_queries_than_keys) {
  Call call = mean_call({1, 1, 5, 4}, {1, 1, 2, 4}, Numbers{{1, 1, 2, 1}, {1, 2}});
  call.options.causal = Causal::bottom_right;
  expect_exactly(call, {0, 0, 0, 1, 1.5});
  call.options.causal = Causal::top_left;
  expect_exactly(call, {1, 1.5, 1.5, 1.5, 1.5});
}

TEST(BugCases, D021_every_pair_of_lengths) {
  for (const Index queries : {1, 2, 15, 16, 17, 33, 65}) {
    for (const Index keys : {1, 2, 15, 33, 129}) {
      SCOPED_TRACE(std::to_string(queries) + " queries, " + std::to_string(keys) + " keys");
      Call call = mean_of_keys(queries, keys);
      for (const Causal causal : {Causal::top_left, Causal::bottom_right}) {
        std::vector<double> rows;
        for (Index i = 0; i < queries; ++i) {
          const Index last =
              std::min(causal == Causal::top_left ? i : i + keys - queries, keys - 1);
          rows.push_back(last < 0 ? 0 : static_cast<double>(last) / 2);
        }
        call.options.causal = causal;
        expect_exactly(call, rows);
      }
    }
  }
}

// onnx#8068: the diagonal of a padded batch entry starts at its own length.
TEST(BugCases, D022_causal_with_key_lengths) {
  Call call =
      mean_call({2, 1, 4, 4}, {2, 1, 4, 4}, Numbers{{2, 1, 4, 1}, {1, 2, 3, 4, 1, 2, 3, 4}});
  call.options.causal = Causal::bottom_right;
  call.key_lengths = std::vector<Index>{2, 4};
  expect_exactly(call, {0, 0, 1, 1.5, 1, 1.5, 2, 2.5});
  call.options.causal = Causal::top_left;
  expect_exactly(call, {1, 1.5, 1.5, 1.5, 1, 1.5, 2, 2.5});
}

// The queries [begin, end) of a sequence, with the keys that they have by then.
Call chunk(const Call& whole, Index begin, Index end) {
  Call part = whole;
  part.query = slice(whole.query, begin, end);
  part.key = slice(whole.key, 0, end);
  part.value = slice(whole.value, 0, end);
  part.options.causal = Causal::bottom_right;
  return part;
}

// The rows of `part` are those of `whole` from query `begin` on, bit for bit.
void expect_rows_of(const Call& whole, const Call& part, Index begin) {
  const auto queries = static_cast<std::size_t>(whole.query.extent[2]);
  const auto rows = static_cast<std::size_t>(part.query.extent[2]);
  const auto dims = static_cast<std::size_t>(whole.value.extent[3]);
  for (const Way& way : ways(whole)) {
    SCOPED_TRACE(way.name());
    const Results all = made(whole, way), got = made(part, way);
    ASSERT_TRUE(got.status.ok()) << describe(got.status);
    for (std::size_t row = 0; row < got.lse.size(); ++row) {
      const std::size_t same = row / rows * queries + static_cast<std::size_t>(begin) + row % rows;
      ASSERT_EQ(got.lse[row], all.lse[same]) << "row " << row;
      for (std::size_t d = 0; d < dims; ++d)
        ASSERT_EQ(got.output[row * dims + d], all.output[same * dims + d]) << "row " << row;
    }
  }
}

// mlx#3573: a row changed when the chunk grew and another kernel took over.
TEST(BugCases, D023_a_row_does_not_change_as_its_chunk_grows) {
  for (const Index past : {0, 31, 64, 130}) {
    for (const Index added : {1, 2, 8, 9, 12, 40}) {
      SCOPED_TRACE(std::to_string(past) + " keys and " + std::to_string(added));
      Call whole{fill(3, {1, 1, past + added, 64}),
                 fill(5, {1, 1, past + added, 64}),
                 fill(7, {1, 1, past + added, 64}),
                 {},
                 {},
                 {},
                 {}};
      const Call one = chunk(whole, past, past + 1), all = chunk(whole, past, past + added);
      expect_rows_of(all, one, 0);
    }
  }
}

// flash-attention#1569, #1402: one key at a time differs from all at once.
TEST(BugCases, D024_token_by_token_equals_one_call) {
  Call whole{
      fill(3, {1, 2, 12, 8}), fill(5, {1, 2, 12, 8}), fill(7, {1, 2, 12, 8}), {}, {}, {}, {}};
  whole.options.causal = Causal::top_left;
  expect_output(whole, {0.0549711, -0.0694602, 0.0350438}, 11 * 8);
  for (Index i = 0; i < 12; ++i) expect_rows_of(whole, chunk(whole, i, i + 1), i);
}

// executorch#9105, #4322: a long prompt in chunks was wrong inside a tile.
TEST(BugCases, D025_prompt_in_chunks) {
  Call whole = mean_of_keys(700, 700);
  whole.options.causal = Causal::top_left;
  std::vector<double> rows;
  for (int i = 0; i < 700; ++i) rows.push_back(i / 2.0);
  expect_exactly(whole, rows);
  for (const auto& [begin, end] : {std::pair<Index, Index>{0, 256}, {256, 512}, {512, 700}})
    expect_exactly(chunk(whole, begin, end), {rows.begin() + begin, rows.begin() + end});
}

// transformers#39408, #40163: a window of 3 with the own key is 2 to the left.
TEST(BugCases, D086_window_of_three_with_causal) {
  Call call = mean_of_keys(6, 6);
  call.options.causal = Causal::top_left;
  call.options.window = {2, 0};
  expect_exactly(call, {0, 0.5, 1, 2, 3, 4});
  call.options.causal = Causal::off;  // the window alone says the same
  expect_exactly(call, {0, 0.5, 1, 2, 3, 4});
  call.options.window = {2, unlimited};
  call.options.causal = Causal::top_left;
  expect_exactly(call, {0, 0.5, 1, 2, 3, 4});
}

TEST(BugCases, D086_every_window) {
  const Index queries = 23, keys = 37;
  Call call = mean_of_keys(queries, keys);
  for (const Causal causal : {Causal::off, Causal::top_left, Causal::bottom_right}) {
    for (const Index left : {-1, 0, 1, 7, 40}) {
      for (const Index right : {-1, 0, 1, 7, 40}) {
        std::vector<double> rows;
        for (Index i = 0; i < queries; ++i) {
          const Index diagonal = causal == Causal::bottom_right ? i + keys - queries : i;
          Index sum = 0, seen = 0;
          for (Index j = 0; j < keys; ++j) {
            if (left >= 0 && j < diagonal - left) continue;
            if (right >= 0 && j > diagonal + right) continue;
            if (causal != Causal::off && j > diagonal) continue;
            sum += j;
            ++seen;
          }
          rows.push_back(seen == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(seen));
        }
        SCOPED_TRACE(std::to_string(left) + "," + std::to_string(right));
        call.options.causal = causal;
        call.options.window = {left, right};
        expect_exactly(call, rows);
      }
    }
  }
}

// transformers#29623, vllm#3385: a window of 2048 held 2049 keys.
TEST(BugCases, D087_keys_in_a_window_of_2048) {
  for (const auto& [left, lse] : {std::pair{2047, 7.62461899}, {2048, 7.62510715}}) {
    for (const Index queries : {4096, 1}) {
      Call call = mean_call({1, 1, queries, 1}, {1, 1, 4096, 1}, constant(1, {1, 1, 4096, 1}));
      call.options.causal = Causal::bottom_right;
      call.options.window = {left, 0};
      for (const Way& way : ways(call)) {
        if (queries > 1 && !way.is_plain()) continue;  // says nothing new, and takes long
        const Results got = made(call, way);
        ASSERT_TRUE(got.status.ok()) << describe(got.status);
        EXPECT_NEAR(got.lse.back(), lse, 2e-6) << way.name();
      }
    }
  }
}

// jax#32300: the window was dropped when no mask came with it.
TEST(BugCases, D088_window_without_mask) {
  Call call = mean_of_keys(5, 5);
  call.options.window = {1, 2};
  expect_exactly(call, {1, 1.5, 2.5, 3, 3.5});
  call.mask = constant(1, {1, 1, 1, 1});
  expect_exactly(call, {1, 1.5, 2.5, 3, 3.5});
}

// executorch#21857: all rows of a chunk saw the window of the last one.
TEST(BugCases, D089_window_in_a_chunk) {
  Call call = mean_of_keys(3, 8);
  call.options.causal = Causal::bottom_right;
  call.options.window = {2, 0};
  expect_exactly(call, {4, 5, 6});
}

TEST(BugCases, D089_window_in_chunks_of_a_long_prompt) {
  Call whole{
      fill(3, {1, 2, 150, 8}), fill(5, {1, 1, 150, 8}), fill(7, {1, 1, 150, 8}), {}, {}, {}, {}};
  whole.options.causal = Causal::top_left;
  whole.options.window = {40, 0};
  for (const auto& [begin, end] : {std::pair<Index, Index>{0, 70}, {70, 71}, {71, 150}})
    expect_rows_of(whole, chunk(whole, begin, end), begin);
}

}  // namespace
}  // namespace scaledot::tests
