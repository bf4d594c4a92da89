// From the small numbers of a case to tensors full of numbers.
#include "inputs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "random.hpp"

namespace scaledot::tests {
namespace {

// A number of any size between the exponents, for Logits::wild.
float wild(Random& random, DType dtype) {
  const Index reach = dtype == DType::f16 ? 8 : 30;
  const float number = random.normal();  // drawn first: the order of arguments is not given
  return std::ldexp(number, static_cast<int>(random.below(2 * reach + 1) - reach));
}

// What key j adds to the logits of its row by the first dim, where every query holds 4.
double steering(const Case& one, Index j) {
  switch (one.logits) {
    case Logits::one_huge:
      return j == one.seed % std::max<Index>(one.keys, 1) ? 80 : 0;
    case Logits::ascending:
      return static_cast<double>(j) / 4;
    case Logits::descending:
      return static_cast<double>(one.keys - j) / 4;
    default:
      return 0;
  }
}

bool is_steered(const Case& one) {
  return one.logits == Logits::one_huge || one.logits == Logits::ascending ||
         one.logits == Logits::descending;
}

// One in `count` of the lines gets the number in one of its elements.
void sprinkle(Random& random, Numbers& numbers, Index count, float number) {
  const Index dim = numbers.extent.back();
  if (dim == 0) return;
  for (std::size_t line = 0; line < numbers.at.size(); line += static_cast<std::size_t>(dim))
    if (random.one_in(count))
      numbers.at[line + static_cast<std::size_t>(random.below(dim))] = number;
}

Numbers queries_of(const Case& one, Random& random) {
  const auto element = [&](Index, Index, Index, Index d) -> float {
    if (one.logits == Logits::flat) return 0;
    if (one.logits == Logits::wild) return wild(random, one.query_type);
    if (is_steered(one)) return d == 0 ? 4 : random.normal() / 2;
    return random.normal() * (one.logits == Logits::spread ? 6 : 1);
  };
  Numbers numbers = each({one.batch, one.heads(), one.queries, one.head_dim}, element);
  if (one.logits == Logits::infinite) sprinkle(random, numbers, 9, INFINITY);
  if (one.logits == Logits::nan) sprinkle(random, numbers, 9, NAN);
  return numbers;
}

Numbers keys_of(const Case& one, Random& random) {
  const double scale = 1 / std::sqrt(static_cast<double>(std::max<Index>(one.head_dim, 1)));
  std::vector<float> same(static_cast<std::size_t>(one.head_dim));
  for (float& number : same) number = random.normal();
  const auto element = [&](Index, Index, Index j, Index d) -> float {
    if (one.logits == Logits::all_equal) return same[static_cast<std::size_t>(d)];
    if (one.logits == Logits::wild) return wild(random, one.key_type);
    if (is_steered(one) && d == 0) return static_cast<float>(steering(one, j) / (4 * scale));
    return random.normal() * (one.logits == Logits::spread ? 6 : 1);
  };
  Numbers numbers = each({one.batch, one.key_heads, one.keys, one.head_dim}, element);
  if (one.logits == Logits::infinite) {
    sprinkle(random, numbers, 40, INFINITY);
    sprinkle(random, numbers, 40, -INFINITY);
  }
  if (one.logits == Logits::nan) sprinkle(random, numbers, 40, NAN);
  return numbers;
}

Numbers values_of(const Case& one, Random& random) {
  const float constant = random.normal();
  const auto element = [&](Index, Index, Index j, Index) -> float {
    switch (one.values) {
      case Values::constant:
        return constant;
      case Values::cancelling:
        return (j % 2 == 0 ? 4096.0f : -4096.0f) + random.normal();
      case Values::zero:
        return 0;
      default:
        return random.normal();
    }
  };
  Numbers numbers = each({one.batch, one.key_heads, one.keys, one.value_dim}, element);
  if (one.values == Values::infinite) {
    sprinkle(random, numbers, 60, INFINITY);
    sprinkle(random, numbers, 60, NAN);
  }
  return numbers;
}

// Extents of a mask or bias: axes of length 1 where `axes` has their bit, those in front left away
// with bit 4.
Extents broadcast(const Case& one, Index axes) {
  Extents extents{one.batch, one.heads(), one.queries, one.keys};
  for (std::size_t axis = 0; axis < 4; ++axis)
    if ((axes >> axis & 1) != 0) extents[axis] = 1;
  if ((axes & 16) != 0)
    while (!extents.empty() && extents.front() == 1) extents.erase(extents.begin());
  return extents;
}

// As each(), with fewer axes.
template <class Element>
Numbers filled(const Extents& extents, const Element& element) {
  Extents all = extents;
  all.insert(all.begin(), 4 - extents.size(), 1);
  Numbers numbers = each(all, element);
  numbers.extent = extents;
  return numbers;
}

Numbers mask_of(const Case& one, Random& random) {
  return filled(broadcast(one, one.mask_axes), [&](Index, Index, Index i, Index j) -> float {
    switch (one.mask) {
      case Masks::half:
        return random.one_in(2) ? 1 : 0;
      case Masks::few:
        return random.one_in(9) ? 1 : 0;
      case Masks::nothing:
        return i % 3 == 1 ? 1 : 0;
      case Masks::blocks:
        return j / 100 % 2 == i / 20 % 2 ? 1 : 0;
      default:
        return 1;
    }
  });
}

Numbers bias_of(const Case& one, Random& random) {
  constexpr float lowest = std::numeric_limits<float>::lowest();
  return filled(broadcast(one, one.bias_axes), [&](Index, Index h, Index i, Index j) -> float {
    switch (one.bias) {
      case Biases::hiding:
        return random.one_in(4) ? -INFINITY : random.normal();
      case Biases::slope:
        return -static_cast<float>(std::abs(i - j)) / static_cast<float>(2 << h % 4);
      case Biases::lowest:
        return i % 2 == 0 || random.one_in(2) ? lowest : random.normal();
      default:
        return 2 * random.normal();
    }
  });
}

Options options_of(const Case& one) {
  Options options;
  if (one.scaled) options.scale = static_cast<float>(one.scale_eighths) / 8;
  options.softcap = static_cast<float>(one.softcap);
  options.causal = one.causal;
  options.window = {one.left, one.right};
  options.arithmetic = one.arithmetic;
  return options;
}

}  // namespace

Inputs inputs_of(const Case& one) {
  Random random{static_cast<std::uint64_t>(one.seed)};
  Inputs inputs;
  inputs.query = held(queries_of(one, random), one.query_type, one.layout);
  inputs.key = held(keys_of(one, random), one.key_type, one.layout);
  inputs.value = held(values_of(one, random), one.value_type, one.layout);
  if (one.mask != Masks::none) inputs.mask = held(mask_of(one, random), DType::boolean, one.layout);
  if (one.bias != Biases::none) inputs.bias = held(bias_of(one, random), one.bias_type, one.layout);
  for (Index b = 0; one.key_lengths && b < one.batch; ++b)
    inputs.key_lengths.push_back(random.below(one.keys + 1));
  inputs.options = options_of(one);
  return inputs;
}

Inputs laid_out(const Inputs& inputs, Layout layout) {
  const auto again = [&](const Held& from) {
    return held(numbers_of(from.tensor), from.tensor.dtype, layout);
  };
  Inputs other{again(inputs.query), again(inputs.key), again(inputs.value), {}, {},
               inputs.key_lengths,  inputs.options};
  if (inputs.mask) other.mask = again(*inputs.mask);
  if (inputs.bias) other.bias = again(*inputs.bias);
  return other;
}

Arguments arguments_of(const Inputs& inputs) {
  Arguments arguments{inputs.query.tensor, inputs.key.tensor, inputs.value.tensor, inputs.options};
  if (inputs.mask) arguments.options.mask = inputs.mask->tensor;
  if (inputs.bias) arguments.options.bias = inputs.bias->tensor;
  if (!inputs.key_lengths.empty()) arguments.options.key_lengths = inputs.key_lengths;
  return arguments;
}

Outcome outcome(const Arguments& arguments, const How& how) {
  Extents extents = extents_of(arguments.query);
  extents.back() = extents_of(arguments.value).back();
  Outcome made;
  made.output = Held(extents, how.output_type, how.output_layout);
  extents.back() = extents_of(arguments.key)[extents.size() - 2];
  if (how.weights) made.weights = Held(extents, how.output_type, how.output_layout);
  extents.pop_back();
  made.lse = Held(extents, DType::f32, how.output_layout);

  Outputs outputs{made.output.tensor, made.lse.tensor, {}};
  if (how.weights) outputs.weights = made.weights.tensor;
  Options options = arguments.options;
  options.threads = how.threads;
  const Status status = attend_on(*how.table, arguments.query, arguments.key, arguments.value,
                                  outputs, options, how.paths);
  EXPECT_TRUE(status.ok()) << describe(status);
  EXPECT_TRUE(gaps_are_untouched(made.output)) << "something beside the output was written";
  EXPECT_TRUE(gaps_are_untouched(made.lse)) << "something beside the lse was written";
  EXPECT_TRUE(!how.weights || gaps_are_untouched(made.weights))
      << "something beside the weights was written";
  return made;
}

}  // namespace scaledot::tests
