// Cases in which the choice of a path once showed, or could.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "attention.hpp"
#include "float16.hpp"
#include "tables.hpp"

namespace scaledot::tests {
namespace {

std::vector<float> attend_by(const kernels::KernelTable& table, const std::vector<float>& query,
                             const std::vector<float>& key, const std::vector<float>& value,
                             const Options& options, const Paths& paths) {
  const auto queries = static_cast<Index>(query.size()), keys = static_cast<Index>(key.size());
  std::vector<float> output(query.size(), NAN);
  const Status status =
      attend_on(table, contiguous(query.data(), DType::f32, {queries, 1}),
                contiguous(key.data(), DType::f32, {keys, 1}),
                contiguous(value.data(), DType::f32, {keys, 1}),
                {contiguous(output.data(), DType::f32, {queries, 1})}, options, paths);
  EXPECT_TRUE(status.ok()) << describe(status);
  return output;
}

// Sums gathered while the maximum was low meet a factor near 2^-126 when it rises.
TEST(Paths, ALateLargeLogitKeepsWhatCameBefore) {
  std::vector<float> key(2049, 0), value(2049, 0);
  for (std::size_t j = 1024; j < 2048; ++j) {
    key[j] = 7.75f;
    value[j] = 1;
  }
  key[2048] = 127;
  value[2048] = 0x1.8p-89f;
  Options options;
  options.scale = std::log(2.0f);
  for (const kernels::KernelTable* table : runnable_tables()) {
    const auto split = attend_by(*table, {1}, key, value, options, {});
    const auto whole = attend_by(*table, {1}, key, value, options, {.split_tasks = false});
    EXPECT_EQ(split, whole) << table->name;
  }
}

// All logits at -32: with a maximum of 0 the small values would be flushed.
TEST(Paths, SmallValuesAreNotCertified) {
  const std::vector<float> query(40, 1), key(40, -32), value(40, 0x1p-95f);
  Options options;
  options.scale = 0x1.62e43p-1f;
  for (const kernels::KernelTable* table : runnable_tables()) {
    const auto usual = attend_by(*table, query, key, value, options, {});
    EXPECT_EQ(usual, value) << table->name;
    EXPECT_EQ(usual, attend_by(*table, query, key, value, options, {.certified = false}));
  }
}

// 40 queries of ones, 256 keys and values in 40 dims: blocks without a running maximum if element
// (j, d) of keys or values is another one.
struct Facts {
  using Line = std::vector<std::uint16_t>;  // of bf16 numbers
  static std::uint16_t bits(float number) { return bf16_of_f32(number); }
  Line query, key, value, output;
  Facts() : query(40 * 40, bits(1)), key(256 * 40, 0), value(256 * 40, bits(1)), output(40 * 40) {}

  Index certified(const kernels::KernelTable& table, Arithmetic arithmetic) {
    kernels::Taken taken;
    Options options;
    options.arithmetic = arithmetic;
    options.scale = 1;
    options.threads = 1;
    const Status status =
        attend_on(table, contiguous(query.data(), DType::bf16, {40, 40}),
                  contiguous(key.data(), DType::bf16, {256, 40}),
                  contiguous(value.data(), DType::bf16, {256, 40}),
                  {contiguous(output.data(), DType::bf16, {40, 40})}, options, {.taken = &taken});
    EXPECT_TRUE(status.ok()) << describe(status);
    return taken.certified;
  }
};

TEST(Paths, EachElementMayForbidThePathWithoutMaximum) {
  for (const kernels::KernelTable* table : runnable_tables())
    for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::bf16}) {
      Facts facts;
      ASSERT_GT(facts.certified(*table, arithmetic), 0) << table->name;
      for (const std::size_t j : {0u, 1u, 30u, 31u, 32u, 129u, 255u})
        for (const std::size_t d : {0u, 1u, 31u, 32u, 39u}) {
          SCOPED_TRACE(::testing::Message() << table->name << ", key " << j << ", dim " << d);
          const std::size_t at = j * 40 + d;
          facts.key[at] = Facts::bits(-64);  // |query| * |key| is above 32 * 6
          EXPECT_EQ(facts.certified(*table, arithmetic), 0);
          facts.key[at] = 0;
          for (const float value : {-0x1p70f, 0x1p-70f}) {
            facts.value[at] = Facts::bits(value);
            EXPECT_EQ(facts.certified(*table, arithmetic), 0) << value;
          }
          facts.value[at] = Facts::bits(1);
        }
    }
}

