// From a tile's row states to the caller's tensors: output = sum of weight * value / sum, lse.
#pragma once

#include "kernels/pack.hpp"
#include "kernels/rows.hpp"
#include "kernels/scratch.hpp"

namespace scaledot::kernels {

// Every NaN that is stored is the positive quiet one without payload.
template <class Simd>
inline typename Simd::Vec canonical(typename Simd::Vec a) {
  return Simd::select(Simd::equal(a, a), a,
                      Simd::broadcast(std::numeric_limits<float>::quiet_NaN()));
}

// What to divide a row by: its sum, 1 if it saw nothing, NaN if the sum is not finite (a logit of
// +inf).
template <class Simd>
inline typename Simd::Vec divisor(typename Simd::Vec sum) {
  const auto finite = Simd::less(sum, Simd::broadcast(infinity));
  const auto not_a_number = Simd::broadcast(std::numeric_limits<float>::quiet_NaN());
  return Simd::select(Simd::equal(sum, Simd::zero()), Simd::broadcast(1),
                      Simd::select(finite, sum, not_a_number));
}

// Stores panel[dims][width], a row a lane, to the lines of the tile's rows from `dim` on.
template <class Simd>
inline void store_transposed(const Tile& tile, const Lines& lines, Index dim, Index dims,
                             Index width, const float* panel) {
  constexpr Index lanes = Simd::lanes;
  for (Index r = 0; r < tile.count; r += lanes)
    for (Index d = 0; d < dims; d += lanes) {
      typename Simd::Vec square[lanes];
      for (Index l = 0; l < lanes; ++l)
        square[l] = d + l < dims ? Simd::load(panel + (d + l) * width + r) : Simd::zero();
      Simd::transpose(square);
      for (Index l = 0; l < smaller(lanes, tile.count - r); ++l)
        store_elements<Simd>(lines.to(tile.head(r + l), tile.position(r + l), dim + d), lines.dtype,
                             lines.dim_stride, dims - d, square[l]);
    }
}

template <class Simd>
inline void store_rows(const Tile& tile, const RowStates& states, Index width) {
  for (Index r = 0; r < width; r += Simd::lanes) {
    const auto by = divisor<Simd>(Simd::load(states.sum + r));
    for (Index d = 0; d < tile.constants.value_dim; ++d) {
      float* at = states.output + d * width + r;
      Simd::store(at, canonical<Simd>(Simd::div(Simd::load(at), by)));
    }
  }
  store_transposed<Simd>(tile, tile.output, 0, tile.constants.value_dim, width, states.output);
  if (tile.lse.data == nullptr) return;
  for (Index r = 0; r < width; r += Simd::lanes)
    Simd::store(states.max + r, canonical<Simd>(lse_of<Simd>(Simd::load(states.sum + r),
                                                             Simd::load(states.max + r))));
  store_transposed<Simd>(tile, tile.lse, 0, 1, width, states.max);
}

}  // namespace scaledot::kernels
