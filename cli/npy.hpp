// The .npy format: one array of numpy.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "array.hpp"
#include "input_file.hpp"
#include "npy_header.hpp"
#include "pending_file.hpp"

namespace scaledot::cli {

// Fills its argument with the next bytes of an array, from its first on, or throws.
using NextBytes = std::function<void(std::span<std::byte>)>;

struct NpyStart {
  NpyHeader header;
  std::uint64_t data_offset = 0;
  std::size_t data_bytes = 0;
};

// Reads up to where the elements begin. `size` is that of the whole array, elements included; it
// is refused if the header says something else.
NpyStart read_npy_start(const NextBytes& next, std::uint64_t size);

// An array whose elements have been read, in this machine's byte order.
Array npy_array(NpyStart start, Buffer data);

Array read_npy(const InputFile& file);
void write_npy(PendingFile& file, const Array& array);

}  // namespace scaledot::cli
