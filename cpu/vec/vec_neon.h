/*
 * Vectors of 16 bytes by NEON (aarch64). vec_avx2.h describes the operations.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_VEC_VEC_NEON_H
#define SX_CPU_VEC_VEC_NEON_H

#include <arm_neon.h>
#include <stdint.h>

#define VEC_BYTES 16
#define VEC_PLANE_BITS 8

typedef uint8x16_t vb;
typedef uint16x8_t vw;
typedef struct {
	vw lo, hi;
} vw2;
typedef struct {
	uint8x8_t a, b;
} vpair;
typedef int32_t vi __attribute__((vector_size(16)));
typedef uint32_t vu __attribute__((vector_size(16)));
typedef float vf __attribute__((vector_size(16)));

static inline vb vb_load(const uint8_t *p)
{
	return vld1q_u8(p);
}

static inline void vb_store(uint8_t *p, vb v)
{
	vst1q_u8(p, v);
}

static inline void vb_stream(uint8_t *p, vb v)
{
	vst1q_u8(p, v);
}

static inline vb vb_set1(int v)
{
	return vdupq_n_u8((uint8_t)v);
}

static inline vb vb_add(vb a, vb b)
{
	return vaddq_u8(a, b);
}

static inline vb vb_sub(vb a, vb b)
{
	return vsubq_u8(a, b);
}

static inline vb vb_min(vb a, vb b)
{
	return vminq_u8(a, b);
}

static inline vb vb_or(vb a, vb b)
{
	return vorrq_u8(a, b);
}

static inline vb vb_greater(vb a, vb b)
{
	return vandq_u8(vcgtq_u8(a, b), vdupq_n_u8(1));
}

static inline vb vb_prev(vb prev, vb cur)
{
	return vextq_u8(prev, cur, 15);
}

static inline vb vb_next(vb cur, vb next)
{
	return vextq_u8(cur, next, 1);
}

static inline vb vb_min_all(vb v)
{
	return vdupq_n_u8(vminvq_u8(v));
}

static inline vb vb_reverse(vb v)
{
	v = vrev64q_u8(v);
	return vextq_u8(v, v, 8);
}

static inline vb vb_plane(vb v, int high)
{
	(void)high;
	return v;
}

static inline vb vb_operand(unsigned plane)
{
	return vdupq_n_u8((uint8_t)plane);
}

static inline vb vb_distance(vb operand, vb right)
{
	return vcntq_u8(veorq_u8(operand, right));
}

static inline vw vw_load(const uint16_t *p)
{
	return vld1q_u16(p);
}

static inline void vw_store(uint16_t *p, vw v)
{
	vst1q_u16(p, v);
}

static inline void vw_stream(uint16_t *p, vw v)
{
	vst1q_u16(p, v);
}

static inline vw vw_set1(int v)
{
	return vdupq_n_u16((uint16_t)v);
}

static inline vw vw_add(vw a, vw b)
{
	return vaddq_u16(a, b);
}

static inline vw vw_min(vw a, vw b)
{
	return vminq_u16(a, b);
}

static inline vw vw_sub(vw a, vw b)
{
	return vsubq_u16(a, b);
}

static inline vw vw_or(vw a, vw b)
{
	return vorrq_u16(a, b);
}

static inline vw vw_and(vw a, vw b)
{
	return vandq_u16(a, b);
}

static inline vw vw_shift_right(vw a, int n)
{
	return vshlq_u16(a, vdupq_n_s16((int16_t)-n));
}

/* Compares signed words, as in every vec_*.h. */
static inline vw vw_where_greater(vw x, vw y, vw a, vw b)
{
	return vbslq_u16(vcgtq_s16(vreinterpretq_s16_u16(x), vreinterpretq_s16_u16(y)), a, b);
}

static inline vw vw_umin(vw a, vw b)
{
	return vminq_u16(a, b);
}

static inline vw vw_umax(vw a, vw b)
{
	return vmaxq_u16(a, b);
}

static inline int vw_min_all(vw v)
{
	return vminvq_u16(v);
}

static inline vpair vpair_make(int a, int b)
{
	return (vpair){vdup_n_u8((uint8_t)a), vdup_n_u8((uint8_t)b)};
}

static inline vw2 vw2_dot(vb a, vb b, vpair weights)
{
	return (vw2){vmlal_u8(vmull_u8(vget_low_u8(a), weights.a), vget_low_u8(b), weights.b),
		     vmlal_u8(vmull_u8(vget_high_u8(a), weights.a), vget_high_u8(b), weights.b)};
}

static inline void vw2_store_in_order(uint16_t *p, vw2 v)
{
	vst1q_u16(p, v.lo);
	vst1q_u16(p + 8, v.hi);
}

