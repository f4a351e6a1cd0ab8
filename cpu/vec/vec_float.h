/*
 * Vectors of VF_LANES floats and integers and of VF_LANES doubles, for slanted stixels. They are the
 * compiler's vectors, so one source serves every instruction set for which a file is compiled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_VEC_VEC_FLOAT_H
#define SX_CPU_VEC_VEC_FLOAT_H

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "cpu/vec/vec_inline.h"

/*
 * If registers are shorter than the vectors, gcc warns that such arguments have no calling convention. That
 * is harmless, because all functions are inline or local to one file.
 */
#pragma GCC diagnostic ignored "-Wpsabi"

#define VF_INLINE static ALWAYS_INLINE
#if defined(__AVX512VL__)
#define VF_LANES 16
#elif defined(__AVX2__)
#define VF_LANES 8
#else
/* Lanes of a register. Compilers split comparisons and conversions of longer vectors lane by lane. */
#define VF_LANES 4
#endif
typedef float vf __attribute__((vector_size(4 * VF_LANES)));
typedef int32_t vs __attribute__((vector_size(4 * VF_LANES)));
typedef double vd_half __attribute__((vector_size(4 * VF_LANES)));
typedef float vf_half __attribute__((vector_size(2 * VF_LANES)));

/* VF_LANES doubles. Integers up to 2^53 are exact. */
struct vd {
	vd_half lo, hi;
};

VF_INLINE vf vf_set1(float x)
{
	return x - (vf){0};
}

VF_INLINE vs vs_set1(int32_t x)
{
	return x - (vs){0};
}

VF_INLINE vs vs_count(void)
{
#if VF_LANES == 16
	return (vs){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#elif VF_LANES == 8
	return (vs){0, 1, 2, 3, 4, 5, 6, 7};
#else
	return (vs){0, 1, 2, 3};
#endif
}

VF_INLINE vs vs_load(const int32_t *p)
{
	vs v;

	memcpy(&v, p, sizeof(v));
	return v;
}

VF_INLINE void vs_store(int32_t *p, vs v)
{
	memcpy(p, &v, sizeof(v));
}

VF_INLINE void vf_store(float *p, vf v)
{
	memcpy(p, &v, sizeof(v));
}

VF_INLINE struct vd vd_load(const double *p)
{
	struct vd v;

	memcpy(&v.lo, p, sizeof(v.lo));
	memcpy(&v.hi, p + VF_LANES / 2, sizeof(v.hi));
	return v;
}

VF_INLINE struct vd vd_set1(double x)
{
	return (struct vd){x - (vd_half){0}, x - (vd_half){0}};
}

VF_INLINE struct vd vd_add(struct vd a, struct vd b)
{
	return (struct vd){a.lo + b.lo, a.hi + b.hi};
}

VF_INLINE struct vd vd_sub(struct vd a, struct vd b)
{
	return (struct vd){a.lo - b.lo, a.hi - b.hi};
}

VF_INLINE struct vd vd_mul(struct vd a, struct vd b)
{
	return (struct vd){a.lo * b.lo, a.hi * b.hi};
}

/* Returns c - a b, rounded once or twice. The result is the same if all values are integers below 2^53. */
VF_INLINE struct vd vd_less(struct vd c, struct vd a, struct vd b)
{
#if VF_LANES == 16
	return (struct vd){(vd_half)_mm512_fnmadd_pd((__m512d)a.lo, (__m512d)b.lo, (__m512d)c.lo),
			   (vd_half)_mm512_fnmadd_pd((__m512d)a.hi, (__m512d)b.hi, (__m512d)c.hi)};
#elif VF_LANES == 8
	return (struct vd){(vd_half)_mm256_fnmadd_pd((__m256d)a.lo, (__m256d)b.lo, (__m256d)c.lo),
			   (vd_half)_mm256_fnmadd_pd((__m256d)a.hi, (__m256d)b.hi, (__m256d)c.hi)};
#else
	return vd_sub(c, vd_mul(a, b));
#endif
}

/* Rounds to nearest even, as a conversion of the integer would. */
VF_INLINE vf vf_of_doubles(struct vd a)
{
#if VF_LANES == 16
	return (vf)_mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps((__m512d)a.lo)),
				      _mm512_cvtpd_ps((__m512d)a.hi), 1);
#elif VF_LANES == 8
	return (vf)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps((__m256d)a.lo)),
					_mm256_cvtpd_ps((__m256d)a.hi), 1);
#elif defined(__SSE2__)
	return (vf)_mm_movelh_ps(_mm_cvtpd_ps((__m128d)a.lo), _mm_cvtpd_ps((__m128d)a.hi));
#else
	const vf_half lo = __builtin_convertvector(a.lo, vf_half),
		      hi = __builtin_convertvector(a.hi, vf_half);

	return (vf){lo[0], lo[1], hi[0], hi[1]};
#endif
}

