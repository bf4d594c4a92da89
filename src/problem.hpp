// The arguments of a call, checked once and brought to one form.
#pragma once

#include "band.hpp"
#include "kernels/table.hpp"
#include "scaledot/attention.hpp"

namespace scaledot {

// A tensor of rank 4: [batch, head, sequence, dim]. Missing leading axes have extent 1, and an axis
// that broadcasts has stride 0.
struct View {
  std::byte* data = nullptr;  // null if the tensor is not there or empty
  DType dtype = DType::f32;
  std::array<Index, 4> stride{};

  // The lines of one batch entry, from `head` on.
  Lines lines(Index batch, Index head) const {
    if (data == nullptr) return {};
    return {data + (batch * stride[0] + head * stride[1]) * bytes_of(dtype), dtype, stride[1],
            stride[2], stride[3]};
  }
};

struct Problem {
  Index batch = 0, query_heads = 0, key_heads = 0, group = 1, queries = 0, keys = 0;
  kernels::Constants constants;
  bool bf16 = false;
  Causal causal = Causal::off;
  Index left = 0, right = 0;           // of the window, causal included; never unlimited
  const Index* key_lengths = nullptr;  // [batch], or null
  bool is_masked = false;              // has a mask or a bias
  View query, key, value, mask, bias, output, lse, weights;
  int threads = 0;  // 0: not said
  ParallelFor parallel_for;

  Band band(Index batch) const;
};

// Fills `problem`, or says what is wrong.
Status check(const Tensor& query, const Tensor& key, const Tensor& value, const Outputs& outputs,
             const Options& options, Problem& problem) noexcept;

}  // namespace scaledot
