#include "measure/shape.hpp"

#include <algorithm>

namespace scaledot::measure {

Seen seen_by(const Shape& shape, Index query) {
  const bool bottom_right = shape.causal == Causal::bottom_right;
  const Index diagonal = query + (bottom_right ? shape.keys - shape.queries : 0);
  // A window longer than all positions together is as good as unlimited, and cannot overflow.
  const Index enough = shape.queries + shape.keys;
  Seen seen{0, shape.keys};
  if (shape.causal != Causal::off) seen.end = std::min(seen.end, diagonal + 1);
  if (shape.window.left != unlimited)
    seen.begin = std::max(seen.begin, diagonal - std::min(shape.window.left, enough));
  if (shape.window.right != unlimited)
    seen.end = std::min(seen.end, diagonal + std::min(shape.window.right, enough) + 1);
  seen.begin = std::min(seen.begin, shape.keys);
  seen.end = std::max(seen.end, seen.begin);
  return seen;
}

Seen seen_by_any(const Shape& shape) {
  Seen all{shape.keys, 0};
  for (Index i = 0; i < shape.queries; ++i) {
    const Seen seen = seen_by(shape, i);
    if (seen.begin >= seen.end) continue;
    all = {std::min(all.begin, seen.begin), std::max(all.end, seen.end)};
  }
  return {std::min(all.begin, all.end), all.end};
}

double pairs(const Shape& shape) {
  double one_head = 0;
  for (Index i = 0; i < shape.queries; ++i) {
    const Seen seen = seen_by(shape, i);
    one_head += static_cast<double>(seen.end - seen.begin);
  }
  return one_head * static_cast<double>(shape.batch) * static_cast<double>(shape.heads);
}

double flops(const Shape& shape) {
  const double dims = static_cast<double>(shape.head_dim) + static_cast<double>(shape.value_dim);
  return 2 * pairs(shape) * dims;
}

double bytes(const Shape& shape) {
  const Seen seen = seen_by_any(shape);
  const double rows =
      static_cast<double>(shape.heads) * static_cast<double>(shape.queries) +
      static_cast<double>(shape.key_heads) * static_cast<double>(seen.end - seen.begin);
  const double dims = static_cast<double>(shape.head_dim) + static_cast<double>(shape.value_dim);
  return static_cast<double>(shape.batch) * rows * dims *
         static_cast<double>(element_bytes(shape.dtype));
}

Arithmetic resolved_arithmetic(const Shape& shape) {
  if (shape.arithmetic != Arithmetic::automatic) return shape.arithmetic;
  return shape.dtype == DType::bf16 ? Arithmetic::bf16 : Arithmetic::f32;
}

Index element_bytes(DType dtype) {
  return dtype == DType::f32 ? 4 : dtype == DType::boolean ? 1 : 2;
}

const char* name_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "f32";
    case DType::f16:
      return "f16";
    case DType::bf16:
      return "bf16";
    case DType::boolean:
      return "boolean";
  }
  return "";
}

const char* name_of(Causal causal) {
  switch (causal) {
    case Causal::off:
      return "off";
    case Causal::top_left:
      return "top_left";
    case Causal::bottom_right:
      return "bottom_right";
  }
  return "";
}

const char* name_of(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::automatic:
      return "automatic";
    case Arithmetic::f32:
      return "f32";
    case Arithmetic::bf16:
      return "bf16";
  }
  return "";
}

}  // namespace scaledot::measure
