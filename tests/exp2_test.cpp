// The transcendental functions against double, over their whole range; and every operation of every
// instruction set against the scalar one, bit for bit.
#include "kernels/exp2.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cases.hpp"
#include "dispatch.hpp"
#include "functions.hpp"
#include "random.hpp"

namespace scaledot::tests {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }
std::uint32_t bits_of(float number) { return std::bit_cast<std::uint32_t>(number); }

// The functions of the best table: all others have the same bits, which a test below shows.
const Function& fastest(const char* name) {
  return function(functions_of(usable_tables().front()->name), name);
}

float one(const char* name, float a, float b = 0) {
  std::vector<float> x(16, a), y(16, b), to(16);
  fastest(name).run(x.data(), y.data(), to.data(), 16);
  return to[0];
}

// The largest relative (or absolute) error over the floats from `from` to `last`, each `step`th bit
// pattern; both have one sign, and |last| is not smaller.
enum class Error { relative, absolute };

double largest_error(const char* name, float from, float last, std::uint32_t step, Error error,
                     const std::function<double(double)>& exact) {
  constexpr Index batch = 4096;
  std::vector<float> in(batch), none(batch), out(batch);
  double largest = 0;
  std::uint64_t bits = bits_of(from);
  while (bits <= bits_of(last)) {
    for (float& number : in) {
      number = float_of(static_cast<std::uint32_t>(std::min<std::uint64_t>(bits, bits_of(last))));
      bits += step;
    }
    fastest(name).run(in.data(), none.data(), out.data(), batch);
    for (std::size_t n = 0; n < in.size(); ++n) {
      const double expected = exact(in[n]);
      const double off = std::fabs(out[n] - expected);
      largest = std::max(
          largest, error == Error::relative && expected != 0 ? off / std::fabs(expected) : off);
    }
  }
  return largest;
}

double exact_exp2(double x) { return std::exp2(x); }

}  // namespace

// Dense where the polynomial is used as it is; below 2^-13 all floats give 1 or its neighbours.
TEST(Exp2, fraction_is_within_its_bound) {
  const auto step = static_cast<std::uint32_t>(8 / effort(8));
  for (const float sign : {1.0f, -1.0f}) {
    EXPECT_LT(
        largest_error("exp2", sign * 0x1p-13f, sign * 0.5f, step, Error::relative, exact_exp2),
        1.67e-7);
    EXPECT_LT(largest_error("exp2", sign * 0, sign * 0x1p-13f, 9973, Error::relative, exact_exp2),
              1.67e-7);
  }
}

TEST(Exp2, whole_range_is_within_its_bound) {
  EXPECT_LT(largest_error("exp2", 0.5f, 127.49f, 1009, Error::relative, exact_exp2), 1.67e-7);
  EXPECT_LT(largest_error("exp2", -0.5f, -125.9f, 1009, Error::relative, exact_exp2), 1.67e-7);
}

TEST(Exp2, is_exact_for_integers_and_flushes_what_is_too_small) {
  for (int n = -126; n <= 127; ++n)
    EXPECT_EQ(one("exp2", static_cast<float>(n)), std::ldexp(1.0f, n)) << n;
  for (const float t : {-126.6f, -127.0f, -150.0f, -1e10f, -3e38f, -infinity})
    EXPECT_EQ(bits_of(one("exp2", t)), 0u) << t;
  for (const float t : {128.0f, 1000.0f, 3e38f, infinity}) EXPECT_EQ(one("exp2", t), infinity) << t;
  EXPECT_EQ(one("exp2", -0.0f), 1);
  EXPECT_TRUE(std::isnan(one("exp2", NAN)));
}

// weight(t, max) is exp2(t) times a power of two, whatever max is, as long as neither is flushed.
TEST(Exp2, a_weight_is_exp2_times_a_power_of_two) {
  Random random{5};
  for (int n = 0; n < 20000; ++n) {
    const float t = random.uniform() * 60;
    const auto max = static_cast<float>(random.below(121) - 60);
    EXPECT_EQ(one("weight", t, max), std::ldexp(one("exp2", t), -static_cast<int>(max)))
        << t << ", " << max;
  }
  EXPECT_EQ(one("weight", 1e6f + 0.25f, 1e6f), one("exp2", 0.25f));
  EXPECT_EQ(one("weight", -infinity, -100), 0);
  EXPECT_EQ(one("weight", 3e38f, 3e38f), 1);
}

// A multiple of 2^-7 times a power of two, and the nearest but for the polynomial's error.
TEST(Bf16Weight, is_within_its_bound) {
  Random random{6};
  for (int n = 0; n < effort(20000); ++n) {
    const float t = random.uniform() * (n % 2 == 0 ? 1 : 40);
    const auto max = static_cast<float>(random.below(61) - 30);
    const float got = one("bf16_weight", t, max);
    const double exact = std::exp2(double(t) - double(max));
    ASSERT_EQ(bits_of(got) & 0xFFFF, 0u) << t << ", " << max;
    ASSERT_LE(std::fabs(got - exact), exact * 3e-6 + std::ldexp(1, std::ilogb(exact) - 8))
        << t << ", " << max;
  }
  for (const float t : {0.0f, -0.0f, -1e-9f, -0x1p-126f, 7.0f, -31.0f, 3e9f, 3e38f})
    EXPECT_EQ(one("bf16_weight", t, std::ceil(t)), 1) << t;
  EXPECT_EQ(one("bf16_weight", -infinity, 0), 0);
  EXPECT_EQ(one("bf16_weight", -infinity, -3e38f), 0);
  EXPECT_EQ(one("bf16_weight", -3e38f, 0), 0);
  EXPECT_EQ(one("bf16_weight", infinity, 5), infinity);
  EXPECT_TRUE(std::isnan(one("bf16_weight", std::nanf(""), 5)));
}

