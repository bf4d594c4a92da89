// The scratch memory of one call: the caller's, or allocated here and nowhere else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

namespace scaledot {

class Workspace {
 public:
  // Takes the caller's memory if there is any. floats() is null if memory could not be had.
  Workspace(std::span<std::byte> given, std::size_t bytes) noexcept {
    if (given.empty()) owned_ = ::operator new (bytes, std::align_val_t{64}, std::nothrow);
    void* const memory = given.empty() ? owned_ : given.data();
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    const std::uintptr_t aligned = (address + 63) / 64 * 64;
    floats_ = memory == nullptr
                  ? nullptr
                  : reinterpret_cast<float*>(static_cast<std::byte*>(memory) + (aligned - address));
  }
  ~Workspace() { ::operator delete (owned_, std::align_val_t{64}); }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  float* floats() const noexcept { return floats_; }  // aligned to 64 bytes

 private:
  void* owned_ = nullptr;
  float* floats_ = nullptr;
};

}  // namespace scaledot
