// bf16 arithmetic on the tile unit. Queries are in the columns, as they are in the lanes elsewhere:
// logits^T = key . query^T and output^T = value^T . weights^T, 32 products at a time in tile order,
// which is what the unit computes. Roles of its eight tiles, for two tiles of queries:
//
//     0 1   sums: even keys, or the first 16 dims    4 5   keys, even and odd; or values of 16 dims
//     2 3         odd keys, or the next 16 dims      6 7   queries, or weights
//
// Even and odd keys are in tiles apart, so that two vectors of weights become one of pairs, a line
// of the second product's right side.
#pragma once

#include "kernels/engine.hpp"
#include "kernels/simd_amx.hpp"
#include "kernels/tile_pack.hpp"

namespace scaledot::kernels {

template <class Simd, int vecs>
struct TileEngine {
  using Vec = typename Simd::Vec;
  static constexpr Index width = vecs * Simd::lanes, step = chunk;
  static constexpr bool looks_ahead = true;
  using Tiles = typename Simd::Tiles;
  using Unit = typename Tiles::Configured;
  static_assert(Simd::lanes == tile_rows && vecs <= 2);

  static Index key_tiles(const Constants& constants) {
    return 2 * pieces(constants.head_dim, chunk);
  }
  static Index value_tiles(const Constants& constants) {
    return pieces(constants.value_dim, tile_rows);
  }

  // Of `chunk` keys or values each.
  static PanelFloats chunk_floats(const Constants& constants) {
    return {key_tiles(constants) * tile_floats, value_tiles(constants) * tile_floats};
  }
  static PanelFloats panel_floats(const Constants& constants) {
    const PanelFloats one = chunk_floats(constants);
    return {block_keys / chunk * one.key, block_keys / chunk * one.value};
  }

  static BlockFacts pack_block(const Packing& packing, Index first, Range keys, float* key,
                               float* value) {
    const PanelFloats floats = chunk_floats(packing.constants);
    const auto key_line = reader_of<Simd>(packing, packing.key, first);
    const auto value_line = reader_of<Simd>(packing, packing.value, first);
    BlockFacts facts;
    Sizes<Simd> sizes;
    for (Index c = (keys.begin - first) / chunk; c * chunk < keys.end - first; ++c) {
      const float norm2 =
          pack_key_tiles<Simd>(key_line, packing.key.dim_stride, packing.constants.head_dim,
                               c * chunk, key + c * floats.key);
      facts.key_norm2 = norm2 > facts.key_norm2 ? norm2 : facts.key_norm2;
      pack_value_tiles<Simd>(value_line, packing.value.dim_stride, packing.constants.value_dim,
                             c * chunk, value + c * floats.value, sizes);
    }
    sizes.tell(facts);
    return facts;
  }

  static void pack_query(const Tile& tile, float* query) {
    const auto line = [&](Index r) { return tile.line(tile.query, r); };
    pack_columns<Simd>(line, tile.query, tile.constants.head_dim, width, query);
  }
  static float query_norm2(const Constants& constants, const float* query) {
    Vec norm2[vecs] = {};
    for (Index d = 0; d < constants.head_dim; d += chunk)
      for (int v = 0; v < vecs; ++v, query += tile_floats)
        for (Index p = 0; p < tile_rows; ++p)
          norm2[v] = add_squares<Simd>(Simd::load(query + p * tile_rows), norm2[v]);
    Vec largest = Simd::zero();
    for (int v = 0; v < vecs; ++v) largest = Simd::max(not_small_if_nan<Simd>(norm2[v]), largest);
    return largest_lane<Simd>(largest);
  }

  // Calls call<tile>(where its outputs are) for the tiles of sums, `count` down and `vecs` across.
  template <int count, class Call>
  [[gnu::always_inline]] static void each_sum(const Call& call) {
    constexpr Index down = tile_rows * width;
    call.template operator()<0>(0);
    if constexpr (vecs == 2) call.template operator()<1>(tile_rows);
    if constexpr (count == 2) call.template operator()<2>(down);
    if constexpr (count == 2 && vecs == 2) call.template operator()<3>(down + tile_rows);
  }
  // sums += `count` tiles that lie one after the other, times `vecs` that are `across` floats apart
  // and have their rows `stride` apart.
  template <int count>
  [[gnu::always_inline]] static void add_products(const float* left, const float* right,
                                                  Index across, Index stride) {
    Tiles::template load<4>(left, tile_rows);
    Tiles::template load<6>(right, stride);
    Tiles::template multiply<0, 4, 6>();
    if constexpr (count == 2) {
      Tiles::template load<5>(left + tile_floats, tile_rows);
      Tiles::template multiply<2, 5, 6>();
    }
    if constexpr (vecs == 2) {
      Tiles::template load<7>(right + across, stride);
      Tiles::template multiply<1, 4, 7>();
      if constexpr (count == 2) Tiles::template multiply<3, 5, 7>();
    }
  }

  // The dot products of one chunk of keys with the queries, in parts that the vector units' work
  // goes between.
  struct Products {
    const float* key;  // of the chunk
    const float* query;
    Index dims;     // of head_dim, in chunks
    float* logits;  // [chunk][width], not yet multiplied by the scale

    [[gnu::always_inline]] void part(int n) const {
      const Index half = (dims + 1) / 2;
      if (n == 0) {
        each_sum<2>([]<int tile>(Index) { Tiles::template zero<tile>(); });
        multiply(0, half);
      } else if (n == 1) {
        multiply(half, dims);
      } else {
        store(n - 2);
      }
    }
    void all() const {
      for (int n = 0; n < parts; ++n) part(n);
    }

