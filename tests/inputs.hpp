// The tensors of a case, and the call itself on a kernel table of choice.
#pragma once

#include <optional>
#include <vector>

#include "attention.hpp"
#include "cases.hpp"
#include "dispatch.hpp"
#include "reference.hpp"

namespace scaledot::tests {

// The tensors of one call, and options without them.
struct Inputs {
  Held query, key, value;
  std::optional<Held> mask, bias;
  std::vector<Index> key_lengths;
  Options options;
};

Inputs inputs_of(const Case& one);
// The same numbers in another layout.
Inputs laid_out(const Inputs& inputs, Layout layout);
Arguments arguments_of(const Inputs& inputs);

struct How {
  const kernels::KernelTable* table = nullptr;
  Paths paths = {};
  int threads = 1;
  DType output_type = DType::f32;
  Layout output_layout = Layout::contiguous;
  bool weights = false;
};

struct Outcome {
  Held output, lse, weights;
};

// Makes the call. A failure of it, or a byte written beside the outputs, fails the running test.
Outcome outcome(const Arguments& arguments, const How& how);

}  // namespace scaledot::tests
