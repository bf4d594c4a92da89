// The text at the start of a .npy array: a Python dictionary of type, order and shape.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "array.hpp"

namespace scaledot::cli {

struct NpyHeader {
  Element element = Element::f32;
  bool is_big_endian = false;
  Order order = Order::c;
  std::vector<Index> extents;
};

// Reads "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", or throws a Failure that
// says what is wrong, to be read after the name of the file.
NpyHeader parse_npy_header(std::string_view text);

// The header in full, magic string included, of an array in C order. There is no bf16 in .npy.
std::string npy_header_of(Element element, const std::vector<Index>& extents);

}  // namespace scaledot::cli
