// AVX-512 beside a tile unit, under a name of its own: what the tile engine needs of vectors.
// `pairs` are two bf16 numbers a lane, the first in its low half.
#pragma once

#include "kernels/simd_avx512.hpp"
#include "kernels/tile_unit.hpp"

namespace scaledot::kernels {

// With the tiles of `Unit`, which is TileUnit or what stands in for it in a test.
template <class Self, class Unit>
struct AmxOf : Avx512Of<Self> {
  using Vec = typename Avx512Of<Self>::Vec;
  using Tiles = Unit;
  static constexpr bool has_tiles = true;

  // Of numbers that are bf16 already.
  static Vec pairs_of(Vec first, Vec second) {
    const __m512i high_to_low = _mm512_set4_epi32(0x0F0E, 0x0B0A, 0x0706, 0x0302);
    return _mm512_castsi512_ps(_mm512_mask_shuffle_epi8(
        _mm512_castps_si512(second), 0x3333333333333333, _mm512_castps_si512(first), high_to_low));
  }

  // The sizes of numbers as bits, which order them; from ~0 down, what is not 0 less one.
  static void note_sizes(Vec pairs, Vec& largest, Vec& smallest) {
    const __m512i size = _mm512_and_si512(_mm512_castps_si512(pairs), _mm512_set1_epi16(0x7FFF));
    const __m512i less_one = _mm512_sub_epi16(size, _mm512_set1_epi16(1));
    largest = _mm512_castsi512_ps(_mm512_max_epu16(_mm512_castps_si512(largest), size));
    smallest = _mm512_castsi512_ps(_mm512_min_epu16(_mm512_castps_si512(smallest), less_one));
  }
  static Vec all_ones() { return _mm512_castsi512_ps(_mm512_set1_epi32(-1)); }
};

struct Amx : AmxOf<Amx, TileUnit> {};

}  // namespace scaledot::kernels
