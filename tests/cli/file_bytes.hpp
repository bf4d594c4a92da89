// Files made by hand, byte by byte, and what reading them gives: so that a wrong reader cannot
// agree with a wrong writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "array.hpp"

namespace scaledot::cli::tests {

// A folder of a test's own, removed with what is in it.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }
  // Writes a file and returns its path.
  std::string file(const std::string& name, const std::string& bytes) const;
  // The names in it, sorted.
  std::vector<std::string> names() const;

 private:
  std::string path_;
};

std::string bytes_of_file(const std::string& path);

// "3f8000" as three bytes.
std::string from_hex(const std::string& digits);

// The bytes of numbers, the lowest first.
template <class... Numbers>
std::string little(Numbers... numbers) {
  std::string bytes;
  (bytes.append(reinterpret_cast<const char*>(&numbers), sizeof numbers), ...);
  return bytes;
}

// The message with which the work fails; empty if it does not.
std::string failure_of(const std::function<void()>& work);

// Why a tensor cannot be read, without the part that repeats its name; empty if it can.
std::string refusal_of(const std::string& text);

Array read(const std::string& text);

// The elements' bytes in C order, whichever order the array has.
std::string elements_of(const Array& array);

template <class Number>
std::vector<Number> numbers_of(const Array& array) {
  const std::string bytes = elements_of(array);
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

// An array with given bytes.
Array array_of(Element element, std::vector<Index> extents, const std::string& bytes);

// A .npy file from its header's text and its elements.
std::string npy(int version, const std::string& text, const std::string& elements);
// "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
std::string npy_text(const std::string& code, const std::string& shape);

// A .safetensors file from its header and its elements.
std::string safetensors(const std::string& header, const std::string& elements);

// What a zip archive says of an entry, true or not.
struct ZipEntry {
  std::string name;
  std::string packed;  // the bytes in the archive
  std::uint32_t checksum = 0;
  std::uint32_t size = 0;    // when unpacked
  std::uint16_t method = 0;  // 0 stored, 8 deflated
};
ZipEntry stored(const std::string& name, const std::string& bytes);
std::string zip(const std::vector<ZipEntry>& entries);

}  // namespace scaledot::cli::tests
