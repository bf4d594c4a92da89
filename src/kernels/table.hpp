// What one instruction set contributes, and the plain data its kernels take.
#pragma once

#include <cstddef>
#include <cstdint>

#include "band.hpp"
#include "view.hpp"

namespace scaledot::kernels {

// Walked by every path at absolute multiples, so that no path can change a bit (docs/numerics.md).
inline constexpr Index chunk = 32;         // products that bf16 arithmetic sums before it adds them
inline constexpr Index block_keys = 128;   // keys whose logits are in the cache at once
inline constexpr Index split_keys = 1024;  // keys that are one chain of sums
static_assert(block_keys % chunk == 0 && split_keys % block_keys == 0);

// Bits of KernelTable::needs: what the processor must have and the operating system must save.
enum Feature : std::uint32_t {
  avx2 = 1u << 0,
  fma = 1u << 1,
  f16c = 1u << 2,
  avx512f = 1u << 3,
  avx512bw = 1u << 4,
  avx512dq = 1u << 5,
  avx512vl = 1u << 6,
  neon = 1u << 7,
  amx_tile = 1u << 8,
  amx_bf16 = 1u << 9,
};

// How a query's dot product becomes a logit in units of log2, and the shapes.
struct Constants {
  Index head_dim = 0, value_dim = 0;
  float scale = 1;    // c of docs/numerics.md: scale * log2(e), or scale / softcap with a softcap
  float softcap = 0;  // softcap * log2(e); 0 if there is none
};

// Of one packed block of keys.
struct BlockFacts {
  float key_norm2 = 0;  // the largest |key|^2
  float value_max = 0;  // largest |value|; infinity if one is not finite
  float value_min = 0;  // smallest |value| that is not 0; infinity if there is none
};

// The packed keys and values of one key head, block by block, in the order that the table's engine
// reads them (engine.hpp).
struct Panels {
  float* key = nullptr;
  float* value = nullptr;
  BlockFacts* facts = nullptr;
};
struct PanelFloats {
  Index key = 0, value = 0;  // of one block
};

// Which paths a call took; for the tests, and counted on one thread only.
struct Taken {
  Index blocks = 0;         // of keys past a tile
  Index certified = 0;      // of these, without a running maximum
  Index in_registers = 0;   // of these, with weights made before their logits left the registers
  Index thin_splits = 0;    // splits of keys that few rows took in where they lie
  Index merged_splits = 0;  // splits after the first that tiles walked past together
};

// The rows of one tile: row r is query (first + r) / group of head (first + r) % group of the
// group of query heads that share a key head.
struct Tile {
  Constants constants;
  Band band;
  Index keys = 0;  // of the key tensor, which the band may cut short
  Index first = 0, count = 0, group = 1;
  Lines query, key, value;     // key and value have one head
  Lines mask, bias;            // dim is the key; no data if there is none
  Lines output, lse, weights;  // written to; lse and weights have no data if not wanted
  Panels panels;               // no key and value: the tile packs what it needs itself
  bool certify = true;         // may skip the running maximum where the logits are small
  bool thin = true;            // few rows may read keys and values where they lie
  bool bf16 = false;           // bf16 arithmetic
  Taken* taken = nullptr;      // counted there, if not null

  constexpr Index head(Index r) const { return group == 1 ? 0 : (first + r) % group; }
  constexpr Index position(Index r) const { return group == 1 ? first + r : (first + r) / group; }
  // Row r's line of one of the tensors, from element `dim` on; null past the last row.
  constexpr const std::byte* line(const Lines& lines, Index r, Index dim = 0) const {
    return r < count ? lines.at(head(r), position(r), dim) : nullptr;
  }
  constexpr Range queries() const { return {position(0), position(count - 1) + 1}; }
};

// A mark for each key from `first` on: 1 if some row sees it. No marks: all do.
struct SeenKeys {
  std::uint8_t* marks = nullptr;
  Index first = 0;

  constexpr bool of(Index key) const { return marks == nullptr || marks[key - first] != 0; }
};

// Blocks of keys to pack: `keys` begins at a multiple of block_keys. Keys outside keys_read, and
// those that nobody sees, are not read; they become 0.
struct Packing {
  Constants constants;
  Lines key, value;
  Range keys, keys_read;
  SeenKeys seen;
  Panels panels;
  bool bf16 = false;  // for bf16 arithmetic
};

struct KernelTable {
  const char* name;
  std::uint32_t needs;  // Feature bits: exactly the -m flags of its source file
  bool runs_f32;        // false: only bf16 arithmetic, and if it needs tiles, once they are granted
  Index lanes;          // queries in a vector
  Index rows;           // of a full tile

  // Marks each of `keys`, which lie in one split, that a row of the tile sees; the others' marks
  // stay as they are.
  void (*mark_seen)(const Tile&, Range keys, SeenKeys seen);
  void (*pack)(const Packing&);

  // One tile from its queries to its output. scratch holds scratch_floats(), aligned to 64 bytes.
  void (*attend)(const Tile&, float* scratch);

  // The same in two steps: each split of keys into a slot of slot_floats(), or merged into one that
  // has those before; then all slots, in ascending order, into the output.
  void (*attend_split)(const Tile&, Index split, float* slot, float* scratch);
  void (*merge_split)(const Tile&, Index split, float* slot, float* scratch);
  void (*finish)(const Tile&, float* slots, Index count);

  PanelFloats (*panel_floats)(const Constants&, bool bf16);
  Index (*slot_floats)(const Constants&);
  Index (*scratch_floats)(const Constants&);
};

extern const KernelTable scalar_table, avx2_table, avx512_table, amx_table, neon_table;

}  // namespace scaledot::kernels
