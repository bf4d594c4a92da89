#include "safetensors.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

#include "failure.hpp"
#include "safetensors_header.hpp"

namespace scaledot::cli {

static_assert(std::endian::native == std::endian::little);

namespace {

constexpr std::uint64_t length_bytes = 8;
constexpr std::uint64_t most_header_bytes = 100'000'000;  // the format's own limit

struct Opened {
  SafetensorsHeader header;
  std::uint64_t data_offset;
};

Opened open_header(const InputFile& file) {
  const std::uint64_t size = file.size();
  if (size < length_bytes)
    refuse("is not a .safetensors file: it has " + std::to_string(size) + " bytes");
  std::uint64_t header_bytes;
  file.read(0, std::as_writable_bytes(std::span(&header_bytes, 1)));
  if (header_bytes > size - length_bytes || header_bytes > most_header_bytes)
    refuse("is not a .safetensors file: a header of " + std::to_string(header_bytes) +
           " bytes in a file of " + std::to_string(size));
  std::string text(static_cast<std::size_t>(header_bytes), '\0');
  file.read(length_bytes, std::as_writable_bytes(std::span(text)));
  const std::uint64_t data_offset = length_bytes + header_bytes;
  return {parse_safetensors_header(text, size - data_offset), data_offset};
}

// Where the bytes of a tensor in a new file come from: an array, or the old file.
struct Part {
  Stored stored;
  const Array* array = nullptr;
  std::uint64_t old_offset = 0;
};

void copy(const InputFile& from, std::uint64_t offset, std::uint64_t size, PendingFile& to) {
  constexpr std::uint64_t piece = std::uint64_t{1} << 20;
  Buffer buffer(static_cast<std::size_t>(std::min(size, piece)));
  for (std::uint64_t done = 0; done < size;) {
    const auto bytes = buffer.bytes().first(static_cast<std::size_t>(std::min(size - done, piece)));
    from.read(offset + done, bytes);
    to.write(bytes);
    done += bytes.size();
  }
}

}  // namespace

std::vector<std::string> safetensors_names(const InputFile& file) {
  std::vector<std::string> names;
  for (Stored& tensor : open_header(file).header.tensors) names.push_back(std::move(tensor.name));
  return names;
}

Array read_safetensors(const InputFile& file, const std::string& name) {
  Opened opened = open_header(file);
  for (Stored& tensor : opened.header.tensors) {
    if (tensor.name != name) continue;
    const std::optional<Element> element = element_named(tensor.dtype);
    if (!element)
      refuse("has elements of type " + in_quotes(tensor.dtype) +
             ", expected F32, F16, BF16, F64, BOOL, I32 or I64");
    Array array{*element, std::move(tensor.extents), Order::c,
                Buffer(static_cast<std::size_t>(tensor.end - tensor.begin))};
    file.read(opened.data_offset + tensor.begin, array.data.bytes());
    return array;
  }
  refuse("has no tensor " + in_quotes(name));
}

void write_safetensors(PendingFile& file, const InputFile* old,
                       const std::vector<NamedArray>& arrays) {
  SafetensorsHeader header;
  std::vector<Part> parts;
  for (const auto& [name, array] : arrays)
    parts.push_back(
        {{name, safetensors_name_of(array->element), array->extents, 0, array->data.size()},
         array});
  if (old != nullptr) {
    Opened opened = open_header(*old);
    header.metadata = std::move(opened.header.metadata);
    for (Stored& tensor : opened.header.tensors) {
      const bool is_replaced = std::any_of(
          arrays.begin(), arrays.end(), [&](const auto& each) { return each.name == tensor.name; });
      const std::uint64_t offset = opened.data_offset + tensor.begin;
      if (!is_replaced) parts.push_back({std::move(tensor), nullptr, offset});
    }
  }
  // Wide elements first, so that each tensor begins at a multiple of its element's size.
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return std::pair(-bits_of(a.stored.dtype), std::string_view(a.stored.name)) <
           std::pair(-bits_of(b.stored.dtype), std::string_view(b.stored.name));
  });
  std::uint64_t offset = 0;
  for (Part& part : parts) {
    const std::uint64_t bytes = part.stored.end - part.stored.begin;
    part.stored.begin = offset;
    part.stored.end = offset += bytes;
    header.tensors.push_back(part.stored);
  }

  const std::string text = text_of(header);
  const std::uint64_t header_bytes = text.size();
  file.write(std::as_bytes(std::span(&header_bytes, 1)));
  file.write(std::as_bytes(std::span(text)));
  for (const Part& part : parts) {
    if (part.array != nullptr)
      file.write(part.array->data.bytes());
    else
      copy(*old, part.old_offset, part.stored.end - part.stored.begin, file);
  }
}

}  // namespace scaledot::cli
