/*
 * The stixel DP (stixel_dp.cu), third part: the cheapest objects that end in the block's 32 rows and start in
 * earlier rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STIXELS_STIXEL_DP_EARLIER_CUH
#define SX_GPU_STIXELS_STIXEL_DP_EARLIER_CUH

#include "gpu/stixels/stixel_dp_column.cuh"

/* Returns the cost of the object from row 0 to the lane's top. */
template <bool FLOATS>
DP_INLINE int32_t dp_first_object(const struct dp_tables &t, const struct dp_column &c,
				  const struct dp_top &top, int v, int *mean)
{
	const struct dp_mean m = dp_mean_of<FLOATS>(c, top.sum, c.sum[0]);

	*mean = m.mean - dp_bias<FLOATS>::mean;
	return dp_slab<FLOATS>(top, m.fn) + (v < c.vhor ? t.first_object_low : t.first_object);
}

/*
 * Returns the slack: how much a candidate may cost above the cheapest fn of each cell of this block and still
 * be useful. The limit comes from three real candidates per top row: the object from row 0, the object of the
 * row below extended, and the start row of this block. For one warp.
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
	return dp_warp_max(v < c.height ? limit - (c.cheap[v + 1] - c.cheap[first]) : DP_NEVER);
}

/*
 * Lists the start rows of earlier blocks that can still matter to this block. No object that starts in row v
 * is cheaper than this sum: its cheapest prior, the cheapest fn of each cell up to the next multiple of 8,
 * the cheapest single fn from there to this block, and the cheapest fn of each cell in it. Every warp finds
 * all such rows. It lists every W-th group of 4 of them, in order, and fills the last group with row 0, which
 * is illegal. Returns the number of listed rows.
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

/*
 * Returns the lane's cheapest object and its start row, among the warp's groups of the list. MOST: as in
 * dp_prefix.
 */
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

#endif
