/*
 * Vectors of 32-bit integers by the vector extensions that compilers offer on every machine. vec32_avx2.h
 * describes the operations.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_VEC_VEC32_PLAIN_H
#define SX_CPU_VEC_VEC32_PLAIN_H

#include <stdint.h>
#include <string.h>

#define VI_LANES 4
typedef int32_t vi __attribute__((vector_size(16)));
typedef float vi_float __attribute__((vector_size(16)));

static inline vi vi_load(const int32_t *p)
{
	vi v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline void vi_store(int32_t *p, vi v)
{
	memcpy(p, &v, sizeof(v));
}

static inline vi vi_set1(int32_t x)
{
	return (vi){x, x, x, x};
}

static inline vi vi_count(void)
{
	return (vi){0, 1, 2, 3};
}

static inline vi vi_add(vi a, vi b)
{
	return a + b;
}

static inline vi vi_sub(vi a, vi b)
{
	return a - b;
}

static inline vi vi_mul(vi a, vi b)
{
	return a * b;
}

static inline vi vi_shift_right(vi a, int n)
{
	return a >> n;
}

static inline vi vi_greater(vi a, vi b)
{
	return (vi)(a > b);
}

static inline vi vi_and(vi a, vi b)
{
	return a & b;
}

static inline vi vi_where(vi mask, vi a, vi b)
{
	return (mask & a) | (~mask & b);
}

static inline vi vi_min(vi a, vi b)
{
	return vi_where(vi_greater(b, a), a, b);
}

static inline vi vi_max(vi a, vi b)
{
	return vi_where(vi_greater(a, b), a, b);
}

static inline vi vi_gather(const int32_t *base, vi index)
{
	return (vi){base[index[0]], base[index[1]], base[index[2]], base[index[3]]};
}

static inline vi vi_divide(vi a, vi b)
{
	return __builtin_convertvector(
		__builtin_convertvector(a, vi_float) / __builtin_convertvector(b, vi_float), vi);
}

static inline int32_t vi_least(vi a)
{
	int32_t x = a[0] < a[1] ? a[0] : a[1], y = a[2] < a[3] ? a[2] : a[3];

	return x < y ? x : y;
}

static inline unsigned vi_bits(vi mask)
{
	return (unsigned)((mask[0] & 1) | (mask[1] & 2) | (mask[2] & 4) | (mask[3] & 8));
}

#endif
