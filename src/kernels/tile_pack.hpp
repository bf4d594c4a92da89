// From a caller's bf16 tensors to what the tile unit reads: tiles of 16 rows of 32 numbers.
#pragma once

#include <cstring>

#include "kernels/pack.hpp"
#include "kernels/tile_unit.hpp"

namespace scaledot::kernels {

// Two elements a lane: up to `chunk` of them from `at` on; 0 beyond count, and without a line.
template <class Simd>
[[gnu::always_inline]] inline typename Simd::Vec load_line(const std::byte* at, Index stride,
                                                           Index count) {
  if (at == nullptr) return Simd::zero();
  if (stride == 1 && count >= chunk) return Simd::load_pairs(at);
  alignas(64) std::uint16_t line[chunk] = {};
  const void* const p = at;
  const auto* const from = static_cast<const std::uint16_t*>(p);
  for (Index e = 0; e < smaller(count, chunk); ++e) line[e] = from[e * stride];
  const void* const whole = line;
  return Simd::load_pairs(static_cast<const std::byte*>(whole));
}

// tiles[chunk of dims][column / 16][pair of dims][column]: `columns` queries, line(column) each.
template <class Simd, class LineOf>
inline void pack_columns(const LineOf& line, const Lines& lines, Index dims, Index columns,
                         float* tiles) {
  for (Index d = 0; d < dims; d += chunk)
    for (Index column = 0; column < columns; column += tile_rows, tiles += tile_floats) {
      typename Simd::Vec square[tile_rows];
      for (Index l = 0; l < tile_rows; ++l) {
        const std::byte* const at = line(column + l);
        square[l] = load_line<Simd>(at == nullptr ? at : at + 2 * d * lines.dim_stride,
                                    lines.dim_stride, dims - d);
      }
      Simd::transpose(square);
      SCALEDOT_UNROLL
      for (Index l = 0; l < tile_rows; ++l) Simd::store(tiles + l * tile_rows, square[l]);
    }
}

// sum + the squares of both numbers of each lane.
template <class Simd>
[[gnu::always_inline]] inline typename Simd::Vec add_squares(typename Simd::Vec pairs,
                                                             typename Simd::Vec sum) {
  const auto even = Simd::even_of(pairs), odd = Simd::odd_of(pairs);
  return Simd::fma(even, even, Simd::fma(odd, odd, sum));
}

// tiles[chunk of dims][even, odd][key / 2][32 dims] of `chunk` keys, the even ones apart from the
// odd ones; returns the largest square of their norms.
template <class Simd, class LineOf>
inline float pack_key_tiles(const LineOf& line_of, Index stride, Index dims, Index first,
                            float* tiles) {
  auto largest = Simd::zero();
  for (Index parity = 0; parity < 2; ++parity) {
    typename Simd::Vec norm2[tile_rows];
    for (Index r = 0; r < tile_rows; ++r) {
      const std::byte* const line = line_of(first + 2 * r + parity);
      norm2[r] = Simd::zero();
      float* to = tiles + parity * tile_floats + r * tile_rows;
      for (Index d = 0; d < dims; d += chunk, to += 2 * tile_floats) {
        const auto pairs =
            load_line<Simd>(line == nullptr ? line : line + 2 * d * stride, stride, dims - d);
        Simd::store(to, pairs);
        norm2[r] = add_squares<Simd>(pairs, norm2[r]);
      }
    }
    Simd::transpose(norm2);
    SCALEDOT_UNROLL
    for (Index r = 1; r < tile_rows; ++r) norm2[0] = Simd::add(norm2[0], norm2[r]);
    largest = Simd::max(not_small_if_nan<Simd>(norm2[0]), largest);
  }
  return largest_lane<Simd>(largest);
}

// How large and small values are, gathered as bits.
template <class Simd>
struct Sizes {
  typename Simd::Vec largest = Simd::zero(), smallest = Simd::all_ones();

  void tell(BlockFacts& facts) const {
    const auto extreme = [](typename Simd::Vec words, bool is_less) {
      std::uint16_t line[2 * Simd::lanes];
      std::memcpy(line, &words, sizeof line);
      std::uint16_t found = line[0];
      for (const std::uint16_t word : line)
        if ((word < found) == is_less) found = word;
      return found;
    };
    const std::uint16_t most = extreme(largest, false);
    const auto least = static_cast<std::uint16_t>(extreme(smallest, true) + 1);
    facts.value_max = most >= 0x7F80 ? std::numeric_limits<float>::infinity() : f32_of_bf16(most);
    facts.value_min = least == 0 ? std::numeric_limits<float>::infinity() : f32_of_bf16(least);
  }
};

// tiles[value_dim / 16][16 dims][32 keys] of `chunk` values.
template <class Simd, class LineOf>
inline void pack_value_tiles(const LineOf& line_of, Index stride, Index dims, Index first,
                             float* tiles, Sizes<Simd>& sizes) {
  for (Index d = 0; d < dims; d += tile_rows, tiles += tile_floats) {
    const auto load = [&](Index key) {
      const std::byte* const line = line_of(key);
      return line == nullptr
                 ? Simd::zero()
                 : load_elements<Simd>(line + 2 * d * stride, DType::bf16, stride, dims - d);
    };
    typename Simd::Vec square[tile_rows];
    for (Index p = 0; p < tile_rows; ++p) {
      square[p] = Simd::pairs_of(load(first + 2 * p), load(first + 2 * p + 1));
      Simd::note_sizes(square[p], sizes.largest, sizes.smallest);
    }
    Simd::transpose(square);
    SCALEDOT_UNROLL
    for (Index r = 0; r < tile_rows; ++r) Simd::store(tiles + r * tile_rows, square[r]);
  }
}

// The way back, to values of MultiplyAdd: panel[16 dims of `dims`][block_keys][16] from key j on.
template <class Simd>
inline void unpack_value_tiles(const float* tiles, Index dims, Index j, float* panel) {
  for (Index d = 0; d < dims; d += tile_rows, tiles += tile_floats) {
    typename Simd::Vec square[tile_rows];
    for (Index r = 0; r < tile_rows; ++r) square[r] = Simd::load(tiles + r * tile_rows);
    Simd::transpose(square);
    float* to = panel + d * block_keys + j * tile_rows;
    for (Index p = 0; p < tile_rows; ++p, to += 2 * tile_rows) {
      Simd::store(to, Simd::even_of(square[p]));
      Simd::store(to + tile_rows, Simd::odd_of(square[p]));
    }
  }
}

}  // namespace scaledot::kernels
