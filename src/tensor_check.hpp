// What can be wrong with one tensor, or with two that meet.
#pragma once

#include <cstdint>

#include "scaledot/attention.hpp"

namespace scaledot {

// The bytes a tensor's elements lie in, [begin, end); equal if it has none.
struct Addresses {
  std::uintptr_t begin = 0, end = 0;

  bool empty() const { return begin == end; }
  bool meets(const Addresses& other) const {
    return !empty() && !other.empty() && begin < other.end && other.begin < end;
  }
};

enum class Role : std::uint8_t { output, lse, weights, input, mask, bias };

// A tensor of the call, with the name it has in messages.
struct Argument {
  const char* name;
  const Tensor* tensor;
  Role role = Role::input;
  Addresses addresses = {};  // found by check_tensor

  bool is_written() const { return role <= Role::weights; }
};

// Those of one call, the ones written to first.
struct Arguments {
  Argument each[8];
  int count = 0;

  Argument* begin() { return each; }
  Argument* end() { return each + count; }
  const Argument* begin() const { return each; }
  const Argument* end() const { return each + count; }
};

Arguments arguments_of(const Tensor& query, const Tensor& key, const Tensor& value,
                       const Outputs& outputs, const Options& options) noexcept;

bool is_empty(const Tensor& tensor) noexcept;

// Of a tensor of known type and rank: extents not negative, addresses within 64 bits, data there
// and aligned.
Status check_tensor(Argument& argument) noexcept;

// Whether no two elements of a tensor that is written to share a place, nor axes interleave.
Status check_written(const Argument& argument) noexcept;

// Whether an output, or the workspace, meets another argument. The tensors have passed
// check_tensor.
Status check_overlaps(const Arguments& arguments, const Options& options) noexcept;

}  // namespace scaledot
