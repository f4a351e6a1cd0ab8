/*
 * The steps of one block of 32 rows of the stixel DP (stixel_dp.cu): prefix sums, tests of earlier start rows, pairs
 * with them, and the triangle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STIXEL_DP_BLOCK_CUH
#define SX_GPU_STIXEL_DP_BLOCK_CUH

#include "gpu/stixel_dp.cuh"

/* ---- sums ---- */

DP_INLINE int32_t dp_scan(int32_t x, int lane)
{
	for (int i = 1; i < 32; i <<= 1) {
		const int32_t y = __shfl_up_sync(DP_ALL, x, i);

		x += lane >= i ? y : 0;
	}
	return x;
}

/* One warp: prefix sums of the 32 rows of a block, but for the object table, and what start rows need of them. */
template <bool FLOATS>
DP_INLINE void dp_prepare_rows(const struct dp_tables &t, const struct dp_column &c, const uint16_t *column,
			       int block)
{
	const int first = DP_ROWS * block, v = first + c.lane;
	const bool in = v < c.h;
	const int cell = in ? column[v] : SX_DISPARITY_INVALID, valid = cell != SX_DISPARITY_INVALID;
	const int d = dp_min(cell, 16 * t.range - 1);
	const int32_t own = in ? dp_base_cost(t, c, v, valid, d) : 0;
	const int32_t prefix = c.misc[0] + dp_scan(own, c.lane);
	const int32_t n = dp_scan(valid, c.lane), s = dp_scan(valid ? d : 0, c.lane);
	const int32_t fn_sum = s + (8 - 16 * c.least) * n;
	struct dp_step step;

	if (FLOATS) {
		c.fn_sum[v + 1] = __float_as_int(__int_as_float(c.fn_sum[first]) + (float)fn_sum);
		c.mean_sum[v + 1] =
			__float_as_int(__int_as_float(c.mean_sum[first]) + (float)(2 * s + n) * 0.5f);
	} else {
		c.fn_sum[v + 1] = c.fn_sum[first] + fn_sum;
		c.mean_sum[v + 1] = c.mean_sum[first] + 2 * s + n;
	}
	c.n4[v + 1] = c.n4[first] + 4 * n;
	c.cheap[v + 1] =
		c.cheap[first] + dp_scan(in ? t.object_min[dp_table_row(t, (uint16_t)cell)] : 0, c.lane);
	if (in) {
		if (v > 0)
			step = dp_row_prior<FLOATS>(t, c, v);
		else
			step = dp_step();
		step.offer -= prefix - own;
		step.sky_on_ground =
			step.sky_on_ground < DP_ILLEGAL ? step.sky_on_ground - (prefix - own) : DP_ILLEGAL;
		step.after = prefix;
		c.step[(block & 1) * DP_ROWS + c.lane] = step;
		c.prefix[v + 1] = prefix;
	}
	__syncwarp();
	if (c.lane == 31)
		c.misc[0] = prefix;
}

/* Threads first .. of count: prefix sums of the object table, to the slab [fn][33] and as rows for later blocks. */
DP_INLINE void dp_prepare_slab(const struct dp_tables &t, const struct dp_column &c, int block, int thread,
			       int count)
{
	for (int fn = thread; fn < c.span; fn += count) {
		const int32_t *table = t.object + c.least + fn;
		const int4 *row = (const int4 *)(c.table_row + DP_ROWS * block);
		int32_t *slab = c.slab + fn * (DP_ROWS + 1);
		int32_t *rows = c.rows + (size_t)(DP_ROWS * block) * (size_t)c.pitch + fn;
		int32_t sum = block ? slab[DP_ROWS] : 0;

		slab[0] = sum;
#pragma unroll
		for (int i = 0; i < DP_ROWS; i += 8) {
			const int4 a = row[i / 4], b = row[i / 4 + 1];
			const int32_t cost[8] = {__ldg(table + a.x), __ldg(table + a.y), __ldg(table + a.z),
						 __ldg(table + a.w), __ldg(table + b.x), __ldg(table + b.y),
						 __ldg(table + b.z), __ldg(table + b.w)};

#pragma unroll
			for (int k = 0; k < 8; k++) {
				rows[(i + k) * c.pitch] = sum;
				sum += cost[k];
				slab[i + k + 1] = sum;
			}
		}
	}
}

/* ---- the triangle, before costs are known ---- */

