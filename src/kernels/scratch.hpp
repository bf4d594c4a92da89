// Where a tile's working memory lies: one stretch of floats, laid out from shapes alone.
#pragma once

#include "kernels/pack.hpp"
#include "kernels/rows.hpp"

namespace scaledot::kernels {

template <class Simd>
inline constexpr Index full_width = Simd::vecs* Simd::lanes;

template <class Simd>
inline Index state_floats(const Constants& constants) {
  return full_width<Simd> * (2 + round_up(constants.value_dim, group_of<Simd>));
}

template <class Simd>
inline RowStates states_at(float* slot) {
  return {slot, slot + full_width<Simd>, slot + 2 * full_width<Simd>};
}

struct Scratch {
  float* query;   // [head_dim][width]
  float* logits;  // [block_keys][width], then weights
  float* marks;   // [block_keys][width]: a mask's or a bias's lines
  RowRanges rows;
  RowStates states, merged;
  float* key;  // one block, if the tile packs for itself
  float* value;
  std::uint8_t* seen;  // [2][split_keys]: what SplitMarks holds

  // If there are tiles:
  float* ahead;           // [2][chunk][width] logits
  float* pairs;           // [block_keys / 2][width] pairs of weights
  float* unpacked_value;  // of one block, for MultiplyAdd
};

// Lays the parts out one after the other, each at a multiple of 64 bytes; returns their floats.
template <class Simd>
inline Index lay_out(const Constants& constants, float* at, Scratch& scratch) {
  constexpr Index width = full_width<Simd>;
  Index used = 0;
  const auto take = [&](Index floats) {
    float* part = at == nullptr ? nullptr : at + used;
    used += round_up(floats, 16);
    return part;
  };
  const Index query_dims =
      Simd::has_tiles ? round_up(constants.head_dim, chunk) : constants.head_dim;
  scratch.query = take(query_dims * width);
  scratch.logits = take(block_keys * width);
  scratch.marks = take(block_keys * width);
  scratch.rows = {take(width), take(width)};
  const Index state = state_floats<Simd>(constants);
  float* const first = take(state);
  float* const second = take(state);
  if (at != nullptr) {
    scratch.states = states_at<Simd>(first);
    scratch.merged = states_at<Simd>(second);
  }
  const Index value_floats = block_keys * round_up(constants.value_dim, group_of<Simd>);
  scratch.key = take(block_keys * query_dims);
  scratch.value = take(value_floats);
  scratch.seen = reinterpret_cast<std::uint8_t*>(take(split_keys / 2));
  if constexpr (Simd::has_tiles) {
    scratch.ahead = take(2 * chunk * width);
    scratch.pairs = take(block_keys / 2 * width);
    scratch.unpacked_value = take(value_floats);
  }
  return used;
}

}  // namespace scaledot::kernels
