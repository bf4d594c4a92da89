// The scratch memory of one call: the caller's, or a block of the library's, which then stays for
// the calls to come.
#pragma once

#include <cstddef>
#include <span>

namespace scaledot {

inline constexpr std::size_t most_kept_blocks = 8;                     // between calls, a process
inline constexpr std::size_t most_kept_bytes = std::size_t{32} << 20;  // a block

struct Block;

class Workspace {
 public:
  // Takes the caller's memory if there is any. floats() is null if memory could not be had.
  Workspace(std::span<std::byte> given, std::size_t bytes) noexcept;
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  float* floats() const noexcept { return floats_; }  // aligned to 64 bytes

 private:
  Block* block_ = nullptr;
  float* floats_ = nullptr;
};

}  // namespace scaledot
