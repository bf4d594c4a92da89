// Differences, found and put into words.
#include "compare.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <gtest/gtest.h>

namespace scaledot::tests {

double flushed_below(const Arguments& arguments) {
  double largest = 1;
  for (const float number : numbers_of(arguments.value).at)
    if (std::isfinite(number)) largest = std::max(largest, std::fabs(static_cast<double>(number)));
  return largest * static_cast<double>(of_rank_4(arguments.key).extent[2]) * 0x1p-100;
}

std::string difference(const Tensor& got, const Tensor& expected, double ignored_below) {
  const std::vector<std::uint32_t> a = bits_of(got), b = bits_of(expected);
  if (a == b) return "";
  if (a.size() != b.size()) return "they have different sizes";
  const std::vector<float> x = numbers_of(got).at, y = numbers_of(expected).at;
  for (std::size_t n = 0; n < a.size(); ++n) {
    if (a[n] == b[n]) continue;
    if (std::fabs(x[n]) < ignored_below && std::fabs(y[n]) < ignored_below) continue;
    std::ostringstream words;
    const auto index = static_cast<Index>(n);
    const Index last = got.extent[static_cast<std::size_t>(got.rank - 1)];
    words << "element " << n << " (line " << index / last << ", place " << index % last << ") is "
          << x[n] << ", bits " << std::hex << a[n] << ", expected " << y[n] << ", bits " << b[n];
    return words.str();
  }
  return "";
}

void expect_same(const Outcome& got, const Outcome& expected, double ignored_below) {
  EXPECT_EQ(difference(got.output.tensor, expected.output.tensor, ignored_below), "") << "output";
  EXPECT_EQ(difference(got.lse.tensor, expected.lse.tensor), "") << "lse";
  if (got.weights.tensor.data == nullptr || expected.weights.tensor.data == nullptr) return;
  EXPECT_EQ(difference(got.weights.tensor, expected.weights.tensor, ignored_below), "")
      << "weights";
}

double ulp(double number, DType dtype) {
  const int fraction = dtype == DType::f32 ? 23 : dtype == DType::f16 ? 10 : 7;
  const int lowest = dtype == DType::f16 ? -14 : -126;
  const int exponent = number == 0 || !std::isfinite(number) ? lowest : std::ilogb(number);
  return std::ldexp(1.0, std::max(exponent, lowest) - fraction);
}

bool is_near(double got, double expected, double allowed) {
  if (std::isnan(got) || std::isnan(expected)) return std::isnan(got) && std::isnan(expected);
  return got == expected || std::fabs(got - expected) <= allowed;
}

}  // namespace scaledot::tests
