/*
 * Vectors of 32 bytes by AVX2. Every vec_*.h defines the same types and operations. The kernels
 * (cpu/kernels/) are written once on top of them; each matcher_*.c compiles them for one instruction set.
 *
 *   vb      VEC_BYTES unsigned bytes                 vw       VEC_BYTES/2 words, 0..32767
 *   vw2     the words of one vb, in an order that this file chooses: two vw that only the vw2_* functions,
 *           and element-wise operations on both halves, may access
 *   vi, vu, vf  VEC_BYTES/4 integers, signed and unsigned, and floats: the compiler's vectors, with its
 *           + - * and conversions
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_VEC_VEC_AVX2_H
#define SX_CPU_VEC_VEC_AVX2_H

#include <immintrin.h>
#include <stdint.h>

#define VEC_BYTES 32
#define VEC_PLANE_BITS 4 /* bits of the pieces in which descriptors are compared */

typedef __m256i vb;
typedef __m256i vw;
typedef struct {
	vw lo, hi;
} vw2;
typedef __m256i vpair; /* weights of vw2_dot() */
typedef int32_t vi __attribute__((vector_size(32)));
typedef uint32_t vu __attribute__((vector_size(32)));
typedef float vf __attribute__((vector_size(32)));

static inline vb vb_load(const uint8_t *p)
{
	return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

static inline void vb_store(uint8_t *p, vb v)
{
	_mm256_storeu_si256((__m256i *)(void *)p, v);
}

/* Stores past the caches, for data that is read much later. p is VEC_BYTES aligned. */
static inline void vb_stream(uint8_t *p, vb v)
{
	_mm256_stream_si256((__m256i *)(void *)p, v);
}

static inline vb vb_set1(int v)
{
	return _mm256_set1_epi8((char)v);
}

static inline vb vb_add(vb a, vb b)
{
	return _mm256_add_epi8(a, b);
}

static inline vb vb_sub(vb a, vb b)
{
	return _mm256_sub_epi8(a, b);
}

static inline vb vb_min(vb a, vb b)
{
	return _mm256_min_epu8(a, b);
}

static inline vb vb_or(vb a, vb b)
{
	return _mm256_or_si256(a, b);
}

/* Returns 1 where a > b, else 0. */
static inline vb vb_greater(vb a, vb b)
{
	return _mm256_min_epu8(_mm256_subs_epu8(a, b), _mm256_set1_epi8(1));
}

/* Returns cur[i-1] in element i, and the last element of prev in element 0. */
static inline vb vb_prev(vb prev, vb cur)
{
	return _mm256_alignr_epi8(cur, _mm256_permute2x128_si256(prev, cur, 0x21), 15);
}

/* Returns cur[i+1] in element i, and the first element of next in the last element. */
static inline vb vb_next(vb cur, vb next)
{
	return _mm256_alignr_epi8(_mm256_permute2x128_si256(cur, next, 0x21), cur, 1);
}

/* Returns the least byte in every element. */
static inline vb vb_min_all(vb v)
{
	__m128i m = _mm_min_epu8(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));

	m = _mm_minpos_epu16(_mm_min_epu8(m, _mm_srli_epi16(m, 8)));
	return _mm256_broadcastb_epi8(m);
}

static inline vb vb_reverse(vb v)
{
	const __m256i r = _mm256_broadcastsi128_si256(
		_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));

	return _mm256_permute4x64_epi64(_mm256_shuffle_epi8(v, r), 0x4e);
}

/* Returns the low or high nibbles of bytes: plane 0 or 1 of a byte plane. */
static inline vb vb_plane(vb v, int high)
{
	return _mm256_and_si256(high ? _mm256_srli_epi16(v, 4) : v, _mm256_set1_epi8(15));
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
	return _mm256_broadcastsi128_si256(
		_mm_load_si128((const __m128i *)(const void *)vec_distance[plane]));
}

/*
 * Returns, for VEC_BYTES right descriptors, the number of bits in which a plane differs from the left
 * descriptor's plane.
 */
static inline vb vb_distance(vb operand, vb right)
{
	return _mm256_shuffle_epi8(operand, right);
}

