#include "convert.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace scaledot::cli {

void f64_to_f32(Array& array, const std::string& argument, Beyond beyond, Notes& notes) {
  constexpr float largest = std::numeric_limits<float>::max();
  const float limit = beyond == Beyond::largest ? largest : std::numeric_limits<float>::infinity();
  const std::size_t count = array.data.size() / sizeof(double);
  std::size_t too_large = 0;
  for (std::size_t i = 0; i < count;
       ++i) {  // in place: the results lie below what is still to read
    double number;
    std::memcpy(&number, array.data.data() + i * sizeof number, sizeof number);
    auto rounded = static_cast<float>(number);
    if (std::isinf(rounded) && !std::isinf(number)) {
      rounded = std::copysign(limit, rounded);
      ++too_large;
    }
    std::memcpy(array.data.data() + i * sizeof rounded, &rounded, sizeof rounded);
  }
  array.data.resize(count * sizeof(float));
  array.element = Element::f32;
  std::string note = argument + ": f64 rounded to f32";
  if (too_large > 0)
    note += "; " + std::to_string(too_large) + " beyond its range became " +
            (beyond == Beyond::largest ? "the largest f32" : "infinite");
  notes.push_back(note);
}

Array bf16_to_f32(const Array& array) {
  Array wide = zeros(Element::f32, array.extents);
  wide.order = array.order;
  for (std::size_t i = 0; i < wide.data.size() / sizeof(float); ++i) {
    std::uint16_t half;
    std::memcpy(&half, array.data.data() + i * sizeof half, sizeof half);
    const std::uint32_t bits = std::uint32_t{half} << 16;
    std::memcpy(wide.data.data() + i * sizeof bits, &bits, sizeof bits);
  }
  return wide;
}

std::vector<Index> integers_of(const Array& array) {
  const std::size_t size = bytes_of(array.element);
  std::vector<Index> numbers(array.data.size() / size);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::byte* const at = array.data.data() + i * size;
    std::int32_t narrow = 0;
    if (array.element == Element::i64) {
      std::memcpy(&numbers[i], at, sizeof(Index));
    } else {
      std::memcpy(&narrow, at, sizeof narrow);
      numbers[i] = narrow;
    }
  }
  return numbers;
}

}  // namespace scaledot::cli
