/*
 * Vectors of 16 bytes by SSE4.1, for x86 machines without AVX2. vec_avx2.h describes the operations.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_VEC_VEC_SSE4_H
#define SX_CPU_VEC_VEC_SSE4_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#define VEC_BYTES 16
#define VEC_PLANE_BITS 4 /* bits of the pieces in which descriptors are compared */

typedef __m128i vb;
typedef __m128i vw;
typedef struct {
	vw lo, hi;
} vw2;
typedef __m128i vpair; /* weights of vw2_dot() */
typedef int32_t vi __attribute__((vector_size(16)));
typedef uint32_t vu __attribute__((vector_size(16)));
typedef float vf __attribute__((vector_size(16)));

static inline vb vb_load(const uint8_t *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static inline void vb_store(uint8_t *p, vb v)
{
	_mm_storeu_si128((__m128i *)(void *)p, v);
}

/* Stores past the caches, for data that is read much later. p is VEC_BYTES aligned. */
static inline void vb_stream(uint8_t *p, vb v)
{
	_mm_stream_si128((__m128i *)(void *)p, v);
}

static inline vb vb_set1(int v)
{
	return _mm_set1_epi8((char)v);
}

static inline vb vb_add(vb a, vb b)
{
	return _mm_add_epi8(a, b);
}

static inline vb vb_sub(vb a, vb b)
{
	return _mm_sub_epi8(a, b);
}

static inline vb vb_min(vb a, vb b)
{
	return _mm_min_epu8(a, b);
}

static inline vb vb_or(vb a, vb b)
{
	return _mm_or_si128(a, b);
}

/* Returns 1 where a > b, else 0. */
static inline vb vb_greater(vb a, vb b)
{
	return _mm_min_epu8(_mm_subs_epu8(a, b), _mm_set1_epi8(1));
}

/* Returns cur[i-1] in element i, and the last element of prev in element 0. */
static inline vb vb_prev(vb prev, vb cur)
{
	return _mm_alignr_epi8(cur, prev, 15);
}

/* Returns cur[i+1] in element i, and the first element of next in the last element. */
static inline vb vb_next(vb cur, vb next)
{
	return _mm_alignr_epi8(next, cur, 1);
}

/* Returns the least byte in every element. */
static inline vb vb_min_all(vb v)
{
	__m128i m = _mm_minpos_epu16(_mm_min_epu8(v, _mm_srli_epi16(v, 8)));

	return _mm_shuffle_epi8(m, _mm_setzero_si128());
}

static inline vb vb_reverse(vb v)
{
	return _mm_shuffle_epi8(v, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}

/* Returns the low or high nibbles of bytes: plane 0 or 1 of a byte plane. */
static inline vb vb_plane(vb v, int high)
{
	return _mm_and_si128(high ? _mm_srli_epi16(v, 4) : v, _mm_set1_epi8(15));
}

/* Row n: number of bits in which n differs from 0..15. */
#define VEC_N(n, i) __builtin_popcount((n) ^ (i))
#define VEC_ROW(n)                                                                                         \
	{                                                                                                  \
		VEC_N(n, 0), VEC_N(n, 1), VEC_N(n, 2), VEC_N(n, 3), VEC_N(n, 4), VEC_N(n, 5), VEC_N(n, 6), \
			VEC_N(n, 7), VEC_N(n, 8), VEC_N(n, 9), VEC_N(n, 10), VEC_N(n, 11), VEC_N(n, 12),   \
			VEC_N(n, 13), VEC_N(n, 14), VEC_N(n, 15)                                           \
	}
static const uint8_t vec_distance[16][16] __attribute__((aligned(64))) = {
	VEC_ROW(0), VEC_ROW(1), VEC_ROW(2),  VEC_ROW(3),  VEC_ROW(4),  VEC_ROW(5),  VEC_ROW(6),	 VEC_ROW(7),
	VEC_ROW(8), VEC_ROW(9), VEC_ROW(10), VEC_ROW(11), VEC_ROW(12), VEC_ROW(13), VEC_ROW(14), VEC_ROW(15),
};

/* Returns the operand of vb_distance() for one plane of the left descriptor. */
static inline vb vb_operand(unsigned plane)
{
	return _mm_load_si128((const __m128i *)(const void *)vec_distance[plane]);
}

/*
 * Returns, for VEC_BYTES right descriptors, the number of bits in which a plane differs from the left
 * descriptor's plane.
 */
static inline vb vb_distance(vb operand, vb right)
{
	return _mm_shuffle_epi8(operand, right);
}

static inline vw vw_load(const uint16_t *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static inline void vw_store(uint16_t *p, vw v)
{
	_mm_storeu_si128((__m128i *)(void *)p, v);
}

static inline void vw_stream(uint16_t *p, vw v)
{
	_mm_stream_si128((__m128i *)(void *)p, v);
}

static inline vw vw_set1(int v)
{
	return _mm_set1_epi16((short)v);
}

static inline vw vw_add(vw a, vw b)
{
	return _mm_add_epi16(a, b);
}

static inline vw vw_min(vw a, vw b)
{
	return _mm_min_epi16(a, b);
}

static inline vw vw_sub(vw a, vw b)
{
	return _mm_sub_epi16(a, b);
}

static inline vw vw_or(vw a, vw b)
{
	return _mm_or_si128(a, b);
}

static inline vw vw_and(vw a, vw b)
{
	return _mm_and_si128(a, b);
}

static inline vw vw_shift_right(vw a, int n)
{
	return _mm_srli_epi16(a, n);
}

/* Returns a where x > y, else b. */
static inline vw vw_where_greater(vw x, vw y, vw a, vw b)
{
	return _mm_blendv_epi8(b, a, _mm_cmpgt_epi16(x, y));
}

/* Return the lesser and the larger of any unsigned words, such as disparities. */
static inline vw vw_umin(vw a, vw b)
{
	return _mm_min_epu16(a, b);
}

static inline vw vw_umax(vw a, vw b)
{
	return _mm_max_epu16(a, b);
}

static inline int vw_min_all(vw v)
{
	return _mm_cvtsi128_si32(_mm_minpos_epu16(v)) & 0xffff;
}

/* Makes weights, 0..127. */
static inline vpair vpair_make(int a, int b)
{
	return _mm_set1_epi16((short)(a | b << 8));
}

/* Returns a * weight a + b * weight b, at most 32767. */
static inline vw2 vw2_dot(vb a, vb b, vpair weights)
{
	return (vw2){_mm_maddubs_epi16(_mm_unpacklo_epi8(a, b), weights),
		     _mm_maddubs_epi16(_mm_unpackhi_epi8(a, b), weights)};
}

/* Stores VEC_BYTES words in the order of the bytes from which they were made. */
static inline void vw2_store_in_order(uint16_t *p, vw2 v)
{
	vw_store(p, v.lo);
	vw_store(p + 8, v.hi);
}

/* Returns a mask: bit i is set if word i, in order, equals x. */
static inline uint64_t vw2_mask_equal(vw2 v, vw x)
{
	return (uint64_t)_mm_movemask_epi8(
		_mm_packs_epi16(_mm_cmpeq_epi16(v.lo, x), _mm_cmpeq_epi16(v.hi, x)));
}

/* Returns the number of words below x. */
static inline int vw2_count_below(vw2 v, vw x)
{
	return __builtin_popcount((unsigned)_mm_movemask_epi8(
		_mm_packs_epi16(_mm_cmplt_epi16(v.lo, x), _mm_cmplt_epi16(v.hi, x))));
}

static inline vi vi_dot(vi a, vi b)
{
	return (vi)_mm_madd_epi16((__m128i)a, (__m128i)b);
}

static inline vb vb_pack(vi a, vi b, vi c, vi d)
{
	return _mm_packus_epi16(_mm_packs_epi32((__m128i)a, (__m128i)b),
				_mm_packs_epi32((__m128i)c, (__m128i)d));
}

static inline vw vw_widen(const uint8_t *p)
{
	return _mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)(const void *)p));
}

