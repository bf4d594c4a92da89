// One lane in plain C++: says what each operation means, and runs where nothing better does.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "float16.hpp"

namespace scaledot::kernels {

struct Scalar {
  using Vec = float;
  using Mask = bool;
  static constexpr int lanes = 1, registers = 64;
  static constexpr bool has_tiles = false;
  static constexpr int rows = 8, vecs = 4;  // the register tile of multiply.hpp

  static Vec zero() { return 0; }
  static Vec broadcast(float x) { return x; }
  static Vec load(const float* p) { return *p; }
  static void store(float* p, Vec a) { *p = a; }

  // Widening is exact; a byte that is not 0 is 1. Narrowing rounds to nearest, ties to even.
  static Vec load_f16(const std::uint16_t* p) { return f32_of_f16(*p); }
  static Vec load_bf16(const std::uint16_t* p) { return f32_of_bf16(*p); }
  // Pairs of bf16 numbers, a pair a lane, to be moved about and then parted.
  static Vec load_pairs(const std::byte* p) {
    Vec pairs;
    std::memcpy(&pairs, p, sizeof pairs);
    return pairs;
  }
  static Vec even_of(Vec pairs) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(pairs) << 16);
  }
  static Vec odd_of(Vec pairs) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(pairs) & 0xFFFF0000u);
  }
  static Vec load_boolean(const std::uint8_t* p) { return *p != 0 ? 1.0f : 0.0f; }
  static void store_f16(std::uint16_t* p, Vec a) { *p = f16_of_f32(a); }
  static void store_bf16(std::uint16_t* p, Vec a) { *p = bf16_of_f32(a); }

  static Vec add(Vec a, Vec b) { return a + b; }
  static Vec sub(Vec a, Vec b) { return a - b; }
  static Vec mul(Vec a, Vec b) { return a * b; }
  static Vec div(Vec a, Vec b) { return a / b; }
  static Vec fma(Vec a, Vec b, Vec c) { return std::fma(a, b, c); }  // a * b + c, rounded once
  static float first(Vec a) { return a; }                            // the first lane
  static Vec min(Vec a, Vec b) { return a < b ? a : b; }             // b if one is NaN
  static Vec max(Vec a, Vec b) { return a > b ? a : b; }             // likewise
  static Vec abs(Vec a) { return std::fabs(a); }

  static Vec ceil(Vec a) {
    const float nearest = round(a);
    return nearest < a ? nearest + 1 : nearest;
  }
  static Vec floor(Vec a) {
    const float nearest = round(a);
    return a < nearest ? nearest - 1 : nearest;
  }
  // a - n for n = floor(a). For infinities something that scale2() does not look at.
  static Vec above(Vec a, Vec n) { return std::isinf(a) ? 0 : a - n; }
  // a minus the nearest integer, ties to even: exact, in [-0.5, 0.5]; 0 if a is infinite.
  static Vec fraction(Vec a) { return std::fabs(a) >= 0x1p23f ? 0 : a - round(a); }
  // a * 2^n for an integer n, 0 where that is below 2^-126. Either a is in [0.5, 2) and n at most
  // 127 or infinite, or |n| is at most 126.
  static Vec scale2(Vec a, Vec n) { return a * power2(min(max(n, -127), 128)); }
  // The integer n with 2^n <= a < 2^(n+1); a is normal and positive.
  static Vec exponent(Vec a) {
    return static_cast<float>(static_cast<int>(std::bit_cast<std::uint32_t>(a) >> 23) - 127);
  }
  static Mask less(Vec a, Vec b) { return a < b; }
  static Mask equal(Vec a, Vec b) { return a == b; }
  static Mask negative(Vec a) { return std::bit_cast<std::uint32_t>(a) >> 31 != 0; }  // or -0
  static Mask both(Mask a, Mask b) { return a && b; }
  static bool any(Mask a) { return a; }
  static Vec select(Mask m, Vec a, Vec b) { return m ? a : b; }

  // Lane i of vector j and lane j of vector i change places.
  static void transpose(Vec (&)[lanes]) {}
  // to[2 * lanes][lanes] = the 16-bit words of the vectors, transposed; `to` is aligned to 64
  // bytes.
  static void store_transposed_words(const Vec (&a)[lanes], std::uint16_t* to) {
    std::memcpy(to, a, sizeof a);
  }

 private:
  static float round(float a) {
    const float big = std::copysign(0x1p23f, a);
    return std::fabs(a) < 0x1p23f ? (a + big) - big : a;
  }
  // 2^n for an integer n in [-127, 128]: 0 and infinity at the ends.
  static float power2(float n) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(static_cast<int>(n) + 127) << 23);
  }
};

}  // namespace scaledot::kernels
