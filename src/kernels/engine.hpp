// The two products of attention for one block of packed keys and values. Another engine (tiles of a
// matrix unit) would supply the same two functions.
#pragma once

#include "kernels/multiply.hpp"
#include "kernels/pack.hpp"
#include "kernels/rows.hpp"

namespace scaledot::kernels {

// The packed keys and values of one block.
struct Block {
  Index first;         // its first key, a multiple of block_keys
  Range keys;          // those in it to look at, counted from `first`; multiples of Simd::rows
  const float* key;    // [block_keys / group][head_dim][group]
  const float* value;  // [value_dim / group][block_keys][group]
  BlockFacts facts;
  bool is_masked;  // a mask hides some of it from some row
};

// logits[key, row] = query . key, in units of log2. Or, while they are in registers, their weights,
// where a row needs no maximum and sees every key.
enum class Scores { logits, weights };

template <class Simd, int vecs, bool bf16, Scores scores>
void score(const Constants& constants, const Block& block, const float* query, float* logits,
           const RowStates& states) {
  constexpr Index group = group_of<Simd>, width = vecs * Simd::lanes;
  constexpr int rows = Simd::rows, half = Simd::rows / 2;
  const Index dims = constants.head_dim;
  for (Index j = block.keys.begin; j < block.keys.end; j += rows) {
    const float* panel = block.key + j / group * group * dims + j % group;
    float* to = logits + j * width;
    if constexpr (bf16) {
      static_assert(scores == Scores::logits);
      multiply_chunks<Simd, half, vecs, true>(dims, 0, panel, group, query, to, constants.scale);
      multiply_chunks<Simd, half, vecs, true>(dims, 0, panel + half, group, query,
                                              to + half * width, constants.scale);
    } else {
      typename Simd::Vec sum[rows][vecs];
      clear<Simd>(sum);
      multiply<Simd, Values::finite>(dims, panel, group, query, sum);
      if constexpr (scores == Scores::weights) weigh_sums<Simd>(sum, states.sum);
      store_sums<Simd>(sum, to, width);
    }
  }
}

// output[dim, row] += sum over the block's keys of weight[key, row] * value[key, dim].
template <class Simd, int vecs, bool bf16, Values values>
void absorb(const Constants& constants, const Block& block, const float* weights, float* output) {
  constexpr Index group = group_of<Simd>, width = vecs * Simd::lanes;
  constexpr int rows = Simd::rows, half = Simd::rows / 2;
  const Index keys = block.keys.end - block.keys.begin, phase = block.keys.begin % chunk;
  const float* weight = weights + block.keys.begin * width;
  for (Index d = 0; d < constants.value_dim; d += rows) {
    const float* panel =
        block.value + d / group * group * block_keys + block.keys.begin * group + d % group;
    float* to = output + d * width;
    if constexpr (bf16) {
      multiply_chunks<Simd, half, vecs, false, values>(keys, phase, panel, group, weight, to);
      multiply_chunks<Simd, half, vecs, false, values>(keys, phase, panel + half, group, weight,
                                                       to + half * width);
    } else {
      typename Simd::Vec sum[rows][vecs];
      load_sums<Simd>(to, width, sum);
      multiply<Simd, values>(keys, panel, group, weight, sum);
      store_sums<Simd>(sum, to, width);
    }
  }
}

}  // namespace scaledot::kernels