static inline vw vw_swiden(const uint8_t *p)
{
	return _mm_cvtepi8_epi16(_mm_loadl_epi64((const __m128i *)(const void *)p));
}

static inline vb vb_snarrow(vw a, vw b)
{
	return _mm_packs_epi16(a, b);
}

static inline vw vw_scale(vw a, vw w)
{
	return _mm_mulhrs_epi16(a, w);
}

static inline vw vw_sadd_held(vw a, vw b)
{
	return _mm_adds_epi16(a, b);
}

static inline vw vw_uadd_held(vw a, vw b)
{
	return _mm_adds_epu16(a, b);
}

static inline vw vw_smin(vw a, vw b)
{
	return _mm_min_epi16(a, b);
}

static inline vw vw_smax(vw a, vw b)
{
	return _mm_max_epi16(a, b);
}

static inline vw vw_sshift_right(vw a, int n)
{
	return _mm_srai_epi16(a, n);
}

static inline vw vw_shift_left(vw a, int n)
{
	return _mm_slli_epi16(a, n);
}

static inline vw vw_low(vw a, vw b)
{
	return _mm_mullo_epi16(a, b);
}

static inline vw vw_high(vw a, vw b)
{
	return _mm_mulhi_epu16(a, b);
}

static inline vw vw_where_equal(vw x, vw y, vw a, vw b)
{
	return _mm_blendv_epi8(b, a, _mm_cmpeq_epi16(x, y));
}

