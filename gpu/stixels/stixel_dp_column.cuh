/*
 * The stixel DP (stixel_dp.cu), first part: tables in the layout of the device, a block's state of its
 * column, the cost of an object from one start row to one top row, and the values that a row passes to the
 * next row. stages/stixels/stixel_dp.h defines the results.
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
 * Place of the tables. NEAR: in shared memory. FAR: tables that grow with the height are in scratch, so that
 * more blocks fit a multiprocessor. DIVIDED: as NEAR, but means are divided, because floats are not exact.
 * LARGE: as DIVIDED, and the slab, which grows with the range, is in scratch too; works for any size.
 */
enum dp_place { DP_NEAR, DP_FAR, DP_DIVIDED, DP_LARGE };

#define DP_INLINE static __device__ __forceinline__
#define DP_ALL 0xffffffffu
#define DP_ROWS 32	 /* rows of a block, one lane each */
#define DP_ROWS_MAX 2176 /* 2160, and the rest of the last block */
#define DP_WARPS_MAX 8
#define DP_STRIDE 8 /* distance of the rows of prefix sums that are always kept */
/*
 * Illegal cost, as SX_DP_INF. The size of a legal cost is at most 0x1c000000 (the object from row 0 is always
 * legal, 46 nats per row). So one illegal summand is above any legal cost, and two illegal summands do not
 * overflow.
 */
#define DP_ILLEGAL 0x3fffffff
#define DP_LEGAL_MAX 0x30000000
#define DP_NEVER (-0x3fffffff)
#define DP_EXCLUDED 0x60000000 /* above any limit, with any legal value added */
/* Bit of dp_order.lo: sky may lie on the lower object. */
#define DP_UNDER_SKY 0x8000u

enum { DP_GROUND = STIXEL_GROUND, DP_OBJECT = STIXEL_OBJECT, DP_SKY = STIXEL_SKY };

/*
 * Selectors of __byte_perm(): a 16-bit half of the first word in the low half, one of the second word in the
 * high half.
 */
#define DP_LOW_LOW 0x5410
#define DP_HIGH_LOW 0x5432
#define DP_LOW_HIGH 0x7610
#define DP_HIGH_HIGH 0x7632

/* sx_dp_order in 8 bytes. Costs are minus the least cost of their kind, which is in dp_tables. */
struct __align__(8) dp_order
{
	uint16_t hi, lo, cost_hi, cost_lo;
};

/*
 * Tables made by create. object: [D + 2][D + 1]. Row D: invalid cells. Row D + 1: zero (beyond the top).
 * Column D equals column D - 1.
 */
struct dp_tables {
	int height, range, epsilon_q4, width;
	const int32_t *object, *object_min;
	const struct dp_order *order;
	int32_t order_hi, order_lo;
	const int32_t *base_ground, *precision_ground, *length, *gravity_above, *gravity_below;
	const float *reciprocal; /* [height + 1]: 1 / (16 n), rounded up; 0 for n = 0 */
	int32_t base_sky, precision_sky, uniform_ground, uniform_sky;
	int32_t valid_ground, valid_sky, invalid_ground, invalid_sky;
	int32_t gravity_on, object_on_sky, ground_next, object_next, ln2;
	int32_t first_ground, first_object, first_object_low;
};

/*
 * Start row for pairs with higher tops: costs of the segment below plus prior, by thresholds on the new mean.
 * object_*: on an object (limits hi | lo << 16; between them: illegal). base_*: on the base, which is ground
 * below the horizon and sky above. Row 0 is illegal.
 */
struct __align__(16) dp_start
{
	uint32_t object_limits;
	int32_t object_above, object_below, base_hi;
	int32_t base_lo, base_above, base_on, base_below;
};

/*
 * Values of a start row for the triangle that do not depend on costs. P: prefix sum of ground (below vhor)
 * and sky.
 */
struct __align__(16) dp_step
{
	int32_t object; /* prior on an object, with the least order cost of cost_hi */
	int32_t offer;	/* ground on anything, or sky on an object; minus P[v] */
	int32_t after;	/* P[v + 1] */
	int32_t hi, lo, cost_on, cost_hi, cost_lo;
};

/*
 * Pairs of a block's start rows and tops, packed. Start row k <= 16 has entries k .. 31 of line k, by top.
 * Start row k > 16 has the first entries of line 32 - k, from top k on. Row 16 is in line 16 both ways.
 */
#define DP_LINES (DP_ROWS / 2 + 1)
struct dp_pairs {
	int2 pair[DP_LINES * DP_ROWS];	  /* mean | start row << 16, data cost */
	int32_t base[DP_LINES * DP_ROWS]; /* data cost and prior on the base */
};

/*
 * Start rows of earlier blocks that matter to a block, with zeros to fill a group, and the best of their
 * objects in each warp. All warps read these before the next block's pairs are prepared, so they use the
 * memory of those pairs.
 */
struct dp_candidates {
	uint16_t list[DP_ROWS_MAX + 8];
	int2 best_of_warp[DP_WARPS_MAX * 32];
};

/* Shared memory of fixed size. Data that is prepared for the next block exists twice. */
struct dp_fixed {
	struct dp_pairs pairs[2];
	struct dp_step step[2 * DP_ROWS];
	int32_t sky_on_ground; /* prior at the horizon, minus P there */
	int32_t prefix, least, most, slack, column, vhor, unseen;
};

