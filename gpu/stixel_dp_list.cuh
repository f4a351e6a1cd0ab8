/*
 * From the costs of a column to its list of segments, by one warp (stixel_dp.cu).
 *
 * Objects have their start row; of ground and sky only costs are kept, and the start row is the lowest whose offer
 * makes the cost: one to three searches a column instead of a minimum with index for every row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STIXEL_DP_LIST_CUH
#define SX_GPU_STIXEL_DP_LIST_CUH

#include <stixel.h>

#include "gpu/stixel_dp_block.cuh"

/* Row of the segment's start and class of what is below (of row 0: anything). */
struct dp_choice {
	int v, below;
};

template <bool FLOATS> DP_INLINE int dp_mean_q4(const struct dp_column &c, int v_bottom, int v_top)
{
	return dp_mean_of<FLOATS>(c, c.fn_sum[v_top + 1], c.fn_sum[v_bottom], c.mean_sum[v_top + 1],
				  c.mean_sum[v_bottom], c.n4[v_top + 1] - c.n4[v_bottom])
		       .mean -
	       dp_bias<FLOATS>::mean;
}

template <bool FLOATS>
DP_INLINE struct dp_choice dp_below_object(const struct dp_column &c, int v_top, int mean)
{
	struct dp_choice r = {c.from[v_top], DP_O};

	if (r.v > 0) {
		const struct dp_start s = c.start[r.v];
		const int m = mean + dp_bias<FLOATS>::mean;
		const int32_t on_object = m > s.object_hi   ? s.object_above
					  : m < s.object_lo ? s.object_below
							    : DP_ILLEGAL;
		const int32_t on_base = m > s.base_hi	? s.base_above
					: m < s.base_lo ? s.base_below
							: s.base_on;

		if (on_base < on_object)
			r.below = r.v - 1 < c.vhor ? DP_G : DP_S;
	}
	return r;
}

/* What ground or sky that starts at row v costs less its cells; *below: on what. */
template <bool FLOATS>
DP_INLINE int32_t dp_offer(const struct dp_tables &t, const struct dp_column &c, int v, int *below)
{
	const int p = v - 1;
	int32_t object, base;

	*below = DP_O;
	if (v == 0)
		return t.first_ground;
	if (v < c.vhor) {
		object = c.cost_o[p] + t.ground_next + t.length[v];
		base = c.cost_x[p] + t.ground_next + t.length[v];
	} else {
		const bool legal = dp_mean_q4<FLOATS>(c, c.from[p], p) >= t.epsilon_q4;

		object = legal ? c.cost_o[p] + t.ln2 + t.length[v] : DP_ILLEGAL;
		base = v == c.vhor && c.ground_q4[p] < 16 ? c.cost_x[p] + t.length[v] : DP_ILLEGAL;
	}
	if (base < object)
		*below = DP_G;
	return dp_min(object, base);
}

/* The start row of ground or sky up to v_top: the lowest whose offer makes up its cost. */
template <bool FLOATS>
DP_INLINE struct dp_choice dp_below_base(const struct dp_tables &t, const struct dp_column &c, int v_top)
{
	const int32_t want = c.cost_x[v_top] - c.prefix[v_top + 1];
	struct dp_choice r = {0, DP_O};

	for (int first = v_top < c.vhor ? 0 : dp_max(c.vhor, 1); first <= v_top; first += 32) {
		const int v = first + c.lane;
		int below = DP_O;
		const bool is =
			v <= v_top && dp_offer<FLOATS>(t, c, v, &below) - (v ? c.prefix[v] : 0) == want;
		const unsigned found = __ballot_sync(DP_ALL, is);

		if (found) {
			r.v = first + __ffs((int)found) - 1;
			r.below = __shfl_sync(DP_ALL, below, __ffs((int)found) - 1);
			return r;
		}
	}
	return r;
}

