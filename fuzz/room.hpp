// A tensor and its memory, which is exactly as long as the strides reach: AddressSanitizer sees
// every step beyond it.
#pragma once

#include <cstddef>
#include <memory>

#include "scaledot/attention.hpp"

namespace scaledot::fuzz {

struct Room {
  std::unique_ptr<std::byte[]> memory;
  std::size_t bytes = 0;
  Tensor tensor;  // data lies inside memory
};

// A room for a tensor whose data is still to be set, filled with one byte.
Room room_for(Tensor tensor, std::byte filling);

std::size_t element_bytes(DType dtype);

// The distance from data to an element, in elements. `place` counts in C order.
Index offset_of(const Tensor& tensor, Index place);
Index elements_of(const Tensor& tensor);

// Ends the program, for libFuzzer to report, unless the elements of two rooms for one tensor have
// the same bits; those that are both nearer to 0 than `ignored_below` are not compared.
void expect_same(const Room& got, const Room& expected, float ignored_below, const char* argument);

// Ends it if a byte in the room is not the filling: any, or any that belongs to no element.
enum class Where { anywhere, between_elements };
void expect_untouched(const Room& room, std::byte filling, Where where, const char* argument);

}  // namespace scaledot::fuzz