/* Pairs of start row k of the block with the 32 tops: mean, data cost, and that with the prior on the base. */
template <bool FLOATS>
DP_INLINE void dp_prepare_pairs(const struct dp_column &c, const struct dp_top &t, int block, int k)
{
	const int v = DP_ROWS * block + k;
	const struct dp_step &s = c.step[(block & 1) * DP_ROWS + k];
	const bool in = c.lane >= k && v < c.h;
	const struct dp_mean m = dp_mean_of<FLOATS>(c, t.fn_sum, in ? c.fn_sum[v] : t.fn_sum, t.mean_sum,
						    in ? c.mean_sum[v] : t.mean_sum, in ? t.n4 - c.n4[v] : 0);
	const int32_t data =
		dp_slab<FLOATS>(c, t, m.fn) - c.slab[(m.fn - dp_bias<FLOATS>::fn) * (DP_ROWS + 1) + k];
	const int32_t prior = m.mean > s.hi ? s.cost_hi : m.mean < s.lo ? s.cost_lo : s.cost_on;

	c.pair[k * DP_ROWS + c.lane] = make_int2(m.mean - dp_bias<FLOATS>::mean, in ? data : DP_ILLEGAL);
	c.pair_base[k * DP_ROWS + c.lane] = in ? dp_min(data + prior, DP_ILLEGAL) : DP_ILLEGAL;
}

/* ---- the state of the recurrence ---- */

/* The order row of a lower object, packed: hi | lo << 16, cost_hi | cost_lo << 16. */
struct dp_lower {
	uint32_t limits, costs;
};

DP_INLINE struct dp_lower dp_lower_of(const struct dp_order *order, int mean)
{
	const uint2 x = *(const uint2 *)(order + mean);
	const struct dp_lower l = {x.x, x.y};

	return l;
}

/* What the row below a block hands on: its costs of object and base, and the cheapest ground or sky offer so far. */
struct dp_carry {
	int32_t object, base, run;
	struct dp_lower lower;
};

DP_INLINE int32_t dp_on_object(const struct dp_lower &l, int mean, int32_t object, const struct dp_step &s)
{
	const int hi = (int)(l.limits & 0xffffu), lo = (int)(l.limits >> 16 & 0x7fffu);

	return mean > hi   ? object + s.object_hi + (int32_t)(l.costs & 0xffffu)
	       : mean < lo ? object + s.object_lo + (int32_t)(l.costs >> 16)
			   : DP_ILLEGAL;
}

/* ---- start rows of earlier blocks ---- */

/* Cost of the object from row 0 to the lane's top. */
template <bool FLOATS>
DP_INLINE int32_t dp_first_object(const struct dp_tables &t, const struct dp_column &c,
				  const struct dp_top &top, int v, int *mean)
{
	const struct dp_mean m = dp_mean_from<FLOATS>(c, top, 0);

	*mean = m.mean - dp_bias<FLOATS>::mean;
	return dp_slab<FLOATS>(c, top, m.fn) + (v < c.vhor ? t.first_object_low : t.first_object);
}

/*
 * One warp: how much dearer than the cheapest fn of each cell of this block a candidate may be, at the most, and be
 * worth a look: three real candidates per top row (from row 0, the object of the row below extended, the
 * start row of this block).
 */
template <bool FLOATS>
DP_INLINE int32_t dp_slack(const struct dp_tables &t, const struct dp_column &c, const struct dp_top &top,
			   const struct dp_carry &carry, int block)
{
	const int first = DP_ROWS * block, v = first + c.lane, below = c.from[first - 1];
	const struct dp_step &s = c.step[(block & 1) * DP_ROWS];
	const int2 pair = c.pair[c.lane];
	int mean;
	int32_t limit = dp_first_object<FLOATS>(t, c, top, v, &mean);

	if (below > 0)
		limit = dp_min(limit, dp_object<FLOATS>(c, top, c.start[below], below));
	limit = dp_min(limit, dp_on_object(carry.lower, pair.x, carry.object + pair.y, s));
	limit = dp_min(limit, carry.base + c.pair_base[c.lane]);
	return dp_warp_max(v < c.h ? limit - (c.cheap[v + 1] - c.cheap[first]) : DP_NEVER);
}

/*
 * One warp: which start rows of block i can still matter to block j. Nothing that starts in row v can be cheaper
 * than its cheapest prior, the cheapest fn of each cell up to a row e, the cheapest single fn from there to this
 * block, and the cheapest fn of each cell in it. First with e the end of block i, for all its rows at once, then
 * with the next multiple of 8.
 */