/* Follows the choices down from the top row: v_bottom | class << 16 and mean, top to bottom. */
template <bool FLOATS>
DP_INLINE int dp_back_track(const struct dp_tables &t, const struct dp_column &c, int32_t *total, int2 *way)
{
	const int top = c.h - 1;
	const int32_t object = c.cost_o[top], base = c.cost_x[top];
	int n = 0, class_ = top < c.vhor ? DP_G : DP_O;

	/* ties: ground, object, sky */
	if (top < c.vhor ? object < base : base < object)
		class_ = top < c.vhor ? DP_O : DP_S;
	*total = class_ == DP_O ? object : base;
	for (int v = top; v >= 0; n++) {
		struct dp_choice r;
		int mean = 0;

		if (class_ == DP_O) {
			mean = dp_mean_q4<FLOATS>(c, c.from[v], v);
			r = dp_below_object<FLOATS>(c, v, mean);
		} else {
			r = dp_below_base<FLOATS>(t, c, v);
		}
		if (c.lane == 0)
			way[n] = make_int2(r.v | class_ << 16, mean);
		v = r.v - 1;
		class_ = r.below;
	}
	__syncwarp();
	return n;
}

/* As publishable() of stages/stixel_dp.c. */
DP_INLINE struct sx_segment dp_segment(const struct dp_column &c, int v_bottom, int v_top, int kind, int mean,
				       int slope)
{
	struct sx_segment s;

	if (kind == DP_O && mean < 16 && v_bottom >= c.vhor)
		kind = DP_S;
	if (kind == DP_O && c.n4[v_top + 1] == c.n4[v_bottom])
		kind = STIXEL_UNKNOWN;
	s.v_bottom = (uint16_t)v_bottom;
	s.v_top = (uint16_t)v_top;
	s.mean_q4 = (uint16_t)(kind == DP_O ? mean : 0);
	s.disparity_q7 = (uint16_t)(kind == STIXEL_UNKNOWN ? STIXEL_DISPARITY_UNKNOWN
				    : kind == DP_O	   ? 8 * mean
				    : kind == DP_G	   ? 8 * dp_clamp(c.ground_q4[v_bottom], 0, 8191)
							   : 0);
	s.slope_q14 = (int16_t)(kind == DP_G ? slope : 0);
	s.kind = (uint8_t)kind;
	return s;
}

/*
 * Turns the way into the list, as sx_dp_finish_list(): a lane a segment; sky on sky only raises the top of
 * the one below. Returns how many remain.
 */
DP_INLINE int dp_write_list(const struct dp_column &c, const int2 *way, int n, int slope,
			    struct sx_segment *list)
{
	int kept = 0, last_kind = DP_G;

	for (int first = 0; first < n; first += 32) {
		const int i = first + c.lane;
		struct sx_segment s;
		int kind = STIXEL_UNKNOWN, kind_below;
		unsigned keeps;

		if (i < n) {
			const int2 w = way[n - 1 - i];
			const int v_top = i + 1 < n ? (way[n - 2 - i].x & 0xffff) - 1 : c.h - 1;

			s = dp_segment(c, w.x & 0xffff, v_top, w.x >> 16, w.y, slope);
			kind = s.kind;
		}
		kind_below = __shfl_up_sync(DP_ALL, kind, 1);
		if (c.lane == 0)
			kind_below = last_kind;
		last_kind = __shfl_sync(DP_ALL, kind, 31);
		keeps = __ballot_sync(DP_ALL, i < n && !(kind == DP_S && kind_below == DP_S));
		if (keeps >> c.lane & 1)
			list[kept + __popc(keeps & ((1u << c.lane) - 1))] = s;
		__syncwarp();
		/* of several merged ones only the topmost writes */
		{
			const unsigned merged = __ballot_sync(DP_ALL, i < n && !(keeps >> c.lane & 1));

			if (merged >> c.lane & 1 && (c.lane == 31 || !(merged >> (c.lane + 1) & 1)))
				list[kept + __popc(keeps & ((1u << c.lane) - 1)) - 1].v_top = s.v_top;
		}
		__syncwarp();
		kept += __popc(keeps);
	}
	return kept;
}

#endif
