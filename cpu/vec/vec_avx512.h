/*
 * Vectors of 64 bytes by AVX-512 (BW, VL, VBMI, BITALG) and BMI2. vec_avx2.h describes the operations.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_VEC_VEC_AVX512_H
#define SX_CPU_VEC_VEC_AVX512_H

#include <immintrin.h>
#include <stdint.h>

#define VEC_BYTES 64
#define VEC_PLANE_BITS 8

typedef __m512i vb;
typedef __m512i vw;
typedef struct {
	vw lo, hi;
} vw2;
typedef __m512i vpair;
typedef int32_t vi __attribute__((vector_size(64)));
typedef uint32_t vu __attribute__((vector_size(64)));
typedef float vf __attribute__((vector_size(64)));

static inline vb vb_load(const uint8_t *p)
{
	return _mm512_loadu_si512(p);
}

static inline void vb_store(uint8_t *p, vb v)
{
	_mm512_storeu_si512(p, v);
}

static inline void vb_stream(uint8_t *p, vb v)
{
	_mm512_stream_si512((void *)p, v);
}

static inline vb vb_set1(int v)
{
	return _mm512_set1_epi8((char)v);
}

static inline vb vb_add(vb a, vb b)
{
	return _mm512_add_epi8(a, b);
}

static inline vb vb_sub(vb a, vb b)
{
	return _mm512_sub_epi8(a, b);
}

static inline vb vb_min(vb a, vb b)
{
	return _mm512_min_epu8(a, b);
}

static inline vb vb_or(vb a, vb b)
{
	return _mm512_or_si512(a, b);
}

static inline vb vb_greater(vb a, vb b)
{
	return _mm512_min_epu8(_mm512_subs_epu8(a, b), _mm512_set1_epi8(1));
}

static inline vb vb_prev(vb prev, vb cur)
{
	return _mm512_alignr_epi8(cur, _mm512_alignr_epi64(cur, prev, 6), 15);
}

static inline vb vb_next(vb cur, vb next)
{
	return _mm512_alignr_epi8(_mm512_alignr_epi64(next, cur, 2), cur, 1);
}

static inline vb vb_min_all(vb v)
{
	__m256i a = _mm256_min_epu8(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
	__m128i m = _mm_min_epu8(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));

	m = _mm_minpos_epu16(_mm_min_epu8(m, _mm_srli_epi16(m, 8)));
	return _mm512_broadcastb_epi8(m);
}

static inline vb vb_reverse(vb v)
{
	const __m512i r =
		_mm512_broadcast_i32x4(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));

	return _mm512_shuffle_i64x2(_mm512_shuffle_epi8(v, r), _mm512_shuffle_epi8(v, r), 0x1b);
}

static inline vb vb_plane(vb v, int high)
{
	(void)high;
	return v;
}

static inline vb vb_operand(unsigned plane)
{
	return _mm512_set1_epi8((char)plane);
}

static inline vb vb_distance(vb operand, vb right)
{
	return _mm512_popcnt_epi8(_mm512_xor_si512(operand, right));
}

static inline vw vw_load(const uint16_t *p)
{
	return _mm512_loadu_si512(p);
}

static inline void vw_store(uint16_t *p, vw v)
{
	_mm512_storeu_si512(p, v);
}

static inline void vw_stream(uint16_t *p, vw v)
{
	_mm512_stream_si512((void *)p, v);
}

static inline vw vw_set1(int v)
{
	return _mm512_set1_epi16((short)v);
}

static inline vw vw_add(vw a, vw b)
{
	return _mm512_add_epi16(a, b);
}

static inline vw vw_min(vw a, vw b)
{
	return _mm512_min_epi16(a, b);
}

static inline vw vw_sub(vw a, vw b)
{
	return _mm512_sub_epi16(a, b);
}

static inline vw vw_or(vw a, vw b)
{
	return _mm512_or_si512(a, b);
}

static inline vw vw_and(vw a, vw b)
{
	return _mm512_and_si512(a, b);
}

static inline vw vw_shift_right(vw a, int n)
{
	return _mm512_srli_epi16(a, (unsigned)n);
}

static inline vw vw_where_greater(vw x, vw y, vw a, vw b)
{
	return _mm512_mask_blend_epi16(_mm512_cmpgt_epi16_mask(x, y), b, a);
}

static inline vw vw_umin(vw a, vw b)
{
	return _mm512_min_epu16(a, b);
}

static inline vw vw_umax(vw a, vw b)
{
	return _mm512_max_epu16(a, b);
}

static inline int vw_min_all(vw v)
{
	__m256i a = _mm256_min_epu16(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
	__m128i m = _mm_min_epu16(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));

	return _mm_cvtsi128_si32(_mm_minpos_epu16(m)) & 0xffff;
}

static inline vpair vpair_make(int a, int b)
{
	return _mm512_set1_epi16((short)(a | b << 8));
}

static inline vw2 vw2_dot(vb a, vb b, vpair weights)
{
	return (vw2){_mm512_maddubs_epi16(_mm512_unpacklo_epi8(a, b), weights),
		     _mm512_maddubs_epi16(_mm512_unpackhi_epi8(a, b), weights)};
}

static inline void vw2_store_in_order(uint16_t *p, vw2 v)
{
	const __m512i first = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
	const __m512i second = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);

	vw_store(p, _mm512_permutex2var_epi64(v.lo, first, v.hi));
	vw_store(p + 32, _mm512_permutex2var_epi64(v.lo, second, v.hi));
}

static inline uint64_t vw2_mask_equal(vw2 v, vw x)
{
	return _pdep_u64(_mm512_cmpeq_epi16_mask(v.lo, x), UINT64_C(0x00ff00ff00ff00ff)) |
	       _pdep_u64(_mm512_cmpeq_epi16_mask(v.hi, x), UINT64_C(0xff00ff00ff00ff00));
}

static inline int vw2_count_below(vw2 v, vw x)
{
	return __builtin_popcountll((uint64_t)_mm512_cmplt_epi16_mask(v.lo, x) << 32 |
				    _mm512_cmplt_epi16_mask(v.hi, x));
}

static inline vi vi_dot(vi a, vi b)
{
	return (vi)_mm512_madd_epi16((__m512i)a, (__m512i)b);
}

static inline vb vb_pack(vi a, vi b, vi c, vi d)
{
	const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);

	return _mm512_permutexvar_epi32(order,
					_mm512_packus_epi16(_mm512_packs_epi32((__m512i)a, (__m512i)b),
							    _mm512_packs_epi32((__m512i)c, (__m512i)d)));
}

static inline vw vw_widen(const uint8_t *p)
{
	return _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)(const void *)p));
}

static inline vw vw_swiden(const uint8_t *p)
{
	return _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)(const void *)p));
}

static inline vb vb_snarrow(vw a, vw b)
{
	const __m512i order = _mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0);

	return _mm512_permutexvar_epi64(order, _mm512_packs_epi16(a, b));
}

static inline vw vw_scale(vw a, vw w)
{
	return _mm512_mulhrs_epi16(a, w);
}

static inline vw vw_sadd_held(vw a, vw b)
{
	return _mm512_adds_epi16(a, b);
}

static inline vw vw_uadd_held(vw a, vw b)
{
	return _mm512_adds_epu16(a, b);
}

static inline vw vw_smin(vw a, vw b)
{
	return _mm512_min_epi16(a, b);
}

static inline vw vw_smax(vw a, vw b)
{
	return _mm512_max_epi16(a, b);
}

static inline vw vw_sshift_right(vw a, int n)
{
	return _mm512_srai_epi16(a, (unsigned)n);
}

static inline vw vw_shift_left(vw a, int n)
{
	return _mm512_slli_epi16(a, (unsigned)n);
}

static inline vw vw_low(vw a, vw b)
{
	return _mm512_mullo_epi16(a, b);
}

static inline vw vw_high(vw a, vw b)
{
	return _mm512_mulhi_epu16(a, b);
}

static inline vw vw_where_equal(vw x, vw y, vw a, vw b)
{
	return _mm512_mask_blend_epi16(_mm512_cmpeq_epi16_mask(x, y), b, a);
}

static inline uint64_t vw_bits_up_to(vw a, vw b, vw x)
{
	return (uint64_t)_mm512_cmple_epu16_mask(b, x) << 32 | _mm512_cmple_epu16_mask(a, x);
}
static inline vb vb_sub_held(vb a, vb b)
{
	return _mm512_subs_epu8(a, b);
}

static inline vb vb_max(vb a, vb b)
{
	return _mm512_max_epu8(a, b);
}

static inline vb vb_mean(vb a, vb b)
{
	return _mm512_avg_epu8(a, b);
}

static const uint8_t vec_up[64] __attribute__((aligned(64))) = {
	0,  0,	1,  2,	3,  4,	5,  6,	7,  8,	9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
	21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42,
	43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62};

static inline vb vb_up(vb v)
{
	return _mm512_maskz_permutexvar_epi8(~UINT64_C(1), _mm512_load_si512(vec_up), v);
}

static const uint8_t vec_down[64] __attribute__((aligned(64))) = {
	1,  2,	3,  4,	5,  6,	7,  8,	9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
	23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44,
	45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 0};

static inline vb vb_down(vb v)
{
	return _mm512_maskz_permutexvar_epi8(~UINT64_C(0) >> 1, _mm512_load_si512(vec_down), v);
}

static inline vb vb_max_all_left(vb v)
{
	__m256i a = _mm256_max_epu8(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
	__m128i m = _mm_max_epu8(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));

	m = _mm_xor_si128(m, _mm_set1_epi8(-1));
	m = _mm_minpos_epu16(_mm_min_epu8(m, _mm_srli_epi16(m, 8)));
	return _mm512_broadcastb_epi8(m);
}

static inline int vb_first(vb v)
{
	return _mm_cvtsi128_si32(_mm512_castsi512_si128(v)) & 0xff;
}

static inline int vb_any(vb v)
{
	return _mm512_test_epi8_mask(v, v) != 0;
}

static const uint8_t vec_even[64] __attribute__((aligned(64))) = {
	0,  2,	4,  6,	8,  10, 12,  14,  16,  18,  20,	 22,  24,  26,	28,  30,  32,  34,  36,	 38, 40, 42,
	44, 46, 48, 50, 52, 54, 56,  58,  60,  62,  64,	 66,  68,  70,	72,  74,  76,  78,  80,	 82, 84, 86,
	88, 90, 92, 94, 96, 98, 100, 102, 104, 106, 108, 110, 112, 114, 116, 118, 120, 122, 124, 126};

static inline vb vb_even(vb a, vb b)
{
	return _mm512_permutex2var_epi8(a, _mm512_load_si512(vec_even), b);
}

static inline vb vb_odd(vb a, vb b)
{
	return _mm512_permutex2var_epi8(a, _mm512_or_si512(_mm512_load_si512(vec_even), _mm512_set1_epi8(1)),
					b);
}

static inline vw2 vw2_sum(vb a, vb b, vb low)
{
	return (vw2){_mm512_avg_epu16(_mm512_unpacklo_epi8(low, a), _mm512_unpacklo_epi8(low, b)),
		     _mm512_avg_epu16(_mm512_unpackhi_epi8(low, a), _mm512_unpackhi_epi8(low, b))};
}

static inline vw2 vw2_down(vw2 v)
{
	__m512i lo = _mm512_alignr_epi64(_mm512_setzero_si512(), v.lo, 2);

	return (vw2){_mm512_alignr_epi8(v.hi, v.lo, 2), _mm512_alignr_epi8(lo, v.hi, 2)};
}

static inline int vw_umax_all(vw v)
{
	__m256i a = _mm256_max_epu16(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
	__m128i m = _mm_max_epu16(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));

	return ~_mm_cvtsi128_si32(_mm_minpos_epu16(_mm_xor_si128(m, _mm_set1_epi8(-1)))) & 0xffff;
}

static inline int vw_first(vw v)
{
	return _mm_cvtsi128_si32(_mm512_castsi512_si128(v)) & 0xffff;
}

static inline vb vb_spread8(vb v, int k)
{
	const __m512i first = _mm512_broadcast_i32x4(_mm_set_epi64x(0x0808080808080808, 0));

	return _mm512_shuffle_epi8(v, _mm512_add_epi8(first, _mm512_set1_epi8((char)k)));
}

static inline vb vb_swap8(vb v)
{
	return _mm512_shuffle_epi32(v, (_MM_PERM_ENUM)0x4e);
}

static inline vb vb_windows8(const uint8_t *p)
{
	const __m512i windows = _mm512_set_epi64(0x0706050403020100, 0x0807060504030201, 0x0908070605040302,
						 0x0a09080706050403, 0x0b0a090807060504, 0x0c0b0a0908070605,
						 0x0d0c0b0a09080706, 0x0e0d0c0b0a090807);

	return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)p)),
				   windows);
}

static inline vb vb_bits(vb v)
{
	return _mm512_popcnt_epi8(v);
}

#define VEC_X86(op) _mm512_##op
#include "cpu/vec/vec_turn_x86.h"

static const uint8_t vec_before8[64] __attribute__((aligned(64))) = {
	71, 0,	1,  2,	3,   4,	 5,  6,	 79, 8,	 9,   10, 11,  12, 13, 14, 87, 16, 17,	18, 19, 20,
	21, 22, 95, 24, 25,  26, 27, 28, 29, 30, 103, 32, 33,  34, 35, 36, 37, 38, 111, 40, 41, 42,
	43, 44, 45, 46, 119, 48, 49, 50, 51, 52, 53,  54, 127, 56, 57, 58, 59, 60, 61,	62};

static inline vb vb_before8(vb at, vb before)
{
	return _mm512_permutex2var_epi8(at, _mm512_load_si512(vec_before8), before);
}

static const uint8_t vec_after8[64] __attribute__((aligned(64))) = {
	1,  2,	3,  4,	 5,  6,	 7,  64, 9,  10, 11, 12,  13, 14, 15, 72, 17, 18, 19, 20, 21, 22,
	23, 80, 25, 26,	 27, 28, 29, 30, 31, 88, 33, 34,  35, 36, 37, 38, 39, 96, 41, 42, 43, 44,
	45, 46, 47, 104, 49, 50, 51, 52, 53, 54, 55, 112, 57, 58, 59, 60, 61, 62, 63, 120};

static inline vb vb_after8(vb at, vb next)
{
	return _mm512_permutex2var_epi8(at, _mm512_load_si512(vec_after8), next);
}

static inline vb vb_add_held(vb a, vb b)
{
	return _mm512_adds_epu8(a, b);
}

#endif
