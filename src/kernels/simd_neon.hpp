// NEON on 64-bit Arm: 4 lanes, 32 registers. What each operation means: simd_scalar.hpp.
#pragma once

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace scaledot::kernels {

struct Neon {
  using Vec = float32x4_t;
  using Mask = uint32x4_t;
  static constexpr int lanes = 4, registers = 32;
  static constexpr bool has_tiles = false;
  static constexpr int rows = 8, vecs = 2;  // the register tile of multiply.hpp

  static Vec zero() { return vdupq_n_f32(0); }
  static Vec broadcast(float x) { return vdupq_n_f32(x); }
  static Vec load(const float* p) { return vld1q_f32(p); }
  static void store(float* p, Vec a) { vst1q_f32(p, a); }

  static Vec load_f16(const std::uint16_t* p) {
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
  }
  static Vec load_bf16(const std::uint16_t* p) {
    return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(p), 16));
  }
  static Vec load_pairs(const std::byte* p) {
    return vreinterpretq_f32_u8(vld1q_u8(reinterpret_cast<const std::uint8_t*>(p)));
  }
  static Vec even_of(Vec pairs) {
    return vreinterpretq_f32_u32(vshlq_n_u32(vreinterpretq_u32_f32(pairs), 16));
  }
  static Vec odd_of(Vec pairs) {
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(pairs), vdupq_n_u32(0xFFFF0000u)));
  }
  static Vec load_boolean(const std::uint8_t* p) {
    std::uint32_t four;
    std::memcpy(&four, p, sizeof four);
    const uint8x8_t bytes = vreinterpret_u8_u32(vdup_n_u32(four));
    const uint32x4_t wide = vmovl_u16(vget_low_u16(vmovl_u8(bytes)));
    return select(vtstq_u32(wide, wide), broadcast(1), zero());
  }
  static void store_f16(std::uint16_t* p, Vec a) {
    vst1_u16(p, vreinterpret_u16_f16(vcvt_f16_f32(a)));
  }
  static void store_bf16(std::uint16_t* p, Vec a) {
    const uint32x4_t bits = vreinterpretq_u32_f32(a);
    const uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    const uint32x4_t up = vaddq_u32(odd, vdupq_n_u32(0x7FFF));
    vst1_u16(p, vshrn_n_u32(vaddq_u32(bits, up), 16));
  }

  static Vec add(Vec a, Vec b) { return vaddq_f32(a, b); }
  static Vec sub(Vec a, Vec b) { return vsubq_f32(a, b); }
  static Vec mul(Vec a, Vec b) { return vmulq_f32(a, b); }
  static Vec div(Vec a, Vec b) { return vdivq_f32(a, b); }
  static Vec fma(Vec a, Vec b, Vec c) { return vfmaq_f32(c, a, b); }
  static float first(Vec a) { return vgetq_lane_f32(a, 0); }
  static Vec min(Vec a, Vec b) { return select(less(a, b), a, b); }
  static Vec max(Vec a, Vec b) { return select(less(b, a), a, b); }
  static Vec abs(Vec a) { return vabsq_f32(a); }

  static Vec ceil(Vec a) { return vrndpq_f32(a); }
  static Vec floor(Vec a) { return vrndmq_f32(a); }
  static Vec above(Vec a, Vec n) {
    return select(equal(abs(a), broadcast(__builtin_inff())), zero(), sub(a, n));
  }
  static Vec fraction(Vec a) { return above(a, vrndnq_f32(a)); }
  static Vec scale2(Vec a, Vec n) {
    const Vec clamped = min(max(n, broadcast(-127)), broadcast(128));
    const int32x4_t biased = vaddq_s32(vcvtq_s32_f32(clamped), vdupq_n_s32(127));
    return mul(a, vreinterpretq_f32_s32(vshlq_n_s32(biased, 23)));
  }
  static Vec exponent(Vec a) {
    const int32x4_t biased = vreinterpretq_s32_u32(vshrq_n_u32(vreinterpretq_u32_f32(a), 23));
    return vcvtq_f32_s32(vsubq_s32(biased, vdupq_n_s32(127)));
  }

  static Mask less(Vec a, Vec b) { return vcltq_f32(a, b); }
  static Mask equal(Vec a, Vec b) { return vceqq_f32(a, b); }
  static Mask negative(Vec a) {
    return vreinterpretq_u32_s32(vshrq_n_s32(vreinterpretq_s32_f32(a), 31));
  }
  static Mask both(Mask a, Mask b) { return vandq_u32(a, b); }
  static bool any(Mask a) { return vmaxvq_u32(a) != 0; }
  static Vec select(Mask m, Vec a, Vec b) { return vbslq_f32(m, a, b); }

  static void transpose(Vec (&a)[lanes]) {
    const float32x4x2_t low = vtrnq_f32(a[0], a[1]), high = vtrnq_f32(a[2], a[3]);
    a[0] = vcombine_f32(vget_low_f32(low.val[0]), vget_low_f32(high.val[0]));
    a[1] = vcombine_f32(vget_low_f32(low.val[1]), vget_low_f32(high.val[1]));
    a[2] = vcombine_f32(vget_high_f32(low.val[0]), vget_high_f32(high.val[0]));
    a[3] = vcombine_f32(vget_high_f32(low.val[1]), vget_high_f32(high.val[1]));
  }
  static void store_transposed_words(const Vec (&a)[lanes], std::uint16_t* to) {
    const auto words = [&](int i) { return vreinterpretq_u16_f32(a[i]); };
    vst4q_u16(to, {{words(0), words(1), words(2), words(3)}});
  }
};

}  // namespace scaledot::kernels
