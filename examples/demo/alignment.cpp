#include "alignment.hpp"

#include <algorithm>
#include <cmath>

#include "failure.hpp"
#include "scaledot/attention.hpp"

namespace scaledot::demo {
namespace {

struct Attention {
  Matrix weights;
  std::vector<float> lse;
};

// Every French word is a query, every English word a key and its own value.
Attention attend_to(const cli::Array& query, const cli::Array& key, float divisor) {
  const Index queries = query.extents.at(0);
  const Index keys = key.extents.at(0);
  const Index dim = key.extents.at(1);
  Attention found{{static_cast<std::size_t>(queries), static_cast<std::size_t>(keys), {}}, {}};
  found.weights.elements.resize(found.weights.rows * found.weights.columns);
  found.lse.resize(found.weights.rows);
  cli::Array output = cli::zeros(cli::Element::f32, {queries, dim});  // the mixed vectors

  Outputs outputs;
  outputs.output = cli::tensor_of(output);
  outputs.weights = contiguous(found.weights.elements.data(), DType::f32, {queries, keys});
  outputs.lse = contiguous(found.lse.data(), DType::f32, {queries});
  Options options;
  options.scale = 1 / divisor;
  const Tensor english = cli::tensor_of(key);
  const Status status = attend(cli::tensor_of(query), english, english, outputs, options);
  if (!status.ok()) cli::refuse(describe(status));
  return found;
}

}  // namespace

Matrix weights(const cli::Array& query, const cli::Array& key, float divisor) {
  return attend_to(query, key, divisor).weights;
}

Matrix dot_products(const cli::Array& query, const cli::Array& key) {
  // weight = exp(logit - lse), and with unit vectors and divisor 1 no weight is near 0.
  Attention found = attend_to(query, key, 1);
  Matrix& logits = found.weights;
  for (std::size_t i = 0; i < logits.rows; ++i)
    for (std::size_t j = 0; j < logits.columns; ++j) {
      float& element = logits.elements[i * logits.columns + j];
      element = std::log(element) + found.lse[i];
    }
  return logits;
}

double spread(const Matrix& logits) {
  double squares = 0;
  for (std::size_t i = 0; i < logits.rows; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < logits.columns; ++j) sum += logits(i, j);
    const double mean = sum / static_cast<double>(logits.columns);
    for (std::size_t j = 0; j < logits.columns; ++j)
      squares += (logits(i, j) - mean) * (logits(i, j) - mean);
  }
  return std::sqrt(squares / static_cast<double>(logits.elements.size()));
}

double entropy(const Matrix& weights) {
  double bits = 0;
  for (const float weight : weights.elements)
    if (weight > 0) bits -= double{weight} * std::log2(double{weight});
  return bits / static_cast<double>(weights.rows);
}

}  // namespace scaledot::demo