static inline uint64_t vw_bits_up_to(vw a, vw b, vw x)
{
	return (uint64_t)_mm_movemask_epi8(_mm_packs_epi16(_mm_cmpeq_epi16(_mm_min_epu16(a, x), a),
							   _mm_cmpeq_epi16(_mm_min_epu16(b, x), b)));
}
static inline vb vb_sub_held(vb a, vb b)
{
	return _mm_subs_epu8(a, b);
}

static inline vb vb_kept(vb v)
{
	__asm__("" : "+x"(v));
	return v;
}

static inline vb vb_max(vb a, vb b)
{
	return _mm_max_epu8(a, b);
}

static inline vb vb_mean(vb a, vb b)
{
	return _mm_avg_epu8(a, b);
}

static inline vb vb_up(vb v)
{
	return _mm_slli_si128(v, 1);
}

static inline vb vb_down(vb v)
{
	return _mm_srli_si128(v, 1);
}

static inline vb vb_max_all_left(vb v)
{
	__m128i m = _mm_xor_si128(v, _mm_set1_epi8(-1));

	m = _mm_minpos_epu16(_mm_min_epu8(m, _mm_srli_epi16(m, 8)));
	return _mm_shuffle_epi8(m, _mm_setzero_si128());
}

static inline int vb_first(vb v)
{
	return _mm_cvtsi128_si32(v) & 0xff;
}

static inline int vb_any(vb v)
{
	return !_mm_testz_si128(v, v);
}

static inline vb vb_even(vb a, vb b)
{
	const __m128i low = _mm_set1_epi16(0xff);

	return _mm_packus_epi16(_mm_and_si128(a, low), _mm_and_si128(b, low));
}

static inline vb vb_odd(vb a, vb b)
{
	return _mm_packus_epi16(_mm_srli_epi16(a, 8), _mm_srli_epi16(b, 8));
}

static inline vw2 vw2_sum(vb a, vb b, vb low)
{
	return (vw2){_mm_avg_epu16(_mm_unpacklo_epi8(low, a), _mm_unpacklo_epi8(low, b)),
		     _mm_avg_epu16(_mm_unpackhi_epi8(low, a), _mm_unpackhi_epi8(low, b))};
}

static inline vw2 vw2_down(vw2 v)
{
	return (vw2){_mm_alignr_epi8(v.hi, v.lo, 2), _mm_srli_si128(v.hi, 2)};
}

static inline int vw_umax_all(vw v)
{
	return ~_mm_cvtsi128_si32(_mm_minpos_epu16(_mm_xor_si128(v, _mm_set1_epi8(-1)))) & 0xffff;
}

static inline int vw_first(vw v)
{
	return _mm_cvtsi128_si32(v) & 0xffff;
}

static inline vb vb_spread8(vb v, int k)
{
	const __m128i first = _mm_set_epi64x(0x0808080808080808, 0);

	return _mm_shuffle_epi8(v, _mm_add_epi8(first, _mm_set1_epi8((char)k)));
}

static inline vb vb_swap8(vb v)
{
	return _mm_shuffle_epi32(v, 0x4e);
}

static inline vb vb_windows8(const uint8_t *p)
{
	const __m128i windows = _mm_set_epi64x(0x0706050403020100, 0x0807060504030201);

	return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), windows);
}

static inline vb vb_bits(vb v)
{
	return _mm_shuffle_epi8(vb_operand(0), v);
}

#define VEC_X86(op) _mm_##op
#include "cpu/vec/vec_turn_x86.h"

static inline vb vb_before8(vb at, vb before)
{
	return _mm_or_si128(_mm_slli_epi64(at, 8), _mm_srli_epi64(before, 56));
}

static inline vb vb_after8(vb at, vb next)
{
	return _mm_or_si128(_mm_srli_epi64(at, 8), _mm_slli_epi64(next, 56));
}

static inline vb vb_add_held(vb a, vb b)
{
	return _mm_adds_epu8(a, b);
}

#endif
