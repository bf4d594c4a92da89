// Every tensor ends or begins at a page that nobody may touch, inputs cannot be written to, and the
// gaps of strided outputs keep their bytes. The results are those of the same call on plain copies.
#include <cstdio>
#include <memory>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "attention.hpp"
#include "guarded.hpp"
#include "dispatch.hpp"
#include "numbers.hpp"
#include "tables.hpp"
#include "view.hpp"

namespace scaledot::tests {
namespace {

enum class Layout { contiguous, padded, transposed, reversed };

// A tensor in guarded memory. Bytes between its elements are 0xFF.
class Placed {
 public:
  Placed(const Numbers& numbers, DType dtype, Layout layout, Edge edge) {
    const std::size_t rank = numbers.extent.size();
    tensor_.dtype = dtype;
    tensor_.rank = static_cast<int>(rank);
    // The axes from the innermost in memory outwards.
    Index stride = layout == Layout::padded ? 2 : 1, first = 0, last = 0;
    for (std::size_t n = 0; n < rank; ++n) {
      std::size_t axis = rank - 1 - n;
      if (layout == Layout::transposed && rank >= 2 && n < 2) axis = rank - 2 + n;
      const Index extent = numbers.extent[axis];
      tensor_.extent[axis] = extent;
      tensor_.stride[axis] = layout == Layout::reversed && n > 0 ? -stride : stride;
      (tensor_.stride[axis] < 0 ? first : last) += (extent - 1) * tensor_.stride[axis];
      stride = stride * extent + (layout == Layout::padded ? 3 : 0);
    }
    const bool empty = numbers.at.empty();
    const Index elements = empty ? 0 : last - first + 1;
    memory_ = std::make_unique<Guarded>(static_cast<std::size_t>(elements * bytes_of(dtype)), edge);
    tensor_.data = memory_->data() - (empty ? 0 : first * bytes_of(dtype));
    write(tensor_, numbers.at);
    forget_gaps();
  }

  const Tensor& tensor() const { return tensor_; }
  void forbid_writing() { memory_->forbid_writing(); }
  // Whether all bytes but the elements are what they were.
  bool gaps_kept() const {
    const std::vector<std::byte> now(memory_->data(), memory_->data() + memory_->size());
    return blank(now) == gaps_;
  }

 private:
  void forget_gaps() { gaps_ = blank({memory_->data(), memory_->data() + memory_->size()}); }
  // The bytes with all elements set to 0.
  std::vector<std::byte> blank(std::vector<std::byte> bytes) const {
    Tensor copy = tensor_;
    if (bytes.empty()) return bytes;
    copy.data = bytes.data() + (static_cast<std::byte*>(tensor_.data) - memory_->data());
    write(copy, std::vector<float>(read_count(), 0));
    return bytes;
  }
  std::size_t read_count() const {
    Index all = 1;
    for (int axis = 0; axis < tensor_.rank; ++axis)
      all *= tensor_.extent[static_cast<std::size_t>(axis)];
    return static_cast<std::size_t>(all);
  }

  Tensor tensor_;
  std::unique_ptr<Guarded> memory_;
  std::vector<std::byte> gaps_;
};

// Draws from a fixed sequence, so that a case is known by its number.
class Draw {
 public:
  explicit Draw(unsigned number) : engine_(number) {}

  template <typename T>
  T of(std::initializer_list<T> choices) {
    return choices.begin()[engine_() % choices.size()];
  }
  bool chance(unsigned percent) { return engine_() % 100 < percent; }

