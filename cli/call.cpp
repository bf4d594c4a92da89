#include "call.hpp"

#include <algorithm>
#include <cmath>

#include "array.hpp"

namespace scaledot::cli {

namespace {

// Axes counted from the right; lse has no dim, so its axes lie one further to the right.
constexpr int head_axis = 2, batch_axis = 3;

struct Part {
  Index begin = 0, count = 0;
};

Index extent_of(const Tensor& tensor, int from_right) {
  const int axis = tensor.rank - 1 - from_right;
  return axis < 0 ? 1 : tensor.extent[static_cast<std::size_t>(axis)];
}

// Cuts an axis, unless it broadcasts or is not there.
void cut(Tensor& tensor, int from_right, Part part) {
  if (extent_of(tensor, from_right) == 1) return;
  const auto axis = static_cast<std::size_t>(tensor.rank - 1 - from_right);
  const auto bytes = static_cast<Index>(bytes_of(element_of(tensor.dtype)));
  tensor.data = static_cast<std::byte*>(tensor.data) + part.begin * tensor.stride[axis] * bytes;
  tensor.extent[axis] = part.count;
}

Call piece_of(const Call& call, Part batch, Part key_heads) {
  const Index key_head_count = extent_of(call.key, head_axis);
  const Index group = key_head_count == 0 ? 0 : extent_of(call.query, head_axis) / key_head_count;
  const Part heads{key_heads.begin * group, key_heads.count * group};
  Call piece = call;
  const auto cut_both = [&](Tensor& tensor, Part part, int missing) {
    cut(tensor, batch_axis - missing, batch);
    cut(tensor, head_axis - missing, part);
  };
  cut_both(piece.query, heads, 0);
  cut_both(piece.key, key_heads, 0);
  cut_both(piece.value, key_heads, 0);
  cut_both(piece.outputs.output, heads, 0);
  if (piece.outputs.lse) cut_both(*piece.outputs.lse, heads, 1);
  if (piece.outputs.weights) cut_both(*piece.outputs.weights, heads, 0);
  if (piece.options.mask) cut_both(*piece.options.mask, heads, 0);
  if (piece.options.bias) cut_both(*piece.options.bias, heads, 0);
  if (piece.options.key_lengths)
    piece.options.key_lengths = piece.options.key_lengths->subspan(
        static_cast<std::size_t>(batch.begin), static_cast<std::size_t>(batch.count));
  return piece;
}

// How many of `count` things make up `least` operations, if all of them make up `operations`.
Index enough(double least, double operations, Index count) {
  if (operations <= least) return count;
  const double share = std::ceil(least / operations * static_cast<double>(count));
  return std::max(Index{1}, static_cast<Index>(share));
}

}  // namespace

Status check(const Call& call) {
  std::size_t bytes;
  return workspace_bytes(call.query, call.key, call.value, call.outputs, call.options, bytes);
}

std::vector<Call> pieces_of(const Call& call, double least_operations) {
  const Index batch = extent_of(call.query, batch_axis), heads = extent_of(call.query, head_axis);
  const Index key_heads = extent_of(call.key, head_axis);
  double operations = 2;
  for (const Index extent : {batch, heads, extent_of(call.query, 1), extent_of(call.key, 1)})
    operations *= static_cast<double>(extent);
  operations *=
      static_cast<double>(extent_of(call.query, 0)) + static_cast<double>(extent_of(call.value, 0));
  if (operations <= least_operations) return {call};

  std::vector<Call> pieces;
  const Index batch_step = enough(least_operations, operations, batch);
  const Index head_step =
      enough(least_operations, operations / static_cast<double>(batch), key_heads);
  for (Index b = 0; b < batch; b += batch_step)
    for (Index h = 0; h < key_heads; h += head_step)
      pieces.push_back(piece_of(call, {b, std::min(batch_step, batch - b)},
                                {h, std::min(head_step, key_heads - h)}));
  return pieces;
}

Status attend(const std::vector<Call>& pieces, const std::function<void(double)>& advance) {
  double done = 0;
  for (const Call& piece : pieces) {
    const Status status = attend(piece.query, piece.key, piece.value, piece.outputs, piece.options);
    if (!status.ok()) return status;
    advance(++done / static_cast<double>(pieces.size()));
  }
  return {};
}

}  // namespace scaledot::cli