    [[gnu::always_inline]] void multiply(Index begin, Index end) const {
      for (Index d = begin; d < end; ++d)
        add_products<2>(key + 2 * d * tile_floats, query + vecs * d * tile_floats, tile_floats,
                        tile_rows);
    }
    // The logits of the even keys or of the odd ones.
    [[gnu::always_inline]] void store(int parity) const {
      float* const to = logits + parity * width;
      if (parity == 0) {
        Tiles::template store<0>(to, 2 * width);
        if constexpr (vecs == 2) Tiles::template store<1>(to + tile_rows, 2 * width);
      } else {
        Tiles::template store<2>(to, 2 * width);
        if constexpr (vecs == 2) Tiles::template store<3>(to + tile_rows, 2 * width);
      }
    }
  };
  static constexpr int parts = 4;

  // Of the chunk of a block that starts at `key`.
  static Products products(const Constants& constants, const Block& block, Index key,
                           const float* query, float* logits) {
    return {block.key + key / chunk * chunk_floats(constants).key, query,
            pieces(constants.head_dim, chunk), logits};
  }
  static void score(const Constants& constants, const Block& block, const float* query,
                    float* logits) {
    for (Index k = block.keys.begin; k < block.keys.end; k += chunk)
      products(constants, block, k, query, logits + k * width).all();
  }

  // Weighs the chunk's lines [first, first + count) of logits * factor.
  template <bool certified>
  struct Weighing {
    Vec factor, top[vecs], even[vecs], odd[vecs];

    [[gnu::always_inline]] void lines(const float* logits, Index first, Index count, float* pairs) {
      SCALEDOT_UNROLL
      for (Index p = first; p < first + count; ++p) {
        SCALEDOT_UNROLL
        for (int v = 0; v < vecs; ++v) {
          const auto weight_of = [&](const float* at) {
            const Vec t = Simd::mul(Simd::load(at), factor);
            return weigh<Simd, true, certified>(t, top[v]);
          };
          const float* const at = logits + 2 * p * width + v * Simd::lanes;
          const Vec w0 = weight_of(at), w1 = weight_of(at + width);
          even[v] = Simd::add(even[v], w0);
          odd[v] = Simd::add(odd[v], w1);
          Simd::store(pairs + p * width + v * Simd::lanes, Simd::pairs_of(w0, w1));
        }
      }
    }
  };

  // From a chunk's logits, not yet multiplied by `factor`, to pairs of weights; adds them to the
  // sums. Meanwhile the tile unit computes `ahead`, if it is not null.
  template <bool certified>
  static void weigh_chunk(const float* logits, float factor, float* pairs, const RowStates& states,
                          const Products* ahead) {
    Weighing<certified> weighing;
    weighing.factor = Simd::broadcast(factor);
    for (int v = 0; v < vecs; ++v) {
      weighing.top[v] = finite_max<Simd>(states.max + v * Simd::lanes);
      weighing.even[v] = weighing.odd[v] = Simd::zero();
    }
    SCALEDOT_UNROLL
    for (int n = 0; n < parts; ++n) {
      if (ahead != nullptr) ahead->part(n);
      weighing.lines(logits, n * tile_rows / parts, tile_rows / parts, pairs);
    }
    for (int v = 0; v < vecs; ++v) {
      float* const sum = states.sum + v * Simd::lanes;
      const Vec both = Simd::add(weighing.even[v], weighing.odd[v]);
      Simd::store(sum, Simd::add(Simd::load(sum), both));
    }
  }
  // Where the weights of the chunk that starts at `key` go in a block's pairs.
  static Index pairs_of(Index key) { return key / 2 * width; }

  // output[dim, row] += sum over the block's keys of weight * value.
  static void absorb(const Constants& constants, const Block& block, const float* pairs,
                     float* output) {
    const Index tiles = value_tiles(constants);
    Index t = 0;
    for (; t + 2 <= tiles; t += 2)
      absorb_dims<2>(tiles, t, block, pairs, output + t * tile_rows * width);
    if (t < tiles) absorb_dims<1>(tiles, t, block, pairs, output + t * tile_rows * width);
  }
  // For `count` times 16 dims, from the `first` 16 on.
  template <int count>
  static void absorb_dims(Index all, Index first, const Block& block, const float* pairs,
                          float* output) {
    each_sum<count>([&]<int tile>(Index at) { Tiles::template load<tile>(output + at, width); });
    for (Index k = block.keys.begin; k < block.keys.end; k += chunk) {
      const float* const values = block.value + (k / chunk * all + first) * tile_floats;
      const float* const weights = pairs + pairs_of(k);
      add_products<count>(values, weights, tile_rows, width);
    }
    each_sum<count>([&]<int tile>(Index at) { Tiles::template store<tile>(output + at, width); });
  }
  // The block's values as MultiplyAdd takes them.
  static void unpack_values(const Constants& constants, const Block& block, float* panel) {
    const Index floats = chunk_floats(constants).value;
    for (Index c = block.keys.begin / chunk; c * chunk < block.keys.end; ++c)
      unpack_value_tiles<Simd>(block.value + c * floats, constants.value_dim, c * chunk, panel);
  }
};

template <class Simd, int vecs>
requires(Simd::has_tiles) struct EngineFor<Simd, vecs, true> {
  using Type = TileEngine<Simd, vecs>;
};

}  // namespace scaledot::kernels
