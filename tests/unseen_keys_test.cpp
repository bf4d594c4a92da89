// Keys and values that no row sees lie on pages that nobody may touch.
#include <functional>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "attention.hpp"
#include "dispatch.hpp"
#include "guarded.hpp"
#include "numbers.hpp"
#include "tables.hpp"
#include "view.hpp"

namespace scaledot::tests {
namespace {

using Seen = std::function<bool(Index)>;

// Each key and each value on a page of its own.
struct Rows {
  Rows(const Numbers& numbers, DType dtype)
      : memory(static_cast<std::size_t>(numbers.extent[2]) * page_bytes(), Edge::begin),
        step(static_cast<Index>(page_bytes()) / bytes_of(dtype)),
        tensor{memory.data(),
               dtype,
               4,
               {1, 1, numbers.extent[2], numbers.extent[3]},
               {0, 0, step, 1}} {
    write(tensor, numbers.at);
  }
  void forbid(const Seen& seen) const {
    for (Index j = 0; j < tensor.extent[2]; ++j)
      if (!seen(j)) forbid_page(memory.data() + static_cast<std::size_t>(j) * page_bytes());
  }

  Guarded memory;
  Index step;
  Tensor tensor;
};

// The call on pages where only the keys seen may be read has the bits of the one where all may.
void expect_unread(Index queries, Index keys, const Seen& seen, const Options& options) {
  const Index dim = 24;
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const Stored query(fill(3, {1, 4, queries, dim}), dtype);
    const Rows key(fill(5, {1, 1, keys, dim}), dtype), value(fill(7, {1, 1, keys, dim}), dtype);
    const Stored output(constant(0, {1, 4, queries, dim}), dtype),
        weights(constant(0, {1, 4, queries, keys}), DType::f32);
    const auto run = [&](const kernels::KernelTable& table, const Paths& paths, bool all) {
      Outputs outputs{output.tensor, {}, {}};
      if (all) outputs.weights = weights.tensor;
      const Status status =
          attend_on(table, query.tensor, key.tensor, value.tensor, outputs, options, paths);
      EXPECT_TRUE(status.ok()) << describe(status);
      return read(output.tensor);
    };
    const std::vector<float> want = run(*usable_tables().front(), {}, false);
    key.forbid(seen);
    value.forbid(seen);
    for (const kernels::KernelTable* table : runnable_tables()) {
      for (const Paths& paths :
           {Paths{}, Paths{.certified = false}, Paths{.shared_panels = false},
            Paths{.split_tasks = false}, Paths{.thin = false}, Paths{.far_panels = true}}) {
        for (const bool all : {false, true}) {
          const std::string line = std::string(table->name) + ": " + std::to_string(queries) +
                                   " queries, " + std::to_string(keys) + " keys\n";
          replay_by(line.c_str());
          ASSERT_TRUE(same_bits(run(*table, paths, all), want)) << line;
        }
      }
    }
  }
}

TEST(UnseenKeys, beyond_the_key_length) {
  for (const Index queries : {1, 5, 40}) {
    for (const Index length : {0, 1, 33, 128, 200}) {
      const std::vector<Index> lengths = {length};
      Options options;
      options.key_lengths = lengths;
      expect_unread(
          queries, 300, [&](Index j) { return j < length; }, options);
    }
  }
}

TEST(UnseenKeys, after_the_diagonal_and_outside_the_window) {
  for (const Index queries : {1, 5, 40}) {
    Options options;
    options.causal = Causal::top_left;
    expect_unread(
        queries, 300, [&](Index j) { return j < queries; }, options);
    options.causal = Causal::bottom_right;
    options.window = {20, unlimited};
    expect_unread(
        queries, 300, [&](Index j) { return j >= 300 - queries - 20; }, options);
    options.causal = Causal::off;
    options.window = {3, 100};
    expect_unread(
        queries, 300, [&](Index j) { return j < queries + 100; }, options);
  }
}

TEST(UnseenKeys, of_a_mask_or_bias) {
  const Seen patterns[] = {[](Index j) { return j >= 150; }, [](Index j) { return j % 3 == 1; },
                           [](Index j) { return j == 299; }, [](Index) { return false; }};
  for (const Index queries : {1, 5, 40}) {
    for (const Seen& seen : patterns) {
      const Stored mask(each({1, 1, queries, 300},
                             [&](Index, Index, Index i, Index j) {
                               return seen(j) && (queries == 1 || (i + j) % 2 == 0 || i < 2);
                             }),
                        DType::boolean);
      const Stored bias(each({1, 1, 1, 300},
                             [&](Index, Index, Index, Index j) {
                               return seen(j) ? 0.5f : -std::numeric_limits<float>::infinity();
                             }),
                        DType::f32);
      Options options;
      options.mask = mask.tensor;
      expect_unread(queries, 300, seen, options);
      options.mask.reset();
      options.bias = bias.tensor;
      expect_unread(queries, 300, seen, options);
    }
  }
}

}  // namespace
}  // namespace scaledot::tests