static inline uint64_t vw2_mask_equal(vw2 v, vw x)
{
	static const uint8_t bits[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
	uint8x16_t m = vcombine_u8(vmovn_u16(vceqq_u16(v.lo, x)), vmovn_u16(vceqq_u16(v.hi, x)));

	m = vandq_u8(m, vld1q_u8(bits));
	return vaddv_u8(vget_low_u8(m)) | (uint64_t)vaddv_u8(vget_high_u8(m)) << 8;
}

static inline int vw2_count_below(vw2 v, vw x)
{
	uint16x8_t n = vaddq_u16(vcltq_u16(v.lo, x), vcltq_u16(v.hi, x)); /* minus one for each word below */

	return -vaddvq_s16(vreinterpretq_s16_u16(n));
}

static inline vi vi_dot(vi a, vi b)
{
	int16x8_t x = vreinterpretq_s16_s32((int32x4_t)a), y = vreinterpretq_s16_s32((int32x4_t)b);

	return (vi)vpaddq_s32(vmull_s16(vget_low_s16(x), vget_low_s16(y)), vmull_high_s16(x, y));
}

static inline vb vb_pack(vi a, vi b, vi c, vi d)
{
	uint8x16_t ab = vuzp1q_u8((uint8x16_t)a, (uint8x16_t)b), cd = vuzp1q_u8((uint8x16_t)c, (uint8x16_t)d);

	return vuzp1q_u8(ab, cd);
}

static inline vw vw_widen(const uint8_t *p)
{
	return vmovl_u8(vld1_u8(p));
}

static inline vw vw_swiden(const uint8_t *p)
{
	return vreinterpretq_u16_s16(vmovl_s8(vreinterpret_s8_u8(vld1_u8(p))));
}

static inline vb vb_snarrow(vw a, vw b)
{
	return vcombine_u8(vmovn_u16(a), vmovn_u16(b));
}

static inline vw vw_scale(vw a, vw w)
{
	return vreinterpretq_u16_s16(vqrdmulhq_s16(vreinterpretq_s16_u16(a), vreinterpretq_s16_u16(w)));
}

static inline vw vw_sadd_held(vw a, vw b)
{
	return vreinterpretq_u16_s16(vqaddq_s16(vreinterpretq_s16_u16(a), vreinterpretq_s16_u16(b)));
}

static inline vw vw_uadd_held(vw a, vw b)
{
	return vqaddq_u16(a, b);
}

static inline vw vw_smin(vw a, vw b)
{
	return vreinterpretq_u16_s16(vminq_s16(vreinterpretq_s16_u16(a), vreinterpretq_s16_u16(b)));
}

static inline vw vw_smax(vw a, vw b)
{
	return vreinterpretq_u16_s16(vmaxq_s16(vreinterpretq_s16_u16(a), vreinterpretq_s16_u16(b)));
}

static inline vw vw_sshift_right(vw a, int n)
{
	return vreinterpretq_u16_s16(vshlq_s16(vreinterpretq_s16_u16(a), vdupq_n_s16((int16_t)-n)));
}

static inline vw vw_shift_left(vw a, int n)
{
	return vshlq_u16(a, vdupq_n_s16((int16_t)n));
}

static inline vw vw_low(vw a, vw b)
{
	return vmulq_u16(a, b);
}

static inline vw vw_high(vw a, vw b)
{
	return vcombine_u16(vshrn_n_u32(vmull_u16(vget_low_u16(a), vget_low_u16(b)), 16),
			    vshrn_n_u32(vmull_u16(vget_high_u16(a), vget_high_u16(b)), 16));
}

static inline vw vw_where_equal(vw x, vw y, vw a, vw b)
{
	return vbslq_u16(vceqq_u16(x, y), a, b);
}

static inline uint64_t vw_bits_up_to(vw a, vw b, vw x)
{
	static const uint8_t bits[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
	uint8x16_t m = vcombine_u8(vmovn_u16(vcleq_u16(a, x)), vmovn_u16(vcleq_u16(b, x)));

	m = vandq_u8(m, vld1q_u8(bits));
	return vaddv_u8(vget_low_u8(m)) | (uint64_t)vaddv_u8(vget_high_u8(m)) << 8;
}
static inline vb vb_sub_held(vb a, vb b)
{
	return vqsubq_u8(a, b);
}

static inline vb vb_max(vb a, vb b)
{
	return vmaxq_u8(a, b);
}

static inline vb vb_mean(vb a, vb b)
{
	return vrhaddq_u8(a, b);
}

static inline vb vb_up(vb v)
{
	return vextq_u8(vdupq_n_u8(0), v, 15);
}

static inline vb vb_down(vb v)
{
	return vextq_u8(v, vdupq_n_u8(0), 1);
}

static inline vb vb_max_all_left(vb v)
{
	return vmvnq_u8(vdupq_n_u8(vmaxvq_u8(v)));
}

static inline int vb_first(vb v)
{
	return vgetq_lane_u8(v, 0);
}

static inline int vb_any(vb v)
{
	return vmaxvq_u32(vreinterpretq_u32_u8(v)) != 0;
}

static inline vb vb_even(vb a, vb b)
{
	return vuzp1q_u8(a, b);
}

static inline vb vb_odd(vb a, vb b)
{
	return vuzp2q_u8(a, b);
}

static inline vw2 vw2_sum(vb a, vb b, vb low)
{
	uint16x8_t lo = vshlq_n_u16(vaddl_u8(vget_low_u8(a), vget_low_u8(b)), 7);
	uint16x8_t hi = vshlq_n_u16(vaddl_high_u8(a, b), 7);

	return (vw2){vaddw_u8(lo, vget_low_u8(low)), vaddw_high_u8(hi, low)};
}

static inline vw2 vw2_down(vw2 v)
{
	return (vw2){vextq_u16(v.lo, v.hi, 1), vextq_u16(v.hi, vdupq_n_u16(0), 1)};
}

static inline int vw_umax_all(vw v)
{
	return vmaxvq_u16(v);
}

static inline int vw_first(vw v)
{
	return vgetq_lane_u16(v, 0);
}

static inline vb vb_spread8(vb v, int k)
{
	static const uint8_t first[16] = {0, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 8, 8, 8, 8, 8};

	return vqtbl1q_u8(v, vaddq_u8(vld1q_u8(first), vdupq_n_u8((uint8_t)k)));
}

static inline vb vb_swap8(vb v)
{
	return vextq_u8(v, v, 8);
}

static inline vb vb_windows8(const uint8_t *p)
{
	return vcombine_u8(vld1_u8(p + 1), vld1_u8(p));
}

static inline vb vb_bits(vb v)
{
	return vcntq_u8(v);
}

static inline void vw_turn8(vw v[8])
{
	uint32x4_t a[8];
	uint64x2_t b[8];

	for (int i = 0; i < 4; i++) {
		a[2 * i] = vreinterpretq_u32_u16(vzip1q_u16(v[2 * i], v[2 * i + 1]));
		a[2 * i + 1] = vreinterpretq_u32_u16(vzip2q_u16(v[2 * i], v[2 * i + 1]));
	}
	for (int i = 0; i < 8; i += 4)
		for (int k = 0; k < 2; k++) {
			b[i + 2 * k] = vreinterpretq_u64_u32(vzip1q_u32(a[i + k], a[i + k + 2]));
			b[i + 2 * k + 1] = vreinterpretq_u64_u32(vzip2q_u32(a[i + k], a[i + k + 2]));
		}
	for (int i = 0; i < 4; i++) {
		v[2 * i] = vreinterpretq_u16_u64(vzip1q_u64(b[i], b[i + 4]));
		v[2 * i + 1] = vreinterpretq_u16_u64(vzip2q_u64(b[i], b[i + 4]));
	}
}

static inline vb vb_before8(vb at, vb before)
{
	const uint64x2_t a = vreinterpretq_u64_u8(at), b = vreinterpretq_u64_u8(before);

	return vreinterpretq_u8_u64(vsliq_n_u64(vshrq_n_u64(b, 56), a, 8));
}

static inline vb vb_after8(vb at, vb next)
{
	const uint64x2_t a = vreinterpretq_u64_u8(at), b = vreinterpretq_u64_u8(next);

	return vreinterpretq_u8_u64(vsriq_n_u64(vshlq_n_u64(b, 56), a, 8));
}

static inline vb vb_add_held(vb a, vb b)
{
	return vqaddq_u8(a, b);
}

#include "cpu/vec/vec_turn_words.h"

static inline vb vb_least8(vb v)
{
	v = vminq_u8(v, vreinterpretq_u8_u32(vrev64q_u32(vreinterpretq_u32_u8(v))));
	v = vminq_u8(v, vreinterpretq_u8_u16(vrev32q_u16(vreinterpretq_u16_u8(v))));
	return vminq_u8(v, vrev16q_u8(v));
}

static inline void vb_turn_groups(vb v[2])
{
	const uint64x2_t a = vreinterpretq_u64_u8(v[0]), b = vreinterpretq_u64_u8(v[1]);

	v[0] = vreinterpretq_u8_u64(vzip1q_u64(a, b));
	v[1] = vreinterpretq_u8_u64(vzip2q_u64(a, b));
}

#endif
