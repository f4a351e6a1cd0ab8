/*
 * Vectors of 16 bytes by the vector extensions that compilers offer on every machine. vec_avx2.h describes
 * the operations.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_VEC_VEC_PLAIN_H
#define SX_CPU_VEC_VEC_PLAIN_H

#include <stdint.h>
#include <string.h>

#define SX_VEC_PLAIN /* see vec_inline.h */
#define VEC_BYTES 16
#define VEC_PLANE_BITS 8

typedef uint8_t vb __attribute__((vector_size(16)));
typedef int16_t vw __attribute__((vector_size(16)));
typedef uint16_t vec_u16 __attribute__((vector_size(16)));
typedef uint8_t vec_half __attribute__((vector_size(8)));
typedef struct {
	vw lo, hi;
} vw2;
typedef struct {
	vw a, b;
} vpair;
typedef int32_t vi __attribute__((vector_size(16)));
typedef uint32_t vu __attribute__((vector_size(16)));
typedef float vf __attribute__((vector_size(16)));

/* gcc has clang's shuffle since version 12; its own, older shuffle takes the order as a vector. */
#if defined(__clang__) || __GNUC__ >= 12
#define VEC_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define VEC_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (vb){__VA_ARGS__})
#endif

static inline vb vb_load(const uint8_t *p)
{
	vb v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline void vb_store(uint8_t *p, vb v)
{
	memcpy(p, &v, sizeof(v));
}

static inline void vb_stream(uint8_t *p, vb v)
{
	vb_store(p, v);
}

static inline vb vb_set1(int v)
{
	uint8_t b = (uint8_t)v;

	return (vb){b, b, b, b, b, b, b, b, b, b, b, b, b, b, b, b};
}

static inline vb vb_add(vb a, vb b)
{
	return a + b;
}

static inline vb vb_sub(vb a, vb b)
{
	return a - b;
}

static inline vb vb_min(vb a, vb b)
{
	vb less = (vb)(a < b);

	return (a & less) | (b & ~less);
}

static inline vb vb_or(vb a, vb b)
{
	return a | b;
}

static inline vb vb_greater(vb a, vb b)
{
	return (vb)(a > b) & vb_set1(1);
}

static inline vb vb_prev(vb prev, vb cur)
{
	return VEC_SHUFFLE(prev, cur, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
}

static inline vb vb_next(vb cur, vb next)
{
	return VEC_SHUFFLE(cur, next, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
}

static inline vb vb_min_all(vb v)
{
	v = vb_min(v, VEC_SHUFFLE(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
	v = vb_min(v, VEC_SHUFFLE(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11));
	v = vb_min(v, VEC_SHUFFLE(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
	v = vb_min(v, VEC_SHUFFLE(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14));
	return v;
}

static inline vb vb_reverse(vb v)
{
	return VEC_SHUFFLE(v, v, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
}

static inline vb vb_plane(vb v, int high)
{
	(void)high;
	return v;
}

static inline vb vb_operand(unsigned plane)
{
	return vb_set1((int)plane);
}

static inline vb vb_distance(vb operand, vb right)
{
	vec_u16 x = (vec_u16)(operand ^ right);

	x -= (x >> 1) & 0x5555;
	x = (x & 0x3333) + ((x >> 2) & 0x3333);
	return (vb)((x + (x >> 4)) & 0x0f0f);
}

static inline vw vw_load(const uint16_t *p)
{
	vw v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline void vw_store(uint16_t *p, vw v)
{
	memcpy(p, &v, sizeof(v));
}

static inline void vw_stream(uint16_t *p, vw v)
{
	vw_store(p, v);
}

static inline vw vw_set1(int v)
{
	int16_t w = (int16_t)v;

	return (vw){w, w, w, w, w, w, w, w};
}

/* vw_add() and vw_sub() are modulo 2^16, as the instructions of other sets are. */
static inline vw vw_add(vw a, vw b)
{
	return (vw)((vec_u16)a + (vec_u16)b);
}

static inline vw vw_sub(vw a, vw b)
{
	return (vw)((vec_u16)a - (vec_u16)b);
}

static inline vw vw_or(vw a, vw b)
{
	return a | b;
}

static inline vw vw_and(vw a, vw b)
{
	return a & b;
}

static inline vw vw_shift_right(vw a, int n)
{
	return (vw)((vec_u16)a >> n);
}

static inline vw vw_where_greater(vw x, vw y, vw a, vw b)
{
	vw m = x > y;

	return (a & m) | (b & ~m);
}

static inline vw vw_min(vw a, vw b)
{
	return vw_where_greater(a, b, b, a);
}

static inline vw vw_umin(vw a, vw b)
{
	vw m = (vw)((vec_u16)a < (vec_u16)b);

	return (a & m) | (b & ~m);
}

static inline vw vw_umax(vw a, vw b)
{
	vw m = (vw)((vec_u16)a < (vec_u16)b);

	return (b & m) | (a & ~m);
}

static inline int vw_min_all(vw v)
{
	vb b = (vb)v;

	v = vw_umin(v, (vw)VEC_SHUFFLE(b, b, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
	b = (vb)v;
	v = vw_umin(v, (vw)VEC_SHUFFLE(b, b, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11));
	return (uint16_t)v[0] < (uint16_t)v[1] ? (uint16_t)v[0] : (uint16_t)v[1];
}

static inline vpair vpair_make(int a, int b)
{
	return (vpair){vw_set1(a), vw_set1(b)};
}

static inline vw vec_low(vb v)
{
	vec_half half;

	memcpy(&half, &v, sizeof(half));
	return __builtin_convertvector(half, vw);
}

static inline vw vec_high(vb v)
{
	vec_half half;

	memcpy(&half, (const uint8_t *)&v + sizeof(half), sizeof(half));
	return __builtin_convertvector(half, vw);
}

static inline vw2 vw2_dot(vb a, vb b, vpair weights)
{
	return (vw2){vec_low(a) * weights.a + vec_low(b) * weights.b,
		     vec_high(a) * weights.a + vec_high(b) * weights.b};
}

static inline void vw2_store_in_order(uint16_t *p, vw2 v)
{
	vw_store(p, v.lo);
	vw_store(p + 8, v.hi);
}

/* Packs one byte of each word of two comparisons, which are 0 or -1, in order, into two times 8 bytes. */
static inline void vec_bytes(vw lo, vw hi, vb select, uint64_t bytes[2])
{
	vb m = VEC_SHUFFLE((vb)lo, (vb)hi, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);

	m &= select;
	memcpy(bytes, &m, sizeof(m));
}

static inline uint64_t vec_sum(uint64_t bytes)
{
	return bytes * UINT64_C(0x0101010101010101) >> 56;
}

static inline uint64_t vw2_mask_equal(vw2 v, vw x)
{
	const vb bits = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
	uint64_t b[2];

	vec_bytes(v.lo == x, v.hi == x, bits, b);
	return vec_sum(b[0]) | vec_sum(b[1]) << 8;
}

static inline int vw2_count_below(vw2 v, vw x)
{
	uint64_t b[2];

	vec_bytes(v.lo < x, v.hi < x, vb_set1(1), b);
	return (int)vec_sum(b[0] + b[1]);
}

static inline vi vi_dot(vi a, vi b)
{
	return (a << 16 >> 16) * (b << 16 >> 16) + (a >> 16) * (b >> 16);
}

static inline vb vb_pack(vi a, vi b, vi c, vi d)
{
	vb ab = VEC_SHUFFLE((vb)a, (vb)b, 0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28);
	vb cd = VEC_SHUFFLE((vb)c, (vb)d, 0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28);

	return VEC_SHUFFLE(ab, cd, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
}

typedef uint32_t vec_u32 __attribute__((vector_size(16)));
typedef int16_t vec_words_half __attribute__((vector_size(8)));
typedef int8_t vec_signed_half __attribute__((vector_size(8)));

static inline vw vw_widen(const uint8_t *p)
{
	vec_half half;

	memcpy(&half, p, sizeof(half));
	return __builtin_convertvector(half, vw);
}

static inline vw vw_swiden(const uint8_t *p)
{
	vec_signed_half half;

	memcpy(&half, p, sizeof(half));
	return __builtin_convertvector(half, vw);
}

static inline vb vb_snarrow(vw a, vw b)
{
	vec_half half[2] = {__builtin_convertvector(a, vec_half), __builtin_convertvector(b, vec_half)};
	vb v;

	memcpy(&v, half, sizeof(v));
	return v;
}

static inline vi vi_widen_words(const uint16_t *p)
{
	vec_words_half half;

	memcpy(&half, p, sizeof(half));
	return __builtin_convertvector(half, vi);
}

/* Joins the words of two halves. */
static inline vw vec_join(vi a, vi b)
{
	vec_words_half half[2] = {__builtin_convertvector(a, vec_words_half),
				  __builtin_convertvector(b, vec_words_half)};
	vw v;

	memcpy(&v, half, sizeof(v));
	return v;
}

static inline void vec_split(vw v, vi half[2])
{
	uint16_t words[8];

	memcpy(words, &v, sizeof(v));
	half[0] = vi_widen_words(words);
	half[1] = vi_widen_words(words + 4);
}

static inline vi vec_clamp(vi v, int least, int most)
{
	vi below = v<least, above = v> most;

	return (v & ~(below | above)) | (below & least) | (above & most);
}

static inline vw vw_scale(vw a, vw w)
{
	vi x[2], y[2];

	vec_split(a, x);
	vec_split(w, y);
	return vec_join((x[0] * y[0] + 16384) >> 15, (x[1] * y[1] + 16384) >> 15);
}

static inline vw vw_sadd_held(vw a, vw b)
{
	vi x[2], y[2];

	vec_split(a, x);
	vec_split(b, y);
	return vec_join(vec_clamp(x[0] + y[0], INT16_MIN, INT16_MAX),
			vec_clamp(x[1] + y[1], INT16_MIN, INT16_MAX));
}

static inline vw vw_uadd_held(vw a, vw b)
{
	vec_u16 sum = (vec_u16)a + (vec_u16)b;

	return (vw)sum | (vw)(sum < (vec_u16)a);
}

static inline vw vw_smin(vw a, vw b)
{
	return vw_min(a, b);
}

static inline vw vw_smax(vw a, vw b)
{
	return vw_where_greater(a, b, a, b);
}

static inline vw vw_sshift_right(vw a, int n)
{
	return a >> n;
}

static inline vw vw_shift_left(vw a, int n)
{
	return (vw)((vec_u16)a << n);
}

static inline vw vw_low(vw a, vw b)
{
	return (vw)((vec_u16)a * (vec_u16)b);
}

static inline vw vw_high(vw a, vw b)
{
	vi x[2], y[2];

	vec_split(a, x);
	vec_split(b, y);
	for (int i = 0; i < 2; i++)
		x[i] = (vi)((vec_u32)(x[i] & 0xffff) * (vec_u32)(y[i] & 0xffff) >> 16);
	return vec_join(x[0], x[1]);
}

static inline vw vw_where_equal(vw x, vw y, vw a, vw b)
{
	vw m = x == y;

	return (a & m) | (b & ~m);
}

static inline uint64_t vw_bits_up_to(vw a, vw b, vw x)
{
	const vb bits = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
	uint64_t bytes[2];

	vec_bytes((vw)((vec_u16)a <= (vec_u16)x), (vw)((vec_u16)b <= (vec_u16)x), bits, bytes);
	return vec_sum(bytes[0]) | vec_sum(bytes[1]) << 8;
}
static inline vb vb_max(vb a, vb b)
{
	vb less = (vb)(a < b);

	return (b & less) | (a & ~less);
}

static inline vb vb_sub_held(vb a, vb b)
{
	return (a - b) & (vb)(a > b);
}

static inline vb vb_mean(vb a, vb b)
{
	return (a | b) - (((a ^ b) >> 1) & vb_set1(127));
}

static inline vb vb_up(vb v)
{
	return vb_prev(vb_set1(0), v);
}

static inline vb vb_down(vb v)
{
	return vb_next(v, vb_set1(0));
}

static inline vb vb_max_all_left(vb v)
{
	return vb_min_all(~v);
}

static inline int vb_first(vb v)
{
	return v[0];
}

static inline int vb_any(vb v)
{
	uint64_t half[2];

	memcpy(half, &v, sizeof(half));
	return (half[0] | half[1]) != 0;
}

static inline vb vb_even(vb a, vb b)
{
	return VEC_SHUFFLE(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
}

static inline vb vb_odd(vb a, vb b)
{
	return VEC_SHUFFLE(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
}

static inline vw2 vw2_sum(vb a, vb b, vb low)
{
	return (vw2){(vw)((vec_u16)(vec_low(a) + vec_low(b)) << 7) + vec_low(low),
		     (vw)((vec_u16)(vec_high(a) + vec_high(b)) << 7) + vec_high(low)};
}

static inline vw2 vw2_down(vw2 v)
{
	vb lo = (vb)v.lo, hi = (vb)v.hi;

	return (vw2){(vw)VEC_SHUFFLE(lo, hi, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17),
		     (vw)vb_down(vb_down(hi))};
}

static inline int vw_umax_all(vw v)
{
	return ~vw_min_all(~v) & 0xffff;
}

static inline int vw_first(vw v)
{
	return (uint16_t)v[0];
}

static inline vb vb_spread8(vb v, int k)
{
	uint64_t group[2];

	for (int i = 0; i < 2; i++)
		group[i] = v[8 * i + k] * UINT64_C(0x0101010101010101);
	memcpy(&v, group, sizeof(v));
	return v;
}

static inline vb vb_swap8(vb v)
{
	return VEC_SHUFFLE(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
}

static inline vb vb_windows8(const uint8_t *p)
{
	vb v;

	memcpy(&v, p + 1, 8);
	memcpy((uint8_t *)&v + 8, p, 8);
	return v;
}

static inline vb vb_bits(vb v)
{
	return vb_distance(v, vb_set1(0));
}

static inline void vw_turn8(vw v[8])
{
	int16_t a[8][8], b[8][8];

	memcpy(a, v, sizeof(a));
	for (int i = 0; i < 8; i++)
		for (int k = 0; k < 8; k++)
			b[k][i] = a[i][k];
	memcpy(v, b, sizeof(b));
}

static inline vb vb_before8(vb at, vb before)
{
	return VEC_SHUFFLE(at, before, 23, 0, 1, 2, 3, 4, 5, 6, 31, 8, 9, 10, 11, 12, 13, 14);
}

static inline vb vb_after8(vb at, vb next)
{
	return VEC_SHUFFLE(at, next, 1, 2, 3, 4, 5, 6, 7, 16, 9, 10, 11, 12, 13, 14, 15, 24);
}

static inline vb vb_add_held(vb a, vb b)
{
	vb sum = a + b;

	return sum | (vb)(sum < a);
}

#include "cpu/vec/vec_turn_words.h"

static inline vb vb_least8(vb v)
{
	v = vb_min(v, VEC_SHUFFLE(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11));
	v = vb_min(v, VEC_SHUFFLE(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
	return vb_min(v, VEC_SHUFFLE(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14));
}

static inline void vb_turn_groups(vb v[2])
{
	const vb a = v[0], b = v[1];

	v[0] = VEC_SHUFFLE(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
	v[1] = VEC_SHUFFLE(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
}

#endif
