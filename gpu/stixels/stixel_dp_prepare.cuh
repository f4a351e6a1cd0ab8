/*
 * The stixel DP (stixel_dp.cu), second part: values that 32 rows need before any cost is known: prefix sums,
 * priors, bounds of earlier rows, and means and data costs of the pairs among them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STIXELS_STIXEL_DP_PREPARE_CUH
#define SX_GPU_STIXELS_STIXEL_DP_PREPARE_CUH

#include "gpu/stixels/stixel_dp_column.cuh"

#define DP_REACH 4 /* loads in flight in dp_prepare_reach() */

/* ---- rows ---- */

/* Returns the cheaper of outlier and gaussian, as stages/stixels/stixel_dp.c does. */
DP_INLINE int32_t dp_pixel_cost(int d, int f, int32_t base, int32_t precision, int32_t uniform)
{
	const int64_t e = d - f, gauss = base + ((precision * (e * e)) >> 16);

	return gauss < uniform ? (int32_t)gauss : uniform;
}

/* Returns the prior of start row v >= 1, as sx_dp_frame_set() does; offer is without its prefix sum. */
template <bool FLOATS>
DP_INLINE struct dp_step dp_row_prior(const struct dp_tables &t, const struct dp_column &c, int v)
{
	const int p = v - 1, len = t.length[v], ground = dp_ground(c, p);
	struct dp_step s;

	s.object = len + (v < c.vhor ? t.object_next : t.ln2) + t.order_hi;
	s.offer = len + (v < c.vhor ? t.ground_next : t.ln2);
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
	s.after = 0;
	return s;
}

/* Returns the cost of a cell as ground or sky, depending on which of them is possible there. */
DP_INLINE int32_t dp_base_cost(const struct dp_tables &t, const struct dp_column &c, int v, bool valid, int d)
{
	if (v < c.vhor) {
		const int f = dp_max(dp_ground(c, v), 0), g = dp_min(f, 16 * t.range);

		return valid ? dp_pixel_cost(dp_max(d, f), f, t.base_ground[g], t.precision_ground[g],
					     t.uniform_ground) +
				       t.valid_ground
			     : t.invalid_ground;
	}
	return valid ? dp_pixel_cost(d, 0, t.base_sky, t.precision_sky, t.uniform_sky) + t.valid_sky
		     : t.invalid_sky;
}

/*
 * Returns the row of the object table for a cell. Second function: returns the whole px of the cell, limited
 * to the columns of the table that the column needs.
 */
DP_INLINE int dp_table_row(const struct dp_tables &t, uint16_t cell)
{
	return cell == SX_DISPARITY_INVALID ? t.range : dp_min((cell + 8) >> 4, t.range - 1);
}

/* ---- sums ---- */

/*
 * Loads values that are read again much later. They bypass L1 if many blocks share it; for blocks of 8 warps
 * L1 has room.
 */
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

/*
 * Computes the prefix sums of the 32 rows of a block, except the object table's, and the values that start
 * rows need of them. For one warp.
 */
template <bool FLOATS>
DP_INLINE void dp_prepare_rows(const struct dp_tables &t, const struct dp_column &c, const uint16_t *column,
			       int block)
{
	const int first = DP_ROWS * block, v = first + c.lane;
	const bool in = v < c.height;
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
			dp_ground(c, dp_max(v - 1, 0)) < 16 ? t.length[v] - (prefix - own) : DP_ILLEGAL;
	step.after = prefix;
	c.fixed->step[(block & 1) * DP_ROWS + c.lane] = step;
	__syncwarp();
	if (c.lane == 31)
		c.fixed->prefix = prefix;
}

/*
 * Computes prefix sums of the object table, into the slab [fn][33] and for later blocks. For threads `thread`
 * .. of count.
 */
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
 * Computes the least cost of the cells between the rows of block i and the first row of the slab's block. It
 * is the cheapest fn of each cell up to the next multiple of 8 (cheap, and its part in excess), then the
 * cheapest single fn. For one warp.
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

/* ---- pairs of the triangle ---- */

/* Computes a line of pairs: mean, data cost, and data cost with the prior on the base. */
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

	pairs.pair[at] =
		make_int2((int)__byte_perm((uint32_t)m.mean, (uint32_t)(first + k), DP_LOW_LOW), data);
	pairs.base[at] = dp_min(data + prior, DP_ILLEGAL);
}

#endif