static inline vw vw_load(const uint16_t *p)
{
	return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

static inline void vw_store(uint16_t *p, vw v)
{
	_mm256_storeu_si256((__m256i *)(void *)p, v);
}

static inline void vw_stream(uint16_t *p, vw v)
{
	_mm256_stream_si256((__m256i *)(void *)p, v);
}

static inline vw vw_set1(int v)
{
	return _mm256_set1_epi16((short)v);
}

static inline vw vw_add(vw a, vw b)
{
	return _mm256_add_epi16(a, b);
}

static inline vw vw_min(vw a, vw b)
{
	return _mm256_min_epi16(a, b);
}

static inline vw vw_sub(vw a, vw b)
{
	return _mm256_sub_epi16(a, b);
}

static inline vw vw_or(vw a, vw b)
{
	return _mm256_or_si256(a, b);
}

static inline vw vw_and(vw a, vw b)
{
	return _mm256_and_si256(a, b);
}

static inline vw vw_shift_right(vw a, int n)
{
	return _mm256_srli_epi16(a, n);
}

/* Returns a where x > y, else b. */
static inline vw vw_where_greater(vw x, vw y, vw a, vw b)
{
	return _mm256_blendv_epi8(b, a, _mm256_cmpgt_epi16(x, y));
}

/* Return the lesser and the larger of any unsigned words, such as disparities. */
static inline vw vw_umin(vw a, vw b)
{
	return _mm256_min_epu16(a, b);
}

static inline vw vw_umax(vw a, vw b)
{
	return _mm256_max_epu16(a, b);
}

static inline int vw_min_all(vw v)
{
	__m128i m = _mm_min_epu16(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));

	return _mm_cvtsi128_si32(_mm_minpos_epu16(m)) & 0xffff;
}

/* Makes weights, 0..127. */
static inline vpair vpair_make(int a, int b)
{
	return _mm256_set1_epi16((short)(a | b << 8));
}

/* Returns a * weight a + b * weight b, at most 32767. */
static inline vw2 vw2_dot(vb a, vb b, vpair weights)
{
	return (vw2){_mm256_maddubs_epi16(_mm256_unpacklo_epi8(a, b), weights),
		     _mm256_maddubs_epi16(_mm256_unpackhi_epi8(a, b), weights)};
}

/* Stores VEC_BYTES words in the order of the bytes from which they were made. */
static inline void vw2_store_in_order(uint16_t *p, vw2 v)
{
	__m128i *q = (__m128i *)(void *)p;

	_mm_storeu_si128(q, _mm256_castsi256_si128(v.lo));
	_mm_storeu_si128(q + 1, _mm256_castsi256_si128(v.hi));
	_mm_storeu_si128(q + 2, _mm256_extracti128_si256(v.lo, 1));
	_mm_storeu_si128(q + 3, _mm256_extracti128_si256(v.hi, 1));
}

/* Returns a mask: bit i is set if word i, in order, equals x. */
static inline uint64_t vw2_mask_equal(vw2 v, vw x)
{
	__m256i m = _mm256_packs_epi16(_mm256_cmpeq_epi16(v.lo, x), _mm256_cmpeq_epi16(v.hi, x));

	return (uint32_t)_mm256_movemask_epi8(m);
}

/* Returns the number of words below x. */
static inline int vw2_count_below(vw2 v, vw x)
{
	__m256i m = _mm256_packs_epi16(_mm256_cmpgt_epi16(x, v.lo), _mm256_cmpgt_epi16(x, v.hi));

	return __builtin_popcount((uint32_t)_mm256_movemask_epi8(m));
}

/*
 * Returns, for the pair of words in each value, the product of the low words plus the product of the high
 * words.
 */
static inline vi vi_dot(vi a, vi b)
{
	return (vi)_mm256_madd_epi16((__m256i)a, (__m256i)b);
}

/* Packs values 0..127 of four vectors into bytes, in order. */
static inline vb vb_pack(vi a, vi b, vi c, vi d)
{
	__m256i v = _mm256_packus_epi16(_mm256_packs_epi32((__m256i)a, (__m256i)b),
					_mm256_packs_epi32((__m256i)c, (__m256i)d));

	return _mm256_permutevar8x32_epi32(v, _mm256_set_epi32(7, 3, 6, 2, 5, 1, 4, 0));
}