 private:
  std::mt19937 engine_;
};

struct Case {
  Index batch, key_heads, group, queries, keys, head_dim, value_dim;
  DType query_type, key_type, value_type, output_type, bias_type;
  Options options;
  bool lse, weights, mask, bias, lengths;
  std::vector<Layout> layouts;  // of query, key, value, mask, bias, output, lse, weights
  Edge edge;
  Paths paths;
};

Case drawn(unsigned number) {
  Draw draw(number);
  const auto type = [&] { return draw.of({DType::f32, DType::f16, DType::bf16}); };
  Case one{draw.of<Index>({1, 2}),
           draw.of<Index>({1, 2}),
           draw.of<Index>({1, 3, 8}),
           draw.of<Index>({1, 1, 2, 5, 16, 17, 33, 65, 0}),
           draw.of<Index>({0, 1, 2, 7, 8, 9, 31, 32, 33, 65, 127, 129, 260}),
           draw.of<Index>({0, 1, 3, 4, 8, 16, 20, 33, 64, 65}),
           draw.of<Index>({0, 1, 2, 5, 8, 16, 24, 31, 64, 67}),
           type(),
           type(),
           type(),
           type(),
           type(),
           {},
           draw.chance(50),
           draw.chance(25),
           draw.chance(30),
           draw.chance(30),
           draw.chance(30),
           {},
           draw.of({Edge::begin, Edge::end, Edge::end}),
           {}};
  if (draw.chance(30)) one.query_type = one.key_type = one.value_type = DType::bf16;
  one.options.causal = draw.of({Causal::off, Causal::top_left, Causal::bottom_right});
  one.options.window = {draw.of<Index>({-1, -1, 0, 3, 40}), draw.of<Index>({-1, -1, 0, 5})};
  one.options.softcap = draw.of({0.0f, 0.0f, 2.0f});
  one.options.threads = draw.of({1, 1, 2});
  for (int n = 0; n < 8; ++n)
    one.layouts.push_back(draw.of({Layout::contiguous, Layout::contiguous, Layout::padded,
                                   Layout::transposed, Layout::reversed}));
  one.paths = {draw.chance(50), draw.chance(50), draw.chance(50)};
  return one;
}

struct Inputs {
  Numbers query, key, value, mask, bias, output, lse, weights;
  std::vector<Index> lengths;
};

Inputs inputs_of(const Case& one) {
  const Index heads = one.key_heads * one.group;
  const auto seen = [&](Index b, Index h, Index i, Index j) {
    return (b + h + 3 * i + j) % 4 != 0;
  };
  Inputs inputs{fill(3, {one.batch, heads, one.queries, one.head_dim}),
                fill(5, {one.batch, one.key_heads, one.keys, one.head_dim}),
                fill(7, {one.batch, one.key_heads, one.keys, one.value_dim}),
                each({1, heads, one.queries, one.keys}, seen),
                fill(2, {one.batch, 1, one.queries, one.keys}),
                constant(0, {one.batch, heads, one.queries, one.value_dim}),
                constant(0, {one.batch, heads, one.queries}),
                constant(0, {one.batch, heads, one.queries, one.keys}),
                {}};
  for (Index b = 0; b < one.batch; ++b) inputs.lengths.push_back((one.keys * 2 + b) / 3);
  return inputs;
}

struct Results {
  std::vector<float> output, lse, weights;
};

// Everything in one layout and at one edge, or as the case says.
Results made(const Case& one, const Inputs& inputs, const kernels::KernelTable& table,
             bool guarded) {
  std::vector<std::unique_ptr<Placed>> placed;
  const auto place = [&](const Numbers& numbers, DType dtype) {
    const Layout layout = guarded ? one.layouts[placed.size()] : Layout::contiguous;
    placed.push_back(std::make_unique<Placed>(numbers, dtype, layout, one.edge));
    return placed.back()->tensor();
  };
  const Tensor query = place(inputs.query, one.query_type), key = place(inputs.key, one.key_type),
               value = place(inputs.value, one.value_type),
               mask = place(inputs.mask, DType::boolean), bias = place(inputs.bias, one.bias_type);
  for (const auto& input : placed) input->forbid_writing();
  Outputs outputs{place(inputs.output, one.output_type), {}, {}};
  const Tensor lse = place(inputs.lse, DType::f32), weights = place(inputs.weights, DType::f32);
  if (one.lse) outputs.lse = lse;
  if (one.weights) outputs.weights = weights;
  Options options = one.options;
  if (one.mask) options.mask = mask;
  if (one.bias) options.bias = bias;
  if (one.lengths) options.key_lengths = inputs.lengths;

  std::size_t bytes = 0;
  const Status sized = workspace_bytes(query, key, value, outputs, options, bytes);
  EXPECT_TRUE(sized.ok()) << describe(sized);
  const Guarded workspace(bytes, one.edge);
  // workspace_bytes() speaks of the table in use, so the others take memory of their own, and of
  // attend(), which does little work alone.
  Paths paths = one.paths;
  if (guarded && &table == table_in_use()) {
    options.workspace = {workspace.data(), bytes};
    paths.alone = true;
  }
  const Status status = attend_on(table, query, key, value, outputs, options, paths);
  EXPECT_TRUE(status.ok()) << describe(status);
  for (const auto& tensor : placed) EXPECT_TRUE(tensor->gaps_kept());
  return {read(outputs.output), read(lse), read(weights)};
}

void expect_guarded(unsigned number) {
  const Case one = drawn(number);
  const Inputs inputs = inputs_of(one);
  for (const kernels::KernelTable* table : runnable_tables()) {
    std::array<char, 200> line{};
    std::snprintf(line.data(), line.size(),
                  "case %u on %s: batch %d, heads %d on %d, queries %d, keys %d, dims %d and %d\n",
                  number, table->name, static_cast<int>(one.batch),
                  static_cast<int>(one.key_heads * one.group), static_cast<int>(one.key_heads),
                  static_cast<int>(one.queries), static_cast<int>(one.keys),
                  static_cast<int>(one.head_dim), static_cast<int>(one.value_dim));
    SCOPED_TRACE(line.data());
    replay_by(line.data());
    const Results got = made(one, inputs, *table, true), want = made(one, inputs, *table, false);
    ASSERT_TRUE(same_bits(got.output, want.output));
    ASSERT_TRUE(same_bits(got.lse, want.lse));
    ASSERT_TRUE(same_bits(got.weights, want.weights));
  }
}

TEST(Guard, nothing_outside_the_tensors_is_touched) {
  for (unsigned number = 0; number < 300 && !HasFailure(); ++number) expect_guarded(number);
}

}  // namespace
}  // namespace scaledot::tests
