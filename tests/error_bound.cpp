// The error bound. Names follow docs/numerics.md: u = 2^-24, chain(m) = m u / (1 - m u).
#include "error_bound.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/table.hpp"
#include "view.hpp"

namespace scaledot::tests {
namespace {

constexpr double u = 0x1p-24;
constexpr double exp2_error = 1.67e-7, bf16_exp2_error = 3e-6, tanh_error = 3e-7, log2_error = 2e-7;
constexpr double bf16_rounding = 0x1p-8;

double chain(Index roundings) {
  const double all = static_cast<double>(roundings) * u;
  return all / (1 - all);
}

// Roundings between the elements and a logit, without softcap and bias: of the sum, of the constant
// scale * log2(e), of the default scale, and of the multiplication by the constant.
Index logit_roundings(Index head_dim, Arithmetic arithmetic) {
  const Index sum = arithmetic == Arithmetic::f32
                        ? head_dim
                        : kernels::chunk / 2 + 1 + pieces(head_dim, kernels::chunk);
  return sum + 3;
}

// Roundings that a term of the row sum or of an output element may meet: in its split, and in the
// merging of splits.
Index sum_roundings(Index seen, Index keys, Arithmetic arithmetic) {
  const Index chunks = kernels::split_keys / kernels::chunk;
  const Index in_split =
      arithmetic == Arithmetic::f32
          ? smaller(seen, kernels::split_keys)
          : kernels::chunk / 2 + 1 + smaller(pieces(keys, kernels::chunk), chunks);
  return in_split + pieces(keys, kernels::split_keys);
}

// How far the computed logit of key j may be off, in natural units.
double logit_error(const Definition& of, Arithmetic arithmetic, Index b, Index h, Index i, Index j,
                   double logit) {
  const float* const query = of.query.line(b, h, i);
  const float* const key = of.key.line(b, of.key_head(h), j);
  double size = 0, dot = 0, largest = 1;
  for (Index d = 0; d < of.head_dim(); ++d) {
    dot += static_cast<double>(query[d]) * key[d];
    size += std::fabs(static_cast<double>(query[d]) * key[d]);
    largest = std::max(largest, std::fabs(static_cast<double>(key[d])));
  }
  double error = chain(logit_roundings(of.head_dim(), arithmetic)) * std::fabs(of.scale()) * size;
  const double cap = of.arguments.options.softcap;
  // What is flushed: query * c, to be multiplied by an element of key, and products.
  error += static_cast<double>(of.head_dim()) * 0x1p-126 * largest * (cap == 0 ? 1 : cap);
  if (cap != 0) {
    const double size_of_tanh = std::fabs(std::tanh(of.scale() * dot / cap));
    error = std::min(error, 2 * cap) + cap * size_of_tanh * (tanh_error + 2 * u);
  }
  if (!of.bias.empty()) {
    const double bias = std::clamp<double>(of.bias[0](b, h, i, j), -0x1p127, 0x1p127);
    error += u * std::fabs(bias) + u * std::fabs(logit);  // log2(e) in f32, and the rounded sum
  }
  return error;
}

}  // namespace

double sum_error(Index seen, Index keys, Arithmetic arithmetic) {
  const double error = chain(sum_roundings(seen, keys, arithmetic));
  return error / (1 - error);
}

double store_error(double number, DType dtype) {
  if (dtype == DType::f32) return 0x1p-126;  // what is smaller is flushed
  if (dtype == DType::f16) return std::max(0x1p-11 * std::fabs(number), 0x1p-25);
  return 0x1p-8 * std::fabs(number) + 0x1p-126;
}

namespace {

// Of a row before the sums: how far each share may be off, that summed up, and how far the lse may.
struct Shares {
  std::vector<double> off;
  double all_off = 0;
  double lse = 0;
};

Shares shares_of(const Definition& of, Arithmetic arithmetic, Index b, Index h, Index i,
                 const Row<double>& row) {
  const double weight_error =
      arithmetic == Arithmetic::bf16 ? (1 + bf16_exp2_error) * (1 + bf16_rounding) : 1 + exp2_error;
  Shares shares;
  double largest = 0;
  for (std::size_t n = 0; n < row.keys.size(); ++n) {
    const double logit = row.logits[n];
    const double error =
        std::isinf(logit) ? 0 : logit_error(of, arithmetic, b, h, i, row.keys[n], logit);
    shares.off.push_back(std::exp(logit + error - row.lse) * weight_error - row.weights[n]);
    shares.all_off += shares.off[n];
    largest = std::max(largest, error);
  }
  shares.lse = largest + std::log(weight_error);
  if (shares.all_off < 1) shares.lse = std::min(shares.lse, -std::log1p(-shares.all_off));
  return shares;
}

}  // namespace

BoundedRow bounded_row(const Definition& of, Arithmetic arithmetic, Index b, Index h, Index i) {
  BoundedRow bounded{of.row<double>(b, h, i, Steps::exact), {}, {}, 0};
  const Row<double>& row = bounded.row;
  const Shares shares = shares_of(of, arithmetic, b, h, i, row);
  const auto seen = static_cast<Index>(row.keys.size());
  const double sums = sum_error(seen, of.keys(), arithmetic);
  const double room = shares.all_off < 1 ? 1 / (1 - shares.all_off) : INFINITY;

  for (Index d = 0; d < of.value_dim(); ++d) {
    const double output = row.output[static_cast<std::size_t>(d)];
    double moved = 0, size = 0, spread = 0, largest = 0;
    for (std::size_t n = 0; n < row.keys.size(); ++n) {
      const double value = of.value(b, of.key_head(h), row.keys[n], d);
      moved += shares.off[n] * std::fabs(value - output);
      size += (row.weights[n] + shares.off[n]) * std::fabs(value);
      spread = std::max(spread, std::fabs(value - output));
      largest = std::max(largest, std::fabs(value));
    }
    // A mean with any weights stays within the values, however far the logits are off.
    moved = room < INFINITY ? std::min(moved * room, spread) : spread;
    size = room < INFINITY ? std::min(size * room, largest) : largest;
    const double reached = std::fabs(output) + moved;
    const double flushed = static_cast<double>(seen) * 0x1p-94 * std::max(1.0, largest);
    bounded.output_bound.push_back(moved + sums * (size + reached) + 2 * u * reached + flushed);
  }
  for (std::size_t n = 0; n < row.keys.size(); ++n) {
    const double share = row.weights[n] + shares.off[n];
    const double bound = (shares.off[n] + share * (shares.all_off + sums + u)) * room + 0x1p-94;
    bounded.weights_bound.push_back(room < INFINITY ? std::min(bound, 1.0) : 1.0);
  }
  bounded.lse_bound = shares.lse + sums + log2_error + 4 * u * std::fabs(row.lse);
  return bounded;
}

}  // namespace scaledot::tests
