// Laws of attention, on every usable table. That strides, threads, paths, other entries and hidden
// keys change no bit is in bits_test.cpp; that nothing beside the outputs is written, every
// outcome().
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <sstream>

#include <gtest/gtest.h>

#include "compare.hpp"
#include "error_bound.hpp"
#include "law.hpp"
#include "parts.hpp"
#include "random.hpp"

namespace scaledot::tests {
namespace {

// Where two outcomes of one case differ by more than both bounds; `lse_shift` is what the second
// lse has more than the first.
std::string beyond_bounds(const Case& one, const Arguments& a, const Outcome& of_a,
                          const Arguments& b_arguments, const Outcome& of_b, double lse_shift) {
  const Definition first(a), second(b_arguments);
  const std::vector<float> x = numbers_of(of_a.output.tensor).at,
                           y = numbers_of(of_b.output.tensor).at;
  const std::vector<float> p = numbers_of(of_a.lse.tensor).at, q = numbers_of(of_b.lse.tensor).at;
  return each_row(one, [&](std::size_t n, Index b, Index h, Index i) -> std::string {
    const BoundedRow u = bounded_row(first, arithmetic_of(one), b, h, i);
    const BoundedRow v = bounded_row(second, arithmetic_of(one), b, h, i);
    for (std::size_t d = 0; d < u.output_bound.size(); ++d) {
      const std::size_t e = n * u.output_bound.size() + d;
      const double allowed =
          u.output_bound[d] + v.output_bound[d] + 2 * store_error(x[e], DType::f32);
      if (!is_near(x[e], y[e], allowed)) return words("dim ", d, ": ", x[e], " and ", y[e]);
    }
    if (!is_near(p[n] + lse_shift, q[n], u.lse_bound + v.lse_bound))
      return words("lse ", p[n], " and ", q[n]);
    return "";
  });
}

std::string first_difference(const Outcome& got, const Outcome& expected, double tiny) {
  const std::string output = difference(got.output.tensor, expected.output.tensor, tiny);
  return output.empty() ? difference(got.lse.tensor, expected.lse.tensor) : output;
}

// `numbers` with position n of an axis (of rank 4) taken from position at(n).
Numbers taken(const Numbers& numbers, Index axis, Index length,
              const std::function<Index(Index)>& at) {
  Extents extents = numbers.extent;
  extents[static_cast<std::size_t>(axis)] = length;
  const Extents& from = numbers.extent;
  return each(extents, [&](Index b, Index h, Index i, Index d) {
    Index index[] = {b, h, i, d};
    index[axis] = at(index[axis]);
    const Index element =
        ((index[0] * from[1] + index[1]) * from[2] + index[2]) * from[3] + index[3];
    return numbers.at[static_cast<std::size_t>(element)];
  });
}

}  // namespace

TEST(Law, a_constant_value_comes_out_as_it_is) {
  const auto law = [](const Case& one, const kernels::KernelTable* table) -> std::string {
    const bool power =
        one.seed % 2 == 0;  // of two: then every rounding is the same above and below
    Random random{static_cast<std::uint64_t>(one.seed)};
    const float number = power ? std::ldexp(1.0f, static_cast<int>(one.seed % 9) - 4)
                               : rounded(random.normal(), DType::bf16);
    const Held value = held(constant(number, {one.batch, one.key_heads, one.keys, one.value_dim}),
                            one.value_type, one.layout);
    const Inputs inputs = inputs_of(one);
    Arguments arguments = arguments_of(inputs);
    arguments.value = value.tensor;
    const Outcome made = outcome(arguments, usual(one, table));
    const std::vector<float> output = numbers_of(made.output.tensor).at;
    const std::vector<float> lse = numbers_of(made.lse.tensor).at;
    const float stored = read(value.tensor).empty() ? 0 : read(value.tensor)[0];
    // Half a unit of 16 bits is more than what sums of 2,050 keys may be off.
    const bool exact = power || one.output_type != DType::f32;
    const double error = 2 * sum_error(one.keys, one.keys, arithmetic_of(one)) + 0x1p-24;
    for (std::size_t n = 0; n < output.size(); ++n) {
      const std::size_t row = n / static_cast<std::size_t>(one.value_dim);
      const float expected = lse[row] == -INFINITY ? 0 : rounded(stored, one.output_type);
      if (!is_near(output[n], expected, exact ? 0 : error * std::fabs(stored)))
        return words("element ", n, " is ", output[n], ", the value ", stored);
    }
    return "";
  };
  holds(law, [](Case& one) {
    finite(one);
    one.value_type = one.value_type == DType::f16 ? DType::f32 : one.value_type;
  });
}

TEST(Law, an_output_is_within_the_hull_of_the_values) {
  const auto law = [](const Case& one, const kernels::KernelTable* table) -> std::string {
    const Inputs inputs = inputs_of(one);
    const Arguments arguments = arguments_of(inputs);
    const Definition of(arguments);
    const std::vector<float> output =
        numbers_of(outcome(arguments, usual(one, table)).output.tensor).at;
    return each_row(one, [&](std::size_t n, Index b, Index h, Index i) -> std::string {
      for (Index d = 0; d < one.value_dim; ++d) {
        double low = INFINITY, high = -INFINITY;
        Index seen = 0;
        for (Index j = 0; j < one.keys; ++j) {
          if (!of.sees(b, h, i, j)) continue;
          const double value = of.value(b, of.key_head(h), j, d);
          low = std::min(low, value);
          high = std::max(high, value);
          ++seen;
        }
        if (seen == 0) low = high = 0;
        const double size = std::max(std::fabs(low), std::fabs(high));
        const double error = size * (2 * sum_error(seen, one.keys, arithmetic_of(one)) + 0x1p-24) +
                             store_error(size, one.output_type);
        const float got =
            output[n * static_cast<std::size_t>(one.value_dim) + static_cast<std::size_t>(d)];
        if (!(got >= low - error && got <= high + error))
          return words("dim ", d, " is ", got, ", not in ", low, " ... ", high);
      }
      return "";
    });
  };
  holds(law, finite);
}

TEST(Law, weights_are_shares_of_one) {
  const auto law = [](const Case& one, const kernels::KernelTable* table) -> std::string {
    const Inputs inputs = inputs_of(one);
    How how = usual(one, table);
    how.weights = true;
    const Outcome made = outcome(arguments_of(inputs), how);
    const std::vector<float> weights = numbers_of(made.weights.tensor).at;
    const std::vector<float> lse = numbers_of(made.lse.tensor).at;
    const double error = 2 * sum_error(one.keys, one.keys, arithmetic_of(one)) + 0x1p-24;
    return each_row(one, [&](std::size_t n, Index, Index, Index) -> std::string {
      double sum = 0;
      for (Index j = 0; j < one.keys; ++j) {
        const float weight =
            weights[n * static_cast<std::size_t>(one.keys) + static_cast<std::size_t>(j)];
        if (!(weight >= 0)) return words("weight ", j, " is ", weight);
        sum += weight;
      }
      const double expected = lse[n] == -INFINITY ? 0 : 1;
      return is_near(sum, expected, error) ? "" : words("the weights sum to ", sum);
    });
  };
  holds(law, tame);
}

TEST(Law, the_order_of_the_keys_does_not_matter) {
  const auto law = [](const Case& one, const kernels::KernelTable* table) -> std::string {
    const Inputs inputs = inputs_of(one);
    std::vector<Index> order(static_cast<std::size_t>(one.keys));
    std::iota(order.begin(), order.end(), 0);
    Random random{static_cast<std::uint64_t>(one.seed)};
    for (std::size_t n = order.size(); n > 1; --n)
      std::swap(order[n - 1], order[static_cast<std::size_t>(random.below(static_cast<Index>(n)))]);
    const auto permuted = [&](const Tensor& tensor, Index axis) {
      const Tensor all = of_rank_4(tensor);
      const auto at = [&](Index n) { return order[static_cast<std::size_t>(n)]; };
      Numbers numbers = numbers_of(all);
      if (all.extent[static_cast<std::size_t>(axis)] > 1)
        numbers = taken(numbers, axis, one.keys, at);
      return held(numbers, tensor.dtype);
    };
    Inputs other{held(numbers_of(inputs.query.tensor), one.query_type),
                 permuted(inputs.key.tensor, 2),
                 permuted(inputs.value.tensor, 2),
                 {},
                 {},
                 {},
                 inputs.options};
    if (inputs.mask) other.mask = permuted(inputs.mask->tensor, 3);
    if (inputs.bias) other.bias = permuted(inputs.bias->tensor, 3);
    const Arguments a = arguments_of(inputs), b = arguments_of(other);
    return beyond_bounds(one, a, outcome(a, usual(one, table)), b, outcome(b, usual(one, table)),
                         0);
  };
  holds(law, all_keys);
}

TEST(Law, a_constant_in_the_bias_only_moves_the_lse) {
  const auto law = [](const Case& one, const kernels::KernelTable* table) -> std::string {
    const Inputs inputs = inputs_of(one);
    const Arguments a = arguments_of(inputs);
    const float number = static_cast<float>(one.seed % 41 - 20) / 2;
    const Held bias = held(constant(number, {}), one.bias_type);
    Arguments b = a;
    b.options.bias = bias.tensor;
    return beyond_bounds(one, a, outcome(a, usual(one, table)), b, outcome(b, usual(one, table)),
                         number);
  };
  holds(law, [](Case& one) {
    tame(one);
    one.bias = Biases::none;
  });
}

TEST(Law, grouped_heads_are_repeated_heads) {
  const auto law = [](const Case& one, const kernels::KernelTable* table) -> std::string {
    const Inputs inputs = inputs_of(one);
    const auto repeated = [&](const Held& of) {
      const auto at = [&](Index h) { return h / one.group; };
      return held(taken(numbers_of(of.tensor), 1, one.heads(), at), of.tensor.dtype);
    };
    const Held key = repeated(inputs.key), value = repeated(inputs.value);
    const Arguments grouped = arguments_of(inputs);
    const Arguments alone{grouped.query, key.tensor, value.tensor, grouped.options};
    return first_difference(outcome(grouped, usual(one, table)), outcome(alone, usual(one, table)),
                            flushed_below(grouped));
  };
  holds(law, [](Case& one) { one.group = std::max<Index>(one.group, 2); });
}

namespace {

// What causal, window and key lengths hide, as a mask or as a bias.
Numbers band_of(const Case& one, const Definition& of, float seen, float hidden) {
  return each({one.batch, 1, one.queries, one.keys}, [&](Index b, Index, Index i, Index j) {
    return of.in_band(b, i, j) ? seen : hidden;
  });
}

std::string band_differs(const Case& one, const kernels::KernelTable* table, bool as_bias) {
  const Inputs inputs = inputs_of(one);
  const Arguments given = arguments_of(inputs);
  const Numbers band = band_of(one, Definition(given), as_bias ? 0 : 1, as_bias ? -INFINITY : 0);
  const Held marks = held(band, as_bias ? one.bias_type : DType::boolean, one.layout);
  Arguments other = given;
  (as_bias ? other.options.bias : other.options.mask) = marks.tensor;
  other.options.causal = Causal::off;
  other.options.window = {};
  other.options.key_lengths.reset();
  return first_difference(outcome(given, usual(one, table)), outcome(other, usual(one, table)),
                          flushed_below(given));
}

}  // namespace

TEST(Law, causal_window_and_lengths_are_their_mask) {
  const auto law = [](const Case& one, const kernels::KernelTable* table) {
    return band_differs(one, table, false);
  };
  holds(law, [](Case& one) { one.mask = Masks::none; });
}

TEST(Law, causal_window_and_lengths_are_their_bias) {
  const auto law = [](const Case& one, const kernels::KernelTable* table) {
    return band_differs(one, table, true);
  };
  holds(law, [](Case& one) { one.bias = Biases::none; });
}

}  // namespace scaledot::tests
