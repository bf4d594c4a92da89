// Dot products of a few queries with keys where they lie: keys in the lanes, transposed in
// registers.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/multiply.hpp"
#include "kernels/pack.hpp"

namespace scaledot::kernels {

inline constexpr Index bytes_ahead = 4096;

template <class Simd, DType dtype>
[[gnu::always_inline]] inline typename Simd::Vec load_as(const std::byte* at) {
  const void* p = at;
  if constexpr (dtype == DType::f32) return Simd::load(static_cast<const float*>(p));
  if constexpr (dtype == DType::f16) return Simd::load_f16(static_cast<const std::uint16_t*>(p));
  return Simd::load_bf16(static_cast<const std::uint16_t*>(p));
}

// Calls call<dtype>().
template <class Call>
[[gnu::always_inline]] inline void with_dtype(DType dtype, const Call& call) {
  if (dtype == DType::f32) return call.template operator()<DType::f32>();
  if (dtype == DType::f16) return call.template operator()<DType::f16>();
  call.template operator()<DType::bf16>();
}

// How far on the same element of a later key is: the first one at least `bytes_ahead` away.
template <class Simd>
inline Index ahead_in(const Lines& lines) {
  const Index step = lines.position_stride * bytes_of(lines.dtype);
  return step * pieces(bytes_ahead, larger(larger(step, -step), 1));
}

// `lanes` keys with `rows` queries.
template <class Simd, int rows>
struct Dots {
  using Vec = typename Simd::Vec;
  static constexpr Index lanes = Simd::lanes;

  const Constants& constants;
  const float* query;  // [head_dim][lanes], scaled in f32 arithmetic
  Index ahead;

  // `lanes` keys from `first` on; from the `last` one on it is that one again.
  struct Keys {
    const std::byte* first;
    Index last, step;
  };

  // square[l] = what load(address) makes of key l's elements from `byte` on.
  template <class Load>
  [[gnu::always_inline]] void load_lines(const Keys& keys, Index byte, Vec (&square)[lanes],
                                         const Load& load) const {
    const std::byte* at = keys.first + byte;
    SCALEDOT_UNROLL
    for (Index l = 0; l < lanes; ++l) {
      ask_for(at, ahead);
      square[l] = load(at);
      at += l < keys.last ? keys.step : 0;
    }
  }

  // Elements [d, d + lanes) of each key. Not `whole`: some of these are beyond head_dim and 0.
  template <DType dtype, bool whole>
  [[gnu::always_inline]] void load_keys(const Keys& keys, Index d, Vec (&square)[lanes]) const {
    load_lines(keys, d * bytes_of(dtype), square, [&](const std::byte* at) {
      if constexpr (whole) return load_as<Simd, dtype>(at);
      return gather_elements<Simd>(at, dtype, 1, constants.head_dim - d);
    });
    Simd::transpose(square);
  }

  // The same with two bf16 elements a lane, [d, d + 2 * lanes).
  template <bool whole>
  [[gnu::always_inline]] void load_pairs(const Keys& keys, Index d, Vec (&square)[lanes]) const {
    load_lines(keys, 2 * d, square, [&](const std::byte* at) {
      if constexpr (whole) return Simd::load_pairs(at);
      std::byte rest[4 * lanes] = {};
      std::memcpy(rest, at, static_cast<std::size_t>(2 * (constants.head_dim - d)));
      return Simd::load_pairs(rest);
    });
    Simd::transpose(square);
  }

  // panel[2 * lanes][lanes] = 16-bit elements [d, d + 2 * lanes) of each key: half the shuffles
  // that the same elements take once they are widened.
  [[gnu::always_inline]] void pack_words(const Keys& keys, Index d, std::uint16_t* panel) const {
    Vec square[lanes];
    load_lines(keys, 2 * d, square, Simd::load_pairs);
    Simd::store_transposed_words(square, panel);
  }

  // sum[r] += key[d] * query[r][d].
  [[gnu::always_inline]] void add_dim(Vec key, Index d, Vec (&sum)[rows]) const {
    SCALEDOT_UNROLL
    for (int r = 0; r < rows; ++r)
      sum[r] = Simd::fma(key, Simd::broadcast(query[d * lanes + r]), sum[r]);
  }

  // The dot products of `lanes` keys, in f32 arithmetic and in tile order.
  template <DType dtype>
  [[gnu::always_inline]] void dot(const Keys& keys, Vec (&sum)[rows]) const {
    const Index dims = constants.head_dim;
    Vec square[lanes];
    Index d = 0;
    if constexpr (dtype == DType::f16) {
      alignas(64) std::uint16_t panel[2 * lanes * lanes];
      for (; d + 2 * lanes <= dims; d += 2 * lanes) {
        pack_words(keys, d, panel);
#pragma GCC unroll 8
        for (Index e = 0; e < 2 * lanes; ++e)
          add_dim(Simd::load_f16(panel + e * lanes), d + e, sum);
      }
    }
    for (; d + lanes <= dims; d += lanes) {
      load_keys<dtype, true>(keys, d, square);
      SCALEDOT_UNROLL
      for (Index e = 0; e < lanes; ++e) add_dim(square[e], d + e, sum);
    }
    if (d == dims) return;
    load_keys<dtype, false>(keys, d, square);
    for (Index e = 0; d + e < dims; ++e) add_dim(square[e], d + e, sum);
  }
  [[gnu::always_inline]] void dot_chunks(const Keys& keys, Vec (&sum)[rows]) const {
    const Index dims = constants.head_dim;
    for (Index begin = 0; begin < dims; begin += chunk) {
      const Index end = smaller(begin + chunk, dims);
      Vec even[rows], odd[rows], square[lanes];
      SCALEDOT_UNROLL
      for (int r = 0; r < rows; ++r) even[r] = odd[r] = Simd::zero();
      for (Index d = begin; d < end; d += 2 * lanes) {
        if (d + 2 * lanes <= end) {
          load_pairs<true>(keys, d, square);
          SCALEDOT_UNROLL
          for (Index e = 0; e < lanes; ++e) {
            add_dim(Simd::even_of(square[e]), d + 2 * e, even);
            add_dim(Simd::odd_of(square[e]), d + 2 * e + 1, odd);
          }
        } else {
          load_pairs<false>(keys, d, square);
          for (Index e = 0; d + 2 * e < end; ++e) {
            add_dim(Simd::even_of(square[e]), d + 2 * e, even);
            if (d + 2 * e + 1 < end) add_dim(Simd::odd_of(square[e]), d + 2 * e + 1, odd);
          }
        }
      }
      SCALEDOT_UNROLL
      for (int r = 0; r < rows; ++r) sum[r] = Simd::add(sum[r], Simd::add(even[r], odd[r]));
    }
    SCALEDOT_UNROLL
    for (int r = 0; r < rows; ++r) sum[r] = Simd::mul(sum[r], Simd::broadcast(constants.scale));
  }
};

}  // namespace scaledot::kernels
