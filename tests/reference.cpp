// The definition. What is hidden is skipped, so that nothing of it can reach a row.
#include "reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace scaledot::tests {

Grid::Grid(const Tensor& tensor) : extent(of_rank_4(tensor).extent), at(numbers_of(tensor).at) {}

const float* Grid::line(Index b, Index h, Index i) const {
  const auto at_most = [&](Index index, std::size_t axis) { return extent[axis] == 1 ? 0 : index; };
  const Index number = (at_most(b, 0) * extent[1] + at_most(h, 1)) * extent[2] + at_most(i, 2);
  return at.data() + number * extent[3];
}

float Grid::operator()(Index b, Index h, Index i, Index d) const {
  return line(b, h, i)[extent[3] == 1 ? 0 : d];
}

Definition::Definition(const Arguments& given)
    : arguments(given), query(given.query), key(given.key), value(given.value) {
  if (given.options.mask) mask.emplace_back(*given.options.mask);
  if (given.options.bias) bias.emplace_back(*given.options.bias);
}

double Definition::scale() const {
  if (arguments.options.scale) return *arguments.options.scale;
  return head_dim() == 0 ? 1 : 1 / std::sqrt(static_cast<double>(head_dim()));
}

Index Definition::keys_of(Index b) const {
  const auto& lengths = arguments.options.key_lengths;
  return lengths ? (*lengths)[static_cast<std::size_t>(b)] : keys();
}

Index Definition::diagonal(Index b, Index i) const {
  return arguments.options.causal == Causal::bottom_right ? i + keys_of(b) - queries() : i;
}

bool Definition::in_band(Index b, Index i, Index j) const {
  const Options& options = arguments.options;
  if (j >= keys_of(b)) return false;
  if (options.causal != Causal::off && j > diagonal(b, i)) return false;
  const auto [left, right] = options.window;
  if (left != unlimited && j < diagonal(b, i) - left) return false;
  if (right != unlimited && j > diagonal(b, i) + right) return false;
  return true;
}

bool Definition::sees(Index b, Index h, Index i, Index j) const {
  if (!in_band(b, i, j)) return false;
  if (!mask.empty() && mask[0](b, h, i, j) == 0) return false;
  return bias.empty() || bias[0](b, h, i, j) != -INFINITY;
}

Index Definition::seen_end(Index b, Index i) const {
  Index end = keys();
  while (end > 0 && !in_band(b, i, end - 1)) --end;
  return end;
}

template <class Real>
Row<Real> Definition::row(Index b, Index h, Index i, Steps steps) const {
  const Real cap = arguments.options.softcap;
  const Index g = key_head(h);
  const float* const query_line = query.line(b, h, i);
  Row<Real> row;
  Real largest = -std::numeric_limits<Real>::infinity();
  for (Index j = 0; j < keys(); ++j) {
    if (!sees(b, h, i, j)) continue;
    const float* const key_line = key.line(b, g, j);
    Real dot = 0;
    for (Index d = 0; d < head_dim(); ++d) dot += Real(query_line[d]) * Real(key_line[d]);
    Real logit = static_cast<Real>(scale()) * dot;
    if (cap != 0) logit = cap * std::tanh(logit / cap);
    if (!bias.empty()) {
      const Real addend = bias[0](b, h, i, j);
      logit += std::isfinite(addend) ? std::clamp(addend, Real(-0x1p127), Real(0x1p127)) : addend;
    }
    row.keys.push_back(j);
    row.logits.push_back(logit);
    largest = std::max(largest, logit);  // of those that are not NaN
  }

  Real sum = 0;
  if (largest == -std::numeric_limits<Real>::infinity()) largest = 0;  // then all weights are 0
  if (steps == Steps::bf16_weights)
    largest = std::ceil(largest / std::numbers::ln2_v<Real>) * std::numbers::ln2_v<Real>;
  for (const Real logit : row.logits) {
    Real weight = std::exp(logit - largest);
    if (steps == Steps::bf16_weights)
      weight = static_cast<Real>(rounded(double(weight), DType::bf16));
    row.weights.push_back(weight);
    sum += weight;
  }
  row.lse = largest + std::log(sum);
  if (sum == 0) {
    row.lse = -std::numeric_limits<Real>::infinity();
    sum = 1;
  }

  row.output.assign(static_cast<std::size_t>(value_dim()), 0);
  for (std::size_t n = 0; n < row.keys.size(); ++n) {
    const float* const value_line = value.line(b, g, row.keys[n]);
    for (std::size_t d = 0; d < row.output.size(); ++d)
      row.output[d] += row.weights[n] * Real(value_line[d]);
  }
  for (Real& element : row.output) element /= sum;
  for (Real& weight : row.weights) weight /= sum;
  return row;
}

template Row<double> Definition::row(Index, Index, Index, Steps) const;
template Row<float> Definition::row(Index, Index, Index, Steps) const;

namespace {

template <class Real>
void append_rows(const Definition& definition, Steps steps, Reference& all) {
  for (Index b = 0; b < definition.batch(); ++b)
    for (Index h = 0; h < definition.heads(); ++h)
      for (Index i = 0; i < definition.queries(); ++i) {
        const Row<Real> row = definition.row<Real>(b, h, i, steps);
        all.output.insert(all.output.end(), row.output.begin(), row.output.end());
        all.lse.push_back(row.lse);
        const std::size_t first = all.weights.size();
        all.weights.resize(first + static_cast<std::size_t>(definition.keys()));
        for (std::size_t n = 0; n < row.keys.size(); ++n)
          all.weights[first + static_cast<std::size_t>(row.keys[n])] = row.weights[n];
      }
}

}  // namespace

Reference reference(const Arguments& arguments, Steps steps) {
  const Definition definition(arguments);
  Reference all;
  if (steps == Steps::exact)
    append_rows<double>(definition, steps, all);
  else
    append_rows<float>(definition, steps, all);
  return all;
}

}  // namespace scaledot::tests
