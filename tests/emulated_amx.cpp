// The tile unit in plain C++ behind the tile engine, so that its packing, tails and masks run on
// every processor with AVX-512, and sanitizers see what tiles read and write. That the model is
// right is amx_test's to show, where there is a unit. Everything has internal linkage, so that no
// code for one instruction set is taken by another.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "kernels/tile_engine.hpp"
#include "kernels/table_of.hpp"
#include "tables.hpp"

namespace scaledot::tests {
namespace {

using kernels::tile_rows;

struct EmulatedUnit {
  struct Tile {
    std::uint32_t rows[tile_rows][tile_rows];  // a float or two bf16 numbers each
  };
  static inline thread_local Tile tiles[8];
  static inline thread_local bool is_configured = false;

  // Loading and releasing a configuration zero the tiles.
  struct Configured {
    Configured() { configure(true); }
    ~Configured() { configure(false); }
    Configured(const Configured&) = delete;
    Configured& operator=(const Configured&) = delete;
  };
  static void configure(bool configured) {
    is_configured = configured;
    std::memset(tiles, 0, sizeof tiles);
  }
  // As for the unit, a tile without a configuration ends the process.
  static Tile& tile(int n) {
    if (!is_configured) std::abort();
    return tiles[n];
  }

  template <int n>
  static void zero() {
    std::memset(&tile(n), 0, sizeof(Tile));
  }
  template <int n>
  static void load(const float* at, Index step) {
    for (Index r = 0; r < tile_rows; ++r) std::memcpy(tile(n).rows[r], at + r * step, 64);
  }
  template <int n>
  static void store(float* at, Index step) {
    for (Index r = 0; r < tile_rows; ++r) std::memcpy(at + r * step, tile(n).rows[r], 64);
  }

  // TDPBF16PS: one chain over the 16 even products, one over the odd ones, and both to the sum.
  template <int sum, int a, int b>
  static void multiply() {
    for (Index row = 0; row < tile_rows; ++row)
      for (Index column = 0; column < tile_rows; ++column) {
        float even = 0, odd = 0;
        for (Index pair = 0; pair < tile_rows; ++pair) {
          const std::uint32_t left = tile(a).rows[row][pair], right = tile(b).rows[pair][column];
          even = std::fma(number(left << 16), number(right << 16), even);
          odd = std::fma(number(left & 0xFFFF0000u), number(right & 0xFFFF0000u), odd);
        }
        std::uint32_t& bits = tile(sum).rows[row][column];
        const float total = number(bits) + (even + odd);
        std::memcpy(&bits, &total, sizeof bits);
      }
  }
  static float number(std::uint32_t bits) {
    float number;
    std::memcpy(&number, &bits, sizeof number);
    return number;
  }
};

struct EmulatedAmx : kernels::AmxOf<EmulatedAmx, EmulatedUnit> {};

}  // namespace

const kernels::KernelTable emulated_amx_table = kernels::table_of<EmulatedAmx>(
    "emulated amx", kernels::avx2 | kernels::fma | kernels::f16c | kernels::avx512f |
                        kernels::avx512bw | kernels::avx512dq | kernels::avx512vl);

}  // namespace scaledot::tests
