// Compiled with -ffast-math, so that compilers make vector code of these loops.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "rivals.hpp"

namespace scaledot::bench {

float exponentials(float* logits, Index count) {
  float largest = logits[0];
  for (Index j = 1; j < count; ++j) largest = std::max(largest, logits[j]);
  float sum = 0;
  for (Index j = 0; j < count; ++j) {
    // 2^t with t = n + r, r in [-1/2, 1/2]: the Taylor polynomial of 2^r, and n into the exponent.
    const float t = std::max((logits[j] - largest) * 1.44269504f, -126.0f);
    const float n = std::nearbyint(t), r = t - n;
    float power = 1.33335581e-3f;
    power = power * r + 9.61812911e-3f;
    power = power * r + 5.55041087e-2f;
    power = power * r + 2.40226507e-1f;
    power = power * r + 6.93147181e-1f;
    power = power * r + 1.0f;
    const auto exponent = static_cast<std::int32_t>(n) << 23;
    logits[j] = std::bit_cast<float>(std::bit_cast<std::int32_t>(power) + exponent);
    sum += logits[j];
  }
  return sum;
}

}  // namespace scaledot::bench
