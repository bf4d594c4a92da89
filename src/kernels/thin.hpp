// A few rows that all see the same keys, as in decoding: keys are read once, where they lie, and
// nothing is packed. Logits have keys in the lanes (transposed in registers), outputs have dims in
// the lanes; each element is still the one chain that engine.hpp computes, so the bits are the
// same.
#pragma once

#include "kernels/dots.hpp"
#include "kernels/rows.hpp"
#include "kernels/scratch.hpp"

namespace scaledot::kernels {

inline constexpr Index thin_keys = 64;  // of a block: keys and values stay in the L1 cache
static_assert(split_keys % thin_keys == 0 && thin_keys % chunk == 0 && thin_keys <= block_keys);

// The most rows whose chains, four a row with what is multiplied, stay in registers.
template <class Simd>
inline constexpr int most_thin = Simd::lanes >= 8 && Simd::registers >= 32   ? 8
                                 : Simd::lanes >= 4 && Simd::registers >= 16 ? 4
                                                                             : 1;

// `keys` of one split past `rows` rows. Needs dims that lie side by side, no mask and no bias.
template <class Simd, int rows, bool bf16>
struct ThinSplit {
  using Vec = typename Simd::Vec;
  static constexpr Index lanes = Simd::lanes;
  static constexpr int most = Simd::registers / (bf16 ? 4 : 2) / rows;
  static constexpr int vecs = most > 8 ? 8 : most;  // of an output line that are summed at once

  const Tile& tile;
  Dots<Simd, rows> dots;
  float* logits;  // [rows][thin_keys], then weights
  float* output;  // [rows][value_dim, rounded up to lanes]
  Index padded = round_up(tile.constants.value_dim, lanes);
  Index value_ahead = ahead_in<Simd>(tile.value);

  template <DType dtype>
  void score(Range keys) const {
    for (Index j = keys.begin; j < keys.end; j += lanes) {
      const typename Dots<Simd, rows>::Keys group{tile.key.at(0, j),
                                                  smaller(lanes, keys.end - j) - 1,
                                                  tile.key.position_stride * bytes_of(dtype)};
      Vec sum[rows];
      SCALEDOT_UNROLL
      for (int r = 0; r < rows; ++r) sum[r] = Simd::zero();
      if constexpr (bf16)
        dots.dot_chunks(group, sum);
      else
        dots.template dot<dtype>(group, sum);
      SCALEDOT_UNROLL
      for (int r = 0; r < rows; ++r) Simd::store(logits + r * thin_keys + j - keys.begin, sum[r]);
    }
  }

  // Raises one row's maximum to cover `line`, and scales down what it has summed so far.
  void raise_max(const float* line, Index count, int r, const RowStates& states) const {
    auto largest = Simd::broadcast(-infinity);
    for (Index j = 0; j < count; j += lanes) largest = Simd::max(Simd::load(line + j), largest);
    const float top = largest_lane<Simd>(largest), before = states.max[r];
    if (!(before < top)) return;
    const auto after = Simd::min(Simd::broadcast(largest_float), Simd::ceil(Simd::broadcast(top)));
    const auto scale = Simd::scale2(Simd::broadcast(1), Simd::sub(Simd::broadcast(before), after));
    states.max[r] = Simd::first(after);
    states.sum[r] *= Simd::first(scale);
    for (Index d = 0; d < padded; d += lanes) {
      float* at = output + r * padded + d;
      Simd::store(at, Simd::mul(Simd::load(at), scale));
    }
  }

  // Turns the block's logits into weights.
  void weigh(Range keys, const RowStates& states) const {
    const Index count = keys.end - keys.begin;
    for (int r = 0; r < rows; ++r) {
      float* line = logits + r * thin_keys;
      for (Index j = count; j < round_up(count, lanes); ++j) line[j] = -infinity;
      raise_max(line, count, r, states);
      const auto top = Simd::broadcast(states.max[r] == -infinity ? 0 : states.max[r]);
      for (Index j = 0; j < count; j += lanes)
        Simd::store(line + j, kernels::weigh<Simd, bf16, false>(Simd::load(line + j), top));
    }
  }

  // Calls call(part) for each chunk of keys in tile order, or once for all in f32.
  template <class Call>
  [[gnu::always_inline]] static void each_chunk(Range keys, const Call& call) {
    if constexpr (!bf16) return call(keys);
    for (Index j = keys.begin; j < keys.end;) {
      const Index stop = smaller((j / chunk + 1) * chunk, keys.end);
      call(Range{j, stop});
      j = stop;
    }
  }

  // Adds each row's weights to its sum: one chain over the keys, or tile order.
  void add_weights(Range keys, const RowStates& states) const {
    const auto add = [&](Index begin, Index end, Index step, float(&sum)[rows]) {
      for (Index j = begin; j < end; j += step) {
        SCALEDOT_UNROLL
        for (int r = 0; r < rows; ++r) sum[r] += logits[r * thin_keys + j - keys.begin];
      }
    };
    float total[rows];
    for (int r = 0; r < rows; ++r) total[r] = states.sum[r];
    each_chunk(keys, [&](Range part) {
      if constexpr (!bf16) return add(part.begin, part.end, 1, total);
      float even[rows] = {}, odd[rows] = {};
      add(part.begin + part.begin % 2, part.end, 2, even);
      add(part.begin + 1 - part.begin % 2, part.end, 2, odd);
      for (int r = 0; r < rows; ++r) total[r] += even[r] + odd[r];
    });
    for (int r = 0; r < rows; ++r) states.sum[r] = total[r];
  }

