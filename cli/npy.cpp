#include "npy.hpp"

#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "failure.hpp"

namespace scaledot::cli {

static_assert(std::endian::native == std::endian::little);

NpyStart read_npy_start(const NextBytes& next, std::uint64_t size) {
  constexpr std::uint64_t magic_bytes = 8;  // with the version
  unsigned char magic[magic_bytes];
  if (size < magic_bytes) refuse("is not a .npy array: it has " + std::to_string(size) + " bytes");
  next(std::as_writable_bytes(std::span(magic)));
  if (std::memcmp(magic, "\x93NUMPY", 6) != 0)
    refuse("is not a .npy array: it does not begin with numpy's mark");
  if (magic[6] < 1 || magic[6] > 3 || magic[7] != 0)
    refuse("has version " + std::to_string(magic[6]) + '.' + std::to_string(magic[7]) +
           " of .npy, expected 1.0, 2.0 or 3.0");

  const std::uint64_t length_bytes = magic[6] == 1 ? 2 : 4;
  std::uint64_t offset = magic_bytes + length_bytes;
  if (size < offset) refuse("is cut short in its header");
  unsigned char length[4] = {};
  next(std::as_writable_bytes(std::span(length).first(static_cast<std::size_t>(length_bytes))));
  std::uint64_t header_bytes = 0;
  for (int i = 3; i >= 0; --i) header_bytes = header_bytes << 8 | length[i];
  if (size - offset < header_bytes)
    refuse("is cut short: its header has " + std::to_string(header_bytes) + " bytes, only " +
           std::to_string(size - offset) + " are there");
  constexpr std::uint64_t most = std::uint64_t{1} << 20;  // numpy itself stops at 10,000
  if (header_bytes > most)
    refuse("has a header of " + std::to_string(header_bytes) + " bytes, expected at most " +
           std::to_string(most));
  offset += header_bytes;
  std::string text(static_cast<std::size_t>(header_bytes), '\0');
  next(std::as_writable_bytes(std::span(text)));

  NpyStart start{parse_npy_header(text), offset, 0};
  const auto data_bytes = bytes_of(start.header.element, start.header.extents);
  if (!data_bytes || *data_bytes != size - offset)
    refuse("has " + std::to_string(size - offset) + " bytes of elements, expected " +
           (data_bytes ? std::to_string(*data_bytes) : "more than 2^63") + " for " +
           name_of(start.header.element) + " " + shape_text(start.header.extents));
  start.data_bytes = *data_bytes;
  return start;
}

Array npy_array(NpyStart start, Buffer data) {
  NpyHeader& header = start.header;
  Array array{header.element, std::move(header.extents), header.order, std::move(data)};
  if (header.is_big_endian) swap_bytes(array);
  return array;
}

Array read_npy(const InputFile& file) {
  std::uint64_t offset = 0;
  const NextBytes next = [&](std::span<std::byte> bytes) {
    file.read(offset, bytes);
    offset += bytes.size();
  };
  NpyStart start = read_npy_start(next, file.size());
  Buffer data(start.data_bytes);
  next(data.bytes());
  return npy_array(std::move(start), std::move(data));
}

void write_npy(PendingFile& file, const Array& array) {
  const std::string header = npy_header_of(array.element, array.extents);
  file.write(std::as_bytes(std::span(header)));
  file.write(array.data.bytes());
}

}  // namespace scaledot::cli
