#include "array.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace scaledot::cli {

std::size_t bytes_of(Element element) {
  switch (element) {
    case Element::boolean:
      return 1;
    case Element::f16:
    case Element::bf16:
      return 2;
    case Element::f32:
    case Element::i32:
      return 4;
    case Element::f64:
    case Element::i64:
      break;
  }
  return 8;
}

const char* name_of(Element element) {
  switch (element) {
    case Element::f32:
      return "f32";
    case Element::f16:
      return "f16";
    case Element::bf16:
      return "bf16";
    case Element::boolean:
      return "boolean";
    case Element::f64:
      return "f64";
    case Element::i32:
      return "i32";
    case Element::i64:
      break;
  }
  return "i64";
}

std::optional<DType> dtype_of(Element element) {
  switch (element) {
    case Element::f32:
      return DType::f32;
    case Element::f16:
      return DType::f16;
    case Element::bf16:
      return DType::bf16;
    case Element::boolean:
      return DType::boolean;
    default:
      return std::nullopt;
  }
}

Element element_of(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return Element::f16;
    case DType::bf16:
      return Element::bf16;
    case DType::boolean:
      return Element::boolean;
    case DType::f32:
      break;
  }
  return Element::f32;
}

std::optional<std::size_t> bytes_of(Element element, const std::vector<Index>& extents) {
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return 0;
  auto bytes = static_cast<Index>(bytes_of(element));
  for (const Index extent : extents)
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
  return static_cast<std::size_t>(bytes);
}

Array zeros(Element element, std::vector<Index> extents) {
  const auto bytes = bytes_of(element, extents);
  if (!bytes) throw std::bad_alloc();
  return {element, std::move(extents), Order::c, Buffer(*bytes)};
}

Tensor tensor_of(const Array& array) {
  constexpr std::size_t most = std::tuple_size_v<decltype(Tensor::extent)>;
  Tensor tensor;
  tensor.data = const_cast<std::byte*>(array.data.data());
  tensor.dtype = dtype_of(array.element).value();
  tensor.rank = static_cast<int>(
      std::min<std::size_t>(array.extents.size(), std::numeric_limits<int>::max()));
  const std::size_t axes = std::min(array.extents.size(), most);
  std::copy_n(array.extents.begin(), axes, tensor.extent.begin());
  if (array.data.size() == 0) return tensor;  // without elements no stride is ever used
  Index step = 1;
  for (std::size_t i = 0; i < axes; ++i) {
    const std::size_t axis = array.order == Order::c ? axes - 1 - i : i;
    tensor.stride[axis] = step;
    step *= tensor.extent[axis];
  }
  return tensor;
}

void swap_bytes(Array& array) {
  const std::size_t size = bytes_of(array.element);
  for (std::byte *at = array.data.data(), *end = at + array.data.size(); at != end; at += size)
    std::reverse(at, at + size);
}

std::string shape_text(const std::vector<Index>& extents) {
  constexpr std::size_t most = 8;
  std::string text = "[";
  for (std::size_t axis = 0; axis < std::min(extents.size(), most); ++axis) {
    if (axis > 0) text += ", ";
    text += std::to_string(extents[axis]);
  }
  text += extents.size() > most ? ", ...]" : "]";
  return text;
}

}  // namespace scaledot::cli
