/*
 * The steps of one block of 32 rows of the stixel DP (stixel_dp.cu): prefix sums, tests of earlier start rows, pairs
 * with them, and the triangle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STIXELS_STIXEL_DP_BLOCK_CUH
#define SX_GPU_STIXELS_STIXEL_DP_BLOCK_CUH

#include "gpu/stixels/stixel_dp.cuh"

#define DP_REACH 4 /* loads under way in dp_prepare_reach() */

/* ---- sums ---- */

/* What is read again late, past L1 where many blocks share that; blocks of 8 warps have room in it. */
template <int W, typename T> DP_INLINE T dp_load_late(const T *from)
{
	return W < DP_WARPS_MAX ? __ldcg(from) : *from;
}

template <int W, typename T> DP_INLINE void dp_store_late(T *to, T x)
{
	if (W < DP_WARPS_MAX)
		__stcg(to, x);
	else
		*to = x;
}

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
	const int32_t prefix = c.fixed->prefix + dp_scan(own, c.lane);
	const int32_t n = dp_scan(valid, c.lane), s = dp_scan(valid ? d : 0, c.lane);
	const int32_t x = s + (8 - 16 * c.least) * n;
	const int2 below = c.sum[first];
	struct dp_step step = dp_step();

	c.sum[v + 1] = make_int2(FLOATS ? __float_as_int(__int_as_float(below.x) + (float)x) : below.x + x,
				 below.y + 4 * n);
	c.cheap[v + 1] =
		c.cheap[first] + dp_scan(in ? t.object_min[dp_table_row(t, (uint16_t)cell)] : 0, c.lane);
	if (in && v > 0)
		step = dp_row_prior<FLOATS>(t, c, v);
	if (in)
		step.offer -= prefix - own;
	if (in && v == c.vhor)
		c.fixed->sky_on_ground =
			c.ground_q4[dp_max(v - 1, 0)] < 16 ? t.length[v] - (prefix - own) : DP_ILLEGAL;
	step.after = prefix;
	c.fixed->step[(block & 1) * DP_ROWS + c.lane] = step;
	__syncwarp();
	if (c.lane == 31)
		c.fixed->prefix = prefix;
}

/* Threads first .. of count: prefix sums of the object table, to the slab [fn][33] and for later blocks. */
template <int W, int SHIFT>
DP_INLINE void dp_prepare_slab(const struct dp_column &c, int block, int thread, int count)
{
	const int4 *row = (const int4 *)(c.table_row + DP_ROWS * block);

	for (int fn = thread; fn < c.span; fn += count) {
		const int32_t *table = c.object + fn;
		int32_t *slab = c.slab + fn * (DP_ROWS + 1), *rows;
		int32_t sum = block ? slab[DP_ROWS] : 0, anchor[DP_ROWS / DP_STRIDE];

		DP_OPAQUE(table);
		rows = c.rows + (DP_ROWS * block >> SHIFT) * c.span + fn;
		slab[0] = sum;
#pragma unroll
		for (int i = 0; i < DP_ROWS; i += DP_STRIDE) {
			const int4 a = row[i / 4], b = row[i / 4 + 1];
			const int32_t cost[8] = {__ldg(table + a.x), __ldg(table + a.y), __ldg(table + a.z),
						 __ldg(table + a.w), __ldg(table + b.x), __ldg(table + b.y),
						 __ldg(table + b.z), __ldg(table + b.w)};

#pragma unroll
			for (int k = 0; k < DP_STRIDE; k++) {
				if (SHIFT < 3 && k % (1 << SHIFT) == 0) {
					dp_store_late<W>(rows, sum);
					rows += c.span;
				}
				sum += cost[k];
				slab[i + k + 1] = sum;
			}
			anchor[i / DP_STRIDE] = sum;
		}
		dp_store_late<W>(c.anchor + block * c.span + fn,
				 make_int4(anchor[0], anchor[1], anchor[2], anchor[3]));
	}
}

/*
 * One warp: what lies between the rows of block i and the first row of the block of the slab costs at the least:
 * the cheapest fn of each cell up to the next row that is a multiple of 8 (cheap, and what excess has of it),
 * then the cheapest single fn.
 */
template <int W> DP_INLINE void dp_prepare_reach(const struct dp_column &c, int i)
{
	const int32_t *cheap = c.cheap + DP_ROWS * i;
	int4 least = make_int4(DP_ILLEGAL, DP_ILLEGAL, DP_ILLEGAL, DP_ILLEGAL);

	for (int first = c.lane; first < c.span; first += 32 * DP_REACH) {
		int32_t now[DP_REACH];
		int4 then[DP_REACH];

#pragma unroll
		for (int k = 0; k < DP_REACH; k++) {
			const int fn = k ? dp_min(first + 32 * k, c.span - 1) : first;

			now[k] = c.slab[fn * (DP_ROWS + 1)];
			then[k] = dp_load_late<W>(c.anchor + i * c.span + fn);
		}
#pragma unroll
		for (int k = 0; k < DP_REACH; k++) {
			least.x = dp_min(least.x, now[k] - then[k].x);
			least.y = dp_min(least.y, now[k] - then[k].y);
			least.z = dp_min(least.z, now[k] - then[k].z);
			least.w = dp_min(least.w, now[k] - then[k].w);
		}
	}
	least.x = dp_warp_min(least.x) + cheap[8];
	least.y = dp_warp_min(least.y) + cheap[16];
	least.z = dp_warp_min(least.z) + cheap[24];
	least.w = dp_warp_min(least.w) + cheap[32];
	if (c.lane == 0)
		*(int4 *)(c.reach + 4 * i) = least;
}

