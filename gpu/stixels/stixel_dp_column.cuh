/*
 * The stixel DP (stixel_dp.cu), first: tables as the device has them, what a block of threads knows of its
 * column, the cost of an object from one start row to one top row, and what a row hands on to the next.
 * Meaning: stages/stixels/stixel_dp.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STIXELS_STIXEL_DP_COLUMN_CUH
#define SX_GPU_STIXELS_STIXEL_DP_COLUMN_CUH

#include <stixel.h>

#include "gpu/cuda.cuh"
#include "gpu/frame.h"
#include "stages/stixels/stixel_dp.h"

#ifdef SX_EMULATE
#include <math.h>
#endif

/*
 * Where tables are. NEAR: in shared memory. FAR: those that grow with the height in scratch, so that more
 * blocks fit a multiprocessor. DIVIDED: as NEAR, but means are by division, as floats are not exact. LARGE:
 * that, and the slab, which grows with the range, is in scratch, too; for any size.
 */
enum dp_place { DP_NEAR, DP_FAR, DP_DIVIDED, DP_LARGE };

#define DP_INLINE static __device__ __forceinline__
#define DP_ALL 0xffffffffu
#define DP_ROWS 32	 /* rows of a block: one lane each */
#define DP_ROWS_MAX 2176 /* 2160 and what fills a block */
#define DP_WARPS_MAX 8
#define DP_STRIDE 8 /* of the rows of prefix sums that are always kept */
/*
 * Illegal, as SX_DP_INF. No legal cost exceeds 0x1c000000 in size (the object from row 0 is always legal, 46
 * nats a row), so one illegal summand is above any legal cost and two do not overflow.
 */
#define DP_ILLEGAL 0x3fffffff
#define DP_LEGAL_MAX 0x30000000
#define DP_NEVER (-0x3fffffff)
#define DP_EXCLUDED 0x60000000 /* above any limit, whatever legal is added */
/* In dp_order.lo: the lower object may carry sky. */
#define DP_UNDER_SKY 0x8000u

enum { DP_GROUND = STIXEL_GROUND, DP_OBJECT = STIXEL_OBJECT, DP_SKY = STIXEL_SKY };

/* Selectors of __byte_perm(): a 16-bit half of the first word below one of the second. */
#define DP_LOW_LOW 0x5410
#define DP_HIGH_LOW 0x5432
#define DP_LOW_HIGH 0x7610
#define DP_HIGH_HIGH 0x7632

/* sx_dp_order in 8 bytes: costs less the least of their kind, which are in dp_tables. */
struct __align__(8) dp_order
{
	uint16_t hi, lo, cost_hi, cost_lo;
};

/*
 * Made at create. object: [D + 2][D + 1]; row D: invalid cells, row D + 1: zero (beyond the top); column D as
 * D - 1.
 */
struct dp_tables {
	int height, range, epsilon_q4, width;
	const int32_t *object, *object_min;
	const struct dp_order *order;
	int32_t order_hi, order_lo;
	const int32_t *base_ground, *precision_ground, *length, *gravity_above, *gravity_below;
	const float *reciprocal; /* [height + 1]: 1 / (16 n), rounded up; 0 at 0 */
	int32_t base_sky, precision_sky, uniform_ground, uniform_sky;
	int32_t valid_ground, valid_sky, invalid_ground, invalid_sky;
	int32_t gravity_on, object_on_sky, ground_next, object_next, ln2;
	int32_t first_ground, first_object, first_object_low;
};

/*
 * A start row for pairs with higher tops: costs of what lies below plus prior, by thresholds on the new mean:
 * on an object (hi | lo << 16; between: illegal), on the base: ground below the horizon, else sky. Row 0 is
 * illegal.
 */
struct __align__(16) dp_start
{
	uint32_t object_limits;
	int32_t object_above, object_below, base_hi;
	int32_t base_lo, base_above, base_on, base_below;
};

/*
 * What the triangle needs of a start row that does not depend on costs. P: prefix of ground (below vhor) and
 * sky.
 */
