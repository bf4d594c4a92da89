// The tile unit (AMX): eight tiles of 16 rows of 64 bytes, and the six instructions that are used.
// Written as assembly because g++ 12's intrinsics do not say that they read and write memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "view.hpp"

namespace scaledot::kernels {

inline constexpr Index tile_rows = 16;     // also the number of f32 columns
inline constexpr Index tile_floats = 256;  // of memory that a tile fills

// While it lives, all eight tiles are whole. Puts the configuration back that it found; the
// caller's tiles themselves are then zero, as loading a configuration leaves them (Intel SDM volume
// 1, chapter 18).
class TilesConfigured {
 public:
  [[gnu::always_inline]] TilesConfigured() {
    asm volatile("sttilecfg %0" : "=m"(before_));
    constexpr Configuration whole{
        1, 0, {}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};
    asm volatile("ldtilecfg %0" : : "m"(whole) : "memory");
  }
  [[gnu::always_inline]] ~TilesConfigured() {
    if (before_.palette == 0)
      asm volatile("tilerelease" : : : "memory");
    else
      asm volatile("ldtilecfg %0" : : "m"(before_) : "memory");
  }
  TilesConfigured(const TilesConfigured&) = delete;
  TilesConfigured& operator=(const TilesConfigured&) = delete;

 private:
  struct alignas(64) Configuration {
    std::uint8_t palette, start_row;
    std::uint8_t reserved[14];
    std::uint16_t row_bytes[16];
    std::uint8_t rows[16];
  };
  static_assert(sizeof(Configuration) == 64);
  Configuration before_;
};

struct TileUnit {
  using Configured = TilesConfigured;

  template <int tile>
  [[gnu::always_inline]] static void zero() {
    asm volatile("tilezero %%tmm%c0" : : "i"(tile));
  }

  // 16 rows of 64 bytes, `step` floats apart.
  template <int tile>
  [[gnu::always_inline]] static void load(const float* at, Index step) {
    asm volatile("tileloadd (%1,%2,4), %%tmm%c0" : : "i"(tile), "r"(at), "r"(step) : "memory");
  }
  template <int tile>
  [[gnu::always_inline]] static void store(float* at, Index step) {
    asm volatile("tilestored %%tmm%c0, (%1,%2,4)" : : "i"(tile), "r"(at), "r"(step) : "memory");
  }

  // sum[row][column] += a[row][0..31] . b[0..31][column] in tile order; b holds pairs:
  // b[k / 2][column][k % 2].
  template <int sum, int a, int b>
  [[gnu::always_inline]] static void multiply() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(sum), "i"(a), "i"(b));
  }
};

}  // namespace scaledot::kernels
