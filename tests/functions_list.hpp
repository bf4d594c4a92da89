// What each functions_*.cpp holds: the list for its SIMD struct. Everything has internal linkage,
// so that no code for one instruction set is taken by another.
#pragma once

#include "functions.hpp"
#include "kernels/denormals.hpp"
#include "kernels/exp2.hpp"

namespace scaledot::tests {
namespace {

template <class Simd>
struct Functions {
  using Vec = typename Simd::Vec;

  static Vec exp2(Vec a, Vec) { return kernels::exp2<Simd>(a); }
  static Vec integer(Vec a) { return Simd::sub(a, Simd::fraction(a)); }
  static Vec weight(Vec a, Vec b) { return kernels::weight<Simd>(a, integer(b)); }
  static Vec bf16_weight(Vec a, Vec b) { return kernels::bf16_weight<Simd>(a, integer(b)); }
  static Vec tanh(Vec a, Vec) { return kernels::tanh<Simd>(a); }
  static Vec log2_fraction(Vec a, Vec) { return kernels::log2_fraction<Simd>(a); }
  static Vec add(Vec a, Vec b) { return Simd::add(a, b); }
  static Vec sub(Vec a, Vec b) { return Simd::sub(a, b); }
  static Vec mul(Vec a, Vec b) { return Simd::mul(a, b); }
  static Vec div(Vec a, Vec b) { return Simd::div(a, b); }
  static Vec fma(Vec a, Vec b) { return Simd::fma(a, b, Simd::sub(b, a)); }
  static Vec min(Vec a, Vec b) { return Simd::min(a, b); }
  static Vec max(Vec a, Vec b) { return Simd::max(a, b); }
  static Vec abs(Vec a, Vec) { return Simd::abs(a); }
  static Vec ceil(Vec a, Vec) { return Simd::ceil(a); }
  static Vec floor(Vec a, Vec) { return Simd::floor(a); }
  static Vec fraction(Vec a, Vec) { return Simd::fraction(a); }
  static Vec scale2(Vec a, Vec b) { return Simd::scale2(a, integer(b)); }
  static Vec exponent(Vec a, Vec) { return Simd::exponent(a); }
  static Vec less(Vec a, Vec b) { return chosen(Simd::less(a, b)); }
  static Vec equal(Vec a, Vec b) { return chosen(Simd::equal(a, b)); }
  static Vec negative(Vec a, Vec) { return chosen(Simd::negative(a)); }
  static Vec both(Vec a, Vec b) {
    return chosen(Simd::both(Simd::less(a, b), Simd::less(Simd::zero(), a)));
  }
  static Vec any(Vec a, Vec) {  // of no lane and of every lane
    const bool none = Simd::any(Simd::less(a, a)),
               all = Simd::any(Simd::equal(Simd::zero(), Simd::zero()));
    return Simd::broadcast(all && !none ? 1.0f : 0.0f);
  }
  static Vec f16(Vec a, Vec) {  // through memory and back
    std::uint16_t line[Simd::lanes];
    Simd::store_f16(line, a);
    return Simd::load_f16(line);
  }
  static Vec bf16(Vec a, Vec) {
    std::uint16_t line[Simd::lanes];
    Simd::store_bf16(line, a);
    return Simd::load_bf16(line);
  }
  static Vec boolean(Vec a, Vec) {  // of the first bytes of the numbers
    float numbers[Simd::lanes];
    std::uint8_t bytes[16] = {};
    Simd::store(numbers, a);
    for (int n = 0; n < Simd::lanes; ++n)
      bytes[n] = static_cast<std::uint8_t>(__builtin_bit_cast(std::uint32_t, numbers[n]));
    return Simd::load_boolean(bytes);
  }

  template <Vec (*of)(Vec, Vec)>
  static void run(const float* a, const float* b, float* to, Index count) {
    const kernels::DenormalsFlushed flushed;
    for (Index n = 0; n < count; n += Simd::lanes)
      Simd::store(to + n, of(Simd::load(a + n), Simd::load(b + n)));
  }

 private:
  template <class Mask>
  static Vec chosen(Mask mask) {
    return Simd::select(mask, Simd::broadcast(1), Simd::broadcast(2));
  }
};

template <class Simd, class F = Functions<Simd>>
[[maybe_unused]] constexpr Function function_list[] = {
    {"exp2", F::template run<F::exp2>},
    {"weight", F::template run<F::weight>},
    {"tanh", F::template run<F::tanh>},
    {"log2_fraction", F::template run<F::log2_fraction>},
    {"add", F::template run<F::add>},
    {"sub", F::template run<F::sub>},
    {"mul", F::template run<F::mul>},
    {"div", F::template run<F::div>},
    {"fma", F::template run<F::fma>},
    {"min", F::template run<F::min>},
    {"max", F::template run<F::max>},
    {"abs", F::template run<F::abs>},
    {"ceil", F::template run<F::ceil>},
    {"fraction", F::template run<F::fraction>},
    {"scale2", F::template run<F::scale2>},
    {"exponent", F::template run<F::exponent>},
    {"floor", F::template run<F::floor>},
    {"bf16_weight", F::template run<F::bf16_weight>},
    {"less", F::template run<F::less>},
    {"equal", F::template run<F::equal>},
    {"negative", F::template run<F::negative>},
    {"both", F::template run<F::both>},
    {"any", F::template run<F::any>},
    {"f16", F::template run<F::f16>},
    {"bf16", F::template run<F::bf16>},
    {"boolean", F::template run<F::boolean>},
    {nullptr, nullptr}};

}  // namespace
}  // namespace scaledot::tests