struct __align__(16) dp_step
{
	int32_t object; /* prior on an object, with the least order cost of cost_hi */
	int32_t offer;	/* ground on anything, or sky on an object; less P[v] */
	int32_t after;	/* P[v + 1] */
	int32_t hi, lo, cost_on, cost_hi, cost_lo;
};

/*
 * The pairs of a block's start rows and tops, without waste: start row k <= 16 has entries k .. 31 of line k,
 * by top; k > 16 has the first entries of line 32 - k, from top k on. Row 16 is in line 16 both ways.
 */
#define DP_LINES (DP_ROWS / 2 + 1)
struct dp_pairs {
	int2 pair[DP_LINES * DP_ROWS];	  /* mean | start row << 16, data cost */
	int32_t base[DP_LINES * DP_ROWS]; /* data cost and prior on the base */
};

/*
 * Start rows of earlier blocks that matter to a block, with as many zeros as fill a group, and each warp's
 * best object of them. Everybody has read these before the next block's pairs are prepared, so they are where
 * those will be.
 */
struct dp_candidates {
	uint16_t list[DP_ROWS_MAX + 8];
	int2 best_of_warp[DP_WARPS_MAX * 32];
};

/* Shared memory of fixed size; two of what is prepared for the next block. */
struct dp_fixed {
	struct dp_pairs pairs[2];
	struct dp_step step[2 * DP_ROWS];
	int32_t sky_on_ground; /* prior at the horizon, less P of it */
	int32_t prefix, least, most, slack, column, vhor, unseen;
};

/* Dynamic shared memory and global scratch of one block, in bytes. tables: of those in scratch instead. */
struct dp_layout {
	int slab, sum, reciprocal, excess, reach, from, shared, tables;
	size_t rows, anchor, start, cheap, table_row, scratch;
};

/* What a block knows while it works on a column; lives in registers. */
struct dp_column {
	int height, blocks, vhor, span, least, lane, warp; /* span: means from least on */
	int32_t shift_q4;				   /* ground here, less that at the axis */
	int shift; /* of these sums rows has every 2^shift-th row, nothing if that is DP_STRIDE */
	struct dp_fixed *fixed;
	int32_t *slab, *excess, *reach;
	int2 *sum;
	const float *reciprocal;
	/* start row of the object | that of ground or sky << 16, DP_ON_GROUND: of which ground is below */
	uint32_t *from;
	const struct dp_order *order;
	int32_t order_gap; /* least order cost of cost_lo, less that of cost_hi */
	/* global */
	int32_t *rows, *cheap, *table_row;
	/* prefix sums of the object table below rows 8, 16, 24 and 32 of a block, [block][fn] */
	int4 *anchor;
	struct dp_start *start;
	const int32_t *object, *axis_q4; /* axis: ground there */
};

#define DP_ON_GROUND 0x8000u

DP_INLINE struct dp_candidates *dp_candidates_of(const struct dp_column &c, int block)
{
	static_assert(sizeof(struct dp_candidates) <= sizeof(struct dp_pairs), "one lies in the other");
	return (struct dp_candidates *)&c.fixed->pairs[(block + 1) & 1];
}

DP_INLINE int dp_min(int a, int b)
{
	return a < b ? a : b;
}

DP_INLINE int dp_max(int a, int b)
{
	return a > b ? a : b;
}

DP_INLINE int dp_clamp(int x, int lo, int hi)
{
	return dp_min(dp_max(x, lo), hi);
}

/* Ground of the column. */
DP_INLINE int dp_ground(const struct dp_column &c, int v)
{
	return c.axis_q4[v] + c.shift_q4;
}

DP_INLINE int dp_warp_min(int x)
{
#if defined(SX_EMULATE) || __CUDA_ARCH__ < 800
	for (int i = 16; i; i >>= 1)
		x = dp_min(x, __shfl_xor_sync(DP_ALL, x, i));
	return x;
#else
	return __reduce_min_sync(DP_ALL, x);
#endif
}

DP_INLINE int dp_warp_max(int x)
{
	return -dp_warp_min(-x);
}

/* ---- mean of a pair ---- */

