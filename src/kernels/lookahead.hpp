// A tile's blocks for an engine that multiplies beside the vector units: while one chunk's logits
// become weights, the next one's are computed. No more is ahead than that, so that all but keys and
// values stays in the L1 cache.
#pragma once

#include "kernels/engine.hpp"
#include "kernels/rows.hpp"

namespace scaledot::kernels {

// `Walk` is a TileWalk.
template <class Walk>
struct Lookahead {
  using Engine = typename Walk::Engine;
  using Simd = typename Walk::Vectors;
  Walk& walk;
  RowStates& states;
  const Constants& constants = walk.tile.constants;
  float* now = walk.scratch.ahead;  // [chunk][width] logits
  float* later = walk.scratch.ahead + chunk * Walk::width;
  bool is_scored = false;  // the next block's first chunk, at `now`

  // The next block from `first` on of which some key is seen; moves `first` past it.
  bool open(Index& first, Index end, Block& block) {
    for (; first < end; first += block_keys)
      if (walk.open(first, block)) {
        first += block_keys;
        return true;
      }
    return false;
  }

  // A tile that packs for itself has room for one block.
  void run(Range keys) {
    const bool is_packed = walk.tile.panels.key != nullptr;
    Index first = keys.begin;
    Block block, next;
    for (bool more = open(first, keys.end, block); more; block = next) {
      more = is_packed && open(first, keys.end, next);
      walk.count_block();
      if (block.facts.value_max < infinity)
        take_in(block, more ? &next : nullptr);
      else
        take_in_carefully(block);
      if (!is_packed) more = open(first, keys.end, next);
    }
  }

  // The keys of which all rows see the dot products times the scale; the other logits need more.
  Range plain_in(const Block& block) const {
    const bool is_none = constants.softcap != 0 || !(block.facts.value_max < infinity);
    return is_none ? Range{block.keys.end, block.keys.end} : walk.clear_in(block);
  }

  // Leaves the finished logits of some of the block's keys in the scratch memory.
  void finish_logits(Block block, Range keys) const {
    if (keys.empty()) return;
    block.keys = keys;
    Engine::score(constants, block, walk.scratch.query, walk.scratch.logits);
    walk.finish_logits(block);
  }

  // From keys to output, chunk by chunk; ahead of the last one goes the first of the next block.
  void take_in(const Block& block, const Block* next) {
    float* const pairs = walk.scratch.pairs;
    const Range plain = plain_in(block);
    const bool goes_on = next != nullptr && plain_in(*next).begin == next->keys.begin;
    finish_logits(block, {block.keys.begin, plain.begin});
    finish_logits(block, {plain.end, block.keys.end});

    Block rest = block;
    const auto absorb_until = [&](Index end) {
      rest.keys.end = end;
      if (!rest.keys.empty()) Engine::absorb(constants, rest, pairs, states.output);
      rest.keys.begin = end;
    };
    for (Index k = block.keys.begin; k < block.keys.end; k += chunk) {
      const bool is_plain = k >= plain.begin && k < plain.end;
      if (is_plain && !is_scored) products(block, k, now).all();
      const float* const logits = is_plain ? now : walk.scratch.logits + k * Walk::width;
      const float factor = is_plain ? constants.scale : 1;
      if (!walk.certified)
        raise_max<Simd, Walk::vectors>(
            logits, chunk, states, constants.value_dim,
            [factor](const float* at) {
              return Simd::mul(Simd::load(at), Simd::broadcast(factor));
            },
            [&] { absorb_until(k); });

      const Index following = k + chunk;
      auto ahead = products(block, following, later);
      is_scored = following >= plain.begin && following < plain.end;
      if (following == block.keys.end && goes_on) {
        ahead = products(*next, next->keys.begin, later);
        is_scored = true;
      }
      weigh(logits, factor, pairs + Engine::pairs_of(k), is_scored ? &ahead : nullptr);
      if (is_scored) swap_logits();
    }
    absorb_until(block.keys.end);
  }
  void swap_logits() {
    float* const done = now;
    now = later;
    later = done;
  }

  typename Engine::Products products(const Block& block, Index key, float* logits) const {
    return Engine::products(constants, block, key, walk.scratch.query, logits);
  }
  void weigh(const float* logits, float factor, float* pairs,
             const typename Engine::Products* ahead) const {
    if (walk.certified)
      Engine::template weigh_chunk<true>(logits, factor, pairs, states, ahead);
    else
      Engine::template weigh_chunk<false>(logits, factor, pairs, states, ahead);
  }

  // Values that are not finite: with multiply-adds, past the lanes of hidden keys.
  void take_in_carefully(Block block) {
    finish_logits(block, block.keys);
    walk.weigh(block, states);
    walk.mark_hidden(block);
    Engine::unpack_values(constants, block, walk.scratch.unpacked_value);
    block.value = walk.scratch.unpacked_value;
    Walk::Plain::template absorb<Values::any>(constants, block, walk.scratch.logits, states.output);
  }
};

}  // namespace scaledot::kernels
