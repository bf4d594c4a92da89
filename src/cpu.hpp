// What the processor can do and the operating system saves, and the sizes of its caches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace scaledot {

struct Cpu {
  std::uint32_t features = 0;  // kernels::Feature bits
  bool amx_bf16 = false;       // the processor has AMX tiles for bf16
  bool amx_saved = false;      // and the operating system saves them
  std::array<char, 128> name{};
};

// Asked of the processor each time, which takes microseconds.
Cpu cpu() noexcept;

// Whether the tiles may be used: asks Linux for the permission, once a process. Before it is asked,
// a tile instruction would end the process.
bool tiles_granted() noexcept;

// Bytes of the data cache of a level (1, 2 or 3) as the operating system tells; 0 if it does not.
std::size_t cache_bytes(int level) noexcept;

}  // namespace scaledot
