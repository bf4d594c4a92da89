// Numbers in C order, and tensors with memory of their own that hold them.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "scaledot/attention.hpp"

namespace scaledot::tests {

using Extents = std::vector<Index>;

// Numbers in C order, to be stored in one type or another.
struct Numbers {
  Extents extent;
  std::vector<float> at;
};

// The fill that the list calls P*a*: element n in C order is ((a n + a) mod 13 - 6) / 8.
Numbers fill(int a, const Extents& extent);
Numbers constant(float number, const Extents& extent);
// Each row [.., j, :] holds its own number j. As values behind queries of 0 they make a row of the
// output the mean number of the keys that the row sees, exactly.
Numbers positions(const Extents& extent);
// Element [b, h, i, j] of a tensor of rank 4 is element(b, h, i, j).
Numbers each(const Extents& extent,
             const std::function<float(Index, Index, Index, Index)>& element);
// The positions [begin, end) of a tensor's last axis but one.
Numbers slice(const Numbers& whole, Index begin, Index end);

// A tensor and its memory.
struct Stored {
  Stored(const Numbers& numbers, DType dtype);

  std::vector<std::byte> bytes;
  Tensor tensor;
};

// All elements in C order, widened; and stored from there.
std::vector<float> read(const Tensor& tensor);
void write(const Tensor& tensor, const std::vector<float>& numbers);
// The number rounded to the type, ties to even.
float rounded(double number, DType dtype);
// -0 and 0 differ, and so do NaNs with other bits.
bool same_bits(const std::vector<float>& a, const std::vector<float>& b);

}  // namespace scaledot::tests
