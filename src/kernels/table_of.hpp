// The kernel table of one instruction set: the templates of this directory for its SIMD struct.
#pragma once

#include "kernels/attend.hpp"

namespace scaledot::kernels {

// Calls call<bf16>(), of the arithmetics that the instruction set's own units run.
template <class Simd, class Call>
[[gnu::always_inline]] inline auto with_arithmetic(bool bf16, const Call& call) {
  if constexpr (!Simd::has_tiles)
    if (!bf16) return call.template operator()<false>();
  return call.template operator()<true>();
}

// Calls call<vecs, bf16>(): few rows take a tile one vector wide.
template <class Simd, class Call>
[[gnu::always_inline]] inline void with_shape(const Tile& tile, const Call& call) {
  const DenormalsFlushed flushed;
  with_arithmetic<Simd>(tile.bf16, [&]<bool bf16>() {
    if (tile.count <= Simd::lanes)
      call.template operator()<1, bf16>();
    else
      call.template operator()<Simd::vecs, bf16>();
  });
}

template <class Simd>
void attend(const Tile& tile, float* scratch) {
  with_shape<Simd>(tile,
                   [&]<int vecs, bool bf16>() { attend_tile<Simd, vecs, bf16>(tile, scratch); });
}

template <class Simd>
void attend_split(const Tile& tile, Index split, float* slot, float* scratch) {
  with_shape<Simd>(tile, [&]<int vecs, bool bf16>() {
    attend_tile_split<Simd, vecs, bf16>(tile, split, slot, scratch);
  });
}

template <class Simd>
PanelFloats panel_floats(const Constants& constants, bool bf16) {
  return with_arithmetic<Simd>(bf16, [&]<bool of_bf16>() {
    return EngineOf<Simd, Simd::vecs, of_bf16>::panel_floats(constants);
  });
}

// Packs whole blocks to where they lie in the key head's panels.
template <class Simd>
void pack(const Packing& packing) {
  const DenormalsFlushed flushed;
  with_arithmetic<Simd>(packing.bf16, [&]<bool bf16>() {
    using Engine = EngineOf<Simd, Simd::vecs, bf16>;
    const PanelFloats floats = Engine::panel_floats(packing.constants);
    for (Index first = packing.keys.begin; first < packing.keys.end; first += block_keys) {
      const Index block = first / block_keys;
      const Range keys{first, smaller(first + block_keys, packing.keys.end)};
      packing.panels.facts[block] =
          Engine::pack_block(packing, first, keys, packing.panels.key + block * floats.key,
                             packing.panels.value + block * floats.value);
    }
  });
}

template <class Simd>
void merge_split(const Tile& tile, Index split, float* slot, float* scratch) {
  with_shape<Simd>(tile, [&]<int vecs, bool bf16>() {
    merge_tile_split<Simd, vecs, bf16>(tile, split, slot, scratch);
  });
}

template <class Simd>
Index slot_floats(const Constants& constants) {
  return round_up(state_floats<Simd>(constants), 16);
}

template <class Simd>
void finish(const Tile& tile, float* slots, Index count) {
  const Index floats = slot_floats<Simd>(tile.constants);
  const RowStates merged = states_at<Simd>(slots);
  with_shape<Simd>(tile, [&]<int vecs, bool bf16>() {
    constexpr Index width = vecs * Simd::lanes;
    for (Index s = 1; s < count; ++s)
      merge_rows<Simd>(width, tile.constants.value_dim, merged,
                       states_at<Simd>(slots + s * floats));
    store_rows<Simd>(tile, merged, width);
  });
}

template <class Simd>
Index scratch_floats(const Constants& constants) {
  Scratch unused;
  return lay_out<Simd>(constants, nullptr, unused);
}

template <class Simd>
constexpr KernelTable table_of(const char* name, std::uint32_t needs) {
  return {.name = name,
          .needs = needs,
          .runs_f32 = !Simd::has_tiles,
          .lanes = Simd::lanes,
          .rows = full_width<Simd>,
          .mark_seen = mark_seen<Simd>,
          .pack = pack<Simd>,
          .attend = attend<Simd>,
          .attend_split = attend_split<Simd>,
          .merge_split = merge_split<Simd>,
          .finish = finish<Simd>,
          .panel_floats = panel_floats<Simd>,
          .slot_floats = slot_floats<Simd>,
          .scratch_floats = scratch_floats<Simd>};
}

}  // namespace scaledot::kernels
