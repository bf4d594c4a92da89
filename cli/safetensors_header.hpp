// The JSON at the start of a .safetensors file: which tensors it holds and where.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "array.hpp"

namespace scaledot::cli {

// A tensor of the file. Its type may be one that the program does not read.
struct Stored {
  std::string name, dtype;  // "F32"
  std::vector<Index> extents;
  std::uint64_t begin = 0, end = 0;  // in the bytes after the header
};

struct SafetensorsHeader {
  std::vector<Stored> tensors;
  std::map<std::string, std::string> metadata;
};

// Reads the text, or throws a Failure that says what is wrong, to be read after the file's name.
// `data_bytes` come after the header: the tensors must cover them without a gap or an overlap, and
// have the bytes that their type and shape need.
SafetensorsHeader parse_safetensors_header(std::string_view text, std::uint64_t data_bytes);

// The text again, padded so that the elements begin at a multiple of 8 in the file.
std::string text_of(const SafetensorsHeader& header);

// The format's name for a type, and the type for a name if the program reads it.
const char* safetensors_name_of(Element element);
std::optional<Element> element_named(std::string_view dtype);

// Bits of an element of a type, 0 if the type is not known.
int bits_of(std::string_view dtype);

}  // namespace scaledot::cli
