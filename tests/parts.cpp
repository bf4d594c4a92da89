// Views of a call's tensors.
#include "parts.hpp"

namespace scaledot::tests {
namespace {

// As part(), for a mask or bias: aligned to the right with rank 4, and an axis that it lacks or
// that has length 1 stays as it is.
Tensor broadcast_part(const Tensor& tensor, int axis, Index begin, Index end) {
  const int own = axis - (4 - tensor.rank);
  if (own < 0 || tensor.extent[static_cast<std::size_t>(own)] == 1) return tensor;
  return part(tensor, own, begin, end);
}

void cut_marks(Options& options, int axis, Index begin, Index end) {
  if (options.mask) options.mask = broadcast_part(*options.mask, axis, begin, end);
  if (options.bias) options.bias = broadcast_part(*options.bias, axis, begin, end);
}

}  // namespace

Arguments entry_of(const Arguments& arguments, Index b) {
  Arguments one = arguments;
  one.query = part(one.query, 0, b, b + 1);
  one.key = part(one.key, 0, b, b + 1);
  one.value = part(one.value, 0, b, b + 1);
  cut_marks(one.options, 0, b, b + 1);
  if (one.options.key_lengths)
    one.options.key_lengths = one.options.key_lengths->subspan(static_cast<std::size_t>(b), 1);
  return one;
}

Arguments key_head_of(const Arguments& arguments, Index g) {
  Arguments one = arguments;
  const Index group = arguments.query.extent[1] / arguments.key.extent[1];
  one.query = part(one.query, 1, g * group, (g + 1) * group);
  one.key = part(one.key, 1, g, g + 1);
  one.value = part(one.value, 1, g, g + 1);
  cut_marks(one.options, 1, g * group, (g + 1) * group);
  return one;
}

Arguments rows_of(const Arguments& arguments, Index begin, Index end, Index keys) {
  Arguments some = arguments;
  some.query = part(some.query, 2, begin, end);
  some.key = part(some.key, 2, 0, keys);
  some.value = part(some.value, 2, 0, keys);
  cut_marks(some.options, 2, begin, end);
  cut_marks(some.options, 3, 0, keys);
  return some;
}

Arguments query_alone(const Arguments& arguments, Index i, Index keys_seen) {
  Arguments one = rows_of(arguments, i, i + 1, keys_seen);
  const Options& whole = arguments.options;
  const Index keys = whole.key_lengths ? (*whole.key_lengths)[0] : arguments.key.extent[2];
  const Index diagonal =
      whole.causal == Causal::bottom_right ? i + keys - arguments.query.extent[2] : i;
  const Index last = keys_seen - 1;  // the diagonal of the part
  one.options.key_lengths.reset();
  one.options.causal = Causal::bottom_right;
  if (whole.window.left != unlimited)
    one.options.window.left = last - (diagonal - whole.window.left);
  if (whole.window.right != unlimited) one.options.window.right = 0;
  return one;
}

Outcome part_of(const Outcome& whole, int axis, Index begin, Index end, Index keys) {
  Outcome some;
  some.output.tensor = part(whole.output.tensor, axis, begin, end);
  some.lse.tensor = part(whole.lse.tensor, axis, begin, end);
  if (whole.weights.tensor.data != nullptr)
    some.weights.tensor = part(part(whole.weights.tensor, axis, begin, end), 3, 0, keys);
  return some;
}

}  // namespace scaledot::tests
