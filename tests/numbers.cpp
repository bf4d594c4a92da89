// Storage of numbers as tensors.
#include "numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "view.hpp"

namespace scaledot::tests {
namespace {

// A 16-bit type by its widths: sign, exponent, fraction.
struct Half {
  int exponent, fraction;

  int lowest() const { return 2 - (1 << (exponent - 1)); }  // exponent of the smallest normal
};

constexpr Half half_of(DType dtype) { return dtype == DType::f16 ? Half{5, 10} : Half{8, 7}; }

std::uint16_t encode(double number, Half half) {
  const int infinity = ((1 << half.exponent) - 1) << half.fraction;
  const int sign = std::signbit(number) ? 0x8000 : 0;
  if (std::isnan(number)) return static_cast<std::uint16_t>(infinity | 1 << (half.fraction - 1));
  if (std::isinf(number)) return static_cast<std::uint16_t>(sign | infinity);
  if (number == 0) return static_cast<std::uint16_t>(sign);
  const int power = std::max(std::ilogb(number), half.lowest());
  const auto units =
      static_cast<int>(std::nearbyint(std::ldexp(std::fabs(number), half.fraction - power)));
  const int bits = ((power - half.lowest()) << half.fraction) + units;
  return static_cast<std::uint16_t>(sign | std::min(bits, infinity));
}

double decode(std::uint16_t bits, Half half) {
  const int field = (bits & 0x7FFF) >> half.fraction;
  const int fraction = bits & ((1 << half.fraction) - 1);
  double number = std::ldexp(fraction + (field > 0 ? 1 << half.fraction : 0),
                             std::max(field - 1, 0) + half.lowest() - half.fraction);
  if (field == (1 << half.exponent) - 1) number = fraction == 0 ? INFINITY : NAN;
  return (bits & 0x8000) != 0 ? -number : number;
}

Index count(const Extents& extent) {
  Index all = 1;
  for (const Index one : extent) all *= one;
  return all;
}

Tensor described(void* data, DType dtype, const Extents& extent) {
  Tensor tensor{data, dtype, static_cast<int>(extent.size()), {}, {}};
  Index stride = 1;
  for (std::size_t axis = extent.size(); axis-- > 0; stride *= extent[axis]) {
    tensor.extent[axis] = extent[axis];
    tensor.stride[axis] = stride;
  }
  return tensor;
}

// Where the elements lie, in C order.
std::vector<std::byte*> elements(const Tensor& tensor) {
  const Extents extent(tensor.extent.begin(), tensor.extent.begin() + tensor.rank);
  std::vector<std::byte*> places(static_cast<std::size_t>(count(extent)));
  std::array<Index, 4> index{};
  Index element = 0;
  for (std::byte*& place : places) {
    place = static_cast<std::byte*>(tensor.data) + element * bytes_of(tensor.dtype);
    // To the next index: the last axis first, and an axis at its end starts anew.
    for (std::size_t axis = extent.size(); axis-- > 0;) {
      element += tensor.stride[axis];
      if (++index[axis] < extent[axis]) break;
      element -= extent[axis] * tensor.stride[axis];
      index[axis] = 0;
    }
  }
  return places;
}

}  // namespace

Numbers fill(int a, const Extents& extent) {
  Numbers numbers{extent, {}};
  for (Index n = 0; n < count(extent); ++n)
    numbers.at.push_back(static_cast<float>((a * n + a) % 13 - 6) / 8);
  return numbers;
}

Numbers constant(float number, const Extents& extent) {
  return {extent, std::vector<float>(static_cast<std::size_t>(count(extent)), number)};
}

Numbers positions(const Extents& extent) {
  Numbers numbers{extent, {}};
  const Index dims = extent.back(), rows = extent[extent.size() - 2];
  for (Index n = 0; n < count(extent); ++n)
    numbers.at.push_back(static_cast<float>(n / dims % rows));
  return numbers;
}

Numbers each(const Extents& extent,
             const std::function<float(Index, Index, Index, Index)>& element) {
  Numbers numbers{extent, {}};
  for (Index b = 0; b < extent[0]; ++b)
    for (Index h = 0; h < extent[1]; ++h)
      for (Index i = 0; i < extent[2]; ++i)
        for (Index j = 0; j < extent[3]; ++j) numbers.at.push_back(element(b, h, i, j));
  return numbers;
}

Numbers slice(const Numbers& whole, Index begin, Index end) {
  const std::size_t axis = whole.extent.size() - 2;
  const Index rows = whole.extent[axis], dims = whole.extent[axis + 1];
  Numbers part{whole.extent, {}};
  part.extent[axis] = end - begin;
  for (Index n = 0; n < count(whole.extent); ++n) {
    const Index row = n / dims % rows;
    if (begin <= row && row < end) part.at.push_back(whole.at[static_cast<std::size_t>(n)]);
  }
  return part;
}

float rounded(double number, DType dtype) {
  if (dtype == DType::f32) return static_cast<float>(number);
  return static_cast<float>(decode(encode(number, half_of(dtype)), half_of(dtype)));
}

Stored::Stored(const Numbers& numbers, DType dtype)
    : bytes(numbers.at.size() * static_cast<std::size_t>(bytes_of(dtype))),
      tensor(described(bytes.data(), dtype, numbers.extent)) {
  write(tensor, numbers.at);
}

std::vector<float> read(const Tensor& tensor) {
  std::vector<float> numbers;
  for (const std::byte* at : elements(tensor)) {
    float number = 0;
    std::uint16_t half = 0;
    if (tensor.dtype == DType::f32) {
      std::memcpy(&number, at, 4);
    } else {
      std::memcpy(&half, at, 2);
      number = static_cast<float>(decode(half, half_of(tensor.dtype)));
    }
    numbers.push_back(number);
  }
  return numbers;
}

void write(const Tensor& tensor, const std::vector<float>& numbers) {
  std::size_t n = 0;
  for (std::byte* at : elements(tensor)) {
    const float number = numbers[n++];
    if (tensor.dtype == DType::f32) {
      std::memcpy(at, &number, 4);
    } else if (tensor.dtype == DType::boolean) {
      *at = std::byte{number != 0};
    } else {
      const std::uint16_t half = encode(number, half_of(tensor.dtype));
      std::memcpy(at, &half, 2);
    }
  }
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * 4) == 0);
}

}  // namespace scaledot::tests
