// A valid call, what a caller makes wrong in it, and the Status that must come back.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "scaledot/attention.hpp"

namespace scaledot::tests {

// batch 2, 4 query heads on 2 key heads, 3 queries, 5 keys, head_dim 8, value_dim 6, all f32. Every
// tensor has 16 KiB of its own, far more than it takes.
struct ValidCall {
  ValidCall();

  std::vector<std::byte> memory;
  Tensor query, key, value;
  Outputs outputs;
  Options options;
  // Not part of the call unless a mistake puts them there.
  Tensor lse, weights, mask, bias;
  std::vector<Index> key_lengths;
};

using Mistake = std::function<void(ValidCall&)>;

// attend() returns `want` in every field and writes nothing, and so does workspace_bytes() with
// its number of bytes untouched.
void expect_mistake(const Mistake& mistake, const Status& want);
// The same for what attend() alone can find wrong.
void expect_attend_mistake(const Mistake& mistake, const Status& want);
void expect_no_mistake(const Mistake& change);

// Each tensor of a call by its name, with those that are optional put into the call.
struct Named {
  const char* name;
  Tensor& (*of)(ValidCall&);
};
const std::vector<Named>& all_tensors();

}  // namespace scaledot::tests