/*
 * Dynamic shared memory and global scratch of one block, bytes. tables: size of those tables that are in
 * scratch.
 */
struct dp_layout {
	int slab, sum, reciprocal, excess, reach, from, shared, tables;
	size_t rows, anchor, start, cheap, table_row, scratch;
};

/* State of a block for its column, in registers. */
struct dp_column {
	int height, blocks, vhor, span, least, lane, warp; /* span: number of means, from `least` on */
	/* ground of this column minus ground at the axis */
	int32_t shift_q4;
	int shift; /* rows has every 2^shift-th row of these sums, and none if that is DP_STRIDE */
	struct dp_fixed *fixed;
	int32_t *slab, *excess, *reach;
	int2 *sum;
	const float *reciprocal;
	/*
	 * start row of the object | start row of ground or sky << 16; DP_ON_GROUND: the latter has ground
	 * below
	 */
	uint32_t *from;
	const struct dp_order *order;
	int32_t order_gap; /* least order cost of cost_lo minus that of cost_hi */
	/* arrays in global memory */
	int32_t *rows, *cheap, *table_row;
	/* prefix sums of the object table below rows 8, 16, 24 and 32 of a block, [block][fn] */
	int4 *anchor;
	struct dp_start *start;
	const int32_t *object, *axis_q4; /* axis_q4: ground at the axis */
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

/* Returns the ground of the column. */
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
 * Means without a division, if sums are exact in float (see dp_fits_float() in stixel_dp.cu). The reciprocal
 * is rounded up, so floor(x / n) is in the low bits of x * (1 / 16 n) + 2^19, in sixteenths, rounded down.
 * The same with 2^23 yields whole px. fn counts from the least fn of the column, so a column without valid
 * cells has mean 0.
 * The sums are over the rows below v, of n valid cells that add up to s:
 * x: s + 8 n - 16 least n, a float or an integer. The mean needs s + n / 2, which follows from x and n.
 * y: bits of the float 2^21 + n, which as an integer is 4 n plus a constant.
 * FLOATS: mean and fn include the biases in dp_bias; else they have none.
 */
#define DP_NO_CELLS 0x4a000000
template <bool FLOATS> struct dp_bias {
	static const int mean = FLOATS ? 0x49000000 : 0, fn = FLOATS ? 0x4b000000 : 0;
};

struct dp_mean {
	int mean, fn; /* including their bias */
};

/* Returns floor(x * r * 2^-ulp) plus the bits of the float whose last place is 2^ulp. */
DP_INLINE int dp_scaled(float x, float r, float magic)
{
#ifdef SX_EMULATE
	const double ulp = magic > 1e6f ? 1.0 : 0.0625; /* a product of two floats is exact in double */

	return (magic > 1e6f ? 0x4b000000 : 0x49000000) + (int)floor((double)x * (double)r / ulp);
#else
	return __float_as_int(__fmaf_rd(x, r, magic));
#endif
}

/* Returns a * b + c. The result must be exact. */
DP_INLINE float dp_exact(float a, float b, float c)
{
#ifdef SX_EMULATE
	return a * b + c;
#else
	return __fmaf_rn(a, b, c);
#endif
}

/* Returns the mean of the rows between two sums. */
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

/* A top row, in registers: its sums and its row of the slab. */
struct dp_top {
	int2 sum;
	const int32_t *slab;
};

DP_INLINE struct dp_top dp_top_of(const struct dp_column &c, int block)
{
	const struct dp_top t = {c.sum[DP_ROWS * block + c.lane + 1], c.slab + c.lane + 1};

	return t;
}

/* Returns the prefix sum of the object costs up to and including the top row, for a mean. */
template <bool FLOATS> DP_INLINE int32_t dp_slab(const struct dp_top &t, int fn)
{
	return t.slab[(fn - dp_bias<FLOATS>::fn) * (DP_ROWS + 1)];
}

/* Keep the compiler from splitting a pointer's sum again, and from moving code that depends on an integer. */
#ifdef SX_EMULATE
#define DP_OPAQUE(pointer) (void)(pointer)
#define DP_OPAQUE_INT(x) (void)(x)
#else
#define DP_OPAQUE(pointer) asm("" : "+l"(pointer))
#define DP_OPAQUE_INT(x) asm volatile("" : "+r"(x))
#endif

/*
 * Returns the prefix sum of the object costs below row v of an earlier block: that of the nearest kept row,
 * plus the cells from there to v. There are at most MOST such cells: given by c.shift, or always DP_STRIDE -
 * 1.
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

/* Returns the prior on an object. bias: bias of the mean. */
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

/* Loads the start row in two loads, no matter which parts are needed. */
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
 * Returns the cost of the object that starts at row v of an earlier block and ends at the lane's top. MOST:
 * as in dp_prefix.
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

/* Order row of a lower object, packed: hi | lo << 16, cost_hi | cost_lo << 16. */
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
 * Values that a row passes to the next row: its costs of object and base, the object's order row, and the
 * cheapest ground or sky offer so far. run_from: origin of the offer, as in dp_column.from; only kept from
 * block to block.
 */
struct dp_carry {
	int32_t object, base, run;
	uint32_t run_from;
	struct dp_lower lower;
};

/* Returns the prior and the lower object's cost of row v on an object. pair: mean | v << 16. */
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
