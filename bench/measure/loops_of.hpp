// The loops as templates on the SIMD struct that the kernels use too.
#pragma once

#include <cstdint>

#include "measure/loops.hpp"

namespace scaledot::measure {

// Makes the compiler believe that the register is read (and changed), so that it keeps what led to
// it and folds nothing.
template <class Vec>
[[gnu::always_inline]] inline void keep(Vec& vec) {
#if defined(__x86_64__)
  asm volatile("" : "+x"(vec));
#else
  asm volatile("" : "+w"(vec));
#endif
}

// Independent sums in flight. A multiply-add takes four cycles and two can start in each (Intel
// since Skylake, AMD since Zen; Arm's big cores four), so 8 are the least; more do no harm.
inline constexpr int chains = 12;

template <class Simd>
void multiply_add(Index steps) {
  typename Simd::Vec factor = Simd::broadcast(0.5f), sum[chains];  // sums tend to 1, none to 0
  keep(factor);
#pragma GCC unroll 16
  for (auto& chain : sum) {
    chain = Simd::zero();
    keep(chain);
  }
  for (Index step = 0; step < steps; ++step)
#pragma GCC unroll 16
    for (auto& chain : sum) chain = Simd::fma(chain, factor, factor);
#pragma GCC unroll 16
  for (auto& chain : sum) keep(chain);
}

template <class Simd>
void read(const std::byte* data, std::size_t bytes) {
  constexpr int vecs = 8;
  constexpr std::size_t line = vecs * Simd::lanes * sizeof(float);
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(data) % sizeof(float);
  const std::size_t skipped = beyond == 0 ? 0 : sizeof(float) - beyond;
  if (bytes < skipped) return;
  bytes -= skipped;
  const auto* p = reinterpret_cast<const float*>(data + skipped);
  for (; bytes >= line; bytes -= line, p += vecs * Simd::lanes)
#pragma GCC unroll 16
    for (int v = 0; v < vecs; ++v) {
      auto loaded = Simd::load(p + v * Simd::lanes);
      keep(loaded);
    }
}

template <class Simd>
constexpr Loops loops_of(const char* isa) {
  return {isa, 2 * chains * Simd::lanes, multiply_add<Simd>, read<Simd>};
}

}  // namespace scaledot::measure