DP_INLINE uint32_t dp_survivors(const struct dp_column &c, int i, int32_t slack)
{
	const int32_t *rows = c.rows + (size_t)(DP_ROWS * i) * (size_t)c.pitch;
	const int v = DP_ROWS * i + c.lane, end = DP_ROWS * i + (c.lane | 7) + 1;
	int32_t least[4] = {DP_ILLEGAL, DP_ILLEGAL, DP_ILLEGAL, DP_ILLEGAL};

	for (int fn = c.lane; fn < c.span; fn += 32)
		least[3] = dp_min(least[3], c.slab[fn * (DP_ROWS + 1)] - rows[DP_ROWS * c.pitch + fn]);
	least[3] = dp_warp_min(least[3]);
	if (c.tile[i] + c.cheap[DP_ROWS * (i + 1)] + least[3] > slack)
		return 0;
	for (int fn = c.lane; fn < c.span; fn += 32)
		for (int k = 0; k < 3; k++)
			least[k] = dp_min(least[k],
					  c.slab[fn * (DP_ROWS + 1)] - rows[8 * (k + 1) * c.pitch + fn]);
	for (int k = 0; k < 3; k++)
		least[k] = dp_warp_min(least[k]);
	return __ballot_sync(DP_ALL, v > 0 && c.excess[v] + c.cheap[end] +
							      (c.lane < 8    ? least[0]
							       : c.lane < 16 ? least[1]
							       : c.lane < 24 ? least[2]
									     : least[3]) <=
						      slack);
}

/* All warps, after a barrier: writes the surviving rows of the warp's blocks; returns how many all have. */
template <int W> DP_INLINE int dp_make_list(const struct dp_column &c, int j)
{
	int total = 0;

	for (int first = 0; first < j; first += 32) {
		const int i = first + c.lane;
		const uint32_t mask = i < j ? c.mask[i] : 0;
		const int n = __popc(mask), upto = dp_scan(n, c.lane);

		for (int k = c.warp; k < 32 && first + k < j; k += W) {
			const uint32_t rows = __shfl_sync(DP_ALL, mask, k);
			const int at = total + __shfl_sync(DP_ALL, upto - n, k);

			if (rows >> c.lane & 1)
				c.list[at + __popc(rows & ((1u << c.lane) - 1))] =
					(uint16_t)(DP_ROWS * (first + k) + c.lane);
		}
		total += __shfl_sync(DP_ALL, upto, 31);
	}
	/* a whole group of 4 may be read: the row behind the last is illegal */
	if (c.warp == 0 && c.lane < 4)
		c.list[total + c.lane] = (uint16_t)(DP_ROWS * c.blocks);
	return total;
}

/* The lane's cheapest object and where it starts, among every W-th group of 4 of the list. */
template <int W, bool FLOATS>
DP_INLINE int2 dp_best_of_list(const struct dp_column &c, const struct dp_top &t, int count)
{
	int2 best = make_int2(DP_ILLEGAL, 0);

	for (int i = 4 * c.warp; i < count; i += 4 * W) {
		const uint2 four = *(const uint2 *)(c.list + i);
		const int v[4] = {(int)(four.x & 0xffffu), (int)(four.x >> 16), (int)(four.y & 0xffffu),
				  (int)(four.y >> 16)};
		int32_t cost[4];

#pragma unroll
		for (int k = 0; k < 4; k++)
			cost[k] = dp_object<FLOATS>(c, t, c.start[v[k]], v[k]);
#pragma unroll
		for (int k = 0; k < 4; k++)
			if (cost[k] < best.x)
				best = make_int2(cost[k], v[k]);
	}
	return best;
}

/* ---- the triangle ---- */

/* One lane, one top row. lower: the order row of the best object's mean; the same of a choice not yet taken over. */
struct dp_lane {
	int32_t cost;
	int from;
	struct dp_lower lower, pending, alone;
	bool is_pending;
	int32_t base; /* ground or sky of the lane's own row */
};

enum dp_where { DP_BELOW, DP_AT, DP_ABOVE }; /* of the start row, to the horizon */

/*
 * Start row k of the block, for all tops. The chain from row to row is a shuffle, a selection and a minimum: an
 * order row is fetched when an object becomes the best of its lane, and is not needed before the next but one
 * row, except by the object of one row, whose order row is known beforehand.
 */
