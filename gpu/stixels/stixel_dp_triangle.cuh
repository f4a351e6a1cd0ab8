/*
 * The stixel DP (stixel_dp.cu), fourth part: processes the rows one by one. Each row is a start row for the
 * rows above it, and stores the values that later rows need.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STIXELS_STIXEL_DP_TRIANGLE_CUH
#define SX_GPU_STIXELS_STIXEL_DP_TRIANGLE_CUH

#include "gpu/stixels/stixel_dp_column.cuh"

/*
 * State of a lane, which has one top row. from_mean: of the best object, as in dp_pairs. The other members
 * are order rows of objects that end at the top row:
 * alone, two: of the objects of one row and of two rows.
 * next: of the best object other than these two; valid in the lane two rows above the last start row.
 * early: of the best object other than the object of one row; valid in the lane one row above it.
 * lower: of the best object; valid in the lane of that row.
 * With AHEAD 1 (dp_triangle_row), next has the meaning that early has otherwise.
 */
struct dp_lane {
	int32_t cost;
	int from_mean;
	struct dp_lower lower, early, next, alone, two;
	int32_t base; /* cost of ground or sky in the lane's own row */
};

enum dp_where { DP_BELOW, DP_AT, DP_ABOVE }; /* place of the start row relative to the horizon */

/* Computes the base's cost of row k from its offer. */
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
 * Processes start row k of the block, for all tops. The dependency from row to row is only a shuffle, a
 * selection and a minimum. The order row of an object is fetched AHEAD rows before it is needed. For objects
 * of AHEAD or fewer rows it is known beforehand.
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

/* Processes rows k .. end of a half. carry: of the row below. */
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

/* Processes one half of the rows of a block. The lane starts with its best object from earlier blocks. */
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
 * Returns true if the base that starts at row v (>= 1) has ground below it rather than an object. Their costs
 * are given.
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
 * Returns the start row of the base that ends in the lane's row, and the kind below it. An offer was taken
 * where it lowered the run.
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

/* Returns the start row in the form that later blocks need. */
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
 * Stores the values that later blocks need, one start row per lane. before: costs and order row of the row
 * below the block.
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
