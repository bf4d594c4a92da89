// The bits of a row depend on its own query, the keys and values that it sees and the options, and
// on nothing else: compared bit for bit, over generated cases, on every usable table.
#include <algorithm>
#include <cmath>
#include <optional>

#include <gtest/gtest.h>

#include "canonical.hpp"
#include "compare.hpp"
#include "parts.hpp"
#include "random.hpp"
#include "tables.hpp"

namespace scaledot::tests {
namespace {

// Calls check(table, case, arguments, usual way to make the call) for cases that `accept` likes.
template <class Check>
void each_case(Index count, Index seed, const std::function<bool(const Case&)>& accept,
               const Check& check) {
  for (const Case& one : cases_or_replayed(count, seed, accept)) {
    const Inputs inputs = inputs_of(one);
    const Arguments arguments = arguments_of(inputs);
    for (const kernels::KernelTable* table : runnable_tables()) {
      SCOPED_TRACE(::testing::Message() << one << " on " << table->name);
      const How how{table, {}, 1, one.output_type, Layout::contiguous, one.seed % 3 == 0};
      check(one, inputs, arguments, how);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

bool has_rows(const Case& one) { return one.batch * one.queries * one.keys > 0; }

}  // namespace

TEST(Bits, do_not_depend_on_the_table) {
  for (const Case& one : cases_or_replayed(2500, 21)) {
    const Inputs inputs = inputs_of(one);
    const Arguments arguments = arguments_of(inputs);
    const double tiny = flushed_below(arguments);
    How how{&kernels::scalar_table, {}, 1, one.output_type, Layout::contiguous, true};
    const Outcome scalar = outcome(arguments, how);
    for (const kernels::KernelTable* table : runnable_tables()) {
      SCOPED_TRACE(::testing::Message() << one << " on " << table->name);
      how.table = table;
      expect_same(outcome(arguments, how), scalar, tiny);
    }
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Bits, are_those_of_the_documented_order) {
  each_case(500, 22, {}, [](const Case& one, const Inputs&, const Arguments& arguments, How how) {
    how.weights = true;
    const Outcome got = outcome(arguments, how);
    const Definition definition(arguments);
    Numbers output{extents_of(got.output.tensor), {}}, lse{extents_of(got.lse.tensor), {}};
    Numbers weights{extents_of(got.weights.tensor), {}};
    for (Index b = 0; b < one.batch; ++b)
      for (Index h = 0; h < one.heads(); ++h)
        for (Index i = 0; i < one.queries; ++i) {
          const CanonicalRow row = canonical_row(definition, one.bf16(), b, h, i);
          output.at.insert(output.at.end(), row.output.begin(), row.output.end());
          weights.at.insert(weights.at.end(), row.weights.begin(), row.weights.end());
          lse.at.push_back(row.lse);
        }
    Outcome expected;
    expected.output = held(output, one.output_type);
    expected.weights = held(weights, one.output_type);
    expected.lse = held(lse, DType::f32);
    expect_same(got, expected, flushed_below(arguments));
  });
}

TEST(Bits, do_not_depend_on_the_threads) {
  each_case(300, 23, {}, [](const Case&, const Inputs&, const Arguments& arguments, How how) {
    const Outcome alone = outcome(arguments, how);
    for (const int threads : {2, 3, 8}) {
      SCOPED_TRACE(threads);
      how.threads = threads;
      expect_same(outcome(arguments, how), alone, 0);
    }
  });
}

TEST(Bits, do_not_depend_on_the_path) {
  each_case(250, 24, {}, [](const Case&, const Inputs&, const Arguments& arguments, How how) {
    const Outcome usual = outcome(arguments, how);
    const double tiny = flushed_below(arguments);
    for (const Paths paths :
         {Paths{.certified = false}, Paths{.shared_panels = false}, Paths{.split_tasks = false},
          Paths{.thin = false}, Paths{.far_panels = true}, Paths{false, false, false, false}}) {
      SCOPED_TRACE(::testing::Message()
                   << "certified " << paths.certified << ", shared panels " << paths.shared_panels
                   << ", split tasks " << paths.split_tasks << ", far panels " << paths.far_panels);
      how.paths = paths;
      for (const int threads : {1, 3}) {
        how.threads = threads;
        expect_same(outcome(arguments, how), usual, tiny);
      }
    }
  });
}

// One row, up to four and up to eight take different numbers of vectors of a value at once.
TEST(Bits, of_few_rows_are_the_same_where_they_lie) {
  Case one;
  one.keys = 100;
  for (one.group = 1; one.group <= 9; ++one.group)
    for (one.value_dim = 8; one.value_dim <= 136; one.value_dim += 8)
      for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
        one.head_dim = one.value_dim + 1;
        one.query_type = one.key_type = one.value_type = dtype;
        const Inputs inputs = inputs_of(one);
        const Arguments arguments = arguments_of(inputs);
        const double tiny = flushed_below(arguments);
        for (const kernels::KernelTable* table : runnable_tables()) {
          SCOPED_TRACE(::testing::Message() << one << " on " << table->name);
          expect_same(outcome(arguments, {.table = table}),
                      outcome(arguments, {.table = table, .paths = {.thin = false}}), tiny);
        }
        if (::testing::Test::HasFailure()) return;
      }
}

TEST(Bits, do_not_depend_on_the_strides) {
  each_case(100, 25, {},
            [](const Case&, const Inputs& inputs, const Arguments& arguments, How how) {
              const Outcome usual = outcome(arguments, how);
              for (const Layout layout : layouts) {
                SCOPED_TRACE(static_cast<int>(layout));
                const Inputs other = laid_out(inputs, layout);
                how.output_layout = layout;
                expect_same(outcome(arguments_of(other), how), usual, 0);
              }
            });
}

// Heads, entries and positions that lie in one place, by a stride of 0.
TEST(Bits, do_not_depend_on_expanded_axes) {
  each_case(100, 26, has_rows,
            [](const Case& one, const Inputs&, const Arguments& arguments, How how) {
              Arguments expanded = arguments;
              const auto expand = [](Tensor& tensor, std::size_t axis) { tensor.stride[axis] = 0; };
              for (Tensor* tensor : {&expanded.query, &expanded.key, &expanded.value})
                expand(*tensor, 0);
              expand(one.seed % 2 == 0 ? expanded.query : expanded.value, 1);
              if (one.seed % 5 == 0) expand(expanded.key, 2);
              if (one.seed % 7 == 0 && expanded.options.bias && one.bias_axes == 0)
                expand(*expanded.options.bias, 2);
              const Held query = held(numbers_of(expanded.query), one.query_type);
              const Held key = held(numbers_of(expanded.key), one.key_type);
              const Held value = held(numbers_of(expanded.value), one.value_type);
              Arguments full{query.tensor, key.tensor, value.tensor, expanded.options};
              std::optional<Held> bias;
              if (full.options.bias) {
                bias = held(numbers_of(*expanded.options.bias), one.bias_type);
                full.options.bias = bias->tensor;
              }
              expect_same(outcome(expanded, how), outcome(full, how), 0);
            });
}

TEST(Bits, do_not_depend_on_the_rest_of_the_batch) {
  each_case(
      120, 27, has_rows, [](const Case& one, const Inputs&, const Arguments& arguments, How how) {
        how.threads = 2;
        const Outcome whole = outcome(arguments, how);
        for (Index b = 0; b < one.batch; ++b) {
          const Arguments entry = entry_of(arguments, b);
          expect_same(outcome(entry, how), part_of(whole, 0, b, b + 1, one.keys), 0);
        }
        for (Index g = 0; g < one.key_heads; ++g) {
          const Outcome alone = outcome(key_head_of(arguments, g), how);
          expect_same(alone, part_of(whole, 1, g * one.group, (g + 1) * one.group, one.keys), 0);
        }
      });
}

namespace {

// One more than the last key that query i sees in any head.
Index seen_end(const Definition& definition, Index i) {
  Index end = definition.keys();
  const auto seen = [&](Index j) {
    for (Index h = 0; h < definition.heads(); ++h)
      if (definition.sees(0, h, i, j)) return true;
    return false;
  };
  while (end > 0 && !seen(end - 1)) --end;
  return end;
}

}  // namespace

TEST(Bits, of_a_query_alone_are_those_of_its_row) {
  each_case(400, 28, has_rows,
            [](const Case& one, const Inputs&, const Arguments& arguments, How how) {
              const Outcome whole = outcome(arguments, how);
              const double tiny = flushed_below(arguments);
              const Index step = std::max<Index>(1, one.queries / 4);
              for (Index b = 0; b < one.batch; ++b) {
                const Arguments entry = entry_of(arguments, b);
                const Definition definition(entry);
                const Outcome rows = part_of(whole, 0, b, b + 1, one.keys);
                for (Index i = one.seed % step; i < one.queries; i += step) {
                  const Index end = seen_end(definition, i);
                  if (end == 0) continue;
                  SCOPED_TRACE(::testing::Message() << "entry " << b << ", query " << i);
                  const Outcome alone = outcome(query_alone(entry, i, end), how);
                  expect_same(alone, part_of(rows, 2, i, i + 1, end), tiny);
                }
              }
            });
}

// Chunks of a prompt against the keys so far. With a window to the right, or no causal limit, a
// chunk needs all keys.
TEST(Bits, of_a_prompt_in_chunks_are_those_of_the_whole) {
  const auto cut = [](const Case& one) {
    return has_rows(one) && one.queries > 1 && !one.key_lengths && one.keys >= one.queries &&
           one.causal == Causal::bottom_right;
  };
  each_case(120, 29, cut, [](const Case& one, const Inputs&, const Arguments& arguments, How how) {
    const Outcome whole = outcome(arguments, how);
    const Index before = one.keys - one.queries;
    for (const Index size : {Index{1}, Index{3}, Index{16}, (one.queries + 1) / 2}) {
      for (Index i = 0; i < one.queries; i += size) {
        if (size == 1 && i % 5 != 0) continue;
        const Index end = std::min(i + size, one.queries);
        SCOPED_TRACE(::testing::Message() << "queries from " << i << " to " << end);
        const Outcome chunk = outcome(rows_of(arguments, i, end, before + end), how);
        expect_same(chunk, part_of(whole, 2, i, end, before + end), flushed_below(arguments));
      }
    }
  });
}

namespace {

// The same inputs with the keys and values that one row does not see overwritten. `number`: what
// with; none: with random numbers of any size.
Inputs spoiled(const Inputs& inputs, const Definition& definition, Index b, Index h, Index i,
               std::optional<float> number) {
  Inputs other = laid_out(inputs, Layout::odd);
  Random random{17};
  for (Held* held : {&other.key, &other.value}) {
    Numbers numbers = numbers_of(held->tensor);
    const auto dim = static_cast<std::size_t>(numbers.extent[3]);
    for (Index j = 0; j < definition.keys(); ++j) {
      if (definition.sees(b, h, i, j)) continue;
      const Index line = (b * numbers.extent[1] + definition.key_head(h)) * definition.keys() + j;
      for (std::size_t d = 0; d < dim; ++d) {
        const float garbage = std::ldexp(1.0f, static_cast<int>(random.below(31)) - 15);
        numbers.at[static_cast<std::size_t>(line) * dim + d] =
            number ? *number : garbage * random.normal();
      }
    }
    write(held->tensor, numbers.at);
  }
  return other;
}

}  // namespace

// Some of those keys are seen by other rows of the same tile.
TEST(Bits, do_not_depend_on_what_hidden_keys_hold) {
  const auto hiding = [](const Case& one) {
    return has_rows(one) && (one.causal != Causal::off || one.left >= 0 || one.right >= 0 ||
                             one.mask != Masks::none || one.bias == Biases::hiding);
  };
  each_case(
      150, 30, hiding,
      [](const Case& one, const Inputs& inputs, const Arguments& arguments, How how) {
        const Outcome whole = outcome(arguments, how);
        const Definition definition(arguments);
        const Index b = one.seed % one.batch, h = one.seed % one.heads(),
                    i = one.seed % one.queries;
        for (const std::optional<float> number : {std::optional<float>{}, {NAN}, {INFINITY}}) {
          SCOPED_TRACE(::testing::Message() << "entry " << b << ", head " << h << ", query " << i
                                            << ", holding " << number.value_or(1));
          const Inputs other = spoiled(inputs, definition, b, h, i, number);
          const Outcome got = outcome(arguments_of(other), how);
          const auto row = [&](const Outcome& of) {
            return part_of(part_of(part_of(of, 0, b, b + 1, one.keys), 1, h, h + 1, one.keys), 2, i,
                           i + 1, one.keys);
          };
          expect_same(row(got), row(whole), flushed_below(arguments));
        }
      });
}

}  // namespace scaledot::tests