/*
 * Means without a division where sums are exact in float (see dp_fits_float() in stixel_dp.cu): with the
 * reciprocal rounded up, floor(x / n) lies in the low bits of x * (1 / 16 n) + 2^19, in sixteenths, rounded
 * down; the same with 2^23 gives whole px. fn counts from the least fn of the column, so that no valid cell
 * means 0. Sums over rows below v, of n valid cells that add up to s: x: s + 8 n - 16 least n, a float or an
 * integer; what the mean needs, s + n / 2, follows from x and n y: bits of the float 2^21 + n, so 4 n and a
 * constant as an integer FLOATS: mean comes with DP_MEAN0, fn with DP_FN0 (dp_bias); else they come as they
 * are
 */
#define DP_NO_CELLS 0x4a000000
template <bool FLOATS> struct dp_bias {
	static const int mean = FLOATS ? 0x49000000 : 0, fn = FLOATS ? 0x4b000000 : 0;
};

struct dp_mean {
	int mean, fn; /* with their bias */
};

/* floor(x * r * 2^-ulp) + bits of the float whose last place is 2^ulp */
DP_INLINE int dp_scaled(float x, float r, float magic)
{
#ifdef SX_EMULATE
	const double ulp = magic > 1e6f ? 1.0 : 0.0625; /* the product of two floats is exact in double */

	return (magic > 1e6f ? 0x4b000000 : 0x49000000) + (int)floor((double)x * (double)r / ulp);
#else
	return __float_as_int(__fmaf_rd(x, r, magic));
#endif
}

/* a * b + c, all of it exact. */
DP_INLINE float dp_exact(float a, float b, float c)
{
#ifdef SX_EMULATE
	return a * b + c;
#else
	return __fmaf_rn(a, b, c);
#endif
}

/* Of the rows between two sums. */
template <bool FLOATS> DP_INLINE struct dp_mean dp_mean_of(const struct dp_column &c, int2 upto, int2 below)
{
	const int n4 = upto.y - below.y, twice = 32 * c.least - 15;
	struct dp_mean m;

	if (FLOATS) {
		const float r = *(const float *)((const char *)c.reciprocal + n4),
			    n = __int_as_float(upto.y) - __int_as_float(below.y),
			    x = __int_as_float(upto.x) - __int_as_float(below.x);

		m.fn = dp_scaled(x, r, 8388608.0f);
		m.mean = dp_scaled(dp_exact(n, 0.5f * (float)twice, x), r, 524288.0f);
	} else {
		const uint32_t d = (uint32_t)dp_max(n4, 4);
		const int x = upto.x - below.x;

		m.fn = (int)((uint32_t)x / (4 * d));
		m.mean = (int)((uint32_t)(2 * x + (n4 >> 2) * twice) * 2 / d);
	}
	return m;
}

/* A top row, in registers: its sums, its row of the slab. */
struct dp_top {
	int2 sum;
	const int32_t *slab;
};

DP_INLINE struct dp_top dp_top_of(const struct dp_column &c, int block)
{
	const struct dp_top t = {c.sum[DP_ROWS * block + c.lane + 1], c.slab + c.lane + 1};

	return t;
}

/* Prefix of the object costs up to and including the top row, for a mean. */
template <bool FLOATS> DP_INLINE int32_t dp_slab(const struct dp_top &t, int fn)
{
	return t.slab[(fn - dp_bias<FLOATS>::fn) * (DP_ROWS + 1)];
}

/* Keep the compiler from taking a pointer's sum apart again, and from moving what follows from an integer. */
#ifdef SX_EMULATE
#define DP_OPAQUE(pointer) (void)(pointer)
#define DP_OPAQUE_INT(x) (void)(x)
#else
#define DP_OPAQUE(pointer) asm("" : "+l"(pointer))
#define DP_OPAQUE_INT(x) asm volatile("" : "+r"(x))
#endif

/*
 * Prefix of the object costs below row v of an earlier block: the row that is kept, and the cells from there
 * to v, of which there are MOST at the most: as c.shift has it, or always DP_STRIDE - 1.
 */
