// The three transcendental functions, in fused multiply-adds that are the same on every instruction
// set. Coefficients: tools/fit_polynomials.py. Bounds: docs/numerics.md, tests/exp2_test.cpp.
#pragma once

namespace scaledot::kernels {

// 2^g for g in [-0.5, 0.5]: relative error below 1.7e-7, and exactly 1 for g = 0.
template <class Simd>
[[gnu::always_inline]] inline typename Simd::Vec exp2_fraction(typename Simd::Vec g) {
  auto sum = Simd::fma(Simd::broadcast(0x1.5bba14p-10f), g, Simd::broadcast(0x1.3cea88p-7f));
  sum = Simd::fma(sum, g, Simd::broadcast(0x1.c6b752p-5f));
  sum = Simd::fma(sum, g, Simd::broadcast(0x1.ebf9bep-3f));
  sum = Simd::fma(sum, g, Simd::broadcast(0x1.62e42ap-1f));
  return Simd::fma(sum, g, Simd::broadcast(1));
}

// 2^t rounded: 2^(t - n) * 2^n with n the integer nearest to t. 0 for -inf and below 2^-126.
template <class Simd>
[[gnu::always_inline]] inline typename Simd::Vec exp2(typename Simd::Vec t) {
  const auto g = Simd::fraction(t);
  return Simd::scale2(exp2_fraction<Simd>(g), Simd::sub(t, g));
}

// 2^t / 2^max for an integer max. t - max is not formed before rounding: it would not be exact.
template <class Simd>
[[gnu::always_inline]] inline typename Simd::Vec weight(typename Simd::Vec t,
                                                        typename Simd::Vec max) {
  const auto g = Simd::fraction(t);
  return Simd::scale2(exp2_fraction<Simd>(g), Simd::sub(Simd::sub(t, g), max));
}

// The same rounded to bf16, from the nearest integer below: 1 + g r is rounded once, by a number so
// large that its last bit is worth 2^-7. Relative error below 2^-8 + 3e-6.
template <class Simd>
[[gnu::always_inline]] inline typename Simd::Vec bf16_weight(typename Simd::Vec t,
                                                             typename Simd::Vec max) {
  constexpr float large = 0x1.8p16f;
  const auto n = Simd::floor(t), g = Simd::above(t, n);
  auto sum = Simd::fma(Simd::broadcast(0x1.b7f73p-7f), g, Simd::broadcast(0x1.abf868p-5f));
  sum = Simd::fma(sum, g, Simd::broadcast(0x1.ee245p-3f));
  sum = Simd::fma(sum, g, Simd::broadcast(0x1.62d6c6p-1f));
  sum = Simd::sub(Simd::fma(sum, g, Simd::broadcast(large + 1)), Simd::broadcast(large));
  return Simd::scale2(sum, Simd::sub(n, max));
}

// log2(m) for m in [1, 2): absolute error below 2e-7, exactly 0 for m = 1.
template <class Simd>
inline typename Simd::Vec log2_fraction(typename Simd::Vec m) {
  const auto high = Simd::less(Simd::broadcast(0x1.6a09e6p0f), m);  // above sqrt(2): of m / 2
  const auto one = Simd::broadcast(1);
  const auto x = Simd::sub(Simd::select(high, Simd::mul(m, Simd::broadcast(0.5f)), m), one);
  auto sum = Simd::fma(Simd::broadcast(0x1.01b6dcp-3f), x, Simd::broadcast(-0x1.a87d0ep-3f));
  sum = Simd::fma(sum, x, Simd::broadcast(0x1.b9c91ap-3f));
  sum = Simd::fma(sum, x, Simd::broadcast(-0x1.e95be6p-3f));
  sum = Simd::fma(sum, x, Simd::broadcast(0x1.26d384p-2f));
  sum = Simd::fma(sum, x, Simd::broadcast(-0x1.715c4ep-2f));
  sum = Simd::fma(sum, x, Simd::broadcast(0x1.ec73d8p-2f));
  sum = Simd::fma(sum, x, Simd::broadcast(-0x1.715474p-1f));
  sum = Simd::fma(sum, x, Simd::broadcast(0x1.715476p0f));
  return Simd::fma(sum, x, Simd::select(high, one, Simd::zero()));
}

// tanh(x): relative error below 3e-7. A polynomial near 0, else 1 - 2 / (e^(2|x|) + 1).
template <class Simd>
inline typename Simd::Vec tanh(typename Simd::Vec x) {
  const auto square = Simd::mul(x, x);
  auto sum = Simd::fma(Simd::broadcast(-0x1.75e1cep-8f), square, Simd::broadcast(0x1.52269cp-6f));
  sum = Simd::fma(sum, square, Simd::broadcast(-0x1.b83c5ap-5f));
  sum = Simd::fma(sum, square, Simd::broadcast(0x1.110726p-3f));
  sum = Simd::fma(sum, square, Simd::broadcast(-0x1.555532p-2f));
  const auto small = Simd::fma(Simd::mul(sum, square), x, x);

  const auto one = Simd::broadcast(1), size = Simd::abs(x);
  const auto doubled = Simd::mul(size, Simd::broadcast(0x1.715476p1f));  // 2 log2(e) |x|
  const auto power = exp2<Simd>(Simd::min(Simd::broadcast(40), doubled));
  const auto large = Simd::sub(one, Simd::div(Simd::broadcast(2), Simd::add(power, one)));
  const auto is_negative = Simd::less(x, Simd::zero());
  const auto signed_large = Simd::select(is_negative, Simd::sub(Simd::zero(), large), large);
  return Simd::select(Simd::less(size, Simd::broadcast(0.625f)), small, signed_large);
}

}  // namespace scaledot::kernels
