// The softmax of a tile, in vectors: queries are in the lanes, so every step is lane by lane.
// `logits` is [keys][width] and becomes weights in place.
#pragma once

#include <limits>

#include "kernels/exp2.hpp"
#include "kernels/multiply.hpp"
#include "kernels/table.hpp"

namespace scaledot::kernels {

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float largest_float = std::numeric_limits<float>::max();
inline constexpr float log2_e = 0x1.715476p0f;

// What the softmax of a tile must remember of the keys it has seen. `output` is the weighted sum of
// values, [value_dim, rounded up to group][width]; max is an integer, -inf before the first key.
struct RowStates {
  float* max;  // [width]
  float* sum;  // [width]
  float* output;
};

template <class Simd>
inline void multiply_all(float* numbers, Index count, float factor) {
  for (Index e = 0; e < count; e += Simd::lanes)
    Simd::store(numbers + e, Simd::mul(Simd::load(numbers + e), Simd::broadcast(factor)));
}

// logits = softcap * tanh(logits), where logits come divided by the cap and softcap in log2 units.
// A function of its own has the registers for its constants.
template <class Simd>
[[gnu::noinline]] void cap_logits(float* logits, Index count, float softcap) {
  for (Index e = 0; e < count; e += Simd::lanes)
    Simd::store(logits + e,
                Simd::mul(Simd::broadcast(softcap), tanh<Simd>(Simd::load(logits + e))));
}

// True only if all of the numbers are finite and at most 2^50 in size.
template <class Simd>
inline bool are_small(const float* numbers, Index count) {
  typename Simd::Vec sum[chains] = {Simd::zero(), Simd::zero(), Simd::zero(), Simd::zero()};
  for (Index e = 0; e < count; e += chains * Simd::lanes) {
    SCALEDOT_UNROLL
    for (int chain = 0; chain < chains; ++chain) {
      const Index at = e + chain * Simd::lanes;
      if (at >= count) break;
      const auto x = Simd::load(numbers + at);
      sum[chain] = Simd::fma(x, x, sum[chain]);
    }
  }
  const auto all = Simd::add(Simd::add(sum[0], sum[1]), Simd::add(sum[2], sum[3]));
  const auto small = Simd::less(all, Simd::broadcast(0x1p100f));  // not NaN
  return !Simd::any(
      Simd::equal(Simd::select(small, Simd::zero(), Simd::broadcast(1)), Simd::broadcast(1)));
}

// Adds a bias in natural units. -inf hides the key, whatever its logit, and no finite sum does: the
// bias is kept within +-2^127 and the sum within the finite range. Infinities and NaN pass.
template <class Simd>
inline void add_bias(float* logits, const float* bias, Index count) {
  const auto to_log2 = Simd::broadcast(log2_e);
  if (are_small<Simd>(logits, count) && are_small<Simd>(bias, count)) {
    for (Index e = 0; e < count; e += Simd::lanes)
      Simd::store(logits + e, Simd::fma(Simd::load(bias + e), to_log2, Simd::load(logits + e)));
    return;
  }
  const auto limit = Simd::broadcast(largest_float), reach = Simd::broadcast(0x1p127f);
  const auto hidden = Simd::broadcast(-infinity), minus = Simd::broadcast(-1);
  const auto within = [&](auto x, auto bound) {
    return Simd::max(Simd::mul(minus, bound), Simd::min(bound, x));
  };
  for (Index e = 0; e < count; e += Simd::lanes) {
    const auto t = Simd::load(logits + e), b = Simd::load(bias + e);
    const auto finite = Simd::both(Simd::less(Simd::abs(t), Simd::broadcast(infinity)),
                                   Simd::less(Simd::abs(b), Simd::broadcast(infinity)));
    const auto sum = Simd::fma(within(b, reach), to_log2, t);
    const auto other = Simd::select(Simd::equal(b, hidden), hidden, Simd::add(b, t));
    Simd::store(logits + e, Simd::select(finite, within(sum, limit), other));
  }
}

// Of one row: the keys it sees by position, counted from the block's first key.
struct RowRanges {
  float* begin;  // [width]
  float* end;    // [width]
};

// Stores `value` in the lanes of the keys [keys.begin, keys.end) of a block that the band hides.
template <class Simd>
inline void hide_outside(const RowRanges& rows, Range keys, Index width, float value, float* line) {
  const auto hidden = Simd::broadcast(value);
  for (Index j = keys.begin; j < keys.end; ++j, line += width) {
    const auto key = Simd::broadcast(static_cast<float>(j));
    for (Index r = 0; r < width; r += Simd::lanes) {
      const auto from = Simd::load(rows.begin + r), to = Simd::load(rows.end + r);
      auto kept = Simd::select(Simd::less(key, from), hidden, Simd::load(line + r));
      kept = Simd::select(Simd::less(key, to), kept, hidden);
      Simd::store(line + r, kept);
    }
  }
}

// Stores `value` in the lanes whose mark is `mark`: 0 in a boolean mask, -inf in a bias.
template <class Simd>
inline void hide_marked(const float* marks, float mark, Index count, float value, float* line) {
  for (Index e = 0; e < count; e += Simd::lanes) {
    const auto hidden = Simd::equal(Simd::load(marks + e), Simd::broadcast(mark));
    Simd::store(line + e, Simd::select(hidden, Simd::broadcast(value), Simd::load(line + e)));
  }
}

// Raises the integer maxima of the rows to cover `keys` lines of logits, where `logit(at)` is one
// vector of them, and multiplies what was summed so far by the power of two between; calls
// complete() before, if it has to, which leaves nothing behind that is not in the sums.
template <class Simd, int vecs, class Logit, class Complete>
inline void raise_max(const float* logits, Index keys, const RowStates& states, Index dims,
                      const Logit& logit, const Complete& complete) {
  constexpr int width = vecs * Simd::lanes;
  typename Simd::Vec largest[vecs];
  SCALEDOT_UNROLL
  for (int v = 0; v < vecs; ++v) largest[v] = Simd::broadcast(-infinity);
  for (Index j = 0; j < keys; ++j) {
    SCALEDOT_UNROLL
    for (int v = 0; v < vecs; ++v)
      largest[v] = Simd::max(logit(logits + j * width + v * Simd::lanes), largest[v]);
  }

  for (int v = 0; v < vecs; ++v) {
    const auto before = Simd::load(states.max + v * Simd::lanes);
    const auto above = Simd::less(before, largest[v]);
    if (!Simd::any(above)) continue;
    complete();
    const auto top = Simd::min(Simd::broadcast(largest_float), Simd::ceil(largest[v]));
    const auto after = Simd::select(above, top, before);
    Simd::store(states.max + v * Simd::lanes, after);
    const auto factor = Simd::select(
        above, Simd::scale2(Simd::broadcast(1), Simd::sub(before, after)), Simd::broadcast(1));
    const auto scale_line = [&](float* line) {
      Simd::store(line, Simd::mul(Simd::load(line), factor));
    };
    scale_line(states.sum + v * Simd::lanes);
    for (Index d = 0; d < dims; ++d) scale_line(states.output + d * width + v * Simd::lanes);
  }
}

// A row that has seen no logit above -inf yet is weighed against 0, so that -inf - max is -inf.
template <class Simd>
inline typename Simd::Vec finite_max(const float* max) {
  const auto m = Simd::load(max);
  return Simd::select(Simd::equal(m, Simd::broadcast(-infinity)), Simd::zero(), m);
}

// The weight of a logit relative to max. With `certified` max is 0 and is not subtracted.
template <class Simd, bool bf16, bool certified>
[[gnu::always_inline]] inline typename Simd::Vec weigh(typename Simd::Vec logit,
                                                       typename Simd::Vec max) {
  if constexpr (bf16) return bf16_weight<Simd>(logit, certified ? Simd::zero() : max);
  return certified ? exp2<Simd>(logit) : weight<Simd>(logit, max);
}

// Weighs `keys` lines in place and adds each row's weights to its sum. f32: one chain over the
// keys, ascending. bf16: rounded weights, in tile order, `phase` as in multiply_chunks.
template <class Simd, int vecs, bool bf16, bool certified>
inline void weigh_rows(float* logits, Index keys, Index phase, const RowStates& states) {
  constexpr int width = vecs * Simd::lanes;
  typename Simd::Vec total[vecs], top[vecs];
  SCALEDOT_UNROLL
  for (int v = 0; v < vecs; ++v) {
    total[v] = Simd::load(states.sum + v * Simd::lanes);
    top[v] = finite_max<Simd>(states.max + v * Simd::lanes);
  }
  const auto weigh_line = [&](float* line, typename Simd::Vec(&sum)[vecs]) {
    SCALEDOT_UNROLL
    for (int v = 0; v < vecs; ++v) {
      float* at = line + v * Simd::lanes;
      const auto w = weigh<Simd, bf16, certified>(Simd::load(at), top[v]);
      sum[v] = Simd::add(sum[v], w);
      Simd::store(at, w);
    }
  };
  if constexpr (!bf16) {
    for (Index j = 0; j < keys; ++j) weigh_line(logits + j * width, total);
  } else {
    Index j = 0;
    for (Index stop = smaller(chunk - phase, keys); j < keys; stop = smaller(stop + chunk, keys)) {
      typename Simd::Vec even[vecs], odd[vecs];
      SCALEDOT_UNROLL
      for (int v = 0; v < vecs; ++v) even[v] = odd[v] = Simd::zero();
      for (; j < stop; j += 2) {
        weigh_line(logits + j * width, even);
        weigh_line(logits + (j + 1) * width, odd);
      }
      SCALEDOT_UNROLL
      for (int v = 0; v < vecs; ++v) total[v] = Simd::add(total[v], Simd::add(even[v], odd[v]));
    }
  }
  SCALEDOT_UNROLL
  for (int v = 0; v < vecs; ++v) Simd::store(states.sum + v * Simd::lanes, total[v]);
}

// Weighs a register tile of logits with a maximum of 0 and adds the weights to the rows' sums.
template <class Simd, int rows, int vecs>
[[gnu::always_inline]] inline void weigh_sums(typename Simd::Vec (&logits)[rows][vecs],
                                              float* sums) {
  SCALEDOT_UNROLL
  for (int v = 0; v < vecs; ++v) {
    auto total = Simd::load(sums + v * Simd::lanes);
    SCALEDOT_UNROLL
    for (int r = 0; r < rows; ++r) {
      logits[r][v] = weigh<Simd, false, true>(logits[r][v], Simd::zero());
      total = Simd::add(total, logits[r][v]);
    }
    Simd::store(sums + v * Simd::lanes, total);
  }
}

// merged = merged * 2^(merged.max - max) + later * 2^(later.max - max), max the larger of the two.
template <class Simd>
inline void merge_rows(Index width, Index dims, const RowStates& merged, const RowStates& later) {
  for (Index r = 0; r < width; r += Simd::lanes) {
    const auto a = Simd::load(merged.max + r), b = Simd::load(later.max + r);
    const auto top = Simd::max(a, b);
    const auto power = [&](auto from) {  // rows that saw nothing: -inf - -inf is not 0
      return Simd::select(Simd::equal(from, top), Simd::broadcast(1),
                          Simd::scale2(Simd::broadcast(1), Simd::sub(from, top)));
    };
    const auto a_factor = power(a), b_factor = power(b);
    const auto merge_line = [&](float* to, const float* line) {
      Simd::store(to, Simd::fma(Simd::load(to), a_factor, Simd::mul(Simd::load(line), b_factor)));
    };
    Simd::store(merged.max + r, top);
    merge_line(merged.sum + r, later.sum + r);
    for (Index d = 0; d < dims; ++d)
      merge_line(merged.output + d * width + r, later.output + d * width + r);
  }
}

// lse of rows from their sum and integer max. The exponents are added first, so that the choice of
// max cannot be seen. -inf if the row saw nothing, NaN if its sum is not finite.
template <class Simd>
inline typename Simd::Vec lse_of(typename Simd::Vec sum, typename Simd::Vec max) {
  const auto one = Simd::broadcast(1), nothing = Simd::broadcast(-infinity);
  const auto positive = Simd::less(Simd::zero(), sum);
  const auto finite = Simd::less(sum, Simd::broadcast(infinity));
  const auto safe = Simd::select(Simd::both(positive, finite), sum, one);
  const auto exponent = Simd::exponent(safe);
  const auto m = Simd::scale2(safe, Simd::sub(Simd::zero(), exponent));
  const auto log2 = Simd::add(Simd::add(max, exponent), log2_fraction<Simd>(m));
  const auto lse = Simd::mul(log2, Simd::broadcast(0x1.62e43p-1f));
  const auto not_a_number = Simd::broadcast(std::numeric_limits<float>::quiet_NaN());
  return Simd::select(Simd::equal(sum, Simd::zero()), nothing,
                      Simd::select(finite, lse, not_a_number));
}

}  // namespace scaledot::kernels