/* ---- the triangle, before costs are known ---- */

/* A line of pairs: mean, data cost, and that with the prior on the base. */
template <bool FLOATS> DP_INLINE void dp_prepare_pairs(const struct dp_column &c, int block, int line)
{
	const int first = DP_ROWS * block, at = line * DP_ROWS + c.lane;
	const int k = c.lane >= line ? line : DP_ROWS - line, top = c.lane >= line ? c.lane : c.lane + k;
	const struct dp_step &s = c.fixed->step[(block & 1) * DP_ROWS + k];
	struct dp_pairs &pairs = c.fixed->pairs[block & 1];
	const struct dp_mean m = dp_mean_of<FLOATS>(c, c.sum[first + top + 1], c.sum[first + k]);
	const int32_t *slab = c.slab + (m.fn - dp_bias<FLOATS>::fn) * (DP_ROWS + 1);
	const int32_t data = slab[top + 1] - slab[k];
	const int32_t prior = m.mean > s.hi ? s.cost_hi : m.mean < s.lo ? s.cost_lo : s.cost_on;

	pairs.pair[at] = make_int2((int)__byte_perm((uint32_t)m.mean, (uint32_t)(first + k), 0x5410), data);
	pairs.base[at] = dp_min(data + prior, DP_ILLEGAL);
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
 * What a row hands on: its costs of object and base, the object's order row, and the cheapest ground or sky offer so
 * far. run_from: where the offer is from, as dp_column.from; kept from block to block only.
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
	const int hi = (int)__byte_perm(l.limits, (uint32_t)v, 0x5410),
		  lo = (int)__byte_perm(l.limits & ~(DP_UNDER_SKY << 16), (uint32_t)v, 0x5432);
	const int32_t on = object + s.object, above = on + (int32_t)(l.costs & 0xffffu),
		      below = on + (c.order_gap + (int32_t)(l.costs >> 16));

	return pair > hi ? above : pair < lo ? below : DP_ILLEGAL;
}

/* ---- start rows of earlier blocks ---- */

/* Cost of the object from row 0 to the lane's top. */
template <bool FLOATS>
DP_INLINE int32_t dp_first_object(const struct dp_tables &t, const struct dp_column &c,
				  const struct dp_top &top, int v, int *mean)
{
	const struct dp_mean m = dp_mean_of<FLOATS>(c, top.sum, c.sum[0]);

	*mean = m.mean - dp_bias<FLOATS>::mean;
	return dp_slab<FLOATS>(top, m.fn) + (v < c.vhor ? t.first_object_low : t.first_object);
}

/*
 * One warp: how much dearer than the cheapest fn of each cell of this block a candidate may be, at the most, and be
 * worth a look: three real candidates per top row (from row 0: first; the object of the row below extended; the
 * start row of this block).
 */
template <bool FLOATS>
DP_INLINE int32_t dp_slack(const struct dp_column &c, const struct dp_top &top, const struct dp_carry &carry,
			   int32_t first_object, int block)
{
	const int first = DP_ROWS * block, v = first + c.lane, below = (int)(c.from[first - 1] & 0xffffu);
	const struct dp_pairs &pairs = c.fixed->pairs[block & 1];
	const struct dp_step &s = c.fixed->step[(block & 1) * DP_ROWS];
	const int2 pair = pairs.pair[c.lane];
	int32_t limit = first_object;

	if (below > 0) {
		const struct dp_start start = dp_start_at(c, below);

		limit = dp_min(limit, c.shift == 0 ? dp_object<FLOATS, 0>(c, top, start, below)
						   : dp_object<FLOATS, DP_STRIDE - 1>(c, top, start, below));
	}
	limit = dp_min(limit, dp_on_object(c, carry.lower, pair.x, first, carry.object, s) + pair.y);
	limit = dp_min(limit, carry.base + pairs.base[c.lane]);
	return dp_warp_max(v < c.h ? limit - (c.cheap[v + 1] - c.cheap[first]) : DP_NEVER);
}

/*
 * Which start rows of earlier blocks can still matter to this one. Nothing that starts in row v can be cheaper
 * than its cheapest prior, the cheapest fn of each cell up to the next multiple of 8, the cheapest single fn from
 * there to this block, and the cheapest fn of each cell in it. Every warp finds all and lists every W-th group of 4
 * of them, in order, the last one filled up with row 0, which is illegal; returns how many there are.
 */
