/*
 * The parts of the stixel DP kernel (stixel_dp.cu): tables as the device has them, what a block knows of its column,
 * and the arithmetic of one pair of start row and top row. Meaning: stages/stixel_dp.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STIXEL_DP_CUH
#define SX_GPU_STIXEL_DP_CUH

#include "gpu/cuda.cuh"
#include "gpu/frame.h"
#include "stages/stixel_dp.h"

#ifdef SX_EMULATE
#include <math.h>
#endif

#define DP_INLINE static __device__ __forceinline__
#define DP_ALL 0xffffffffu
#define DP_ROWS 32 /* rows of a block: one lane each */
/*
 * Illegal, as SX_DP_INF. No legal cost exceeds 0x1c000000 in size (the object from row 0 is always legal, 46 nats a
 * row), so one illegal summand is above any legal cost and two do not overflow.
 */
#define DP_ILLEGAL 0x3fffffff
#define DP_LEGAL_MAX 0x30000000
#define DP_NEVER (-0x3fffffff)
/* In dp_order.lo: the lower object may carry sky. */
#define DP_UNDER_SKY 0x8000u

enum { DP_G = 0, DP_O = 1, DP_S = 2 };

/* sx_dp_order in 8 bytes: costs less the least of their kind, which are in dp_tables. */
struct __align__(8) dp_order
{
	uint16_t hi, lo, cost_hi, cost_lo;
};

/* Made at create. object: [D + 2][D + 1]; row D: invalid cells, row D + 1: zero (beyond the top); column D as D - 1. */
struct dp_tables {
	int h, range, epsilon_q4;
	const int32_t *object, *object_min;
	const struct dp_order *order;
	int32_t order_hi, order_lo;
	const int32_t *base_ground, *precision_ground, *length, *gravity_above, *gravity_below;
	const float *reciprocal; /* [h + 1]: 1 / (16 n), rounded up; 0 at 0 */
	int32_t base_sky, precision_sky, uniform_ground, uniform_sky;
	int32_t valid_ground, valid_sky, invalid_ground, invalid_sky;
	int32_t gravity_on, object_on_sky, ground_next, object_next, ln2;
	int32_t first_ground, first_object, first_object_low;
};

/*
 * A start row for pairs with higher tops: sums below it (see dp_mean) and five costs of what lies below plus prior,
 * by thresholds on the new mean: on an object (between: illegal), on the base: ground below the horizon, else sky.
 */
struct __align__(16) dp_start
{
	int32_t fn_sum, mean_sum, n4, base_on;
	int32_t object_hi, object_lo, object_above, object_below;
	int32_t base_hi, base_lo, base_above, base_below;
};

/* What the triangle needs of a start row that does not depend on costs. P: prefix of ground (below vhor) and sky. */
struct __align__(16) dp_step
{
	int32_t object_hi, object_lo; /* prior on an object, with the least order cost of either kind */
	int32_t offer;		      /* ground on anything, or sky on an object; less P[v] */
	int32_t after;		      /* P[v + 1] */
	int32_t hi, lo, cost_on, cost_hi;
	int32_t cost_lo, sky_on_ground, cheap, pad;
};

/* Dynamic shared memory and global scratch of one block, in bytes. */
struct dp_layout {
	int slab, fn_sum, mean_sum, n4, reciprocal, order, step, pair, pair_base, part, tile, mask, list,
		misc, shared;
	int pitch; /* of rows: D + 1 */
	size_t rows, start, cheap, excess, table_row, cost_o, cost_x, prefix, from, scratch;
};

/* What a block knows while it works on a column; lives in registers. */
struct dp_column {
	int h, blocks, vhor, span, least, lane, warp, pitch;
	int32_t *slab, *fn_sum, *mean_sum, *n4, *tile, *misc, *pair_base;
	const float *reciprocal;
	uint16_t *list;
	uint32_t *mask;
	struct dp_step *step;
	int2 *pair, *part;
	const struct dp_order *order;
	/* global */
	int32_t *rows, *cheap, *excess, *table_row, *cost_o, *cost_x, *prefix;
	uint16_t *from;
	struct dp_start *start;
	const int32_t *ground_q4;
};

DP_INLINE int dp_min(int a, int b)
{
	return a < b ? a : b;
}

