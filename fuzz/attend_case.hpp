// A call of attend() made from bytes: shapes, types, strides, numbers and options, right and wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "attention.hpp"
#include "room.hpp"

namespace scaledot::fuzz {

struct Case {
  Room query, key, value;
  std::optional<Room> mask, bias;
  std::vector<Index> key_lengths;
  Options options;  // points into the above
  Tensor output;    // without memory, as the next two
  std::optional<Tensor> lse, weights;
  float ignored_below = 0;  // where flushed numbers may differ: docs/numerics.md
};

// `made` must stay where it is, since its options point into it.
void make_case(const std::uint8_t* data, std::size_t size, Case& made);

}  // namespace scaledot::fuzz
