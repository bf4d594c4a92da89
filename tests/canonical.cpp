// The canonical order, written for the reader of docs/numerics.md.
#include "canonical.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/denormals.hpp"
#include "kernels/exp2.hpp"
#include "kernels/simd_scalar.hpp"
#include "kernels/table.hpp"

namespace scaledot::tests {
namespace {

using kernels::Scalar;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float largest_float = std::numeric_limits<float>::max();
constexpr double log2_e = 1.4426950408889634074;

// The logit in units of log2.
float logit_of(const Definition& of, bool bf16, Index b, Index h, Index i, Index j) {
  const float scale = static_cast<float>(of.scale());
  const float cap = of.arguments.options.softcap;
  const float factor = cap == 0 ? static_cast<float>(double(scale) * log2_e)
                                : static_cast<float>(double(scale) / double(cap));
  const float* const query = of.query.line(b, h, i);
  const float* const key = of.key.line(b, of.key_head(h), j);
  Chain dot{bf16};
  for (Index d = 0; d < of.head_dim(); ++d) {
    dot.add(d, bf16 ? query[d] : query[d] * factor, key[d]);
    if ((d + 1) % kernels::chunk == 0) dot.end_chunk();
  }
  dot.end_chunk();
  float t = bf16 ? dot.total * factor : dot.total;
  if (cap != 0) t = static_cast<float>(double(cap) * log2_e) * kernels::tanh<Scalar>(t);
  if (of.bias.empty()) return t;
  const float bias = of.bias[0](b, h, i, j);
  if (!std::isfinite(bias) || !std::isfinite(t)) return bias + t;
  const float sum = std::fma(std::clamp(bias, -0x1p127f, 0x1p127f), static_cast<float>(log2_e), t);
  return std::clamp(sum, -largest_float, largest_float);
}

float lse_of(float sum, float max) {
  if (sum == 0) return -infinity;
  if (!(sum < infinity)) return std::numeric_limits<float>::quiet_NaN();
  int exponent = 0;
  const float m = std::frexp(sum, &exponent) * 2;  // in [1, 2)
  const float log2 = (max + static_cast<float>(exponent - 1)) + kernels::log2_fraction<Scalar>(m);
  return log2 * 0x1.62e43p-1f;
}

}  // namespace

CanonicalRow canonical_row(const Definition& of, bool bf16, Index b, Index h, Index i) {
  const kernels::DenormalsFlushed flushed;
  const Index g = of.key_head(h);
  std::vector<float> logits(static_cast<std::size_t>(of.keys()));
  std::vector<bool> seen(logits.size());
  float max = -infinity;
  for (Index j = 0; j < of.keys(); ++j) {
    const auto n = static_cast<std::size_t>(j);
    seen[n] = of.sees(b, h, i, j);
    if (seen[n]) logits[n] = logit_of(of, bf16, b, h, i, j);
    if (seen[n] && logits[n] > max) max = logits[n];
  }
  max = max == -infinity ? 0 : std::min(std::ceil(max), largest_float);

  CanonicalRow row;
  row.weights.resize(logits.size());
  row.output.resize(static_cast<std::size_t>(of.value_dim()));
  std::vector<Chain> outputs(row.output.size());
  float sum = 0;
  for (Index first = 0; first < of.keys(); first += kernels::split_keys) {
    Chain split_sum{bf16};
    for (Chain& output : outputs) output = {bf16};
    const Index end = std::min(first + kernels::split_keys, of.keys());
    for (Index j = first; j < end; ++j) {
      const auto n = static_cast<std::size_t>(j);
      if (seen[n]) {
        const float weight = row.weights[n] = bf16 ? kernels::bf16_weight<Scalar>(logits[n], max)
                                                   : kernels::weight<Scalar>(logits[n], max);
        split_sum.add(j, weight, 1);
        for (Index d = 0; d < of.value_dim(); ++d)
          outputs[static_cast<std::size_t>(d)].add(j, weight, of.value.line(b, g, j)[d]);
      }
      if ((j + 1) % kernels::chunk != 0 && j + 1 != end) continue;
      split_sum.end_chunk();
      for (Chain& output : outputs) output.end_chunk();
    }
    // Merging: the first split is taken as it is; all share one max here.
    sum = first == 0 ? split_sum.total : sum + split_sum.total;
    for (std::size_t d = 0; d < outputs.size(); ++d)
      row.output[d] = first == 0 ? outputs[d].total : row.output[d] + outputs[d].total;
  }

  constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
  const float divisor = sum == 0 ? 1 : sum < infinity ? sum : not_a_number;
  const auto divided = [&](float number) {
    const float quotient = number / divisor;
    return std::isnan(quotient) ? not_a_number : quotient;
  };
  for (float& output : row.output) output = divided(output);
  for (std::size_t n = 0; n < row.weights.size(); ++n)
    row.weights[n] = seen[n] ? divided(row.weights[n]) : 0;
  row.lse = lse_of(sum, max);
  return row;
}

}  // namespace scaledot::tests
