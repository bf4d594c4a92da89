// Plain views of somebody else's memory: ranges of positions and the lines of one tensor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "scaledot/attention.hpp"

namespace scaledot {

struct Range {
  Index begin = 0, end = 0;  // [begin, end)

  constexpr bool empty() const { return end <= begin; }
};

constexpr Index smaller(Index a, Index b) { return a < b ? a : b; }
constexpr Index larger(Index a, Index b) { return a < b ? b : a; }

// count / size, rounded up; count >= 0.
constexpr Index pieces(Index count, Index size) { return count / size + (count % size != 0); }
constexpr Index round_up(Index count, Index size) { return pieces(count, size) * size; }

constexpr Index bytes_of(DType dtype) {
  return dtype == DType::f32 ? 4 : dtype == DType::boolean ? 1 : 2;
}

// The lines [head, position, dim] of one batch entry and the heads of one group. Strides count
// elements. No data means that the tensor is not there.
struct Lines {
  const std::byte* data = nullptr;
  DType dtype = DType::f32;
  Index head_stride = 0, position_stride = 0, dim_stride = 0;

  constexpr const std::byte* at(Index head, Index position, Index dim = 0) const {
    return data +
           (head * head_stride + position * position_stride + dim * dim_stride) * bytes_of(dtype);
  }
  // Whether every head and position has the same line.
  constexpr bool is_same_for_all() const {
    return data == nullptr || (head_stride == 0 && position_stride == 0);
  }
  // The same as at(), to write there.
  std::byte* to(Index head, Index position, Index dim) const {
    return const_cast<std::byte*>(at(head, position, dim));
  }
};

}  // namespace scaledot