DP_INLINE int dp_max(int a, int b)
{
	return a > b ? a : b;
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
 * Means without a division where sums are exact in float (see fits_float() in stixel_dp.cu): with the
 * reciprocal rounded up, floor(x / n) lies in the low bits of x * (1 / 16 n) + 2^19, in sixteenths, rounded down;
 * the same with 2^23 gives whole px. fn counts from the least fn of the column, so that no valid cell means 0.
 *   FLOATS: fn_sum = s + 8 n - 16 least n, mean_sum = s + n / 2, as float; mean comes with DP_MEAN0, fn with DP_FN0
 *   else:   fn_sum the same, mean_sum = 2 s + n, as integers; mean and fn come as they are
 */
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

/* Differences of the three sums over the rows of a pair. */
template <bool FLOATS>
DP_INLINE struct dp_mean dp_mean_of(const struct dp_column &c, int32_t fn1, int32_t fn0, int32_t mean1,
				    int32_t mean0, int n4)
{
	struct dp_mean m;

	if (FLOATS) {
		const float r = *(const float *)((const char *)c.reciprocal + n4);

		m.fn = dp_scaled(__int_as_float(fn1) - __int_as_float(fn0), r, 8388608.0f);
		m.mean = dp_scaled(__int_as_float(mean1) - __int_as_float(mean0), r, 524288.0f);
	} else {
		const uint32_t n = (uint32_t)dp_max(n4, 4);

		m.fn = (int)((uint32_t)(fn1 - fn0) / (4 * n));
		m.mean = (int)((uint32_t)(mean1 - mean0) * 2 / n);
	}
	return m;
}

/* The sums of a top row, kept in registers. */
struct dp_top {
	int32_t fn_sum, mean_sum, n4, slab;
};

template <bool FLOATS> DP_INLINE struct dp_top dp_top_of(const struct dp_column &c, int block)
{
	const int v = DP_ROWS * block + c.lane + 1;
	struct dp_top t;

	t.fn_sum = c.fn_sum[v];
	t.mean_sum = c.mean_sum[v];
	t.n4 = c.n4[v];
	t.slab = c.lane + 1;
	return t;
}

/* Prefix of the object costs up to and including the top row, for a mean. */
template <bool FLOATS> DP_INLINE int32_t dp_slab(const struct dp_column &c, const struct dp_top &t, int fn)
{
	return c.slab[t.slab + (fn - dp_bias<FLOATS>::fn) * (DP_ROWS + 1)];
}

template <bool FLOATS>
DP_INLINE struct dp_mean dp_mean_from(const struct dp_column &c, const struct dp_top &t, int v)
{
	return dp_mean_of<FLOATS>(c, t.fn_sum, c.fn_sum[v], t.mean_sum, c.mean_sum[v], t.n4 - c.n4[v]);
}

DP_INLINE int32_t dp_prior(const struct dp_start &s, int mean)
{
	const int32_t on_object = mean > s.object_hi   ? s.object_above
				  : mean < s.object_lo ? s.object_below
						       : DP_ILLEGAL;
	const int32_t on_base = mean > s.base_hi ? s.base_above : mean < s.base_lo ? s.base_below : s.base_on;

	return dp_min(on_object, on_base);
}

/* Cost of the object that starts at row v, a row of an earlier block, and ends at the lane's top. */
template <bool FLOATS>
DP_INLINE int32_t dp_object(const struct dp_column &c, const struct dp_top &t, const struct dp_start &s,
			    int v)
{
	const struct dp_mean m =
		dp_mean_of<FLOATS>(c, t.fn_sum, s.fn_sum, t.mean_sum, s.mean_sum, t.n4 - s.n4);

	return dp_prior(s, m.mean) + dp_slab<FLOATS>(c, t, m.fn) -
	       c.rows[(size_t)v * (size_t)c.pitch + (size_t)(m.fn - dp_bias<FLOATS>::fn)];
}

/* ---- rows ---- */

/* The cheaper of outlier and gaussian, as stages/stixel_dp.c. */
DP_INLINE int32_t dp_pixel_cost(int d, int f, int32_t base, int32_t precision, int32_t uniform)
{
	const int64_t e = d - f, gauss = base + ((precision * (e * e)) >> 16);

	return gauss < uniform ? (int32_t)gauss : uniform;
}

DP_INLINE int dp_clamp(int x, int lo, int hi)
{
	return dp_min(dp_max(x, lo), hi);
}

/* The prior of start row v >= 1, as sx_dp_frame_set(); offer without its prefix sum. */
template <bool FLOATS>
DP_INLINE struct dp_step dp_row_prior(const struct dp_tables &t, const struct dp_column &c, int v)
{
	const int p = v - 1, len = t.length[v], ground = c.ground_q4[p];
	struct dp_step s;

	s.object_hi = len + (v < c.vhor ? t.object_next : t.ln2) + t.order_hi;
	s.object_lo = s.object_hi - t.order_hi + t.order_lo;
	s.offer = len + (v < c.vhor ? t.ground_next : t.ln2);
	s.sky_on_ground = v == c.vhor && ground < 16 ? len : DP_ILLEGAL;
	if (p < c.vhor) {
		const int g = dp_clamp(ground, 0, 16 * t.range), next = t.object_next + len;

		s.hi = g + t.epsilon_q4;
		s.lo = g - t.epsilon_q4;
		s.cost_hi = next + t.gravity_above[g];
		s.cost_on = next + t.gravity_on;
		s.cost_lo = next + t.gravity_below[g];
	} else {
		s.hi = t.epsilon_q4;
		s.lo = -1;
		s.cost_hi = len + t.object_on_sky;
		s.cost_on = s.cost_lo = DP_ILLEGAL;
	}
	s.hi += dp_bias<FLOATS>::mean;
	s.lo += dp_bias<FLOATS>::mean;
	s.after = s.cheap = s.pad = 0;
	return s;
}

/* Cost of a cell as ground or sky, whichever may be there. */
DP_INLINE int32_t dp_base_cost(const struct dp_tables &t, const struct dp_column &c, int v, bool valid, int d)
{
	if (v < c.vhor) {
		const int f = dp_max(c.ground_q4[v], 0), g = dp_min(f, 16 * t.range);

		return valid ? dp_pixel_cost(d, f, t.base_ground[g], t.precision_ground[g],
					     t.uniform_ground) +
				       t.valid_ground
			     : t.invalid_ground;
	}
	return valid ? dp_pixel_cost(d, 0, t.base_sky, t.precision_sky, t.uniform_sky) + t.valid_sky
		     : t.invalid_sky;
}

/* Row of the object table for a cell; whole px of it, for the columns of the table that a column needs. */
DP_INLINE int dp_table_row(const struct dp_tables &t, uint16_t cell)
{
	return cell == SX_DISPARITY_INVALID ? t.range : dp_min((cell + 8) >> 4, t.range - 1);
}

#endif
