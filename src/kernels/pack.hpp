// From a caller's tensors, of any type and strides, to panels of f32, and from panels to the
// outputs.
#pragma once

#include <limits>

#include "float16.hpp"
#include "kernels/denormals.hpp"
#include "kernels/multiply.hpp"
#include "kernels/table.hpp"

namespace scaledot::kernels {

// Up to Simd::lanes elements from `at` on, widened; 0 beyond count.
template <class Simd>
inline typename Simd::Vec load_elements(const std::byte* at, DType dtype, Index stride,
                                        Index count) {
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
  float line[Simd::lanes] = {};
  for (Index e = 0; e < smaller(count, Simd::lanes); ++e) {
    p = at + e * stride * bytes_of(dtype);
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
  if (dtype == DType::f16)
    Simd::store_f16(line, value);
  else
    Simd::store_bf16(line, value);
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

// The largest square of a column's norm in panel[dims][width], no more than a rounding error low.
template <class Simd>
inline float largest_norm2(const float* panel, Index dims, Index width) {
  auto largest = Simd::zero();
  for (Index column = 0; column < width; column += Simd::lanes) {
    auto sum = Simd::zero();
    for (Index d = 0; d < dims; ++d) {
      const auto x = Simd::load(panel + d * width + column);
      sum = Simd::fma(x, x, sum);
    }
    // NaN: not small, so that nothing is certified.
    sum = Simd::select(Simd::equal(sum, sum), sum,
                       Simd::broadcast(std::numeric_limits<float>::infinity()));
    largest = Simd::max(sum, largest);
  }
  return largest_lane<Simd>(largest);
}

// The width of a panel's line: a multiple of what is loaded at once and of what is multiplied.
template <class Simd>
inline constexpr Index group_of = Simd::lanes > Simd::rows ? Simd::lanes : Simd::rows;

// Packs the keys and values of one block. `keys` lies in the block that starts at `block`.
template <class Simd>
inline BlockFacts pack_block(const Packing& packing, Index block, Range keys, float* key_panel,
                             float* value_panel) {
  constexpr Index group = group_of<Simd>;
  const Constants& constants = packing.constants;
  const auto is_read = [&](Index j) {
    return j >= packing.keys_read.begin && j < packing.keys_read.end && packing.seen.of(j);
  };
  const Index first = (keys.begin - block) / group * group,
              last = round_up(keys.end - block, group);
  BlockFacts facts;
  for (Index j = first; j < last; j += group) {
    float* panel = key_panel + j * constants.head_dim;
    const auto line = [&](Index column) {
      const Index key = block + j + column;
      return is_read(key) ? packing.key.at(0, key) : nullptr;
    };
    pack_transposed<Simd>(line, packing.key.dtype, packing.key.dim_stride, constants.head_dim,
                          group, panel);
    const float norm2 = largest_norm2<Simd>(panel, constants.head_dim, group);
    facts.key_norm2 = norm2 > facts.key_norm2 ? norm2 : facts.key_norm2;
  }

  const Lines& value = packing.value;
  const auto infinity = Simd::broadcast(std::numeric_limits<float>::infinity());
  auto largest = Simd::zero(), smallest = infinity;
  auto zero = Simd::zero();  // 0 * x is NaN if x is not finite
  for (Index d = 0; d < round_up(constants.value_dim, group); d += Simd::lanes) {
    float* to = value_panel + d / group * group * block_keys + d % group;
    for (Index j = first; j < last; ++j) {
      const auto x = d < constants.value_dim && is_read(block + j)
                         ? load_elements<Simd>(value.at(0, block + j, d), value.dtype,
                                               value.dim_stride, constants.value_dim - d)
                         : Simd::zero();
      Simd::store(to + j * group, x);
      const auto size = Simd::abs(x);
      largest = Simd::max(size, largest);
      smallest = Simd::select(Simd::equal(size, Simd::zero()), smallest, Simd::min(size, smallest));
      zero = Simd::fma(Simd::zero(), x, zero);
    }
  }
  facts.value_max = largest_lane<Simd>(Simd::select(Simd::equal(zero, zero), largest, infinity));
  facts.value_min = -largest_lane<Simd>(Simd::sub(Simd::zero(), smallest));
  return facts;
}

// Packs whole blocks to where they lie in the key head's panels.
template <class Simd>
void pack(const Packing& packing) {
  const DenormalsFlushed flushed;
  const Constants& constants = packing.constants;
  for (Index block = packing.keys.begin; block < packing.keys.end; block += block_keys)
    packing.panels.facts[block / block_keys] = pack_block<Simd>(
        packing, block, {block, smaller(block + block_keys, packing.keys.end)},
        packing.panels.key + block * constants.head_dim,
        packing.panels.value + block * round_up(constants.value_dim, group_of<Simd>));
}

}  // namespace scaledot::kernels
