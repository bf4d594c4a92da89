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

// Stores line_of(d), a row a lane, for d in [0, dims) to the lines of the tile's rows from row r
// and element `dim` on.
template <class Simd, class LineOf>
inline void store_transposed(const Tile& tile, const Lines& lines, Index r, Index dim, Index dims,
                             const LineOf& line_of) {
  constexpr Index lanes = Simd::lanes;
  const Index count = smaller(lanes, tile.count - r);
  std::byte* to[lanes];
  for (Index l = 0; l < count; ++l) to[l] = lines.to(tile.head(r + l), tile.position(r + l), dim);
  const Index step = lines.dim_stride * bytes_of(lines.dtype);
  for (Index d = 0; d < dims; d += lanes) {
    typename Simd::Vec square[lanes];
    SCALEDOT_UNROLL
    for (Index l = 0; l < lanes; ++l) square[l] = d + l < dims ? line_of(d + l) : Simd::zero();
    Simd::transpose(square);
    for (Index l = 0; l < count; ++l)
      store_elements<Simd>(to[l] + d * step, lines.dtype, lines.dim_stride, dims - d, square[l]);
  }
}

template <class Simd>
inline void store_rows(const Tile& tile, const RowStates& states, Index width) {
  for (Index r = 0; r < tile.count; r += Simd::lanes) {
    const auto sum = Simd::load(states.sum + r), by = divisor<Simd>(sum);
    const auto output = [&](Index d) {
      return canonical<Simd>(Simd::div(Simd::load(states.output + d * width + r), by));
    };
    store_transposed<Simd>(tile, tile.output, r, 0, tile.constants.value_dim, output);
    if (tile.lse.data == nullptr) continue;
    const auto lse = [&](Index) {
      return canonical<Simd>(lse_of<Simd>(sum, Simd::load(states.max + r)));
    };
    store_transposed<Simd>(tile, tile.lse, r, 0, 1, lse);
  }
}

}  // namespace scaledot::kernels
