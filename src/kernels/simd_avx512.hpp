// AVX-512: 16 lanes, 32 registers. What each operation means: simd_scalar.hpp.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace scaledot::kernels {

// The operations of `Self`, which is Avx512 or what adds to it (simd_amx.hpp). Its name is in every
// symbol.
template <class Self>
struct Avx512Of {
  using Vec = __m512;
  using Mask = __mmask16;
  static constexpr int lanes = 16, registers = 32;
  static constexpr int rows = 8, vecs = 2;  // the register tile of multiply.hpp

  static Vec zero() { return _mm512_setzero_ps(); }
  static Vec broadcast(float x) { return _mm512_set1_ps(x); }
  static Vec load(const float* p) { return _mm512_loadu_ps(p); }
  static void store(float* p, Vec a) { _mm512_storeu_ps(p, a); }

  static Vec load_f16(const std::uint16_t* p) { return _mm512_cvtph_ps(words(p)); }
  static Vec load_bf16(const std::uint16_t* p) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(words(p)), 16));
  }
  static Vec load_pairs(const std::byte* p) { return _mm512_loadu_ps(p); }
  static Vec even_of(Vec pairs) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(pairs), 16));
  }
  static Vec odd_of(Vec pairs) {
    return _mm512_castsi512_ps(
        _mm512_and_si512(_mm512_castps_si512(pairs), _mm512_set1_epi32(-0x10000)));
  }
  static Vec load_boolean(const std::uint8_t* p) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return _mm512_maskz_mov_ps(_mm_test_epi8_mask(bytes, bytes), _mm512_set1_ps(1));
  }
  static void store_f16(std::uint16_t* p, Vec a) {
    store_words(p, _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  static void store_bf16(std::uint16_t* p, Vec a) {
    const __m512i bits = _mm512_castps_si512(a);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i up = _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF));
    store_words(p, _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_add_epi32(bits, up), 16)));
  }

  static Vec add(Vec a, Vec b) { return _mm512_add_ps(a, b); }
  static Vec sub(Vec a, Vec b) { return _mm512_sub_ps(a, b); }
  static Vec mul(Vec a, Vec b) { return _mm512_mul_ps(a, b); }
  static Vec div(Vec a, Vec b) { return _mm512_div_ps(a, b); }
  static Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
  static float first(Vec a) { return _mm512_cvtss_f32(a); }
  static Vec min(Vec a, Vec b) { return _mm512_min_ps(a, b); }
  static Vec max(Vec a, Vec b) { return _mm512_max_ps(a, b); }
  static Vec abs(Vec a) { return _mm512_abs_ps(a); }

  static Vec ceil(Vec a) {
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
  }
  static Vec floor(Vec a) {
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  }
  static Vec above(Vec a, Vec n) { return sub(a, n); }
  static Vec fraction(Vec a) { return _mm512_reduce_ps(a, 0x08); }
  static Vec scale2(Vec a, Vec n) { return _mm512_scalef_ps(a, n); }
  static Vec exponent(Vec a) { return _mm512_getexp_ps(a); }

  static Mask less(Vec a, Vec b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
  static Mask equal(Vec a, Vec b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
  static Mask negative(Vec a) { return _mm512_movepi32_mask(_mm512_castps_si512(a)); }
  static Mask both(Mask a, Mask b) { return static_cast<Mask>(a & b); }
  static bool any(Mask a) { return a != 0; }
  static Vec select(Mask m, Vec a, Vec b) { return _mm512_mask_blend_ps(m, b, a); }

  static void transpose(Vec (&a)[lanes]) {
    Vec b[lanes];
#pragma GCC unroll 8
    for (int i = 0; i < lanes; i += 2) {
      b[i] = _mm512_unpacklo_ps(a[i], a[i + 1]);
      b[i + 1] = _mm512_unpackhi_ps(a[i], a[i + 1]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < lanes; i += 4) {
      a[i] = _mm512_shuffle_ps(b[i], b[i + 2], 0x44);
      a[i + 1] = _mm512_shuffle_ps(b[i], b[i + 2], 0xEE);
      a[i + 2] = _mm512_shuffle_ps(b[i + 1], b[i + 3], 0x44);
      a[i + 3] = _mm512_shuffle_ps(b[i + 1], b[i + 3], 0xEE);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      b[i] = _mm512_shuffle_f32x4(a[i], a[i + 4], 0x88);
      b[i + 4] = _mm512_shuffle_f32x4(a[i], a[i + 4], 0xDD);
      b[i + 8] = _mm512_shuffle_f32x4(a[i + 8], a[i + 12], 0x88);
      b[i + 12] = _mm512_shuffle_f32x4(a[i + 8], a[i + 12], 0xDD);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      a[i] = _mm512_shuffle_f32x4(b[i], b[i + 8], 0x88);
      a[i + 8] = _mm512_shuffle_f32x4(b[i], b[i + 8], 0xDD);
      a[i + 4] = _mm512_shuffle_f32x4(b[i + 4], b[i + 12], 0x88);
      a[i + 12] = _mm512_shuffle_f32x4(b[i + 4], b[i + 12], 0xDD);
    }
  }
  static void store_transposed_words(const Vec (&a)[lanes], std::uint16_t* to) {
    __m512i b[lanes], c[lanes];
#pragma GCC unroll 8
    for (int i = 0; i < lanes; i += 2) {
      const __m512i x = _mm512_castps_si512(a[i]), y = _mm512_castps_si512(a[i + 1]);
      b[i] = _mm512_unpacklo_epi16(x, y);
      b[i + 1] = _mm512_unpackhi_epi16(x, y);
    }
#pragma GCC unroll 4
    for (int i = 0; i < lanes; i += 4) {
      c[i] = _mm512_unpacklo_epi32(b[i], b[i + 2]);
      c[i + 1] = _mm512_unpackhi_epi32(b[i], b[i + 2]);
      c[i + 2] = _mm512_unpacklo_epi32(b[i + 1], b[i + 3]);
      c[i + 3] = _mm512_unpackhi_epi32(b[i + 1], b[i + 3]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
#pragma GCC unroll 2
      for (int half = 0; half < lanes; half += 8) {
        b[half + 2 * i] = _mm512_unpacklo_epi64(c[half + i], c[half + i + 4]);
        b[half + 2 * i + 1] = _mm512_unpackhi_epi64(c[half + i], c[half + i + 4]);
      }
    }
    // b[i] and b[i + 8] hold the two halves of the lines i, i + 8, i + 16 and i + 24.
    const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    const auto put = [to](int line, __m512i lines) {  // lines `line` and `line` + 8
      store_words(to + line * lanes, _mm512_castsi512_si256(lines));
      store_words(to + (line + 8) * lanes, _mm512_extracti64x4_epi64(lines, 1));
    };
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      put(i, _mm512_permutex2var_epi64(b[i], low, b[i + 8]));
      put(i + 16, _mm512_permutex2var_epi64(b[i], high, b[i + 8]));
    }
  }

 private:
  static __m256i words(const std::uint16_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static void store_words(std::uint16_t* p, __m256i a) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a);
  }
};

struct Avx512 : Avx512Of<Avx512> {
  static constexpr bool has_tiles = false;
};

}  // namespace scaledot::kernels
