// One tile of queries against all the keys it sees, block by block: score, hide, weigh, absorb.
// Between two blocks only RowStates survive (Milakov and Gimelshein 2018, "Online normalizer
// calculation for softmax"; Dao et al. 2022, "FlashAttention"; here with an integer maximum).
#pragma once

#include "kernels/engine.hpp"
#include "kernels/hide.hpp"
#include "kernels/lookahead.hpp"
#include "kernels/pack.hpp"
#include "kernels/rows.hpp"
#include "kernels/scratch.hpp"
#include "kernels/thin.hpp"

namespace scaledot::kernels {

// Everything about one tile that does not change from block to block.
template <class Simd, int vecs, bool bf16>
struct TileWalk {
  using Engine = EngineOf<Simd, vecs, bf16>;
  using Plain = MultiplyAdd<Simd, vecs, bf16>;
  using Vectors = Simd;
  static constexpr int vectors = vecs;
  static constexpr Index width = vecs * Simd::lanes;
  const Tile& tile;
  Scratch scratch;
  Range seen;   // keys that some row sees
  Range clear;  // keys that every row sees
  bool certified = false;
  Index marked_split = -1;  // whose keys scratch.seen tells of
  [[no_unique_address]] typename Engine::Unit unit;

  TileWalk(const Tile& of, float* memory) : tile(of) {
    lay_out<Simd>(tile.constants, memory, scratch);
    seen = tile.band.any(tile.queries());
    if (seen.empty()) seen = {0, 0};
    clear = tile.band.all(tile.queries());
    Engine::pack_query(tile, scratch.query);
    certified = tile.certify && is_certified();
  }

  // |query| * |key| * |scale * log2(e)| <= 32 for all rows and keys, so that a maximum of 0 will
  // do; and no value so large that 2^32 times it overflows or so small that 2^-33 times it is
  // flushed (docs/numerics.md).
  bool is_certified() const {
    if (tile.panels.key == nullptr || tile.bias.data != nullptr || tile.constants.softcap != 0)
      return false;
    float key_norm2 = 0, value_max = 0, value_min = infinity;
    for (Index b = seen.begin / block_keys; b * block_keys < seen.end; ++b) {
      const BlockFacts& facts = tile.panels.facts[b];
      key_norm2 = facts.key_norm2 > key_norm2 ? facts.key_norm2 : key_norm2;
      value_max = facts.value_max > value_max ? facts.value_max : value_max;
      value_min = facts.value_min < value_min ? facts.value_min : value_min;
    }
    const auto dims = static_cast<double>(tile.constants.head_dim);
    const auto bound = [&](float norm2) {  // roundings and flushed squares included
      return norm2 * (1 + dims * 0x1p-22) + dims * 0x1p-126;
    };
    const float query_norm2 = Engine::query_norm2(tile.constants, scratch.query);
    const double scale = bf16 ? tile.constants.scale : 1;
    return bound(query_norm2) * bound(key_norm2) * scale * scale <= 32.0 * 32.0 &&
           value_max <= 0x1p60f && value_min >= 0x1p-60f;
  }

  void start(RowStates& states) const {
    for (Index r = 0; r < width; ++r) states.max[r] = certified ? 0 : -infinity;
    start_split(states);
  }
  void start_split(RowStates& states) const {
    for (Index r = 0; r < width; ++r) states.sum[r] = 0;
    const Index dims = round_up(tile.constants.value_dim, group_of<Simd>);
    for (Index e = 0; e < dims * width; ++e) states.output[e] = 0;
  }

  // The part of a block that the tile looks at, packed; false if none of its keys is seen.
  bool open(Index first, Block& block) {
    Range keys{larger(seen.begin, first), smaller(seen.end, first + block_keys)};
    SeenKeys marked;
    block.is_masked = false;
    if (tile.mask.data != nullptr || tile.bias.data != nullptr) {
      const SplitMarks<Simd> marks = marks_of(first);
      marked = {marks.some, keys.begin};
      keys = shown_part(keys, marked);
      std::uint8_t least = 1;
      for (Index k = keys.begin - marked.first; k < keys.end - marked.first; ++k)
        least = marks.every[k] < least ? marks.every[k] : least;
      block.is_masked = tile.mask.data != nullptr && least == 0;
      const Index later = first + block_keys;
      ask_for_bias<Simd>(tile, {later, smaller(seen.end, later + block_keys)});
      if (keys.empty()) return false;
    }
    block.first = first;
    block.keys = {(keys.begin - first) / Engine::step * Engine::step,
                  round_up(keys.end - first, Engine::step)};
    if (tile.panels.key != nullptr) {
      const Index place = first / block_keys;
      const PanelFloats floats = Engine::panel_floats(tile.constants);
      block.key = tile.panels.key + place * floats.key;
      block.value = tile.panels.value + place * floats.value;
      block.facts = tile.panels.facts[place];
      return true;
    }
    const Packing packing{tile.constants, tile.key, tile.value, keys, keys, marked, {}, bf16};
    block.facts = Engine::pack_block(packing, first, keys, scratch.key, scratch.value);
    block.key = scratch.key;
    block.value = scratch.value;
    return true;
  }

