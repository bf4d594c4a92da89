// A tile's splits one after the other, merged, and what becomes of them: outputs, lse and weights.
#pragma once

#include "kernels/finish.hpp"
#include "kernels/walk.hpp"

namespace scaledot::kernels {

// softmax(logits) from the final states, by a second pass over the keys; 0 for hidden keys.
template <class Simd, int vecs, bool bf16>
void store_weights(TileWalk<Simd, vecs, bf16>& walk, const RowStates& states) {
  const Tile& tile = walk.tile;
  constexpr Index width = vecs * Simd::lanes;
  for (Index r = 0; r < tile.count; ++r)
    for (Index j = 0; j < tile.keys; j += Simd::lanes)
      store_elements<Simd>(tile.weights.to(tile.head(r), tile.position(r), j), tile.weights.dtype,
                           tile.weights.dim_stride, tile.keys - j, Simd::zero());
  Block block;
  for (Index first = walk.seen.begin / block_keys * block_keys; first < walk.seen.end;
       first += block_keys) {
    if (!walk.open(first, block)) continue;
    walk.logits_of(block);
    const auto each = [&](const auto& of) {
      for (Index j = block.keys.begin; j < block.keys.end; ++j)
        for (Index r = 0; r < width; r += Simd::lanes) {
          float* at = walk.scratch.logits + j * width + r;
          Simd::store(at, of(Simd::load(at), r));
        }
    };
    each([&](auto t, Index r) {
      return weigh<Simd, bf16, false>(t, finite_max<Simd>(states.max + r));
    });
    walk.mark_hidden(block);
    each([&](auto w, Index r) {
      const auto share = Simd::div(w, divisor<Simd>(Simd::load(states.sum + r)));
      return Simd::select(is_hidden<Simd>(w), Simd::zero(), canonical<Simd>(share));
    });
    const Range keys{larger(walk.seen.begin, first + block.keys.begin),
                     smaller(walk.seen.end, first + block.keys.end)};
    const float* lines = walk.scratch.logits + (keys.begin - first) * width;
    for (Index r = 0; r < tile.count; r += Simd::lanes)
      store_transposed<Simd>(tile, tile.weights, r, keys.begin, keys.end - keys.begin,
                             [&](Index j) { return Simd::load(lines + j * width + r); });
  }
}

template <class Simd, int vecs, bool bf16>
void attend_tile(const Tile& tile, float* memory) {
  TileWalk<Simd, vecs, bf16> walk(tile, memory);
  RowStates states = walk.scratch.states, merged = walk.scratch.merged;
  walk.start(states);
  bool is_merged = false;
  const Index first = walk.seen.begin / split_keys;
  for (Index split = first; split * split_keys < walk.seen.end; ++split) {
    if (split == first + 1) {
      merged = states;
      states = walk.scratch.merged;
      is_merged = true;
    }
    if (split > first) {
      for (Index r = 0; r < walk.width; ++r) states.max[r] = merged.max[r];
      walk.start_split(states);
    }
    walk.take_in_split(split, states);
    if (is_merged) merge_rows<Simd>(walk.width, tile.constants.value_dim, merged, states);
  }
  if (!is_merged) merged = states;
  if (tile.weights.data != nullptr) store_weights<Simd, vecs, bf16>(walk, merged);
  store_rows<Simd>(tile, merged, walk.width);
}

// One split of the keys, into a slot.
template <class Simd, int vecs, bool bf16>
void attend_tile_split(const Tile& tile, Index split, float* slot, float* memory) {
  TileWalk<Simd, vecs, bf16> walk(tile, memory);
  RowStates states = states_at<Simd>(slot);
  walk.start(states);
  walk.take_in_split(split, states);
}

// The same, merged into a slot that has the splits before.
template <class Simd, int vecs, bool bf16>
void merge_tile_split(const Tile& tile, Index split, float* slot, float* memory) {
  TileWalk<Simd, vecs, bf16> walk(tile, memory);
  if (tile.taken != nullptr) ++tile.taken->merged_splits;
  RowStates states = walk.scratch.states;
  walk.start(states);
  walk.take_in_split(split, states);
  merge_rows<Simd>(walk.width, tile.constants.value_dim, states_at<Simd>(slot), states);
}

}  // namespace scaledot::kernels