VF_INLINE struct vd vd_of_ints(vs a)
{
#if VF_LANES == 16
	return (struct vd){(vd_half)_mm512_cvtepi32_pd(_mm512_castsi512_si256((__m512i)a)),
			   (vd_half)_mm512_cvtepi32_pd(_mm512_extracti64x4_epi64((__m512i)a, 1))};
#elif VF_LANES == 8
	return (struct vd){{a[0], a[1], a[2], a[3]}, {a[4], a[5], a[6], a[7]}};
#else
	return (struct vd){{a[0], a[1]}, {a[2], a[3]}};
#endif
}

VF_INLINE vf vf_of_ints(vs a)
{
	return __builtin_convertvector(a, vf);
}

/* Rounds toward zero. */
VF_INLINE vs vs_of_floats(vf a)
{
	return __builtin_convertvector(a, vs);
}

/* One truth value per lane: a bit, or all bits of the lane. */
#if VF_LANES == 16
typedef __mmask16 vm;
#else
typedef vs vm;
#endif

VF_INLINE vm vm_less(vf a, vf b)
{
#if VF_LANES == 16
	return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OQ);
#else
	return a < b;
#endif
}

VF_INLINE vm vm_not_above(vf a, vf b)
{
#if VF_LANES == 16
	return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LE_OQ);
#else
	return a <= b;
#endif
}

VF_INLINE vm vm_ints_less(vs a, vs b)
{
#if VF_LANES == 16
	return _mm512_cmplt_epi32_mask((__m512i)a, (__m512i)b);
#else
	return a < b;
#endif
}

VF_INLINE vm vm_and(vm a, vm b)
{
	return (vm)(a & b);
}

/* Returns a where the mask is set, else b. */
VF_INLINE vf vf_where(vm mask, vf a, vf b)
{
#if VF_LANES == 16
	return (vf)_mm512_mask_blend_ps(mask, (__m512)b, (__m512)a);
#elif VF_LANES == 8
	return (vf)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)mask);
#elif defined(__SSE4_1__)
	return (vf)_mm_blendv_ps((__m128)b, (__m128)a, (__m128)mask);
#else
	return (vf)((mask & (vs)a) | (~mask & (vs)b));
#endif
}

VF_INLINE vs vs_where(vm mask, vs a, vs b)
{
	return (vs)vf_where(mask, (vf)a, (vf)b);
}

/* Returns a where the mask is set, else 0. */
VF_INLINE vf vf_only(vm mask, vf a)
{
#if VF_LANES == 16
	return (vf)_mm512_maskz_mov_ps(mask, (__m512)a);
#else
	return (vf)(mask & (vs)a);
#endif
}

/* Arguments must not be NaN, and the sign of zero must not matter. */
VF_INLINE vf vf_min(vf a, vf b)
{
#if VF_LANES == 16
	return (vf)_mm512_min_ps((__m512)a, (__m512)b);
#elif VF_LANES == 8
	return (vf)_mm256_min_ps((__m256)a, (__m256)b);
#elif defined(__SSE2__)
	return (vf)_mm_min_ps((__m128)a, (__m128)b);
#else
	return vf_where(vm_less(a, b), a, b);
#endif
}

VF_INLINE vs vs_min(vs a, vs b)
{
#if VF_LANES == 16
	return (vs)_mm512_min_epi32((__m512i)a, (__m512i)b);
#elif VF_LANES == 8
	return (vs)_mm256_min_epi32((__m256i)a, (__m256i)b);
#elif defined(__SSE4_1__)
	return (vs)_mm_min_epi32((__m128i)a, (__m128i)b);
#else
	return vs_where(vm_ints_less(a, b), a, b);
#endif
}

/* Returns a if positive, else 0; also 0 for a NaN. */
VF_INLINE vf vf_positive(vf a)
{
#if VF_LANES == 16
	return (vf)_mm512_max_ps((__m512)a, _mm512_setzero_ps());
#elif VF_LANES == 8
	return (vf)_mm256_max_ps((__m256)a, _mm256_setzero_ps());
#elif defined(__SSE2__)
	return (vf)_mm_max_ps((__m128)a, _mm_setzero_ps());
#else
	return (vf)((vs)a & (a > vf_set1(0.0f)));
#endif
}

VF_INLINE vf vf_abs(vf a)
{
	return (vf)((vs)a & vs_set1(0x7fffffff));
}

/* Returns one lane in all lanes. */
VF_INLINE vf vf_lane(vf a, int lane)
{
#if VF_LANES == 16
	return (vf)_mm512_permutexvar_ps(_mm512_set1_epi32(lane), (__m512)a);
#elif VF_LANES == 8
	return (vf)_mm256_permutevar8x32_ps((__m256)a, _mm256_set1_epi32(lane));
#else
	return vf_set1(a[lane]);
#endif
}

/* Returns table[index]. */
VF_INLINE vs vs_gather(const int32_t *table, vs index)
{
#if VF_LANES == 16
	return (vs)_mm512_i32gather_epi32((__m512i)index, table, 4);
#elif VF_LANES == 8
	return (vs)_mm256_i32gather_epi32(table, (__m256i)index, 4);
#else
	vs v;

	for (int i = 0; i < VF_LANES; i++)
		v[i] = table[index[i]];
	return v;
#endif
}

#endif