  // From the first to the last key that some row sees, in whole groups of Engine::step.
  static Range shown_part(Range keys, SeenKeys marked) {
    Range part = keys;
    while (!part.empty() && !marked.of(part.begin)) ++part.begin;
    while (!part.empty() && !marked.of(part.end - 1)) --part.end;
    if (part.empty()) return part;
    return {larger(part.begin / Engine::step * Engine::step, keys.begin),
            smaller(round_up(part.end, Engine::step), keys.end)};
  }

  // What mask and bias say of the block's keys that some row sees by position, from the first of
  // these on. Read a split at a time.
  SplitMarks<Simd> marks_of(Index first) {
    const Index split = first / split_keys;
    const Range keys{larger(seen.begin, split * split_keys),
                     smaller(seen.end, (split + 1) * split_keys)};
    const SplitMarks<Simd> marks{scratch.seen, scratch.seen + split_keys};
    if (split != marked_split) mark_shown<Simd>(tile, keys, tile.mask.data != nullptr, marks);
    marked_split = split;
    const Index begin = larger(seen.begin, first) - keys.begin;
    return {marks.some + begin, marks.every + begin};
  }

  // From queries and keys to logits: capped, biased, and -inf where a key is hidden.
  void logits_of(const Block& block) {
    if constexpr (Engine::looks_ahead)
      Engine::score(tile.constants, block, scratch.query, scratch.logits);
    else
      Engine::template score<Scores::logits>(tile.constants, block, scratch.query, scratch.logits,
                                             scratch.states);
    finish_logits(block);
  }
  // Of an engine that looks ahead, logits are only dot products before.
  void finish_logits(const Block& block) {
    const Index count = (block.keys.end - block.keys.begin) * width;
    float* line = scratch.logits + block.keys.begin * width;
    if constexpr (Engine::looks_ahead) multiply_all<Simd>(line, count, tile.constants.scale);
    if (tile.constants.softcap != 0) cap_logits<Simd>(line, count, tile.constants.softcap);
    if (tile.bias.data != nullptr) {
      pack_marks<Simd>(tile, tile.bias, block.first, block.keys, width, scratch.marks);
      add_bias<Simd>(line, scratch.marks, count);
    }
    hide(block, -infinity);
  }

  // Stores `value` where a boolean mask or a row's position hides a key.
  void hide(const Block& block, float value) {
    if (block.is_masked) {
      const Index count = (block.keys.end - block.keys.begin) * width;
      pack_marks<Simd>(tile, tile.mask, block.first, block.keys, width, scratch.marks);
      hide_marked<Simd>(scratch.marks, 0, count, value, scratch.logits + block.keys.begin * width);
    }
    hide_band<Simd>(tile, clear, block.first, block.keys, width, scratch.rows, value,
                    scratch.logits);
  }

  // Gives the weight -0 to hidden keys, so that the careful path can tell them from light ones.
  void mark_hidden(const Block& block) {
    if (tile.bias.data != nullptr) {
      const Index count = (block.keys.end - block.keys.begin) * width;
      pack_marks<Simd>(tile, tile.bias, block.first, block.keys, width, scratch.marks);
      hide_marked<Simd>(scratch.marks, -infinity, count, -0.0f,
                        scratch.logits + block.keys.begin * width);
    }
    hide(block, -0.0f);
  }

  // The keys of the block that every row sees; none if a mask or a bias has a say.
  Range clear_in(const Block& block) const {
    if (block.is_masked || tile.bias.data != nullptr) return {block.keys.end, block.keys.end};
    const Index begin =
        larger(round_up(larger(clear.begin - block.first, 0), Engine::step), block.keys.begin);
    const Index end =
        smaller((clear.end - block.first) / Engine::step * Engine::step, block.keys.end);
    return begin < end ? Range{begin, end} : Range{block.keys.end, block.keys.end};
  }

