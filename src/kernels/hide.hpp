// Which keys a tile's rows see: by position (the band), by a boolean mask and by a bias of -inf.
#pragma once

#include "kernels/pack.hpp"
#include "kernels/rows.hpp"

namespace scaledot::kernels {

// shown[k] = 0 where an element of the line hides its key.
template <class Simd, class Element>
inline void hide_where(const std::byte* at, Index stride, Element hidden, Index count,
                       std::uint8_t* shown) {
  const void* const p = at;
  const Element* const line = static_cast<const Element*>(p);
  if (stride == 1) {  // apart, so that it becomes vectors
    for (Index k = 0; k < count; ++k) shown[k] &= line[k] != hidden;
  } else {
    for (Index k = 0; k < count; ++k) shown[k] &= line[k * stride] != hidden;
  }
}
template <class Simd>
inline void hide_by(const Lines& lines, Index head, Index position, Range keys,
                    std::uint8_t* shown) {
  if (lines.data == nullptr) return;
  const std::byte* const at = lines.at(head, position, keys.begin);
  const auto hide = [&](auto hidden) {
    hide_where<Simd>(at, lines.dim_stride, hidden, keys.end - keys.begin, shown);
  };
  switch (lines.dtype) {
    case DType::boolean:
      return hide(std::uint8_t{0});
    case DType::f32:
      return hide(-infinity);
    case DType::f16:
      return hide(std::uint16_t{0xFC00});
    case DType::bf16:
      return hide(std::uint16_t{0xFF80});
  }
}

// Asks for what the tile's bias says of `keys`.
template <class Simd>
inline void ask_for_bias(const Tile& tile, Range keys) {
  const Lines& lines = tile.bias;
  if (keys.empty() || lines.is_same_for_all() || lines.dim_stride != 1) return;
  const Index bytes = (keys.end - keys.begin) * bytes_of(lines.dtype);
  for (Index r = 0; r < tile.count; ++r) {
    const std::byte* const at = lines.at(tile.head(r), tile.position(r), keys.begin);
    for (Index byte = 0; byte < bytes; byte += 64) ask_for(at, byte);
  }
}

// 0 for each of `keys`, which lie in one split, that the row's mask or bias hides. In `memory`,
// unless that is what the mask's line is.
template <class Simd>
inline const std::uint8_t* shown_line(const Tile& tile, Index r, Range keys, std::uint8_t* memory) {
  const Index head = tile.head(r), position = tile.position(r);
  if (tile.bias.data == nullptr && tile.mask.dim_stride == 1) {
    const void* const line = tile.mask.at(head, position, keys.begin);
    return static_cast<const std::uint8_t*>(line);
  }
  for (Index k = 0; k < keys.end - keys.begin; ++k) memory[k] = 1;
  hide_by<Simd>(tile.mask, head, position, keys, memory);
  hide_by<Simd>(tile.bias, head, position, keys, memory);
  return memory;
}

// Marks for keys that lie in one split, 0 or not: whether some row sees the key, and whether every
// row does that sees it by position.
template <class Simd>
struct SplitMarks {
  std::uint8_t* some;  // [split_keys], counted from the first of the keys asked for
  std::uint8_t* every;

  void add(const std::uint8_t* shown, Index first, Index count) const {
    Index k = 0;
    for (; k + block_keys <= count; k += block_keys)  // whole vectors, which the compiler unrolls
      add_keys(shown + k, first + k, block_keys);
    add_keys(shown + k, first + k, count - k);
  }

 private:
  [[gnu::always_inline]] void add_keys(const std::uint8_t* __restrict shown, Index first,
                                       Index count) const {
    std::uint8_t* const __restrict a = some + first, * const __restrict b = every + first;
    for (Index k = 0; k < count; ++k) a[k] |= shown[k];
    for (Index k = 0; k < count; ++k) b[k] = b[k] < shown[k] ? b[k] : shown[k];
  }
};

// What the tile's masks and biases say of `keys`, which lie in one split: a row's part of a split
// is long enough for the processor to fetch it ahead. Starts with the last row. If only `some` is
// wanted, keys before the first one that is not marked are not looked at again, which with most
// masks leaves few; a mask that is the same for all rows is read once.
template <class Simd>
inline void mark_shown(const Tile& tile, Range keys, bool every_wanted,
                       const SplitMarks<Simd>& marks) {
  const Index all = keys.end - keys.begin;
  for (Index k = 0; k < all; ++k) marks.some[k] = 0;
  for (Index k = 0; k < all; ++k) marks.every[k] = 1;
  const bool is_same = tile.mask.is_same_for_all() && tile.bias.is_same_for_all();
  Index marked = 0;  // so many from the first on
  for (Index r = is_same ? 0 : tile.count - 1; r >= 0; --r) {
    const Range own = is_same ? tile.band.any(tile.queries()) : tile.band.of(tile.position(r));
    const Range both{larger(own.begin, keys.begin + marked), smaller(own.end, keys.end)};
    if (both.empty()) continue;
    std::uint8_t memory[split_keys];
    marks.add(shown_line<Simd>(tile, r, both, memory), both.begin - keys.begin,
              both.end - both.begin);
    if (every_wanted) continue;
    while (marked < all && marks.some[marked] != 0) ++marked;
    if (marked == all) return;
  }
}

// Marks each of `keys`, which lie in one split, that a row of the tile sees; the others' marks stay
// as they are.
template <class Simd>
void mark_seen(const Tile& tile, Range keys, SeenKeys seen) {
  const DenormalsFlushed flushed;
  std::uint8_t some[split_keys], every[split_keys];
  mark_shown<Simd>(tile, keys, false, {some, every});
  for (Index j = keys.begin; j < keys.end; ++j)
    if (some[j - keys.begin] != 0) seen.marks[j - seen.first] = 1;
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
  const auto line = [&](Index r) { return tile.line(lines, r, begin); };
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