/* The following functions take words of any value, unsigned or (s) signed. */

/* Widens VEC_BYTES/2 bytes to words. */
static inline vw vw_widen(const uint8_t *p)
{
	return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(const void *)p));
}

static inline vw vw_swiden(const uint8_t *p)
{
	return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)p));
}

/* Narrows words -128..127 to VEC_BYTES bytes, the words of a first. */
static inline vb vb_snarrow(vw a, vw b)
{
	return _mm256_permute4x64_epi64(_mm256_packs_epi16(a, b), 0xd8);
}

/* Returns (a w + 16384) >> 15; w: 0..32767. */
static inline vw vw_scale(vw a, vw w)
{
	return _mm256_mulhrs_epi16(a, w);
}

/* Returns a + b, clamped to -32768..32767; the next function clamps to 65535. */
static inline vw vw_sadd_held(vw a, vw b)
{
	return _mm256_adds_epi16(a, b);
}

static inline vw vw_uadd_held(vw a, vw b)
{
	return _mm256_adds_epu16(a, b);
}

static inline vw vw_smin(vw a, vw b)
{
	return _mm256_min_epi16(a, b);
}

static inline vw vw_smax(vw a, vw b)
{
	return _mm256_max_epi16(a, b);
}

static inline vw vw_sshift_right(vw a, int n)
{
	return _mm256_srai_epi16(a, n);
}

static inline vw vw_shift_left(vw a, int n)
{
	return _mm256_slli_epi16(a, n);
}

/* Return the low and the high halves of unsigned products. */
static inline vw vw_low(vw a, vw b)
{
	return _mm256_mullo_epi16(a, b);
}

static inline vw vw_high(vw a, vw b)
{
	return _mm256_mulhi_epu16(a, b);
}

/* Returns a where x == y, else b. */
static inline vw vw_where_equal(vw x, vw y, vw a, vw b)
{
	return _mm256_blendv_epi8(b, a, _mm256_cmpeq_epi16(x, y));
}

/* Returns a mask: bit i is set if word i of a, then of b, is at most x. */
static inline uint64_t vw_bits_up_to(vw a, vw b, vw x)
{
	return (uint32_t)_mm256_movemask_epi8(vb_snarrow(_mm256_cmpeq_epi16(_mm256_min_epu16(a, x), a),
							 _mm256_cmpeq_epi16(_mm256_min_epu16(b, x), b)));
}
/* Returns a - b, clamped at 0. */
static inline vb vb_sub_held(vb a, vb b)
{
	return _mm256_subs_epu8(a, b);
}

/*
 * Returns v in a register, so that the compiler adds such values in the order of the source. Not defined in
 * every vec_*.h.
 */
static inline vb vb_kept(vb v)
{
	__asm__("" : "+x"(v));
	return v;
}

static inline vb vb_max(vb a, vb b)
{
	return _mm256_max_epu8(a, b);
}

/* Returns (a + b + 1) / 2. */
static inline vb vb_mean(vb a, vb b)
{
	return _mm256_avg_epu8(a, b);
}

/* Returns v[i-1] in element i, and 0 in element 0. */
static inline vb vb_up(vb v)
{
	return _mm256_alignr_epi8(v, _mm256_permute2x128_si256(v, v, 0x08), 15);
}

/* Returns v[i+1] in element i, and 0 in the last element. */
static inline vb vb_down(vb v)
{
	return _mm256_alignr_epi8(_mm256_permute2x128_si256(v, v, 0x81), v, 1);
}

/* Returns 255 minus the greatest byte, in every element. */
static inline vb vb_max_all_left(vb v)
{
	__m128i m = _mm_max_epu8(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));

	m = _mm_xor_si128(m, _mm_set1_epi8(-1));
	m = _mm_minpos_epu16(_mm_min_epu8(m, _mm_srli_epi16(m, 8)));
	return _mm256_broadcastb_epi8(m);
}

