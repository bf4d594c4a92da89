#include "file_bytes.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "failure.hpp"
#include "tensor_file.hpp"

namespace scaledot::cli::tests {

namespace fs = std::filesystem;

Folder::Folder() : path_((fs::temp_directory_path() / "scaledot-files-XXXXXX").string()) {
  if (::mkdtemp(path_.data()) == nullptr) std::abort();
}

Folder::~Folder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

std::string Folder::file(const std::string& name, const std::string& bytes) const {
  std::ofstream(path(name), std::ios::binary) << bytes;
  return path(name);
}

std::vector<std::string> Folder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path_))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string from_hex(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

std::string failure_of(const std::function<void()>& work) {
  try {
    work();
    return "";
  } catch (const Failure& failure) {
    return failure.message;
  }
}

std::string refusal_of(const std::string& text) {
  const std::string message = failure_of([&] { read(text); });
  const std::string about = "query: " + in_quotes(text) + " ";
  return message.empty() || message.starts_with(about)
             ? message.substr(std::min(about.size(), message.size()))
             : "not about the file: " + message;
}

Array read(const std::string& text) { return read_array({"query", text}); }

std::string elements_of(const Array& array) {
  const std::size_t size = bytes_of(array.element);
  const std::size_t count = array.data.size() / size;
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t at = i;
    if (array.order == Order::fortran) {
      // i counts in C order; the first axis is the one whose elements lie side by side.
      std::vector<std::size_t> index;
      std::size_t rest = i;
      for (auto extent = array.extents.rbegin(); extent != array.extents.rend(); ++extent) {
        index.push_back(rest % static_cast<std::size_t>(*extent));
        rest /= static_cast<std::size_t>(*extent);
      }
      at = 0;
      for (std::size_t axis = array.extents.size(); axis-- > 0;)
        at = at * static_cast<std::size_t>(array.extents[axis]) +
             index[array.extents.size() - 1 - axis];
    }
    bytes.append(reinterpret_cast<const char*>(array.data.data()) + at * size, size);
  }
  return bytes;
}

Array array_of(Element element, std::vector<Index> extents, const std::string& bytes) {
  Array array = zeros(element, std::move(extents));
  if (array.data.size() != bytes.size()) std::abort();
  if (!bytes.empty()) std::memcpy(array.data.data(), bytes.data(), bytes.size());
  return array;
}

std::string npy(int version, const std::string& text, const std::string& elements) {
  const auto length = static_cast<std::uint32_t>(text.size());
  const std::string start = std::string("\x93NUMPY") + static_cast<char>(version) + '\0';
  return start + little(length).substr(0, version == 1 ? 2 : 4) + text + elements;
}

std::string npy_text(const std::string& code, const std::string& shape) {
  return "{'descr': '" + code + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
}

std::string safetensors(const std::string& header, const std::string& elements) {
  return little(static_cast<std::uint64_t>(header.size())) + header + elements;
}

ZipEntry stored(const std::string& name, const std::string& bytes) {
  std::uint32_t checksum = ~0u;
  for (const char byte : bytes) {
    checksum ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit)
      checksum = checksum >> 1 ^ ((checksum & 1) != 0 ? 0xedb88320u : 0u);
  }
  return {name, bytes, ~checksum, static_cast<std::uint32_t>(bytes.size()), 0};
}

std::string zip(const std::vector<ZipEntry>& entries) {
  using U16 = std::uint16_t;
  using U32 = std::uint32_t;
  std::string archive, directory;
  for (const ZipEntry& entry : entries) {
    // Version, flags, method, time, date; checksum, sizes, lengths of the name and the extra field.
    const std::string facts = little(U16{20}, U16{0}, entry.method, U16{0}, U16{33}, entry.checksum,
                                     static_cast<U32>(entry.packed.size()), entry.size,
                                     static_cast<U16>(entry.name.size()), U16{0});
    directory += "PK\1\2" + little(U16{20}) + facts +
                 little(U16{0}, U16{0}, U16{0}, U32{0}, static_cast<U32>(archive.size())) +
                 entry.name;
    archive += "PK\3\4" + facts + entry.name + entry.packed;
  }
  const auto count = static_cast<U16>(entries.size());
  return archive + directory + "PK\5\6" +
         little(U16{0}, U16{0}, count, count, static_cast<U32>(directory.size()),
                static_cast<U32>(archive.size()), U16{0});
}

}  // namespace scaledot::cli::tests
