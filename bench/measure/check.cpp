#include "measure/check.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace scaledot::measure {

namespace {

double at(const Tensor& tensor, Index batch, Index head, Index position, Index dim) {
  const auto& stride = tensor.stride;
  return element(static_cast<const std::byte*>(tensor.data), tensor.dtype,
                 batch * stride[0] + head * stride[1] + position * stride[2] + dim * stride[3]);
}

// Relative, of one rounding to the type.
double unit_of(DType dtype) {
  return dtype == DType::f32 ? 0x1p-24 : dtype == DType::f16 ? 0x1p-11 : 0x1p-8;
}

// softmax(query . key / sqrt(head_dim)) over the seen keys; empty if there are none.
std::vector<double> weights_of(const Tensors& tensors, Index b, Index h, Index i, Seen seen) {
  const Shape& shape = tensors.shape();
  const Tensor query = tensors.query(), key = tensors.key();
  const Index key_head = h / (shape.heads / shape.key_heads);
  std::vector<double> weights;
  for (Index j = seen.begin; j < seen.end; ++j) {
    double dot = 0;
    for (Index d = 0; d < shape.head_dim; ++d)
      dot += at(query, b, h, i, d) * at(key, b, key_head, j, d);
    weights.push_back(shape.head_dim == 0 ? 0 : dot / std::sqrt(double(shape.head_dim)));
  }
  if (weights.empty()) return weights;
  const double largest = *std::max_element(weights.begin(), weights.end());
  double sum = 0;
  for (double& weight : weights) sum += weight = std::exp(weight - largest);
  for (double& weight : weights) weight /= sum;
  return weights;
}

double row_error(const Tensors& tensors, Index b, Index h, Index i) {
  const Shape& shape = tensors.shape();
  const Tensor value = tensors.value(), output = tensors.output();
  const Seen seen = seen_by(shape, i);
  const Index key_head = h / (shape.heads / shape.key_heads);
  const std::vector<double> weights = weights_of(tensors, b, h, i, seen);
  // f32: a logit's chain of head_dim roundings, which average out, some more, and a margin of 10.
  const bool bf16 = resolved_arithmetic(shape) == Arithmetic::bf16;
  const double of_weight = 10 * unit_of(DType::f32) * (10 + std::sqrt(double(shape.head_dim))) +
                           (bf16 ? 2 * unit_of(DType::bf16) : 0);
  double worst = 0;
  for (Index d = 0; d < shape.value_dim; ++d) {
    double exact = 0, magnitude = 0;
    for (Index j = seen.begin; j < seen.end; ++j) {
      const double product =
          weights[static_cast<std::size_t>(j - seen.begin)] * at(value, b, key_head, j, d);
      exact += product;
      magnitude += std::fabs(product);
    }
    const double found = at(output, b, h, i, d);
    const double allowed = of_weight * magnitude + 1.01 * unit_of(shape.dtype) * std::fabs(exact);
    const double distance = std::fabs(found - exact);
    if (std::isnan(distance)) return distance;
    if (distance > 0) worst = std::max(worst, distance / (allowed + 0x1p-25));
  }
  return worst;
}

}  // namespace

double error(const Tensors& tensors, double part) {
  constexpr Index looks = 7;
  const Shape& shape = tensors.shape();
  const auto rows =
      static_cast<Index>(part * static_cast<double>(shape.batch * shape.heads * shape.queries));
  double worst = 0;
  for (Index look = 0; look < std::min(looks, rows); ++look) {
    const Index row = rows <= looks ? look : (rows - 1) * look / (looks - 1);
    const double distance = row_error(tensors, row / shape.queries / shape.heads,
                                      row / shape.queries % shape.heads, row % shape.queries);
    if (std::isnan(distance)) return distance;
    worst = std::max(worst, distance);
  }
  return worst;
}

}  // namespace scaledot::measure