static inline int vb_first(vb v)
{
	return _mm_cvtsi128_si32(_mm256_castsi256_si128(v)) & 0xff;
}

/* Returns true if any byte is not 0. */
static inline int vb_any(vb v)
{
	return !_mm256_testz_si256(v, v);
}

/* Return bytes 0, 2, 4, ... of a, then of b; and bytes 1, 3, 5, ... */
static inline vb vb_even(vb a, vb b)
{
	const __m256i low = _mm256_set1_epi16(0xff);

	return _mm256_permute4x64_epi64(
		_mm256_packus_epi16(_mm256_and_si256(a, low), _mm256_and_si256(b, low)), 0xd8);
}

static inline vb vb_odd(vb a, vb b)
{
	return _mm256_permute4x64_epi64(_mm256_packus_epi16(_mm256_srli_epi16(a, 8), _mm256_srli_epi16(b, 8)),
					0xd8);
}

/* Returns 128 (a + b) + low; a + b: 0..511, low: 0..127. */
static inline vw2 vw2_sum(vb a, vb b, vb low)
{
	return (vw2){_mm256_avg_epu16(_mm256_unpacklo_epi8(low, a), _mm256_unpacklo_epi8(low, b)),
		     _mm256_avg_epu16(_mm256_unpackhi_epi8(low, a), _mm256_unpackhi_epi8(low, b))};
}

/* Returns word i + 1 of v in word i, in order, and 0 in the last word. */
static inline vw2 vw2_down(vw2 v)
{
	return (vw2){_mm256_alignr_epi8(v.hi, v.lo, 2),
		     _mm256_alignr_epi8(_mm256_permute2x128_si256(v.lo, v.lo, 0x81), v.hi, 2)};
}

static inline int vw_umax_all(vw v)
{
	__m128i m = _mm_max_epu16(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));

	return ~_mm_cvtsi128_si32(_mm_minpos_epu16(_mm_xor_si128(m, _mm_set1_epi8(-1)))) & 0xffff;
}

static inline int vw_first(vw v)
{
	return _mm_cvtsi128_si32(_mm256_castsi256_si128(v)) & 0xffff;
}

/* The following functions work on groups of 8 bytes. */

/* Returns byte k of each group in all bytes of the group. */
static inline vb vb_spread8(vb v, int k)
{
	const __m256i first = _mm256_broadcastsi128_si256(_mm_set_epi64x(0x0808080808080808, 0));

	return _mm256_shuffle_epi8(v, _mm256_add_epi8(first, _mm256_set1_epi8((char)k)));
}

/* Exchanges groups 0 and 1, 2 and 3, and so on. */
static inline vb vb_swap8(vb v)
{
	return _mm256_shuffle_epi32(v, 0x4e);
}

/* Returns bytes p[n - g] .. p[n - g + 7] in group g; n: the last group. Reads 16 bytes. */
static inline vb vb_windows8(const uint8_t *p)
{
	const __m256i windows = _mm256_set_epi64x(0x0706050403020100, 0x0807060504030201, 0x0908070605040302,
						  0x0a09080706050403);

	return _mm256_shuffle_epi8(
		_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)p)), windows);
}

/* Returns the number of bits of each byte, which is below 1 << VEC_PLANE_BITS. */
static inline vb vb_bits(vb v)
{
	return _mm256_shuffle_epi8(vb_operand(0), v);
}

#define VEC_X86(op) _mm256_##op
#include "cpu/vec/vec_turn_x86.h"

/* Returns byte i - 1 of each group in byte i; byte 7 of the group of before comes in first. */
static inline vb vb_before8(vb at, vb before)
{
	return _mm256_or_si256(_mm256_slli_epi64(at, 8), _mm256_srli_epi64(before, 56));
}

/* Returns byte i + 1 of each group in byte i; byte 0 of the group of next comes in last. */
static inline vb vb_after8(vb at, vb next)
{
	return _mm256_or_si256(_mm256_srli_epi64(at, 8), _mm256_slli_epi64(next, 56));
}

/* Returns a + b, clamped to 255. */
static inline vb vb_add_held(vb a, vb b)
{
	return _mm256_adds_epu8(a, b);
}

#endif
