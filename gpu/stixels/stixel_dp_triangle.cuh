/*
 * The stixel DP (stixel_dp.cu), fourth: the rows one by one, each a start row for those above it, and what
 * later ones need of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STIXELS_STIXEL_DP_TRIANGLE_CUH
#define SX_GPU_STIXELS_STIXEL_DP_TRIANGLE_CUH

#include "gpu/stixels/stixel_dp_column.cuh"

/*
 * One lane, one top row. from_mean: of the best object, as dp_pairs. Order rows: alone, two: of the objects
 * of the last row and of the last two; next: of the best one without both, true of the lane two rows above
 * the start row that was last; early: without the former, of the lane above; lower: of the best one, of the
 * lane of that row. One row ahead (dp_triangle_row), next is what early is else.
 */
struct dp_lane {
	int32_t cost;
	int from_mean;
	struct dp_lower lower, early, next, alone, two;
	int32_t base; /* ground or sky of the lane's own row */
};

enum dp_where { DP_BELOW, DP_AT, DP_ABOVE }; /* of the start row, to the horizon */

/* The base's cost of row k, from its offer. */
template <enum dp_where WHERE>
DP_INLINE void dp_triangle_base(const struct dp_column &c, struct dp_carry &carry, const struct dp_step &s)
{
	int32_t offer, sky;

	if (WHERE == DP_BELOW) {
		carry.run = dp_min(carry.run, dp_min(carry.object, carry.base) + s.offer);
		carry.base = s.after + carry.run;
		return;
	}
	offer = carry.lower.limits >> 31 ? carry.object + s.offer : DP_ILLEGAL;
	sky = WHERE == DP_AT ? c.fixed->sky_on_ground : DP_ILLEGAL;
	if (WHERE == DP_AT)
		carry.run = dp_min(offer, sky < DP_ILLEGAL ? carry.base + sky : DP_ILLEGAL);
	else
		carry.run = dp_min(carry.run, offer);
	carry.base = dp_min(s.after + carry.run, DP_ILLEGAL);
}

/*
 * Start row k of the block, for all tops. The chain from row to row is a shuffle, a selection and a minimum:
 * the order row of an object is fetched AHEAD rows before it is needed, those of objects of so many rows are
 * known beforehand.
 */
template <enum dp_where WHERE, int AHEAD>
DP_INLINE void dp_triangle_row(const struct dp_column &c, struct dp_lane &l, struct dp_carry &carry,
			       int block, int k, int at)
{
	const struct dp_pairs &pairs = c.fixed->pairs[block & 1];
	const struct dp_step &s = c.fixed->step[(block & 1) * DP_ROWS + k];
	const int2 pair = pairs.pair[at];
	const int32_t on_base = pairs.base[at];
	int32_t cost;
	bool better;

	cost = dp_min(dp_on_object(c, carry.lower, pair.x, DP_ROWS * block + k, carry.object, s) + pair.y,
		      carry.base + on_base);
	better = cost < l.cost && c.lane >= k;
	l.cost = better ? cost : l.cost;
	l.from_mean = better ? pair.x : l.from_mean;
	if (AHEAD == 1)
		l.early = l.next;
	l.lower.limits = better ? l.alone.limits : l.early.limits;
	l.lower.costs = better ? l.alone.costs : l.early.costs;
	if (AHEAD == 2) {
		l.early.limits = better ? l.two.limits : l.next.limits;
		l.early.costs = better ? l.two.costs : l.next.costs;
	}
	l.next = dp_lower_of(c.order, c.lane == k + AHEAD ? l.from_mean & 0xffff : 0);
	dp_triangle_base<WHERE>(c, carry, s);
	l.base = c.lane == k ? carry.base : l.base;
}

/* Rows k .. end of a half; carry: of the row below. */
template <enum dp_where WHERE, bool UPPER, int AHEAD>
DP_INLINE int dp_triangle_rows(const struct dp_column &c, struct dp_lane &l, struct dp_carry &carry,
			       int block, int k, int end)
{
	int at = UPPER ? (DP_ROWS - k) * DP_ROWS + c.lane - k : k * DP_ROWS + c.lane;

#pragma unroll 4
	for (; k < end; k++) {
		if (k > 0) {
			carry.object = __shfl_sync(DP_ALL, l.cost, k - 1);
			carry.lower.limits = __shfl_sync(DP_ALL, l.lower.limits, k - 1);
			carry.lower.costs = __shfl_sync(DP_ALL, l.lower.costs, k - 1);
		}
		dp_triangle_row<WHERE, AHEAD>(c, l, carry, block, k, at);
		at += UPPER ? -(DP_ROWS + 1) : DP_ROWS;
	}
	return k;
}

