// A file that is read, at any place. What it throws, as the readers of the formats do, is a message
// to be read after the name of the file: "is cut short".
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace scaledot::cli {

class InputFile {
 public:
  // Refuses what is not a regular file that can be read.
  explicit InputFile(const std::string& path);
  // Takes over an open file.
  explicit InputFile(int descriptor);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  int descriptor() const { return descriptor_; }
  std::uint64_t size() const { return size_; }  // when it was opened

  // Fills `bytes` from `offset` on, or throws.
  void read(std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
  int descriptor_;
  std::uint64_t size_ = 0;
};

}  // namespace scaledot::cli
