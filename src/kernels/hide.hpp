// Which keys a tile's rows see: by position (the band), by a boolean mask and by a bias of -inf.
#pragma once

#include "kernels/pack.hpp"
#include "kernels/rows.hpp"

namespace scaledot::kernels {

// Whether the element of a mask or bias hides its key.
template <class Simd>
inline bool hides(const std::byte* at, DType dtype) {
  const void* p = at;
  switch (dtype) {
    case DType::boolean:
      return *static_cast<const std::uint8_t*>(p) == 0;
    case DType::f32:
      return *static_cast<const float*>(p) == -infinity;
    case DType::f16:
      return *static_cast<const std::uint16_t*>(p) == 0xFC00;
    case DType::bf16:
      return *static_cast<const std::uint16_t*>(p) == 0xFF80;
  }
  return false;
}

// Marks the keys of `keys` that a row sees. Starts with the last row and stops once `enough` are
// marked, which with most masks is soon; a mask that is the same for all rows is read once. False
// if none is seen.
template <class Simd>
inline bool mark_seen_in(const Tile& tile, Range keys, SeenKeys seen, Index enough) {
  const bool is_same = tile.mask.is_same_for_all() && tile.bias.is_same_for_all();
  Index marked = 0;
  for (Index r = is_same ? 0 : tile.count - 1; r >= 0; --r) {
    const Index head = tile.head(r), position = tile.position(r);
    const Range own = is_same ? tile.band.any(tile.queries()) : tile.band.of(position);
    const Range both{larger(own.begin, keys.begin), smaller(own.end, keys.end)};
    const auto hidden_by = [&](const Lines& lines, Index j) {
      return lines.data != nullptr && hides<Simd>(lines.at(head, position, j), lines.dtype);
    };
    for (Index j = both.begin; j < both.end; ++j) {
      if (seen.of(j) || hidden_by(tile.mask, j) || hidden_by(tile.bias, j)) continue;
      seen.marks[j - seen.first] = 1;
      if (++marked == enough) return true;
    }
  }
  return marked > 0;
}

template <class Simd>
void mark_seen(const Tile& tile, Range keys, SeenKeys seen) {
  const DenormalsFlushed flushed;
  mark_seen_in<Simd>(tile, keys, seen, keys.end - keys.begin);
}

// marks[key][row] of a mask or bias for the keys `keys` of the block that starts at `first`; keys
// that no row sees by position are not read and come out as 0.
template <class Simd>
inline void pack_marks(const Tile& tile, const Lines& lines, Index first, Range keys, Index width,
                       float* marks) {
  const Range seen = tile.band.any(tile.queries());
  const Index begin = larger(seen.begin, first + keys.begin);
  const Index end = smaller(seen.end, first + keys.end);
  const Index before = (begin - first - keys.begin) * width;
  const Index all = (keys.end - keys.begin) * width;
  for (Index e = 0; e < before; ++e) marks[e] = 0;
  for (Index e = before + (end - begin) * width; e < all; ++e) marks[e] = 0;
  const auto line = [&](Index r) {
    return r < tile.count ? lines.at(tile.head(r), tile.position(r), begin) : nullptr;
  };
  pack_transposed<Simd>(line, lines.dtype, lines.dim_stride, end - begin, width, marks + before);
}

// Stores `value` in the lanes of block keys that are outside a row's interval. Lines of keys that
// every row sees are left alone. `line` is the block's first line, [block_keys][width].
template <class Simd>
inline void hide_band(const Tile& tile, Range clear, Index first, Range keys, Index width,
                      const RowRanges& rows, float value, float* line) {
  const Index clear_begin = smaller(larger(clear.begin - first, keys.begin), keys.end);
  const Index clear_end = smaller(larger(clear.end - first, clear_begin), keys.end);
  if (clear_begin == keys.begin && clear_end == keys.end) return;
  for (Index r = 0; r < width; ++r) {
    const Range own = tile.band.of(tile.position(smaller(r, tile.count - 1)));
    const auto within = [&](Index key) {
      return static_cast<float>(smaller(larger(key - first, 0), block_keys));
    };
    rows.begin[r] = within(own.begin);
    rows.end[r] = within(own.end);
  }
  hide_outside<Simd>(rows, {keys.begin, clear_begin}, width, value, line + keys.begin * width);
  hide_outside<Simd>(rows, {clear_end, keys.end}, width, value, line + clear_end * width);
}

}  // namespace scaledot::kernels