/* One half of the rows of a block, first the lane's best object from earlier blocks. */
template <bool UPPER, int AHEAD>
DP_INLINE void dp_triangle(const struct dp_column &c, struct dp_lane &l, struct dp_carry &carry, int block)
{
	const int end = dp_min(UPPER ? DP_ROWS : DP_ROWS / 2, c.height - DP_ROWS * block),
		  horizon = c.vhor - DP_ROWS * block;
	int k = UPPER ? DP_ROWS / 2 : block == 0; /* row 0 is no start row here */

	k = dp_triangle_rows<DP_BELOW, UPPER, AHEAD>(c, l, carry, block, k, dp_min(end, horizon));
	if (k == horizon)
		k = dp_triangle_rows<DP_AT, UPPER, AHEAD>(c, l, carry, block, k, dp_min(end, k + 1));
	dp_triangle_rows<DP_ABOVE, UPPER, AHEAD>(c, l, carry, block, k, end);
}

/*
 * Whether ground is below the base that starts at row v (>= 1), rather than an object; its costs are given.
 */
DP_INLINE bool dp_on_ground(const struct dp_column &c, const struct dp_step &s, int v, int32_t object,
			    int32_t base, const struct dp_lower &lower)
{
	if (v < c.vhor)
		return base < object;
	return v == c.vhor && c.fixed->sky_on_ground < DP_ILLEGAL &&
	       base + c.fixed->sky_on_ground < (lower.limits >> 31 ? object + s.offer : DP_ILLEGAL);
}

/*
 * Where the base that ends in the lane's row starts, and on what: the offer was taken where it lowered the
 * run.
 */
DP_INLINE uint32_t dp_base_from(const struct dp_column &c, const struct dp_lane &l,
				const struct dp_carry &before, int block, bool on_ground)
{
	const int v = DP_ROWS * block + c.lane;
	const struct dp_step &s = c.fixed->step[(block & 1) * DP_ROWS + c.lane];
	const int32_t run = l.base < DP_LEGAL_MAX ? l.base - s.after : DP_ILLEGAL;
	const int32_t last = __shfl_up_sync(DP_ALL, run, 1), run_below = c.lane > 0 ? last
									 : before.base < DP_LEGAL_MAX
										 ? before.run
										 : DP_ILLEGAL;
	const uint32_t taken =
		__ballot_sync(DP_ALL, v < c.height && (run < run_below || v == 0 || v == c.vhor));
	const uint32_t ground = __ballot_sync(DP_ALL, on_ground), mine = taken & ((2u << c.lane) - 1);
	const int at = 31 - __clz((int)mine);

	if (!mine)
		return before.run_from;
	return (uint32_t)(DP_ROWS * block + at) | (ground >> at & 1 ? DP_ON_GROUND : 0);
}

/* The start row as later blocks see it. */
template <bool FLOATS>
DP_INLINE struct dp_start dp_start_of(const struct dp_column &c, const struct dp_step &s, int32_t object,
				      int32_t base, const struct dp_lower &lower)
{
	const bool legal = base < DP_LEGAL_MAX;
	struct dp_start r;

	r.object_limits = lower.limits & ~(DP_UNDER_SKY << 16);
	r.object_above = object + s.object + (int32_t)(lower.costs & 0xffffu);
	r.object_below = object + s.object + c.order_gap + (int32_t)(lower.costs >> 16);
	r.base_hi = s.hi;
	r.base_lo = s.lo;
	r.base_above = legal ? base + s.cost_hi : DP_ILLEGAL;
	r.base_on = legal && s.cost_on < DP_ILLEGAL ? base + s.cost_on : DP_ILLEGAL;
	r.base_below = legal && s.cost_lo < DP_ILLEGAL ? base + s.cost_lo : DP_ILLEGAL;
	return r;
}

/*
 * One lane a start row: what later blocks need of it. before: costs and order row of the row below the block.
 */
template <bool FLOATS>
DP_INLINE uint32_t dp_close_block(const struct dp_column &c, const struct dp_lane &l,
				  const struct dp_carry &before, int block)
{
	const int v = DP_ROWS * block + c.lane;
	const struct dp_step &s = c.fixed->step[(block & 1) * DP_ROWS + c.lane];
	int32_t object = __shfl_up_sync(DP_ALL, l.cost, 1), base = __shfl_up_sync(DP_ALL, l.base, 1);
	struct dp_lower lower = dp_lower_of(c.order, __shfl_up_sync(DP_ALL, l.from_mean, 1) & 0xffff);
	uint32_t base_from;

	if (c.lane == 0) {
		object = before.object;
		base = before.base;
		lower = before.lower;
	}
	base_from = dp_base_from(c, l, before, block,
				 v > 0 && v < c.height && dp_on_ground(c, s, v, object, base, lower));
	if (v > 0 && v < c.height) {
		const struct dp_start r = dp_start_of<FLOATS>(c, s, object, base, lower);

		c.start[v] = r;
		c.excess[v] = dp_min(dp_min(r.object_above, r.object_below),
				     dp_min(dp_min(r.base_above, r.base_below), r.base_on)) -
			      c.cheap[v];
	}
	if (v == 0)
		c.excess[0] = DP_EXCLUDED;
	if (v < c.height)
		c.from[v] = (uint32_t)l.from_mean >> 16 | base_from << 16;
	return base_from;
}

#endif
