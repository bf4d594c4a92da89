// A tensor as it is read from a file or will be written to one, with its own memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "buffer.hpp"
#include "scaledot/attention.hpp"

namespace scaledot::cli {

// The types of elements that the files hold and the program reads.
enum class Element { f32, f16, bf16, boolean, f64, i32, i64 };

std::size_t bytes_of(Element element);
const char* name_of(Element element);

// The same type for the library, which knows no f64, i32 and i64.
std::optional<DType> dtype_of(Element element);
Element element_of(DType dtype);

enum class Order { c, fortran };  // which axis is contiguous: the last, or the first

struct Array {
  Element element = Element::f32;
  std::vector<Index> extents;
  Order order = Order::c;
  Buffer data;
};

// The bytes of all elements, or nothing if there are too many for 64 bits. Extents are 0 or more.
std::optional<std::size_t> bytes_of(Element element, const std::vector<Index>& extents);

// An array of zeros. Throws std::bad_alloc.
Array zeros(Element element, std::vector<Index> extents);

// The array as the library takes it: its element must have a DType. A rank above 4 is kept, so that
// the library refuses it.
Tensor tensor_of(const Array& array);

// Turns the bytes of each element around.
void swap_bytes(Array& array);

// "[2, 3, 4]", the first axes of very many
std::string shape_text(const std::vector<Index>& extents);

}  // namespace scaledot::cli
