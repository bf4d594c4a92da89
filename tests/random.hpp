// Random numbers for tests, from integers alone: every machine and library draws the same.
#pragma once

#include <cstdint>

#include "scaledot/attention.hpp"

namespace scaledot::tests {

// SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators").
struct Random {
  std::uint64_t state = 0;

  std::uint64_t next() {
    std::uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
  }
  // One of 0 ... count - 1; count is 1 or more.
  Index below(Index count) {
    return static_cast<Index>(next() % static_cast<std::uint64_t>(count));
  }
  bool one_in(Index count) { return below(count) == 0; }
  // In [-1, 1), a multiple of 2^-23.
  float uniform() { return (static_cast<float>(next() >> 40) - 0x1p23f) * 0x1p-23f; }
  // Mean 0, variance 1, within 6: the sum of twelve uniform numbers of 16 bits is exact in f32.
  float normal() {
    float sum = 0;
    for (int n = 0; n < 3; ++n)
      for (std::uint64_t bits = next(), k = 0; k < 4; ++k, bits >>= 16)
        sum += static_cast<float>(bits & 0xFFFF) - 32767.5f;
    return sum * 0x1p-16f;
  }
};

}  // namespace scaledot::tests
