// AVX2 with FMA and F16C: 8 lanes, 16 registers. What each operation means: simd_scalar.hpp.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace scaledot::kernels {

struct Avx2 {
  using Vec = __m256;
  using Mask = __m256;
  static constexpr int lanes = 8, registers = 16;
  static constexpr bool has_tiles = false;
  static constexpr int rows = 4, vecs = 3;  // the register tile of multiply.hpp

  static Vec zero() { return _mm256_setzero_ps(); }
  static Vec broadcast(float x) { return _mm256_set1_ps(x); }
  static Vec load(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, Vec a) { _mm256_storeu_ps(p, a); }

  static Vec load_f16(const std::uint16_t* p) { return _mm256_cvtph_ps(words(p)); }
  static Vec load_bf16(const std::uint16_t* p) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(words(p)), 16));
  }
  static Vec load_pairs(const std::byte* p) {
    return _mm256_castsi256_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  static Vec even_of(Vec pairs) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(pairs), 16));
  }
  static Vec odd_of(Vec pairs) {
    return _mm256_and_ps(pairs, _mm256_castsi256_ps(_mm256_set1_epi32(-0x10000)));
  }
  static Vec load_boolean(const std::uint8_t* p) {
    const __m256i bytes =
        _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    const __m256i unset = _mm256_cmpeq_epi32(bytes, _mm256_setzero_si256());
    return _mm256_andnot_ps(_mm256_castsi256_ps(unset), _mm256_set1_ps(1));
  }
  static void store_f16(std::uint16_t* p, Vec a) {
    store_words(p, _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  static void store_bf16(std::uint16_t* p, Vec a) {
    const __m256i bits = _mm256_castps_si256(a);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i up = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF));
    const __m256i words32 = _mm256_srli_epi32(_mm256_add_epi32(bits, up), 16);
    store_words(
        p, _mm_packus_epi32(_mm256_castsi256_si128(words32), _mm256_extracti128_si256(words32, 1)));
  }

  static Vec add(Vec a, Vec b) { return _mm256_add_ps(a, b); }
  static Vec sub(Vec a, Vec b) { return _mm256_sub_ps(a, b); }
  static Vec mul(Vec a, Vec b) { return _mm256_mul_ps(a, b); }
  static Vec div(Vec a, Vec b) { return _mm256_div_ps(a, b); }
  static Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
  static float first(Vec a) { return _mm256_cvtss_f32(a); }
  static Vec min(Vec a, Vec b) { return _mm256_min_ps(a, b); }
  static Vec max(Vec a, Vec b) { return _mm256_max_ps(a, b); }
  static Vec abs(Vec a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }

  static Vec ceil(Vec a) { return _mm256_ceil_ps(a); }
  static Vec floor(Vec a) { return _mm256_floor_ps(a); }
  static Vec above(Vec a, Vec n) {
    return _mm256_andnot_ps(equal(abs(a), broadcast(__builtin_inff())), sub(a, n));
  }
  static Vec fraction(Vec a) {
    return above(a, _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  static Vec scale2(Vec a, Vec n) {
    const Vec clamped = min(max(n, broadcast(-127)), broadcast(128));
    const __m256i biased = _mm256_add_epi32(_mm256_cvtps_epi32(clamped), _mm256_set1_epi32(127));
    return mul(a, _mm256_castsi256_ps(_mm256_slli_epi32(biased, 23)));
  }
  static Vec exponent(Vec a) {
    const __m256i biased = _mm256_srli_epi32(_mm256_castps_si256(a), 23);
    return _mm256_cvtepi32_ps(_mm256_sub_epi32(biased, _mm256_set1_epi32(127)));
  }

  static Mask less(Vec a, Vec b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
  static Mask equal(Vec a, Vec b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }
  static Mask negative(Vec a) { return a; }  // blendv and movemask look at the sign alone
  static Mask both(Mask a, Mask b) { return _mm256_and_ps(a, b); }
  static bool any(Mask a) { return _mm256_movemask_ps(a) != 0; }
  static Vec select(Mask m, Vec a, Vec b) { return _mm256_blendv_ps(b, a, m); }

  static void transpose(Vec (&a)[lanes]) {
    Vec b[lanes];
#pragma GCC unroll 4
    for (int i = 0; i < lanes; i += 2) {
      b[i] = _mm256_unpacklo_ps(a[i], a[i + 1]);
      b[i + 1] = _mm256_unpackhi_ps(a[i], a[i + 1]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < lanes; i += 4) {
      a[i] = _mm256_shuffle_ps(b[i], b[i + 2], 0x44);
      a[i + 1] = _mm256_shuffle_ps(b[i], b[i + 2], 0xEE);
      a[i + 2] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0x44);
      a[i + 3] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0xEE);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      b[i] = _mm256_permute2f128_ps(a[i], a[i + 4], 0x20);
      b[i + 4] = _mm256_permute2f128_ps(a[i], a[i + 4], 0x31);
    }
#pragma GCC unroll 8
    for (int i = 0; i < lanes; ++i) a[i] = b[i];
  }
  static void store_transposed_words(const Vec (&a)[lanes], std::uint16_t* to) {
    __m256i b[lanes], c[lanes];
#pragma GCC unroll 4
    for (int i = 0; i < lanes; i += 2) {
      const __m256i x = _mm256_castps_si256(a[i]), y = _mm256_castps_si256(a[i + 1]);
      b[i] = _mm256_unpacklo_epi16(x, y);
      b[i + 1] = _mm256_unpackhi_epi16(x, y);
    }
#pragma GCC unroll 2
    for (int i = 0; i < lanes; i += 4) {
      c[i] = _mm256_unpacklo_epi32(b[i], b[i + 2]);
      c[i + 1] = _mm256_unpackhi_epi32(b[i], b[i + 2]);
      c[i + 2] = _mm256_unpacklo_epi32(b[i + 1], b[i + 3]);
      c[i + 3] = _mm256_unpackhi_epi32(b[i + 1], b[i + 3]);
    }
    const auto put = [to](int line, __m256i halves) {  // lines `line` and `line` + 8
      store_words(to + line * lanes, _mm256_castsi256_si128(halves));
      store_words(to + (line + 8) * lanes, _mm256_extracti128_si256(halves, 1));
    };
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      put(2 * i, _mm256_unpacklo_epi64(c[i], c[i + 4]));
      put(2 * i + 1, _mm256_unpackhi_epi64(c[i], c[i + 4]));
    }
  }

 private:
  static __m128i words(const std::uint16_t* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  }
  static void store_words(std::uint16_t* p, __m128i a) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), a);
  }
};

}  // namespace scaledot::kernels