// 100 queries and 256 keys with small logits: which blocks took which path, by what hides keys.
kernels::Taken taken_by(const kernels::KernelTable& table, const Options& options, float key) {
  kernels::Taken taken;
  const std::vector<float> query(100, 1), keys(256, key), value(256, 1);
  Options one_thread = options;
  one_thread.threads = 1;
  attend_by(table, query, keys, value, one_thread, {.taken = &taken});
  return taken;
}

TEST(Paths, WeightsAreMadeInRegistersWhereNothingIsHidden) {
  const float seen[256] = {};
  for (const kernels::KernelTable* table : runnable_tables()) {
    const Index tiles = pieces(100, table->rows), blocks = 2 * tiles;
    const auto all = taken_by(*table, {}, 1);
    EXPECT_EQ(all.blocks, blocks) << table->name;
    EXPECT_EQ(all.certified, blocks) << table->name;
    EXPECT_EQ(all.in_registers, blocks) << table->name;

    const auto large = taken_by(*table, {}, 100);
    EXPECT_EQ(large.blocks, blocks) << table->name;
    EXPECT_EQ(large.certified, 0) << table->name;
    EXPECT_EQ(large.in_registers, 0) << table->name;

    Options causal;  // query i sees the keys up to i + 156, so all see the second block's first
    causal.causal = Causal::bottom_right;
    const auto late = taken_by(*table, causal, 1);
    EXPECT_EQ(late.certified, blocks) << table->name;
    EXPECT_EQ(late.in_registers, blocks) << table->name;
    causal.causal = Causal::top_left;  // up to i, so in the first tile none see all
    const auto early = taken_by(*table, causal, 1);
    EXPECT_EQ(early.certified, early.blocks) << table->name;
    EXPECT_GT(early.in_registers, 0) << table->name;
    EXPECT_LT(early.in_registers, early.blocks) << table->name;

    std::vector<std::uint8_t> marks(100 * 256, 1);
    Options masked;
    masked.mask = contiguous(marks.data(), DType::boolean, {100, 256});
    EXPECT_EQ(taken_by(*table, masked, 1).in_registers, blocks)
        << table->name << ": mask hides none";
    for (Index i = 0; i < 100; ++i) marks[static_cast<std::size_t>(i * 256 + 130)] = 0;
    const auto holes = taken_by(*table, masked, 1);
    EXPECT_EQ(holes.blocks, blocks) << table->name;
    EXPECT_EQ(holes.in_registers, tiles) << table->name;
    for (Index i = 0; i < 100; ++i)
      for (Index j = 128; j < 256; ++j) marks[static_cast<std::size_t>(i * 256 + j)] = j >= 192;
    const auto half = taken_by(*table, masked, 1);
    EXPECT_EQ(half.blocks, blocks) << table->name;
    EXPECT_EQ(half.in_registers, blocks) << table->name << ": what all see of a block";
    for (Index i = 0; i < 100; ++i)
      for (Index j = 192; j < 256; ++j) marks[static_cast<std::size_t>(i * 256 + j)] = 0;
    EXPECT_EQ(taken_by(*table, masked, 1).blocks, tiles) << table->name << ": hidden from all";

    Options biased;
    biased.bias = contiguous(seen, DType::f32, {1, 256});
    EXPECT_EQ(taken_by(*table, biased, 1).in_registers, 0) << table->name;
  }
}