TEST(Log2, is_within_its_bound) {
  EXPECT_LT(largest_error("log2_fraction", 1, 0x1.fffffep0f, 3, Error::absolute,
                          [](double m) { return std::log2(m); }),
            2e-7);
  EXPECT_EQ(bits_of(one("log2_fraction", 1)), 0u);
}

TEST(Tanh, is_within_its_bound) {
  const auto exact = [](double x) { return std::tanh(x); };
  for (const float sign : {1.0f, -1.0f}) {
    EXPECT_LT(largest_error("tanh", sign * 0x1p-13f, sign * 24, 67, Error::relative, exact), 3e-7);
    EXPECT_LT(
        largest_error("tanh", sign * 0x1p-100f, sign * 0x1p-13f, 9973, Error::relative, exact),
        3e-7);
    EXPECT_LT(largest_error("tanh", sign * 24, sign * 3e38f, 9973, Error::relative, exact), 3e-7);
    EXPECT_EQ(one("tanh", sign * infinity), sign);
  }
  EXPECT_EQ(one("tanh", 0), 0);
  EXPECT_TRUE(std::isnan(one("tanh", NAN)));
}

namespace {

// Numbers of all kinds: special ones, integers and halves, each kind of bit pattern.
std::vector<float> assorted(Random& random, Index count) {
  const float special[] = {0,     -0.0f, 1,    -1,        infinity,  -infinity, NAN,   0.5f,
                           -0.5f, 1.5f,  2.5f, 0x1p-126f, 0x1p-149f, 0x1p127f,  3e38f, -3e38f,
                           -127,  -126,  -128, 128,       0x1p23f,   0x1p22f,   65519, 65520};
  std::vector<float> numbers;
  while (static_cast<Index>(numbers.size()) < count) {
    switch (random.below(5)) {
      case 0:
        numbers.push_back(special[random.below(std::size(special))]);
        break;
      case 1:
        numbers.push_back(static_cast<float>(random.below(600) - 300) / 2);
        break;
      case 2:
        numbers.push_back(random.normal() * 40);
        break;
      case 3:
        numbers.push_back(random.uniform());
        break;
      default:
        numbers.push_back(float_of(static_cast<std::uint32_t>(random.next())));
    }
  }
  return numbers;
}

// Where an operation promises its result; the kernels go nowhere else.
bool is_promised(const std::string& name, float a, float b) {
  if (name == "exp2") return !(a >= 127.5f && a < infinity);
  if (name == "weight") return std::fabs(b) < infinity && !(a - b >= 126 && a < infinity);
  if (name == "scale2") return a >= 0.5f && a < 2 && (b < 127.5f || b == infinity);
  if (name == "exponent") return a >= 0x1p-126f && a < infinity;
  if (name == "log2_fraction") return a >= 1 && a < 2;
  // One that is rounded up to 2^-126 is flushed on some: bits that nobody is promised.
  if (name == "bf16_weight")
    return std::fabs(b) < infinity && !(a - b >= 126 && a < infinity) &&
           !(a - b < -125 && a - b > -128);
  return true;
}

// A maximum or an offset may be 0 or -0: nothing depends on it.
bool has_signed_zero(const std::string& name) {
  return name != "ceil" && name != "floor" && name != "fraction";
}

}  // namespace

TEST(Simd, every_operation_has_the_bits_of_the_scalar_one) {
  Random random{11};
  const Index count = effort(1 << 19);
  const Index whole = count / 16 * 16;
  const std::vector<float> a = assorted(random, whole), b = assorted(random, whole);
  std::vector<float> expected(a.size()), got(a.size());
  for (const kernels::KernelTable* table : usable_tables()) {
    ASSERT_NE(functions_of(table->name), nullptr) << table->name;
    const Function* scalar = scalar_functions;
    for (const Function* f = functions_of(table->name); f->name != nullptr; ++f, ++scalar) {
      ASSERT_STREQ(f->name, scalar->name);
      f->run(a.data(), b.data(), got.data(), whole);
      scalar->run(a.data(), b.data(), expected.data(), whole);
      for (std::size_t n = 0; n < a.size(); ++n) {
        const bool same = std::isnan(got[n])         ? std::isnan(expected[n])
                          : has_signed_zero(f->name) ? bits_of(got[n]) == bits_of(expected[n])
                                                     : got[n] == expected[n];
        if (same || !is_promised(f->name, a[n], b[n])) continue;
        ASSERT_EQ(bits_of(got[n]), bits_of(expected[n]))
            << f->name << " of " << a[n] << " and " << b[n] << " on " << table->name << " is "
            << got[n] << ", not " << expected[n];
      }
    }
  }
}

}  // namespace scaledot::tests