  // From queries and keys to weights.
  void weights_of(const Block& block, RowStates& states) {
    if constexpr (!bf16)
      if (certified) return weigh_in_registers(block, states);
    weigh_logits(block, states);
  }
  // The part that all rows see is weighed before its logits leave the registers.
  void weigh_in_registers(const Block& block, RowStates& states) {
    const Range all = block.keys, middle = clear_in(block);
    Block part = block;
    const auto take = [&](Range keys) {
      part.keys = keys;
      return !keys.empty();
    };
    if (take({all.begin, middle.begin})) weigh_logits(part, states);
    if (take(middle)) {
      if (tile.taken != nullptr) ++tile.taken->in_registers;
      Engine::template score<Scores::weights>(tile.constants, part, scratch.query, scratch.logits,
                                              states);
    }
    if (take({middle.end, all.end})) weigh_logits(part, states);
  }

  void weigh_logits(const Block& block, RowStates& states) {
    logits_of(block);
    weigh(block, states);
  }

  // Weighs the block's logits in place: raises the maxima if need be, then sums the weights.
  void weigh(const Block& block, RowStates& states) const {
    float* line = scratch.logits + block.keys.begin * width;
    const Index keys = block.keys.end - block.keys.begin, phase = block.keys.begin % chunk;
    if (certified) return weigh_rows<Simd, vecs, bf16, true>(line, keys, phase, states);
    raise_max<Simd, vecs>(
        line, keys, states, tile.constants.value_dim,
        [](const float* at) { return Simd::load(at); }, [] {});
    weigh_rows<Simd, vecs, bf16, false>(line, keys, phase, states);
  }

  void count_block() const {
    if (tile.taken == nullptr) return;
    ++tile.taken->blocks;
    tile.taken->certified += certified;
  }

  void take_in(const Block& block, RowStates& states) {
    count_block();
    weights_of(block, states);
    if (block.facts.value_max < infinity) {
      Engine::template absorb<Values::finite>(tile.constants, block, scratch.logits, states.output);
    } else {
      mark_hidden(block);
      Engine::template absorb<Values::any>(tile.constants, block, scratch.logits, states.output);
    }
  }

  void take_in_split(Index split, RowStates& states) {
    const Range keys{larger(split * split_keys, seen.begin / block_keys * block_keys),
                     smaller((split + 1) * split_keys, seen.end)};
    if (is_thin()) return take_in_thin({larger(keys.begin, seen.begin), keys.end}, states);
    if constexpr (Engine::looks_ahead) {
      Lookahead<TileWalk>{*this, states}.run(keys);
    } else {
      Block block;
      for (Index first = keys.begin; first < keys.end; first += block_keys)
        if (open(first, block)) take_in(block, states);
    }
  }

  // Whether the rows are few and see the same keys, so that none need be packed.
  bool is_thin() const {
    const auto lie_together = [](const Lines& lines, Index dims) {
      return lines.dim_stride == 1 || dims <= 1;
    };
    return vecs == 1 && tile.thin && tile.count <= most_thin<Simd> && tile.panels.key == nullptr &&
           tile.mask.data == nullptr && tile.bias.data == nullptr &&
           lie_together(tile.key, tile.constants.head_dim) &&
           lie_together(tile.value, tile.constants.value_dim) && clear.begin == seen.begin &&
           clear.end == seen.end;
  }

  void take_in_thin(Range keys, const RowStates& states) const {
    if (keys.empty()) return;
    if (tile.taken != nullptr) ++tile.taken->thin_splits;
    float* query = scratch.query;
    if constexpr (Engine::looks_ahead) Plain::pack_query(tile, query = scratch.key);
    const auto run = [&]<int rows>() {
      if constexpr (rows <= most_thin<Simd>)
        ThinSplit<Simd, rows, bf16>{
            tile, {tile.constants, query, ahead_in<Simd>(tile.key)}, scratch.logits, scratch.value}
            .run(keys, states);
    };
    if (tile.count == 1)
      run.template operator()<1>();
    else if (tile.count <= 4)
      run.template operator()<4>();
    else
      run.template operator()<8>();
  }
};

}  // namespace scaledot::kernels
