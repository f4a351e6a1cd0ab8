/*
 * Vectors of 32-bit integers by AVX2, for the segmenters. vec32_plain.h defines the same for every machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_VEC_VEC32_AVX2_H
#define SX_CPU_VEC_VEC32_AVX2_H

#include <immintrin.h>
#include <stdint.h>

#define VI_LANES 8
typedef __m256i vi;

static inline vi vi_load(const int32_t *p)
{
	return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

static inline void vi_store(int32_t *p, vi v)
{
	_mm256_storeu_si256((__m256i *)(void *)p, v);
}

static inline vi vi_set1(int32_t x)
{
	return _mm256_set1_epi32(x);
}

/* Returns 0, 1, 2, .. */
static inline vi vi_count(void)
{
	return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
}

static inline vi vi_add(vi a, vi b)
{
	return _mm256_add_epi32(a, b);
}

static inline vi vi_sub(vi a, vi b)
{
	return _mm256_sub_epi32(a, b);
}

static inline vi vi_mul(vi a, vi b)
{
	return _mm256_mullo_epi32(a, b);
}

static inline vi vi_min(vi a, vi b)
{
	return _mm256_min_epi32(a, b);
}

static inline vi vi_max(vi a, vi b)
{
	return _mm256_max_epi32(a, b);
}

static inline vi vi_shift_right(vi a, int n)
{
	return _mm256_srai_epi32(a, n);
}

/* Returns all bits set where a > b. */
static inline vi vi_greater(vi a, vi b)
{
	return _mm256_cmpgt_epi32(a, b);
}

static inline vi vi_and(vi a, vi b)
{
	return _mm256_and_si256(a, b);
}

/* Returns a where mask is set, else b. */
static inline vi vi_where(vi mask, vi a, vi b)
{
	return _mm256_blendv_epi8(b, a, mask);
}

/* Returns base[index] for each lane. */
static inline vi vi_gather(const int32_t *base, vi index)
{
	return _mm256_i32gather_epi32(base, index, 4);
}

/*
 * Divides, rounding toward zero. Exact if |a| < 2^24, b >= 1 and (|a / b| + 1) b < 2^24, else off by at most
 * one.
 */
static inline vi vi_divide(vi a, vi b)
{
	return _mm256_cvttps_epi32(_mm256_div_ps(_mm256_cvtepi32_ps(a), _mm256_cvtepi32_ps(b)));
}

static inline int32_t vi_least(vi a)
{
	__m128i m = _mm_min_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));

	m = _mm_min_epi32(m, _mm_shuffle_epi32(m, 0x4e));
	return _mm_cvtsi128_si32(_mm_min_epi32(m, _mm_shuffle_epi32(m, 0xb1)));
}

/* Returns a mask's lanes as bits: bit i is lane i. */
static inline unsigned vi_bits(vi mask)
{
	return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(mask));
}

#endif
