// Laws about putting together: keys in two calls, and values times a number.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "compare.hpp"
#include "error_bound.hpp"
#include "law.hpp"
#include "parts.hpp"

namespace scaledot::tests {
namespace {

// The keys [begin, end) of a call without options by position.
Arguments some_keys(const Arguments& arguments, Index begin, Index end) {
  Arguments some = arguments;
  some.key = part(some.key, 2, begin, end);
  some.value = part(some.value, 2, begin, end);
  for (std::optional<Tensor>* marks : {&some.options.mask, &some.options.bias}) {
    if (!*marks || (*marks)->rank == 0) continue;
    const int axis = (*marks)->rank - 1;
    if ((*marks)->extent[static_cast<std::size_t>(axis)] > 1)
      *marks = part(**marks, axis, begin, end);
  }
  return some;
}

// A row of one call: what came out, and how far it may be off.
struct Piece {
  Definition of;
  std::vector<float> output, lse;

  Piece(const Arguments& arguments, const How& how) : of(arguments) {
    const Outcome made = outcome(arguments, how);
    output = numbers_of(made.output.tensor).at;
    lse = numbers_of(made.lse.tensor).at;
  }
};

// Row n of both pieces, merged by their lse in double, is row n of the whole. The merged row moves
// with the pieces' outputs by at most the larger bound, and with their lse by how far these outputs
// lie apart.
std::string merged_differs(const Piece& whole, const Piece& a, const Piece& b,
                           Arithmetic arithmetic, std::size_t n, Index entry, Index head,
                           Index query) {
  const BoundedRow w = bounded_row(whole.of, arithmetic, entry, head, query);
  const BoundedRow x = bounded_row(a.of, arithmetic, entry, head, query);
  const BoundedRow y = bounded_row(b.of, arithmetic, entry, head, query);
  const double max = std::max<double>({a.lse[n], b.lse[n], -0x1p127});
  const double share_a = std::exp(a.lse[n] - max), share_b = std::exp(b.lse[n] - max);
  const double sum = share_a + share_b;
  const double lse = sum == 0 ? -INFINITY : max + std::log(sum);
  const double lse_bounds = x.lse_bound + y.lse_bound;
  if (!is_near(whole.lse[n], lse, w.lse_bound + lse_bounds))
    return words("lse ", whole.lse[n], ", merged ", lse);
  for (std::size_t d = 0; d < w.output_bound.size(); ++d) {
    const std::size_t e = n * w.output_bound.size() + d;
    const double from_a = a.output[e], from_b = b.output[e];
    const double merged = sum == 0 ? 0 : (share_a * from_a + share_b * from_b) / sum;
    const double allowed = w.output_bound[d] + std::max(x.output_bound[d], y.output_bound[d]) +
                           std::expm1(lse_bounds) * std::fabs(from_a - from_b) + 0x1p-125;
    if (!is_near(whole.output[e], merged, allowed))
      return words("dim ", d, ": ", whole.output[e], ", merged ", merged);
  }
  return "";
}

}  // namespace

TEST(Law, keys_in_two_calls_merge_to_one) {
  const auto law = [](const Case& one, const kernels::KernelTable* table) {
    const Inputs inputs = inputs_of(one);
    const Arguments arguments = arguments_of(inputs);
    const How how = usual(one, table);
    const Index at = one.seed % (one.keys + 1);
    const Piece whole(arguments, how), a(some_keys(arguments, 0, at), how),
        b(some_keys(arguments, at, one.keys), how);
    return each_row(one, [&](std::size_t n, Index entry, Index head, Index query) {
      return merged_differs(whole, a, b, arithmetic_of(one), n, entry, head, query);
    });
  };
  holds(law, all_keys);
}

// A power of two times all values multiplies the output by it, and every rounding stays the same.
TEST(Law, a_power_of_two_passes_through) {
  const auto law = [](const Case& one, const kernels::KernelTable* table) {
    const Inputs inputs = inputs_of(one);
    const Arguments arguments = arguments_of(inputs);
    const int power = static_cast<int>(one.seed % 33) - 16;
    const auto scaled = [&](const Tensor& tensor) {
      Numbers numbers = numbers_of(tensor);
      for (float& number : numbers.at) number = std::ldexp(number, power);
      return held(numbers, tensor.dtype);
    };
    const Held value = scaled(arguments.value);
    Arguments other = arguments;
    other.value = value.tensor;
    const Outcome usual_output = outcome(arguments, usual(one, table));
    Outcome expected;
    expected.output = scaled(usual_output.output.tensor);
    return difference(outcome(other, usual(one, table)).output.tensor, expected.output.tensor,
                      0x1p-80);
  };
  holds(law, [](Case& one) {
    finite(one);
    if (one.value_type == DType::f16) one.value_type = DType::f32;
    if (one.output_type == DType::f16) one.output_type = DType::f32;
  });
}

}  // namespace scaledot::tests