template <int W> DP_INLINE int dp_survivors(const struct dp_column &c, int block, int32_t slack)
{
	const uint32_t before = (1u << c.lane) - 1;
	uint16_t *list = dp_candidates_of(c, block)->list;
	int total = 0;

#pragma unroll 4
	for (int i = 0; i < block; i++) {
		const int v = DP_ROWS * i + c.lane;
		const uint32_t mask = __ballot_sync(DP_ALL, c.excess[v] + c.reach[v >> 3] <= slack);
		const int rank = total + __popc(mask & before);

		if (!mask)
			continue;
		if ((mask >> c.lane & 1) && (rank >> 2 & (W - 1)) == c.warp)
			list[rank] = (uint16_t)v;
		total += __popc(mask);
	}
	if (c.lane < 4 && ((total + c.lane) >> 2 & (W - 1)) == c.warp)
		list[total + c.lane] = 0;
	__syncwarp();
	return total;
}

/* The lane's cheapest object and where it starts, among the warp's groups of the list. MOST: dp_prefix. */
template <int W, bool FLOATS, int MOST>
DP_INLINE int2 dp_best_of_list(const struct dp_column &c, const struct dp_top &t, int block, int count)
{
	const uint16_t *list = dp_candidates_of(c, block)->list;
	int2 best = make_int2(DP_ILLEGAL, 0);

	for (int i = 4 * c.warp; i < count; i += 4 * W) {
		const uint2 four = *(const uint2 *)(list + i);
		const int v[4] = {(int)(four.x & 0xffffu), (int)(four.x >> 16), (int)(four.y & 0xffffu),
				  (int)(four.y >> 16)};
		int32_t cost[4];

#pragma unroll
		for (int k = 0; k < 4; k++)
			cost[k] = dp_object<FLOATS, MOST>(c, t, dp_start_at(c, v[k]), v[k]);
#pragma unroll
		for (int k = 0; k < 4; k++)
			if (cost[k] < best.x)
				best = make_int2(cost[k], v[k]);
	}
	return best;
}

/* ---- the triangle ---- */

/*
 * One lane, one top row. from_mean: of the best object, as dp_pairs. Order rows: alone, two: of the objects of the last
 * row and of the last two; next: of the best one without both, true of the lane two rows above the start row that was
 * last; early: without the former, of the lane above; lower: of the best one, of the lane of that row. One row ahead
 * (dp_triangle_row), next is what early is else.
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
 * Start row k of the block, for all tops. The chain from row to row is a shuffle, a selection and a minimum: the order
 * row of an object is fetched AHEAD rows before it is needed, those of objects of so many rows are known beforehand.
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
	const int end = dp_min(UPPER ? DP_ROWS : DP_ROWS / 2, c.h - DP_ROWS * block),
		  horizon = c.vhor - DP_ROWS * block;
	int k = UPPER ? DP_ROWS / 2 : block == 0; /* row 0 is no start row here */

	k = dp_triangle_rows<DP_BELOW, UPPER, AHEAD>(c, l, carry, block, k, dp_min(end, horizon));
	if (k == horizon)
		k = dp_triangle_rows<DP_AT, UPPER, AHEAD>(c, l, carry, block, k, dp_min(end, k + 1));
	dp_triangle_rows<DP_ABOVE, UPPER, AHEAD>(c, l, carry, block, k, end);
}

/* Whether ground is below the base that starts at row v (>= 1), rather than an object; its costs are given. */
DP_INLINE bool dp_on_ground(const struct dp_column &c, const struct dp_step &s, int v, int32_t object,
			    int32_t base, const struct dp_lower &lower)
{
	if (v < c.vhor)
		return base < object;
	return v == c.vhor && c.fixed->sky_on_ground < DP_ILLEGAL &&
	       base + c.fixed->sky_on_ground < (lower.limits >> 31 ? object + s.offer : DP_ILLEGAL);
}

/* Where the base that ends in the lane's row starts, and on what: the offer was taken where it lowered the run. */
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
	const uint32_t taken = __ballot_sync(DP_ALL, v < c.h && (run < run_below || v == 0 || v == c.vhor));
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

/* One lane a start row: what later blocks need of it. before: costs and order row of the row below the block. */
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
				 v > 0 && v < c.h && dp_on_ground(c, s, v, object, base, lower));
	if (v > 0 && v < c.h) {
		const struct dp_start r = dp_start_of<FLOATS>(c, s, object, base, lower);

		c.start[v] = r;
		c.excess[v] = dp_min(dp_min(r.object_above, r.object_below),
				     dp_min(dp_min(r.base_above, r.base_below), r.base_on)) -
			      c.cheap[v];
	}
	if (v == 0)
		c.excess[0] = DP_EXCLUDED;
	if (v < c.h)
		c.from[v] = (uint32_t)l.from_mean >> 16 | base_from << 16;
	return base_from;
}

#endif