template <enum dp_where WHERE>
DP_INLINE void dp_triangle_row(const struct dp_column &c, struct dp_lane &l, struct dp_carry &carry,
			       int block, int k)
{
	const int2 pair = c.pair[k * DP_ROWS + c.lane];
	const int32_t on_base = c.pair_base[k * DP_ROWS + c.lane];
	const struct dp_step &s = c.step[(block & 1) * DP_ROWS + k];
	const int32_t object = __shfl_sync(DP_ALL, l.cost, (k - 1) & 31);
	const struct dp_lower lower = {__shfl_sync(DP_ALL, l.lower.limits, (k - 1) & 31),
				       __shfl_sync(DP_ALL, l.lower.costs, (k - 1) & 31)};
	int32_t cost;

	if (k > 0) {
		carry.object = object;
		carry.lower = lower;
	}
	cost = dp_min(dp_on_object(carry.lower, pair.x, carry.object + pair.y, s), carry.base + on_base);
	if (l.is_pending)
		l.lower = l.pending;
	l.is_pending = false;
	if (cost < l.cost) {
		l.cost = cost;
		l.from = DP_ROWS * block + k;
		if (c.lane == k) {
			l.lower = l.alone;
		} else {
			l.pending = dp_lower_of(c.order, pair.x);
			l.is_pending = true;
		}
	}
	if (WHERE == DP_BELOW) {
		carry.run = dp_min(carry.run, dp_min(carry.object, carry.base) + s.offer);
		carry.base = s.after + carry.run;
	} else {
		int32_t offer = carry.lower.limits >> 31 ? carry.object + s.offer : DP_ILLEGAL;

		if (WHERE == DP_AT)
			carry.run = dp_min(offer, s.sky_on_ground < DP_ILLEGAL ? carry.base + s.sky_on_ground
									       : DP_ILLEGAL);
		else
			carry.run = dp_min(carry.run, offer);
		carry.base = dp_min(s.after + carry.run, DP_ILLEGAL);
	}
	if (c.lane == k)
		l.base = carry.base;
}

/* All rows of a block, first the lane's best object from earlier blocks. */
DP_INLINE void dp_triangle(const struct dp_column &c, struct dp_lane &l, struct dp_carry &carry, int block)
{
	const int rows = dp_min(DP_ROWS, c.h - DP_ROWS * block), horizon = c.vhor - DP_ROWS * block;
	int k = block == 0; /* row 0 is no start row here */

#pragma unroll 4
	for (; k < rows && k < horizon; k++)
		dp_triangle_row<DP_BELOW>(c, l, carry, block, k);
	if (k < rows && k == horizon)
		dp_triangle_row<DP_AT>(c, l, carry, block, k++);
#pragma unroll 4
	for (; k < rows; k++)
		dp_triangle_row<DP_ABOVE>(c, l, carry, block, k);
	if (l.is_pending)
		l.lower = l.pending;
}

/* One lane a start row: what later blocks need of it. before: costs and order row of the row below the block. */
template <bool FLOATS>
DP_INLINE void dp_close_block(const struct dp_column &c, const struct dp_lane &l,
			      const struct dp_carry &before, int block)
{
	const int v = DP_ROWS * block + c.lane;
	const struct dp_step &s = c.step[(block & 1) * DP_ROWS + c.lane];
	int32_t object = __shfl_up_sync(DP_ALL, l.cost, 1), base = __shfl_up_sync(DP_ALL, l.base, 1);
	struct dp_lower lower = {__shfl_up_sync(DP_ALL, l.lower.limits, 1),
				 __shfl_up_sync(DP_ALL, l.lower.costs, 1)};
	int32_t excess = DP_ILLEGAL;

	if (c.lane == 0) {
		object = before.object;
		base = before.base;
		lower = before.lower;
	}
	if (v > 0 && v < c.h) {
		const bool legal = base < DP_LEGAL_MAX;
		struct dp_start r;

		r.fn_sum = c.fn_sum[v];
		r.mean_sum = c.mean_sum[v];
		r.n4 = c.n4[v];
		r.object_hi = (int)(lower.limits & 0xffffu) + dp_bias<FLOATS>::mean;
		r.object_lo = (int)(lower.limits >> 16 & 0x7fffu) + dp_bias<FLOATS>::mean;
		r.object_above = object + s.object_hi + (int32_t)(lower.costs & 0xffffu);
		r.object_below = object + s.object_lo + (int32_t)(lower.costs >> 16);
		r.base_hi = s.hi;
		r.base_lo = s.lo;
		r.base_above = legal ? base + s.cost_hi : DP_ILLEGAL;
		r.base_on = legal && s.cost_on < DP_ILLEGAL ? base + s.cost_on : DP_ILLEGAL;
		r.base_below = legal && s.cost_lo < DP_ILLEGAL ? base + s.cost_lo : DP_ILLEGAL;
		c.start[v] = r;
		excess = dp_min(dp_min(r.object_above, r.object_below),
				dp_min(dp_min(r.base_above, r.base_below), r.base_on)) -
			 c.cheap[v];
		c.excess[v] = excess;
	}
	if (v < c.h) {
		c.from[v] = (uint16_t)l.from;
		c.cost_o[v] = l.cost;
		c.cost_x[v] = l.base;
	}
	excess = dp_warp_min(excess);
	if (c.lane == 0)
		c.tile[block] = excess;
}

#endif