template <int MOST> DP_INLINE int32_t dp_prefix(const struct dp_column &c, int v, int fn)
{
	const int rest = v & MOST, at = v / DP_STRIDE - 1;
	const int32_t *table_row = c.table_row + (v - rest), *object = c.object + fn;
	int32_t sum = 0;

	DP_OPAQUE(object);
	if (MOST < DP_STRIDE - 1)
		sum = c.rows[v / (MOST + 1) * c.span + fn];
	else if (at >= 0)
		sum = ((const int32_t *)c.anchor)[((at >> 2) * c.span + fn) * 4 + (at & 3)];
#pragma unroll
	for (int i = 0; i < MOST; i++)
		sum += i < rest ? __ldg(object + table_row[i]) : 0;
	return sum;
}

/* bias: that of the mean. */
DP_INLINE int32_t dp_prior_on_object(const struct dp_start &s, int mean, int bias)
{
	const int hi = (int)__byte_perm(s.object_limits, (uint32_t)bias, DP_LOW_HIGH),
		  lo = (int)__byte_perm(s.object_limits, (uint32_t)bias, DP_HIGH_HIGH);

	return mean > hi ? s.object_above : mean < lo ? s.object_below : DP_ILLEGAL;
}

DP_INLINE int32_t dp_prior(const struct dp_start &s, int mean, int bias)
{
	const int32_t on_base = mean > s.base_hi ? s.base_above : mean < s.base_lo ? s.base_below : s.base_on;

	return dp_min(dp_prior_on_object(s, mean, bias), on_base);
}

/* The start row in two loads, whatever will be needed of it. */
DP_INLINE struct dp_start dp_start_at(const struct dp_column &c, int v)
{
	const int4 a = ((const int4 *)(c.start + v))[0], b = ((const int4 *)(c.start + v))[1];
	struct dp_start s;

	s.object_limits = (uint32_t)a.x;
	s.object_above = a.y;
	s.object_below = a.z;
	s.base_hi = a.w;
	s.base_lo = b.x;
	s.base_above = b.y;
	s.base_on = b.z;
	s.base_below = b.w;
	return s;
}

/*
 * Cost of the object that starts at row v, a row of an earlier block, and ends at the lane's top. MOST:
 * dp_prefix.
 */
template <bool FLOATS, int MOST>
DP_INLINE int32_t dp_object(const struct dp_column &c, const struct dp_top &t, const struct dp_start &s,
			    int v)
{
	const struct dp_mean m = dp_mean_of<FLOATS>(c, t.sum, c.sum[v]);

	return dp_prior(s, m.mean, dp_bias<FLOATS>::mean) + dp_slab<FLOATS>(t, m.fn) -
	       dp_prefix<MOST>(c, v, m.fn - dp_bias<FLOATS>::fn);
}

/* ---- the state of the recurrence ---- */

/* The order row of a lower object, packed: hi | lo << 16, cost_hi | cost_lo << 16. */
struct dp_lower {
	uint32_t limits, costs;
};

DP_INLINE struct dp_lower dp_lower_of(const struct dp_order *order, int mean)
{
	const uint2 x = __ldg((const uint2 *)(order + mean));
	const struct dp_lower l = {x.x, x.y};

	return l;
}

/*
 * What a row hands on: its costs of object and base, the object's order row, and the cheapest ground or sky
 * offer so far. run_from: where the offer is from, as dp_column.from; kept from block to block only.
 */
struct dp_carry {
	int32_t object, base, run;
	uint32_t run_from;
	struct dp_lower lower;
};

/* Prior and lower object's cost of row v on an object. pair: mean | v << 16. */
DP_INLINE int32_t dp_on_object(const struct dp_column &c, const struct dp_lower &l, int pair, int v,
			       int32_t object, const struct dp_step &s)
{
	const int hi = (int)__byte_perm(l.limits, (uint32_t)v, DP_LOW_LOW),
		  lo = (int)__byte_perm(l.limits & ~(DP_UNDER_SKY << 16), (uint32_t)v, DP_HIGH_LOW);
	const int32_t on = object + s.object, above = on + (int32_t)(l.costs & 0xffffu),
		      below = on + (c.order_gap + (int32_t)(l.costs >> 16));

	return pair > hi ? above : pair < lo ? below : DP_ILLEGAL;
}

#endif
