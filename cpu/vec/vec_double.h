/*
 * Vectors of VD_LANES doubles and of as many 64-bit integers: the compiler's vectors, so that one source serves
 * every instruction set for which a file is compiled. Each lane has the bytes that the same operations on one double
 * have.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_VEC_VEC_DOUBLE_H
#define SX_CPU_VEC_VEC_DOUBLE_H

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "cpu/vec/vec_inline.h"

/* gcc warns that vectors longer than a register have no calling convention: all functions here are inline. */
#pragma GCC diagnostic ignored "-Wpsabi"

#if defined(__AVX512VL__)
#define VD_LANES 8
#elif defined(__AVX2__)
#define VD_LANES 4
#else
#define VD_LANES 2
#endif
typedef double vd __attribute__((vector_size(8 * VD_LANES)));
typedef int64_t vl __attribute__((vector_size(8 * VD_LANES)));
typedef uint64_t vul __attribute__((vector_size(8 * VD_LANES)));

static ALWAYS_INLINE vd vd_set1(double x)
{
	return x - (vd){0};
}

static ALWAYS_INLINE vd vd_load(const double *p)
{
	vd v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Returns a where the mask is set, else b. */
static ALWAYS_INLINE vd vd_where(vl mask, vd a, vd b)
{
#if VD_LANES == 8
	return (vd)_mm512_mask_blend_pd(_mm512_movepi64_mask((__m512i)mask), (__m512d)b, (__m512d)a);
#elif VD_LANES == 4
	return (vd)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)mask);
#elif defined(__SSE4_1__)
	return (vd)_mm_blendv_pd((__m128d)b, (__m128d)a, (__m128d)mask);
#else
	return (vd)((mask & (vl)a) | (~mask & (vl)b));
#endif
}

/* Returns a where the mask is set, else 0. */
static ALWAYS_INLINE vd vd_only(vl mask, vd a)
{
	return (vd)(mask & (vl)a);
}

/* Limits a to -most .. most. It is not NaN. */
static ALWAYS_INLINE vd vd_held(vd a, double most)
{
#if VD_LANES == 8
	return (vd)_mm512_min_pd(_mm512_max_pd((__m512d)a, _mm512_set1_pd(-most)), _mm512_set1_pd(most));
#elif VD_LANES == 4
	return (vd)_mm256_min_pd(_mm256_max_pd((__m256d)a, _mm256_set1_pd(-most)), _mm256_set1_pd(most));
#elif defined(__SSE2__)
	return (vd)_mm_min_pd(_mm_max_pd((__m128d)a, _mm_set1_pd(-most)), _mm_set1_pd(most));
#else
	a = vd_where((vl)(a > vd_set1(most)), vd_set1(most), a);
	return vd_where((vl)(a < vd_set1(-most)), vd_set1(-most), a);
#endif
}

/* Returns the sum of the lanes modulo 2^64. */
static ALWAYS_INLINE uint64_t vul_sum(vul a)
{
	uint64_t sum = 0;

	for (int i = 0; i < VD_LANES; i++)
		sum += a[i];
	return sum;
}

#endif