  // sum[r][v] += weight[r] * value[d + v * lanes ...] for one key.
  template <DType dtype, int count, bool whole>
  [[gnu::always_inline]] void add_key(Index j, Index d, const float* weights,
                                      Vec (&sum)[rows][count]) const {
    const std::byte* at = tile.value.at(0, j) + d * bytes_of(dtype);
    Vec line[count];
    SCALEDOT_UNROLL
    for (int v = 0; v < count; ++v) {
      const std::byte* from = at + v * lanes * bytes_of(dtype);
      if (v * lanes * bytes_of(dtype) % 64 == 0) ask_for(from, value_ahead);
      if constexpr (dtype == DType::bf16 && count % 2 == 0) {
        if (v % 2 == 0) {
          const Vec pairs = Simd::load_pairs(from);
          line[v] = Simd::even_of(pairs);
          line[v + 1] = Simd::odd_of(pairs);
        }
        continue;
      }
      line[v] = whole ? load_as<Simd, dtype>(from)
                      : gather_elements<Simd>(from, dtype, 1, tile.constants.value_dim - d);
    }
    SCALEDOT_UNROLL
    for (int r = 0; r < rows; ++r) {
      const auto weight = Simd::broadcast(weights[r * thin_keys]);
      SCALEDOT_UNROLL
      for (int v = 0; v < count; ++v) sum[r][v] = Simd::fma(weight, line[v], sum[r][v]);
    }
  }

  // output[r][d + v * lanes ...] += sum over keys of weight * value. Not `whole`: a single vector,
  // partly beyond value_dim.
  template <DType dtype, int count, bool whole>
  [[gnu::always_inline]] void absorb_vecs(Range keys, Index d) const {
    const auto add = [&](Index j, Vec(&sum)[rows][count]) {
      add_key<dtype, count, whole>(j, d, logits + j - keys.begin, sum);
    };
    each_chunk(keys, [&](Range part) {
      Vec total[rows][count];
      if constexpr (!bf16) {
        load_sums<Simd>(output + d, padded, total);
        for (Index j = part.begin; j < part.end; ++j) add(j, total);
      } else {
        Vec even[rows][count], odd[rows][count];
        clear<Simd>(even);
        clear<Simd>(odd);
        Index j = part.begin;
        if (j % 2 != 0) add(j++, odd);
        for (; j + 1 < part.end; j += 2) {
          add(j, even);
          add(j + 1, odd);
        }
        if (j < part.end) add(j, even);
        load_sums<Simd>(output + d, padded, total);
        SCALEDOT_UNROLL
        for (int r = 0; r < rows; ++r) {
          SCALEDOT_UNROLL
          for (int v = 0; v < count; ++v)
            total[r][v] = Simd::add(total[r][v], Simd::add(even[r][v], odd[r][v]));
        }
      }
      store_sums<Simd>(total, output + d, padded);
    });
  }

  template <DType dtype>
  void absorb(Range keys) const {
    const Index dims = tile.constants.value_dim;
    Index d = 0;
    for (; d + vecs * lanes <= dims; d += vecs * lanes) absorb_vecs<dtype, vecs, true>(keys, d);
    for (; d + lanes <= dims; d += lanes) absorb_vecs<dtype, 1, true>(keys, d);
    if (d < dims) absorb_vecs<dtype, 1, false>(keys, d);
  }

  // Where dim d of the output lies: lines summed from pairs of bf16 have even dims before odd ones.
  Index place_of(Index d) const {
    const Index dims = tile.constants.value_dim, pair = 2 * lanes;
    if (tile.value.dtype != DType::bf16 || vecs % 2 != 0) return d;
    if (d >= dims / (vecs * lanes) * (vecs * lanes)) return d;
    return d / pair * pair + d % 2 * lanes + d % pair / 2;
  }

  // All blocks of `keys`, from an empty state; states.output comes out as in engine.hpp.
  void run(Range keys, const RowStates& states) const {
    for (Index e = 0; e < rows * padded; ++e) output[e] = 0;
    for (Index first = keys.begin; first < keys.end;) {
      const Range block{first, smaller((first / thin_keys + 1) * thin_keys, keys.end)};
      with_dtype(tile.key.dtype, [&]<DType dtype>() { score<dtype>(block); });
      if (tile.constants.softcap != 0)
        for (int r = 0; r < rows; ++r)
          cap_logits<Simd>(logits + r * thin_keys, round_up(block.end - block.begin, lanes),
                           tile.constants.softcap);
      weigh(block, states);
      add_weights(block, states);
      with_dtype(tile.value.dtype, [&]<DType dtype>() { absorb<dtype>(block); });
      first = block.end;
    }
    for (Index d = 0; d < tile.constants.value_dim; ++d)
      for (int r = 0; r < rows; ++r)
        states.output[d * lanes + r] = output[r * padded + place_of(d)];
  }
};

}  // namespace scaledot::kernels
