/*
 * The stixel DP (stixel_dp.cu), last part: one warp makes the list of segments from the costs of a column.
 *
 * Every row stores the start rows of its object and of its ground or sky, and for ground or sky the kind of
 * the segment below. The kind of the segment below an object follows from the object's mean.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STIXELS_STIXEL_DP_LIST_CUH
#define SX_GPU_STIXELS_STIXEL_DP_LIST_CUH

#include <stixel.h>

#include "gpu/stixels/stixel_dp_column.cuh"

/* Start row of a segment and class of the segment below it (undefined for row 0). */
struct dp_choice {
	int v, below;
};

template <bool FLOATS>
DP_INLINE struct dp_choice dp_below_object(const struct dp_column &c, int v_bottom, int mean)
{
	struct dp_choice r = {v_bottom, DP_OBJECT};

	if (r.v > 0) {
		const struct dp_start s = dp_start_at(c, r.v);
		const int bias = dp_bias<FLOATS>::mean, m = mean + bias;
		const int32_t on_base = m > s.base_hi	? s.base_above
					: m < s.base_lo ? s.base_below
							: s.base_on;

		/* only if strictly cheaper than the object's is the base's choice taken */
		if (on_base < dp_prior_on_object(s, m, bias))
			r.below = r.v - 1 < c.vhor ? DP_GROUND : DP_SKY;
	}
	return r;
}

/*
 * Follows the choices down from the top row and writes v_bottom | class << 16 and mean, top to bottom. top:
 * costs of the top row.
 */
template <bool FLOATS>
DP_INLINE int dp_back_track(const struct dp_column &c, const struct dp_carry &top, int32_t *total, int2 *way)
{
	const int last = c.height - 1;
	int n = 0, class_ = last < c.vhor ? DP_GROUND : DP_OBJECT;

	/* ties: ground before object before sky */
	if (last < c.vhor ? top.object < top.base : top.base < top.object)
		class_ = last < c.vhor ? DP_OBJECT : DP_SKY;
	*total = class_ == DP_OBJECT ? top.object : top.base;
	for (int v = last; v >= 0; n++) {
		const uint32_t from = c.from[v];
		struct dp_choice r = {(int)(from >> 16 & 0x7fffu), from >> 31 ? DP_GROUND : DP_OBJECT};
		int mean = 0;

		if (class_ == DP_OBJECT) {
			r.v = (int)(from & 0xffffu);
			mean = dp_mean_of<FLOATS>(c, c.sum[v + 1], c.sum[r.v]).mean - dp_bias<FLOATS>::mean;
			r = dp_below_object<FLOATS>(c, r.v, mean);
		}
		if (c.lane == 0)
			way[n] = make_int2(r.v | class_ << 16, mean);
		v = r.v - 1;
		class_ = r.below;
	}
	__syncwarp();
	return n;
}

/* Makes a segment, as publishable() of stages/stixels/stixel_dp.c does. */
DP_INLINE struct sx_segment dp_segment(const struct dp_column &c, int v_bottom, int v_top, int kind, int mean,
				       int slope)
{
	struct sx_segment s;

	if (kind == DP_OBJECT && mean < 16 && v_bottom >= c.vhor)
		kind = DP_SKY;
	if (kind == DP_OBJECT && c.sum[v_top + 1].y == c.sum[v_bottom].y)
		kind = STIXEL_UNKNOWN;
	s.v_bottom = (uint16_t)v_bottom;
	s.v_top = (uint16_t)v_top;
	s.mean_q4 = (uint16_t)(kind == DP_OBJECT ? mean : 0);
	s.disparity_q7 = (uint16_t)(kind == STIXEL_UNKNOWN ? STIXEL_DISPARITY_UNKNOWN
				    : kind == DP_OBJECT	   ? 8 * mean
				    : kind == DP_GROUND	   ? 8 * dp_clamp(dp_ground(c, v_bottom), 0, 8191)
							   : 0);
	s.slope_q14 = (int16_t)(kind == DP_GROUND ? slope : 0);
	s.kind = (uint8_t)kind;
	s.label = 0;
	return s;
}

/*
 * Turns the way into the list, as sx_dp_finish_list() does, one segment per lane. Rows that the right camera
 * does not see are one unknown segment. Sky on sky only raises the top of the sky below. Returns the number
 * of segments left.
 */
DP_INLINE int dp_write_list(const struct dp_column &c, const int2 *way, int n, int slope,
			    struct sx_segment *list)
{
	const int unseen = c.fixed->unseen;
	int kept = unseen > 0, last_kind = STIXEL_UNKNOWN;

	if (unseen > 0 && c.lane == 0)
		list[0] = sx_segment_unseen(unseen);
	for (int first = 0; first < n; first += 32) {
		const int i = first + c.lane;
		struct sx_segment s;
		int kind = STIXEL_UNKNOWN, kind_below, v_top = -1;
		unsigned keeps;

		if (i < n)
			v_top = i + 1 < n ? (way[n - 2 - i].x & 0xffff) - 1 : c.height - 1;
		if (v_top >= unseen) {
			const int2 w = way[n - 1 - i];

			s = dp_segment(c, dp_max(w.x & 0xffff, unseen), v_top, w.x >> 16, w.y, slope);
			kind = s.kind;
		}
		kind_below = __shfl_up_sync(DP_ALL, kind, 1);
		if (c.lane == 0)
			kind_below = last_kind;
		last_kind = __shfl_sync(DP_ALL, kind, 31);
		keeps = __ballot_sync(DP_ALL, v_top >= unseen && !(kind == DP_SKY && kind_below == DP_SKY));
		if (keeps >> c.lane & 1)
			list[kept + __popc(keeps & ((1u << c.lane) - 1))] = s;
		__syncwarp();
		/* only the topmost of several merged segments writes */
		{
			const unsigned merged =
				__ballot_sync(DP_ALL, v_top >= unseen && !(keeps >> c.lane & 1));

			if (merged >> c.lane & 1 && (c.lane == 31 || !(merged >> (c.lane + 1) & 1)))
				list[kept + __popc(keeps & ((1u << c.lane) - 1)) - 1].v_top = s.v_top;
		}
		__syncwarp();
		kept += __popc(keeps);
	}
	return kept;
}

#endif
