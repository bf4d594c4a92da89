// A tile's blocks for an engine that multiplies beside the vector units: while one block's logits
// become weights, the next one's are computed.
#pragma once

#include "kernels/engine.hpp"
#include "kernels/rows.hpp"

namespace scaledot::kernels {

// `Walk` is a TileWalk, in which logits and later logits change places.
template <class Walk>
struct Lookahead {
  using Engine = typename Walk::Engine;
  Walk& walk;

  // The next block from `first` on of which some key is seen; moves `first` past it.
  bool open(Index& first, Index end, Block& block) {
    for (; first < end; first += block_keys)
      if (walk.open(first, block)) {
        first += block_keys;
        return true;
      }
    return false;
  }

  void run(Range keys, RowStates& states) {
    const bool is_packed = walk.tile.panels.key != nullptr;  // or else there is room for one block
    Index first = keys.begin;
    Block block, next;
    bool more = open(first, keys.end, block);
    if (more) scoring(block, walk.scratch.logits).rest();
    while (more) {
      more = is_packed && open(first, keys.end, next);
      auto ahead = scoring(next, walk.scratch.later);
      take_in(block, more ? &ahead : nullptr, states);
      if (!is_packed && open(first, keys.end, next)) {
        scoring(next, walk.scratch.later).rest();
        more = true;
      }
      block = next;
      float* const done = walk.scratch.logits;
      walk.scratch.logits = walk.scratch.later;
      walk.scratch.later = done;
    }
  }

  typename Engine::Scoring scoring(const Block& block, float* logits) const {
    return {walk.tile.constants, block, walk.scratch.query, logits};
  }

  // From dot products to output. Goes on with `ahead` meanwhile, and ends it.
  void take_in(const Block& block, typename Engine::Scoring* ahead, RowStates& states) {
    walk.count_block();
    if (!(block.facts.value_max < infinity)) {
      if (ahead != nullptr) ahead->rest();
      return take_in_carefully(block, states);
    }
    const Range clear = walk.clear_in(block);
    const bool is_clear = clear.begin == block.keys.begin && clear.end == block.keys.end;
    float factor = walk.tile.constants.scale;
    if (!walk.certified || !is_clear) {
      walk.finish_logits(block);
      factor = 1;
    }
    float* const logits = walk.scratch.logits;
    if (walk.certified) {
      Engine::template weigh_block<true>(block, factor, logits, states, ahead);
    } else {
      walk.raise_max_over(block, states);
      Engine::template weigh_block<false>(block, factor, logits, states, ahead);
    }
    Engine::absorb(walk.tile.constants, block, logits, states.output);
  }

  // Values that are not finite: with multiply-adds, past the lanes of hidden keys.
  void take_in_carefully(Block block, RowStates& states) {
    walk.finish_logits(block);
    walk.weigh(block, states);
    walk.mark_hidden(block);
    Engine::unpack_values(walk.tile.constants, block, walk.scratch.unpacked_value);
    block.value = walk.scratch.unpacked_value;
    Walk::Plain::template absorb<Values::any>(walk.tile.constants, block, walk.scratch.logits,
                                              states.output);
  }
};

}  // namespace scaledot::kernels
