// f16 and bf16 as they lie in memory, one at a time; in integers, so that no mode of the processor
// matters. Internal linkage: kernel files, each compiled for its own processor, share this header.
#pragma once

#include <bit>
#include <cstdint>

namespace scaledot {

[[maybe_unused]] static inline float f32_of_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

// Rounds to nearest, ties to even. A NaN must be the one without payload.
[[maybe_unused]] static inline std::uint16_t bf16_of_f32(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

[[maybe_unused]] static inline float f32_of_f16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t exponent = bits >> 10 & 0x1Fu;
  std::uint32_t fraction = bits & 0x3FFu;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000u | fraction << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  if (fraction == 0) return std::bit_cast<float>(sign);
  const auto shift = static_cast<std::uint32_t>(std::countl_zero(fraction)) - 21;  // to bit 10
  fraction = fraction << shift & 0x3FFu;
  return std::bit_cast<float>(sign | (113 - shift) << 23 | fraction << 13);
}

// Rounds to nearest, ties to even; from 65520 on that is infinity.
[[maybe_unused]] static inline std::uint16_t f16_of_f32(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return static_cast<std::uint16_t>(sign | 0x7E00u);
  if (magnitude >= 0x477FF000u) return static_cast<std::uint16_t>(sign | 0x7C00u);
  if (magnitude >= 0x38800000u) {  // normal in f16
    const std::uint32_t rounded = magnitude + 0xFFFu + (magnitude >> 13 & 1u);
    return static_cast<std::uint16_t>(sign | (rounded - 0x38000000u) >> 13);
  }
  if (magnitude < 0x33000000u) return sign;  // below 2^-25
  const std::uint32_t shift = 126 - (magnitude >> 23);
  const std::uint32_t fraction = (magnitude & 0x7FFFFFu) | 0x800000u;
  const std::uint32_t kept = fraction >> shift;
  const std::uint32_t rest = fraction & ((1u << shift) - 1), half = 1u << (shift - 1);
  const std::uint32_t up = rest > half || (rest == half && (kept & 1u) != 0) ? 1u : 0u;
  return static_cast<std::uint16_t>(sign | (kept + up));
}

}  // namespace scaledot
