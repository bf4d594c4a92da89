#include "room.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace scaledot::fuzz {

namespace {

// What lies before data and behind it, in elements.
struct Reach {
  Index low = 0, high = 0;
};

Reach reach_of(const Tensor& tensor) {
  Reach reach;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(tensor.rank); ++axis) {
    const Index last = (tensor.extent[axis] - 1) * tensor.stride[axis];
    (last < 0 ? reach.low : reach.high) += last;
  }
  return reach;
}

std::uint32_t bits_at(const std::byte* at, std::size_t bytes) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, at, bytes);
  return bits;
}

// f16 counts in full, since it holds nothing that is small enough to be ignored.
float size_of(std::uint32_t bits, DType dtype) {
  if (dtype == DType::f16) return 1;
  if (dtype == DType::bf16) bits <<= 16;
  float number;
  std::memcpy(&number, &bits, sizeof number);
  return std::fabs(number);
}

}  // namespace

std::size_t element_bytes(DType dtype) {
  return dtype == DType::f32 ? 4 : dtype == DType::boolean ? 1 : 2;
}

Index elements_of(const Tensor& tensor) {
  Index elements = 1;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(tensor.rank); ++axis)
    elements *= tensor.extent[axis];
  return elements;
}

Index offset_of(const Tensor& tensor, Index place) {
  Index offset = 0;
  for (auto axis = static_cast<std::size_t>(tensor.rank); axis-- > 0;) {
    offset += place % tensor.extent[axis] * tensor.stride[axis];
    place /= tensor.extent[axis];
  }
  return offset;
}

Room room_for(Tensor tensor, std::byte filling) {
  Room room;
  const std::size_t size = element_bytes(tensor.dtype);
  Reach reach{0, -1};
  if (elements_of(tensor) > 0) reach = reach_of(tensor);
  room.bytes = static_cast<std::size_t>(reach.high - reach.low + 1) * size;
  room.memory = std::make_unique<std::byte[]>(room.bytes);
  std::fill_n(room.memory.get(), room.bytes, filling);
  tensor.data = room.memory.get() + static_cast<std::size_t>(-reach.low) * size;
  room.tensor = tensor;
  return room;
}

void expect_same(const Room& got, const Room& expected, float ignored_below, const char* argument) {
  const Tensor& tensor = got.tensor;
  const std::size_t size = element_bytes(tensor.dtype);
  for (Index place = 0; place < elements_of(tensor); ++place) {
    const Index offset = offset_of(tensor, place) * static_cast<Index>(size);
    const auto* got_at = static_cast<const std::byte*>(tensor.data) + offset;
    const auto* expected_at = static_cast<const std::byte*>(expected.tensor.data) + offset;
    const std::uint32_t a = bits_at(got_at, size), b = bits_at(expected_at, size);
    if (a == b ||
        (size_of(a, tensor.dtype) < ignored_below && size_of(b, tensor.dtype) < ignored_below))
      continue;
    std::fprintf(stderr, "%s: element %lld has the bits %x, expected %x\n", argument,
                 static_cast<long long>(place), a, b);
    std::abort();
  }
}

void expect_untouched(const Room& room, std::byte filling, Where where, const char* argument) {
  std::vector<bool> belongs(room.bytes, false);
  const std::size_t size = element_bytes(room.tensor.dtype);
  const std::ptrdiff_t start = static_cast<const std::byte*>(room.tensor.data) - room.memory.get();
  if (where == Where::between_elements)
    for (Index place = 0; place < elements_of(room.tensor); ++place) {
      const Index at = start + offset_of(room.tensor, place) * static_cast<Index>(size);
      std::fill_n(belongs.begin() + at, size, true);
    }
  for (std::size_t i = 0; i < room.bytes; ++i) {
    if (belongs[i] || room.memory[i] == filling) continue;
    std::fprintf(stderr, "%s: byte %zu of %zu was written\n", argument, i, room.bytes);
    std::abort();
  }
}

}  // namespace scaledot::fuzz
