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
  using Unit = TilesConfigured;
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
    const auto line = [&](Index r) {
      return r < tile.count ? tile.query.at(tile.head(r), tile.position(r)) : nullptr;
    };
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

  // Products of one chunk of keys with the queries, in parts that the vector units' work goes
  // between: the products of some dims, and what is stored for even or odd keys.
  struct Products {
    const float* key;  // of the chunk
    const float* query;
    float* logits;  // of the chunk; [chunk][width], not yet multiplied by the scale

    [[gnu::always_inline]] void start() const {
      zero_tile<0>();
      zero_tile<2>();
      if constexpr (vecs == 2) {
        zero_tile<1>();
        zero_tile<3>();
      }
    }
    [[gnu::always_inline]] void multiply(Index begin, Index end) const {
      for (Index d = begin; d < end; ++d) {
        load_tile<4>(key + 2 * d * tile_floats, tile_rows);
        load_tile<6>(query + vecs * d * tile_floats, tile_rows);
        multiply_tiles<0, 4, 6>();
        load_tile<5>(key + (2 * d + 1) * tile_floats, tile_rows);
        multiply_tiles<2, 5, 6>();
        if constexpr (vecs == 2) {
          load_tile<7>(query + (2 * d + 1) * tile_floats, tile_rows);
          multiply_tiles<1, 4, 7>();
          multiply_tiles<3, 5, 7>();
        }
      }
    }
    [[gnu::always_inline]] void store_even() const {
      store_tile<0>(logits, 2 * width);
      if constexpr (vecs == 2) store_tile<1>(logits + tile_rows, 2 * width);
    }
    [[gnu::always_inline]] void store_odd() const {
      store_tile<2>(logits + width, 2 * width);
      if constexpr (vecs == 2) store_tile<3>(logits + width + tile_rows, 2 * width);
    }
    [[gnu::always_inline]] void part(int n, Index dims) const {
      const Index half = (dims + 1) / 2;
      if (n == 0) {
        start();
        multiply(0, half);
      } else if (n == 1) {
        multiply(half, dims);
      } else if (n == 2) {
        store_even();
      } else {
        store_odd();
      }
    }
  };
  static constexpr int parts = 4;

  // One block's dot products, some of them at a time.
  struct Scoring {
    const Constants& constants;
    const Block& block;
    const float* query;
    float* logits;
    Index c = block.keys.begin / chunk;

    bool done() const { return c * chunk >= block.keys.end; }
    Products of_chunk() const {
      return {block.key + c * chunk_floats(constants).key, query, logits + c * chunk * width};
    }
    void rest() {
      for (; !done(); ++c)
        for (int n = 0; n < parts; ++n) of_chunk().part(n, key_tiles(constants) / 2);
    }
  };

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

  // From logits, not yet multiplied by `factor`, to pairs of weights in their place, line c * 16 on
  // for chunk c; adds them to the sums. Meanwhile the tile unit goes on with `later`.
  template <bool certified>
  static void weigh_block(const Block& block, float factor, float* logits, const RowStates& states,
                          Scoring* later) {
    Weighing<certified> weighing;
    Vec total[vecs];
    weighing.factor = Simd::broadcast(factor);
    for (int v = 0; v < vecs; ++v) {
      total[v] = Simd::load(states.sum + v * Simd::lanes);
      weighing.top[v] = finite_max<Simd>(states.max + v * Simd::lanes);
    }
    for (Index c = block.keys.begin / chunk; c * chunk < block.keys.end; ++c) {
      for (int v = 0; v < vecs; ++v) weighing.even[v] = weighing.odd[v] = Simd::zero();
      const float* from = logits + c * chunk * width;
      float* to = logits + c * tile_rows * width;
      if (later != nullptr && !later->done()) {
        const Products products = later->of_chunk();
        const Index dims = key_tiles(later->constants) / 2;
        SCALEDOT_UNROLL
        for (int n = 0; n < parts; ++n) {
          products.part(n, dims);
          weighing.lines(from, n * tile_rows / parts, tile_rows / parts, to);
        }
        ++later->c;
      } else {
        weighing.lines(from, 0, tile_rows, to);
      }
      for (int v = 0; v < vecs; ++v)
        total[v] = Simd::add(total[v], Simd::add(weighing.even[v], weighing.odd[v]));
    }
    for (int v = 0; v < vecs; ++v) Simd::store(states.sum + v * Simd::lanes, total[v]);
    if (later != nullptr) later->rest();
  }

  // output[dim, row] += sum over the block's keys of weight * value, for 16 dims or twice as many.
  template <int tiles>
  static void absorb_dims(const Block& block, Index chunk_step, const float* value,
                          const float* pairs, float* output) {
    constexpr Index down = tile_rows * width;
    load_tile<0>(output, width);
    if constexpr (vecs == 2) load_tile<1>(output + tile_rows, width);
    if constexpr (tiles == 2) load_tile<2>(output + down, width);
    if constexpr (tiles == 2 && vecs == 2) load_tile<3>(output + down + tile_rows, width);
    for (Index c = block.keys.begin / chunk; c * chunk < block.keys.end; ++c) {
      const float* const values = value + c * chunk_step;
      const float* const weights = pairs + c * tile_rows * width;
      load_tile<4>(values, tile_rows);
      load_tile<6>(weights, width);
      multiply_tiles<0, 4, 6>();
      if constexpr (tiles == 2) {
        load_tile<5>(values + tile_floats, tile_rows);
        multiply_tiles<2, 5, 6>();
      }
      if constexpr (vecs == 2) {
        load_tile<7>(weights + tile_rows, width);
        multiply_tiles<1, 4, 7>();
        if constexpr (tiles == 2) multiply_tiles<3, 5, 7>();
      }
    }
    store_tile<0>(output, width);
    if constexpr (vecs == 2) store_tile<1>(output + tile_rows, width);
    if constexpr (tiles == 2) store_tile<2>(output + down, width);
    if constexpr (tiles == 2 && vecs == 2) store_tile<3>(output + down + tile_rows, width);
  }
  static void absorb(const Constants& constants, const Block& block, const float* pairs,
                     float* output) {
    const Index tiles = value_tiles(constants), chunk_step = tiles * tile_floats;
    Index t = 0;
    const auto at = [&](auto* p, Index floats) { return p + t * floats; };
    for (; t + 2 <= tiles; t += 2)
      absorb_dims<2>(block, chunk_step, at(block.value, tile_floats), pairs,
                     at(output, tile_rows * width));
    if (t < tiles)
      absorb_dims<1>(block, chunk_step, at(block.value, tile_floats), pairs,
                     at(output, tile_rows * width));
  }

  // The block's values as MultiplyAdd takes them.
  static void unpack_values(const Constants& constants, const Block& block, float* panel) {
    const Index floats = chunk_floats(constants).value;
    for (Index c = block.keys.begin / chunk; c * chunk < block.keys.end; ++c)
      unpack_value_tiles<Simd>(block.value + c * floats, constants.value_dim, c * chunk, panel);
  }
};

template <int vecs>
struct EngineFor<Amx, vecs, true> {
  using Type = TileEngine<Amx, vecs>;
};

}  // namespace scaledot::kernels
