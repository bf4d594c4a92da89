// From a caller's tensors, of any type and strides, to panels of f32, and from panels to the
// outputs.
#pragma once

#include <limits>

#include "float16.hpp"
#include "kernels/denormals.hpp"
#include "kernels/multiply.hpp"
#include "kernels/table.hpp"

namespace scaledot::kernels {

// One element at a time: up to Simd::lanes of them from `at` on, widened; 0 beyond count.
template <class Simd>
[[gnu::noinline]] typename Simd::Vec gather_elements(const std::byte* at, DType dtype, Index stride,
                                                     Index count) {
  float line[Simd::lanes] = {};
  for (Index e = 0; e < smaller(count, Simd::lanes); ++e) {
    const void* p = at + e * stride * bytes_of(dtype);
    switch (dtype) {
      case DType::f32:
        line[e] = *static_cast<const float*>(p);
        break;
      case DType::f16:
        line[e] = f32_of_f16(*static_cast<const std::uint16_t*>(p));
        break;
      case DType::bf16:
        line[e] = f32_of_bf16(*static_cast<const std::uint16_t*>(p));
        break;
      case DType::boolean:
        line[e] = *static_cast<const std::uint8_t*>(p) != 0 ? 1.0f : 0.0f;
        break;
    }
  }
  return Simd::load(line);
}

template <class Simd>
[[gnu::always_inline]] inline typename Simd::Vec load_elements(const std::byte* at, DType dtype,
                                                               Index stride, Index count) {
  const void* p = at;
  if (stride == 1 && count >= Simd::lanes) {
    switch (dtype) {
      case DType::f32:
        return Simd::load(static_cast<const float*>(p));
      case DType::f16:
        return Simd::load_f16(static_cast<const std::uint16_t*>(p));
      case DType::bf16:
        return Simd::load_bf16(static_cast<const std::uint16_t*>(p));
      case DType::boolean:
        return Simd::load_boolean(static_cast<const std::uint8_t*>(p));
    }
  }
  return gather_elements<Simd>(at, dtype, stride, count);
}

// The opposite: rounds up to Simd::lanes elements to the type and stores `count` of them.
template <class Simd>
inline void store_elements(std::byte* at, DType dtype, Index stride, Index count,
                           typename Simd::Vec value) {
  void* p = at;
  if (dtype == DType::f32) {
    if (stride == 1 && count >= Simd::lanes) return Simd::store(static_cast<float*>(p), value);
    float line[Simd::lanes];
    Simd::store(line, value);
    for (Index e = 0; e < smaller(count, Simd::lanes); ++e)
      static_cast<float*>(p)[e * stride] = line[e];
    return;
  }
  std::uint16_t line[Simd::lanes];
  const bool is_whole = stride == 1 && count >= Simd::lanes;
  std::uint16_t* const words = is_whole ? static_cast<std::uint16_t*>(p) : line;
  if (dtype == DType::f16)
    Simd::store_f16(words, value);
  else
    Simd::store_bf16(words, value);
  if (is_whole) return;
  for (Index e = 0; e < smaller(count, Simd::lanes); ++e)
    static_cast<std::uint16_t*>(p)[e * stride] = line[e];
}

// panel[dim][column] = line(column)[dim], `width` columns side by side, a multiple of Simd::lanes.
// line(column) is the address of dim 0, or null for a column of zeros.
template <class Simd, class LineOf>
inline void pack_transposed(const LineOf& line, DType dtype, Index stride, Index dims, Index width,
                            float* panel) {
  constexpr Index lanes = Simd::lanes;
  for (Index column = 0; column < width; column += lanes) {
    const std::byte* lines[lanes];
    for (Index l = 0; l < lanes; ++l) lines[l] = line(column + l);
    for (Index d = 0; d < dims; d += lanes) {
      typename Simd::Vec square[lanes];
      for (Index l = 0; l < lanes; ++l)
        square[l] = lines[l] == nullptr
                        ? Simd::zero()
                        : load_elements<Simd>(lines[l] + d * stride * bytes_of(dtype), dtype,
                                              stride, dims - d);
      Simd::transpose(square);
      float* to = panel + d * width + column;
      if (dims - d >= lanes) {
        SCALEDOT_UNROLL
        for (Index l = 0; l < lanes; ++l) Simd::store(to + l * width, square[l]);
      } else {
        for (Index l = 0; l < dims - d; ++l) Simd::store(to + l * width, square[l]);
      }
    }
  }
}

// The largest of `lanes` numbers that are not NaN.
template <class Simd>
inline float largest_lane(typename Simd::Vec a) {
  float line[Simd::lanes];
  Simd::store(line, a);
  float largest = line[0];
  for (float lane : line) largest = lane > largest ? lane : largest;
  return largest;
}

// Infinity for NaN, so that nothing is certified.
template <class Simd>
[[gnu::always_inline]] inline typename Simd::Vec not_small_if_nan(typename Simd::Vec a) {
  return Simd::select(Simd::equal(a, a), a,
                      Simd::broadcast(std::numeric_limits<float>::infinity()));
}

// The largest square of a column's norm in panel[dims][width], no more than a rounding error low.
template <class Simd>
inline float largest_norm2(const float* panel, Index dims, Index width) {
  auto largest = Simd::zero();
  for (Index column = 0; column < width; column += Simd::lanes) {
    typename Simd::Vec sum[chains] = {Simd::zero(), Simd::zero(), Simd::zero(), Simd::zero()};
    const auto add = [&](Index d, int chain) {
      const auto x = Simd::load(panel + d * width + column);
      sum[chain] = Simd::fma(x, x, sum[chain]);
    };
    Index d = 0;
    for (; d + chains <= dims; d += chains) {
      SCALEDOT_UNROLL
      for (int chain = 0; chain < chains; ++chain) add(d + chain, chain);
    }
    for (; d < dims; ++d) add(d, 0);
    const auto norm2 = Simd::add(Simd::add(sum[0], sum[1]), Simd::add(sum[2], sum[3]));
    largest = Simd::max(not_small_if_nan<Simd>(norm2), largest);
  }
  return largest_lane<Simd>(largest);
}

// The width of a panel's line: a multiple of what is loaded at once and of what is multiplied.
template <class Simd>
inline constexpr Index group_of = Simd::lanes > Simd::rows ? Simd::lanes : Simd::rows;

// Packs the keys [first, last) of the block, counted from its start, and returns the largest square
// of their norms. line_of(j) is the address of key j, or null if it is not read.
template <class Simd, class LineOf>
inline float pack_keys(const Packing& packing, Index first, Index last, const LineOf& line_of,
                       float* to) {
  constexpr Index group = group_of<Simd>;
  const Index dims = packing.constants.head_dim;
  float largest = 0;
  for (Index j = first; j < last; j += group) {
    float* panel = to + j * dims;
    const auto line = [&](Index column) { return line_of(j + column); };
    pack_transposed<Simd>(line, packing.key.dtype, packing.key.dim_stride, dims, group, panel);
    const float norm2 = largest_norm2<Simd>(panel, dims, group);
    largest = norm2 > largest ? norm2 : largest;
  }
  return largest;
}

// The same for values; notes in `facts` how large and small they are.
template <class Simd, class LineOf>
inline void pack_values(const Packing& packing, Index first, Index last, const LineOf& line_of,
                        float* to, BlockFacts& facts) {
  constexpr Index group = group_of<Simd>, lanes = Simd::lanes;
  const Index dims = packing.constants.value_dim, padded = round_up(dims, group);
  const DType dtype = packing.value.dtype;
  const Index stride = packing.value.dim_stride, step = stride * bytes_of(dtype);
  const auto infinity = Simd::broadcast(std::numeric_limits<float>::infinity());
  typename Simd::Vec largest[chains], smallest[chains];
  SCALEDOT_UNROLL
  for (int chain = 0; chain < chains; ++chain) {
    largest[chain] = Simd::zero();
    smallest[chain] = infinity;
  }
  auto finite = Simd::equal(Simd::zero(), Simd::zero());
  for (Index j = first; j < last; ++j) {
    const std::byte* line = line_of(j);
    const auto pack = [&](Index d, int chain) {
      const auto x = line != nullptr && d < dims
                         ? load_elements<Simd>(line + d * step, dtype, stride, dims - d)
                         : Simd::zero();
      Simd::store(to + d / group * group * block_keys + d % group + j * group, x);
      const auto size = Simd::abs(x);
      finite = Simd::both(finite, Simd::less(size, infinity));
      largest[chain] = Simd::max(size, largest[chain]);
      const auto or_none = Simd::select(Simd::equal(size, Simd::zero()), infinity, size);
      smallest[chain] = Simd::min(or_none, smallest[chain]);
    };
    Index d = 0;
    for (; d + chains * lanes <= padded; d += chains * lanes) {
      SCALEDOT_UNROLL
      for (int chain = 0; chain < chains; ++chain) pack(d + chain * lanes, chain);
    }
    for (; d < padded; d += lanes) pack(d, 0);
  }
  for (int chain = 1; chain < chains; ++chain) {
    largest[0] = Simd::max(largest[0], largest[chain]);
    smallest[0] = Simd::min(smallest[0], smallest[chain]);
  }
  const bool all_finite =
      !Simd::any(Simd::equal(Simd::select(finite, Simd::zero(), infinity), infinity));
  facts.value_max =
      all_finite ? largest_lane<Simd>(largest[0]) : std::numeric_limits<float>::infinity();
  facts.value_min = -largest_lane<Simd>(Simd::sub(Simd::zero(), smallest[0]));
}

// The address of the block's key j, counted from its start, in one of the tensors; null if the key
// is not read.
template <class Simd>
inline auto reader_of(const Packing& packing, const Lines& lines, Index block) {
  return [&packing, &lines, block](Index j) {
    const Index key = block + j;
    const bool is_read =
        key >= packing.keys_read.begin && key < packing.keys_read.end && packing.seen.of(key);
    return is_read ? lines.at(0, key) : nullptr;
  };
}

// Packs the keys and values of one block. `keys` lies in the block that starts at `block`.
template <class Simd>
inline BlockFacts pack_block(const Packing& packing, Index block, Range keys, float* key_panel,
                             float* value_panel) {
  const Index first = (keys.begin - block) / group_of<Simd> * group_of<Simd>,
              last = round_up(keys.end - block, group_of<Simd>);
  BlockFacts facts;
  facts.key_norm2 = pack_keys<Simd>(packing, first, last,
                                    reader_of<Simd>(packing, packing.key, block), key_panel);
  pack_values<Simd>(packing, first, last, reader_of<Simd>(packing, packing.value, block),
                    value_panel, facts);
  return facts;
}

}  // namespace scaledot::kernels
