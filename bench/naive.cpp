#include <cmath>
#include <vector>

#include "rivals.hpp"

namespace scaledot::bench {

namespace {

struct Head {
  const float* query;
  const float* key;
  const float* value;
  float* output;
};

void attend_head(const measure::Shape& shape, const Head& head) {
  const Index head_dim = shape.head_dim, value_dim = shape.value_dim;
  const float scale = 1 / std::sqrt(static_cast<float>(head_dim));
  std::vector<float> weight(static_cast<std::size_t>(shape.keys));
  for (Index i = 0; i < shape.queries; ++i) {
    const measure::Seen seen = measure::seen_by(shape, i);
    float largest = -INFINITY;
    for (Index j = seen.begin; j < seen.end; ++j) {
      float dot = 0;
      for (Index d = 0; d < head_dim; ++d)
        dot += head.query[i * head_dim + d] * head.key[j * head_dim + d];
      weight[static_cast<std::size_t>(j)] = dot * scale;
      largest = std::fmax(largest, dot * scale);
    }
    float sum = 0;
    for (Index j = seen.begin; j < seen.end; ++j) {
      float& w = weight[static_cast<std::size_t>(j)];
      sum += w = std::exp(w - largest);
    }
    float* output = head.output + i * value_dim;
    for (Index d = 0; d < value_dim; ++d) output[d] = 0;
    for (Index j = seen.begin; j < seen.end; ++j) {
      const float w = weight[static_cast<std::size_t>(j)] / sum;
      for (Index d = 0; d < value_dim; ++d) output[d] += w * head.value[j * value_dim + d];
    }
  }
}

}  // namespace

void naive_attention(measure::Tensors& tensors, Index heads) {
  const measure::Shape& shape = tensors.shape();
  for (Index h = 0; h < heads; ++h) {
    const Index key_head = h / (shape.heads / shape.key_heads);
    attend_head(
        shape,
        {static_cast<const float*>(tensors.query().data) + h * shape.queries * shape.head_dim,
         static_cast<const float*>(tensors.key().data) + key_head * shape.keys * shape.head_dim,
         static_cast<const float*>(tensors.value().data) + key_head * shape.keys * shape.value_dim,
         static_cast<float*>(tensors.output().data) + h * shape.queries * shape.value_dim});
  }
}

}  // namespace scaledot::bench
