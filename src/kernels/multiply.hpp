// The multiply-add loops: one register tile for query . key and for weight . value.
#pragma once

#include <cstdint>

#include "kernels/table.hpp"

#define SCALEDOT_UNROLL _Pragma("GCC unroll 16")  // g++ 12 keeps `sum` in memory without it

namespace scaledot::kernels {

enum class Values { finite, any };

// Chains of sums and maxima side by side, so that one need not wait for another.
inline constexpr int chains = 4;

// Whether a weight is the -0 of a hidden key. A NaN may have its sign set too.
template <class Simd>
[[gnu::always_inline]] inline typename Simd::Mask is_hidden(typename Simd::Vec weight) {
  return Simd::both(Simd::equal(weight, Simd::zero()), Simd::negative(weight));
}

// One step of a sum: sum + a * b. Where values may be NaN or infinite, a lane whose weight a is -0
// is a hidden key's and stays as it is: 0 * NaN would reach the row (walk.hpp, mark_hidden).
template <class Simd, Values values>
[[gnu::always_inline]] inline typename Simd::Vec step(typename Simd::Vec a, typename Simd::Vec b,
                                                      typename Simd::Vec sum) {
  const auto next = Simd::fma(a, b, sum);
  if constexpr (values == Values::finite) return next;
  return Simd::select(is_hidden<Simd>(a), sum, next);
}

// sum[r][v] += b[r] * a[v] for one line of each: the multiply-adds of both orders below.
template <class Simd, Values values, int rows, int vecs>
[[gnu::always_inline]] inline void multiply_line(const float* b, const float* a,
                                                 typename Simd::Vec (&sum)[rows][vecs]) {
  typename Simd::Vec line[vecs];
  SCALEDOT_UNROLL
  for (int v = 0; v < vecs; ++v) line[v] = Simd::load(a + v * Simd::lanes);
  SCALEDOT_UNROLL
  for (int r = 0; r < rows; ++r) {
    const auto scalar = Simd::broadcast(b[r]);
    SCALEDOT_UNROLL
    for (int v = 0; v < vecs; ++v) sum[r][v] = step<Simd, values>(line[v], scalar, sum[r][v]);
  }
}

template <class Simd, int rows, int vecs>
[[gnu::always_inline]] inline void clear(typename Simd::Vec (&sum)[rows][vecs]) {
  SCALEDOT_UNROLL
  for (int r = 0; r < rows; ++r) {
    SCALEDOT_UNROLL
    for (int v = 0; v < vecs; ++v) sum[r][v] = Simd::zero();
  }
}

// A register tile and its lines in memory, which are c_stride apart.
template <class Simd, int rows, int vecs>
[[gnu::always_inline]] inline void load_sums(const float* c, Index c_stride,
                                             typename Simd::Vec (&sum)[rows][vecs]) {
  SCALEDOT_UNROLL
  for (int r = 0; r < rows; ++r) {
    SCALEDOT_UNROLL
    for (int v = 0; v < vecs; ++v) sum[r][v] = Simd::load(c + r * c_stride + v * Simd::lanes);
  }
}
template <class Simd, int rows, int vecs>
[[gnu::always_inline]] inline void store_sums(const typename Simd::Vec (&sum)[rows][vecs], float* c,
                                              Index c_stride) {
  SCALEDOT_UNROLL
  for (int r = 0; r < rows; ++r) {
    SCALEDOT_UNROLL
    for (int v = 0; v < vecs; ++v) Simd::store(c + r * c_stride + v * Simd::lanes, sum[r][v]);
  }
}

// Asks for a line that may not exist: no pointer is formed, and past the memory's end it does no
// harm.
[[gnu::always_inline]] inline void ask_for(const void* at, Index bytes_ahead) {
  __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(at) +
                                                   static_cast<std::uintptr_t>(bytes_ahead)));
}

inline constexpr Index lines_ahead = 40;  // of a panel

// sum[r][v] += b[depth x rows]^T * a[depth x vecs*lanes]: each element is one chain over depth,
// ascending, and stays in its register. b's lines are b_stride apart, a's vecs*lanes.
template <class Simd, Values values, int rows, int vecs>
[[gnu::always_inline]] inline void multiply(Index depth, const float* b, Index b_stride,
                                            const float* a, typename Simd::Vec (&sum)[rows][vecs]) {
  static_assert(rows * vecs + vecs + 1 <= Simd::registers, "sums + a + b must not spill");
#pragma GCC unroll 4  // so that the branch back is foreseen at the loop's end, too
  for (Index k = 0; k < depth; ++k, a += vecs * Simd::lanes, b += b_stride) {
    ask_for(b, lines_ahead * b_stride * Index{sizeof(float)});
    multiply_line<Simd, values>(b, a, sum);
  }
}

// c[rows x vecs*lanes] += b^T * a in tile order, the order of AMX's TDPBF16PS: for each chunk of 32
// products one chain over the even ones and one over the odd ones, each from 0; then c + (even +
// odd). `phase` is the place of the first product in its chunk, and even. With `start`, c is not
// read but 0, and the last chunk's sum is multiplied by `factor`: a dot product becomes a logit.
template <class Simd, int rows, int vecs, bool start, Values values = Values::finite>
[[gnu::always_inline]] inline void multiply_chunks(Index depth, Index phase, const float* b,
                                                   Index b_stride, const float* a, float* c,
                                                   float factor = 1) {
  static_assert(2 * rows * vecs + vecs + 1 <= Simd::registers, "sums + a + b must not spill");
  constexpr int width = vecs * Simd::lanes;
  Index k = 0;
  for (Index stop = smaller(chunk - phase, depth);; stop = smaller(stop + chunk, depth)) {
    typename Simd::Vec sum[2][rows][vecs];
    clear<Simd>(sum[0]);
    clear<Simd>(sum[1]);

    const auto product = [&](auto& part) {
      multiply_line<Simd, values>(b, a, part);
      a += width;
      b += b_stride;
    };
    for (; k + 1 < stop; k += 2) {
      product(sum[0]);
      product(sum[1]);
    }
    if (k < stop) {
      product(sum[0]);
      ++k;
    }

    const bool first = start && k <= chunk - phase, last = k >= depth;
    SCALEDOT_UNROLL
    for (int r = 0; r < rows; ++r) {
      SCALEDOT_UNROLL
      for (int v = 0; v < vecs; ++v) {
        float* at = c + r * width + v * Simd::lanes;
        auto total = Simd::add(sum[0][r][v], sum[1][r][v]);
        total = Simd::add(first ? Simd::zero() : Simd::load(at), total);
        if (start && last) total = Simd::mul(total, Simd::broadcast(factor));
        Simd::store(at, total);
      }
    }
    if (last) return;
  }
}

}  // namespace scaledot::kernels
