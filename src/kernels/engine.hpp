// What a tile of queries runs on: how its queries, keys and values are packed, and the two products
// of attention for one block of them.
#pragma once

#include "kernels/multiply.hpp"
#include "kernels/pack.hpp"
#include "kernels/rows.hpp"

namespace scaledot::kernels {

// The packed keys and values of one block.
struct Block {
  Index first;       // its first key, a multiple of block_keys
  Range keys;        // those in it to look at, counted from `first`; multiples of Engine::step
  const float* key;  // as Engine packs them
  const float* value;
  BlockFacts facts;
  bool is_masked;  // a mask hides some of it from some row
};

// logits[key, row] = query . key, in units of log2. Or, while they are in registers, their weights,
// where a row needs no maximum and sees every key.
enum class Scores { logits, weights };

// Fused multiply-adds in vector registers. Queries are [head_dim][width] and, in f32 arithmetic,
// multiplied by the scale; keys are [block_keys / group][head_dim][group], values
// [value_dim / group][block_keys][group].
template <class Simd, int vecs, bool bf16>
struct MultiplyAdd {
  static constexpr Index group = group_of<Simd>, width = vecs * Simd::lanes;
  static constexpr int rows = Simd::rows, half = Simd::rows / 2;
  static constexpr Index step = rows;
  static constexpr bool looks_ahead = false;
  struct Unit {};  // nothing to set up

  static PanelFloats panel_floats(const Constants& constants) {
    return {block_keys * constants.head_dim, block_keys * round_up(constants.value_dim, group)};
  }
  static BlockFacts pack_block(const Packing& packing, Index first, Range keys, float* key,
                               float* value) {
    return kernels::pack_block<Simd>(packing, first, keys, key, value);
  }

  static void pack_query(const Tile& tile, float* query) {
    const auto line = [&](Index r) { return tile.line(tile.query, r); };
    const Index dims = tile.constants.head_dim;
    pack_transposed<Simd>(line, tile.query.dtype, tile.query.dim_stride, dims, width, query);
    if (bf16) return;
    const auto scale = Simd::broadcast(tile.constants.scale);
    for (Index e = 0; e < dims * width; e += Simd::lanes)
      Simd::store(query + e, Simd::mul(Simd::load(query + e), scale));
  }
  static float query_norm2(const Constants& constants, const float* query) {
    return largest_norm2<Simd>(query, constants.head_dim, width);
  }

  template <Scores scores>
  static void score(const Constants& constants, const Block& block, const float* query,
                    float* logits, const RowStates& states) {
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
  template <Values values>
  static void absorb(const Constants& constants, const Block& block, const float* weights,
                     float* output) {
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
};

// What an arithmetic of a SIMD struct runs on.
template <class Simd, int vecs, bool bf16>
struct EngineFor {
  using Type = MultiplyAdd<Simd, vecs, bf16>;
};
template <class Simd, int vecs, bool bf16>
using EngineOf = typename EngineFor<Simd, vecs, bf16>::Type;

}  // namespace scaledot::kernels
