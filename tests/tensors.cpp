// Layouts, views, and the bytes between elements.
#include "tensors.hpp"

#include <array>
#include <cstring>
#include <utility>

#include "view.hpp"

namespace scaledot::tests {
namespace {

constexpr Index margin = 16;  // elements before and after

// Axes of a tensor of rank 4 from the innermost out.
std::array<int, 4> order_of(Layout layout) {
  if (layout == Layout::transposed) return {3, 1, 2, 0};
  if (layout == Layout::columns) return {2, 3, 1, 0};
  return {3, 2, 1, 0};
}

template <class Visit>
void each_element(const Tensor& tensor, const Visit& visit) {
  const Tensor all = of_rank_4(tensor);
  for (Index b = 0; b < all.extent[0]; ++b)
    for (Index h = 0; h < all.extent[1]; ++h)
      for (Index i = 0; i < all.extent[2]; ++i)
        for (Index d = 0; d < all.extent[3]; ++d)
          visit(static_cast<std::byte*>(all.data) +
                (b * all.stride[0] + h * all.stride[1] + i * all.stride[2] + d * all.stride[3]) *
                    bytes_of(all.dtype));
}

}  // namespace

Held::Held(const Extents& extents, DType dtype, Layout layout) {
  const int rank = static_cast<int>(extents.size()), front = 4 - rank;
  tensor = {nullptr, dtype, rank, {}, {}};
  Index stride = 1, first = margin + (layout == Layout::odd ? 1 : 0);
  bool innermost = true;
  for (const int axis : order_of(layout)) {
    if (axis < front) continue;
    const auto at = static_cast<std::size_t>(axis - front);
    const Index extent = extents[at];
    tensor.extent[at] = extent;
    tensor.stride[at] = layout == Layout::negative ? -stride : stride;
    if (layout == Layout::negative) first += larger(extent - 1, 0) * stride;
    stride *= larger(extent, 1);
    if (innermost && layout == Layout::odd) stride += 3;
    innermost = false;
  }
  bytes.assign(static_cast<std::size_t>((stride + 2 * margin + 1) * bytes_of(dtype)),
               std::byte{0xFF});
  tensor.data = bytes.data() + first * bytes_of(dtype);
}

Held held(const Numbers& numbers, DType dtype, Layout layout) {
  Held made(numbers.extent, dtype, layout);
  if (dtype != DType::boolean) {
    write(made.tensor, numbers.at);
    return made;
  }
  std::size_t n = 0;
  each_element(made.tensor, [&](std::byte* at) {
    const auto truth = static_cast<unsigned char>(1 + n % 255);
    *at = numbers.at[n++] != 0 ? std::byte{truth} : std::byte{0};
  });
  return made;
}

Extents extents_of(const Tensor& tensor) {
  return {tensor.extent.begin(), tensor.extent.begin() + tensor.rank};
}

Numbers numbers_of(const Tensor& tensor) {
  if (tensor.dtype != DType::boolean) return {extents_of(tensor), read(tensor)};
  Numbers numbers{extents_of(tensor), {}};
  each_element(tensor, [&](const std::byte* at) {
    numbers.at.push_back(*at != std::byte{0} ? 1.0f : 0.0f);
  });
  return numbers;
}

std::vector<std::uint32_t> bits_of(const Tensor& tensor) {
  std::vector<std::uint32_t> bits;
  each_element(tensor, [&](const std::byte* at) {
    std::uint32_t element = 0;  // both kinds of machine we run on are little-endian
    std::memcpy(&element, at, static_cast<std::size_t>(bytes_of(tensor.dtype)));
    bits.push_back(element);
  });
  return bits;
}

Tensor part(const Tensor& tensor, int axis, Index begin, Index end) {
  Tensor view = tensor;
  const auto at = static_cast<std::size_t>(axis);
  view.data =
      static_cast<std::byte*>(tensor.data) + begin * tensor.stride[at] * bytes_of(tensor.dtype);
  view.extent[at] = end - begin;
  return view;
}

Tensor of_rank_4(const Tensor& tensor) {
  Tensor all{tensor.data, tensor.dtype, 4, {1, 1, 1, 1}, {}};
  const auto front = static_cast<std::size_t>(4 - tensor.rank);
  for (std::size_t axis = front; axis < 4; ++axis) {
    all.extent[axis] = tensor.extent[axis - front];
    all.stride[axis] = all.extent[axis] == 1 ? 0 : tensor.stride[axis - front];
  }
  return all;
}

bool gaps_are_untouched(const Held& held) {
  std::vector<std::byte> bytes = held.bytes;
  each_element(held.tensor, [&](const std::byte* at) {
    std::memset(bytes.data() + (at - held.bytes.data()), 0xFF,
                static_cast<std::size_t>(bytes_of(held.tensor.dtype)));
  });
  for (const std::byte byte : bytes)
    if (byte != std::byte{0xFF}) return false;
  return true;
}

}  // namespace scaledot::tests
