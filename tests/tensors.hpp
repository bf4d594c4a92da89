// Tensors in memory of their own, laid out in every way a caller may choose, gaps filled with 0xFF.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "numbers.hpp"

namespace scaledot::tests {

// How the elements [batch, head, position, dim] lie in memory.
enum class Layout : std::uint8_t {
  contiguous,
  transposed,  // heads inside positions, as a projection leaves them
  negative,    // every axis backwards
  odd,         // lines three elements apart, from an odd element on
  columns,     // positions inside dims: the last axis is not contiguous
};
inline constexpr Layout layouts[] = {Layout::contiguous, Layout::transposed, Layout::negative,
                                     Layout::odd, Layout::columns};

// A tensor and its memory. All bytes start as 0xFF, which is NaN in every type.
struct Held {
  Held() = default;
  Held(const Extents& extents, DType dtype, Layout layout = Layout::contiguous);
  Held(Held&&) = default;
  Held& operator=(Held&&) = default;

  std::vector<std::byte> bytes;
  Tensor tensor;
};

// The same with `numbers`, rounded to the type; a boolean is any byte but 0 where a number is not
// 0.
Held held(const Numbers& numbers, DType dtype, Layout layout = Layout::contiguous);

Extents extents_of(const Tensor& tensor);
Numbers numbers_of(const Tensor& tensor);  // booleans as 0 and 1

// The raw bits of all elements in C order.
std::vector<std::uint32_t> bits_of(const Tensor& tensor);

// The positions [begin, end) of one axis; another view of the same memory.
Tensor part(const Tensor& tensor, int axis, Index begin, Index end);
// With rank 4 and axes of length 1 in front; those and all of length 1 have stride 0.
Tensor of_rank_4(const Tensor& tensor);

// Whether every byte outside the tensor's elements is still 0xFF.
bool gaps_are_untouched(const Held& held);

}  // namespace scaledot::tests