// Tiles pass each split together where panels are far away; these are not.
TEST(Paths, TilesPassFarSplitsTogether) {
  const std::vector<float> query(100, 1), keys(3000, 1), value(3000, 1);
  for (const kernels::KernelTable* table : runnable_tables()) {
    const auto merged = [&](bool far, const Options& options) {
      kernels::Taken taken;
      Options one_thread = options;
      one_thread.threads = 1;
      attend_by(*table, query, keys, value, one_thread, {.far_panels = far, .taken = &taken});
      return taken.merged_splits;
    };
    const Index tiles = pieces(100, table->rows);
    EXPECT_EQ(merged(true, {}), tiles > 1 ? 2 * tiles : 0) << table->name;
    EXPECT_EQ(merged(false, {}), 0) << table->name;
    Options causal;
    causal.causal = Causal::top_left;  // sees one split
    EXPECT_EQ(merged(true, causal), 0) << table->name;
  }
}

// A lone query reads keys and values where they lie; not if it has a mask, or company.
TEST(Paths, FewRowsReadKeysWhereTheyLie) {
  const std::vector<float> keys(3000, 1), value(3000, 1);
  const bool seen[3000] = {true};
  for (const kernels::KernelTable* table : runnable_tables()) {
    const auto splits_of = [&](Index queries, const Options& options) {
      kernels::Taken taken;
      Options one_thread = options;
      one_thread.threads = 1;
      const std::vector<float> query(static_cast<std::size_t>(queries), 1);
      attend_by(*table, query, keys, value, one_thread, {.taken = &taken});
      return taken.thin_splits;
    };
    EXPECT_EQ(splits_of(1, {}), 3) << table->name;
    Options window;
    window.causal = Causal::bottom_right;
    window.window = {1500, 0};
    EXPECT_EQ(splits_of(1, window), 2) << table->name;
    Options masked;
    masked.mask = contiguous(seen, DType::boolean, {1, 3000});
    EXPECT_EQ(splits_of(1, masked), 0) << table->name;
    EXPECT_EQ(splits_of(200, {}), 0) << table->name;
  }
}

// Panels are held for as many heads as keep the threads busy, not for all.
TEST(Paths, ScratchForManyHeadsIsBounded) {
  constexpr Index heads = 64, queries = 33, keys = 131072, dim = 128;
  float one = 0;
  const auto tensor = [&](Index length) {
    Tensor t = contiguous(&one, DType::f32, {heads, length, dim});
    t.stride = {0, 0, 0, 0};
    return t;
  };
  Tensor output = contiguous(nullptr, DType::f32, {heads, queries, dim});
  output.data = reinterpret_cast<void*>(std::uintptr_t{1} << 40);  // only looked at
  Options options;
  for (const int threads : {1, 2, 64}) {
    options.threads = threads;
    std::size_t bytes = 0;
    ASSERT_TRUE(
        workspace_bytes(tensor(queries), tensor(keys), tensor(keys), {output}, options, bytes)
            .ok());
    EXPECT_LT(bytes, std::size_t{512} << 20) << threads;
  }
}

TEST(Paths, TheNearestNumberOfHeadsDoesNotOverflow) {
  constexpr Index most = INT64_MAX;
  const Tensor query = contiguous(nullptr, DType::f32, {1, most / 2 + 2, 0, 8});
  const Tensor key = contiguous(nullptr, DType::f32, {1, most, 0, 8});
  const Status status = attend(query, key, key, {query});
  EXPECT_EQ(status.code, Status::Code::extent);
  EXPECT_STREQ(status.argument, "query");
}

TEST(Paths, TooManyThreadsAreRefused) {
  Options options;
  options.threads = 65537;
  float x[4] = {};
  const Tensor in = contiguous(x, DType::f32, {1, 1}), out = contiguous(x + 2, DType::f32, {1, 1});
  const Status status = attend(in, in, in, {out}, options);
  EXPECT_EQ(status.code, Status::Code::option);
  EXPECT_EQ(status.expected, 65536);
  EXPECT_EQ(describe(status), "threads is 65537, expected at most 65536");
}

}  // namespace
}  // namespace scaledot::tests
