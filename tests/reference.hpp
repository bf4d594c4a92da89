// Attention by its definition, line by line, in double; and the same written plainly in f32.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tensors.hpp"

namespace scaledot::tests {

struct Arguments {
  Tensor query, key, value;
  Options options;
};

// The elements of a tensor with four axes; an axis of length 1 answers to every index.
struct Grid {
  std::array<Index, 4> extent{1, 1, 1, 1};
  std::vector<float> at;

  explicit Grid(const Tensor& tensor);
  const float* line(Index b, Index h, Index i) const;  // along the last axis
  float operator()(Index b, Index h, Index i, Index d) const;
};

// How the steps of a row are rounded: not (double), in f32, or in f32 with weights, relative to a
// power of two, rounded to bf16.
enum class Steps : std::uint8_t { exact, f32, bf16_weights };

// Row i of entry b and query head h. Only the keys that it sees are listed.
template <class Real>
struct Row {
  std::vector<Index> keys;
  std::vector<Real> logits;   // final: scaled, capped, biased
  std::vector<Real> weights;  // softmax of them
  std::vector<Real> output;   // [value_dim]
  Real lse;
};

// All elements of a call, read once.
struct Definition {
  explicit Definition(const Arguments& arguments);

  Index batch() const { return query.extent[0]; }
  Index heads() const { return query.extent[1]; }
  Index queries() const { return query.extent[2]; }
  Index keys() const { return key.extent[2]; }
  Index head_dim() const { return query.extent[3]; }
  Index value_dim() const { return value.extent[3]; }
  Index key_head(Index h) const { return h / (heads() / key.extent[1]); }
  double scale() const;

  Index keys_of(Index b) const;            // the entry's key length
  Index diagonal(Index b, Index i) const;  // of causal and window
  bool in_band(Index b, Index i, Index j) const;
  bool sees(Index b, Index h, Index i, Index j) const;
  // One more than the last key that query i sees by position; 0 if there is none.
  Index seen_end(Index b, Index i) const;

  template <class Real>
  Row<Real> row(Index b, Index h, Index i, Steps steps) const;

  Arguments arguments;
  Grid query, key, value;
  std::vector<Grid> mask, bias;  // one or none
};

// The results of a call in C order; hidden keys have weight 0.
struct Reference {
  std::vector<double> output, lse, weights;
};

Reference reference(const Arguments& arguments, Steps steps = Steps::exact);

}  // namespace scaledot::tests
