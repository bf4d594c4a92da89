// Tile order is what the processor's tiles do: TDPBF16PS against multiply-adds, bit for bit.
// Compiled only for x86-64, with the flags of AMX; skipped where it cannot run.
#include <immintrin.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "canonical.hpp"
#include "cases.hpp"
#include "cpu.hpp"
#include "kernels/denormals.hpp"
#include "random.hpp"
#include "scaledot/machine.hpp"

namespace scaledot::tests {
namespace {

constexpr int tile_rows = 16, tile_columns = 16, chunk = 32;

using Bf16 = std::uint16_t;
using Draw = std::function<Bf16(Random&)>;

float widened(Bf16 bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

// Why tiles cannot be used; empty if they can. Asks Linux for the permission that they need.
std::string why_no_tiles() {
  if (!machine().amx_bf16) return "the processor has no AMX tiles for bf16";
  if (!tiles_granted()) return "the operating system does not grant the tiles";
  return "";
}

// Operands of one product of tiles: a[row][k], b[k / 2][column][k % 2], c[row][column].
struct Tiles {
  alignas(64) Bf16 a[tile_rows][chunk];
  alignas(64) Bf16 b[chunk / 2][tile_columns][2];
  alignas(64) float c[tile_rows][tile_columns];
};

void configure_tiles() {
  struct alignas(64) {
    std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
    std::uint16_t bytes_a_row[16] = {64, 64, 64};
    std::uint8_t rows[16] = {16, 16, 16};
  } config;
  static_assert(sizeof config == 64);
  _tile_loadconfig(&config);
}

// c += a . b, by the tiles.
void multiply_by_tiles(Tiles& tiles) {
  _tile_loadd(0, tiles.c, 64);
  _tile_loadd(1, tiles.a, 64);
  _tile_loadd(2, tiles.b, 64);
  _tile_dpbf16ps(0, 1, 2);
  _tile_stored(0, tiles.c, 64);
}

// The same in tile order.
void multiply_in_order(Tiles& tiles) {
  const kernels::DenormalsFlushed flushed;
  for (int row = 0; row < tile_rows; ++row)
    for (int column = 0; column < tile_columns; ++column) {
      Chain sum{true, tiles.c[row][column]};
      for (int k = 0; k < chunk; ++k)
        sum.add(k, widened(tiles.a[row][k]), widened(tiles.b[k / 2][column][k % 2]));
      sum.end_chunk();
      tiles.c[row][column] = sum.total;
    }
}

// Products of `chunks` tiles with the same sums, `count` times over, with elements drawn by `draw`.
void expect_tile_order(Index count, int chunks, const Draw& draw) {
  if (const std::string why = why_no_tiles(); !why.empty()) GTEST_SKIP() << why;
  configure_tiles();
  Random random{static_cast<std::uint64_t>(chunks)};
  Tiles tiles, ordered;
  for (Index n = 0; n < effort(count); ++n) {
    for (auto& row : tiles.c)
      for (float& element : row) element = widened(draw(random)) * random.normal();
    std::memcpy(ordered.c, tiles.c, sizeof tiles.c);
    for (int k = 0; k < chunks; ++k) {
      for (auto& row : tiles.a)
        for (Bf16& element : row) element = draw(random);
      for (auto& row : tiles.b)
        for (auto& pair : row)
          for (Bf16& element : pair) element = draw(random);
      std::memcpy(ordered.a, tiles.a, sizeof tiles.a);
      std::memcpy(ordered.b, tiles.b, sizeof tiles.b);
      multiply_by_tiles(tiles);
      multiply_in_order(ordered);
    }
    ASSERT_EQ(std::memcmp(tiles.c, ordered.c, sizeof tiles.c), 0) << "product " << n;
  }
  _tile_release();
}

Bf16 normal(Random& random) {
  return static_cast<Bf16>(std::bit_cast<std::uint32_t>(random.normal()) >> 16);
}

// Any sign and fraction, an exponent of `from` to `to` (as stored: 1 is 2^-126).
Bf16 between(Random& random, Index from, Index to) {
  const Index exponent = from + random.below(to - from + 1);
  return static_cast<Bf16>((random.next() & 0x807F) | static_cast<std::uint64_t>(exponent) << 7);
}

}  // namespace

// Each product of tiles holds 256 sums of 32 products.
TEST(TileOrder, NormalNumbers) { expect_tile_order(4000, 1, normal); }

TEST(TileOrder, DotProductsOfManyChunks) { expect_tile_order(800, 5, normal); }

TEST(TileOrder, AnyExponentWhoseSumsAreFinite) {
  expect_tile_order(6000, 1, [](Random& random) { return between(random, 1, 186); });
}

TEST(TileOrder, CancellingNumbers) {
  expect_tile_order(4000, 2, [](Random& random) {
    return static_cast<Bf16>(0x3F80 | (random.next() & 0x8003));  // +-1 and its neighbours
  });
}

TEST(TileOrder, DenormalOperandsAndProductsAreFlushed) {
  expect_tile_order(4000, 2, [](Random& random) { return between(random, 0, 2); });
  expect_tile_order(4000, 2, [](Random& random) { return between(random, 56, 72); });
  expect_tile_order(4000, 2, [](Random& random) {
    return random.one_in(2) ? between(random, 0, 3) : between(random, 120, 130);
  });
}

}  // namespace scaledot::tests
