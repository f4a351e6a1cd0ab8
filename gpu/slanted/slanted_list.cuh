/*
 * Slanted stixels on the GPU: one warp makes the column's list from the outcome of every row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_SLANTED_SLANTED_LIST_CUH
#define SX_GPU_SLANTED_SLANTED_LIST_CUH

#include "gpu/slanted/slanted_column.cuh"

/* The rows of a stixel: the values that the reference has for them, in every lane. */
struct slanted_piece {
	struct sx_slanted_sums sums;
	int origin;
	int32_t d0;
};

SLANTED_INLINE struct slanted_piece slanted_piece_of(const struct slanted_arguments &a,
						     const struct slanted_column &c, int v_bottom, int v_top)
{
	struct sx_slanted_sums s = sx_slanted_sums();
	struct slanted_piece r;
	int origin = -1;

	for (int v = v_bottom + c.lane; v <= v_top; v += SLANTED_ROWS)
		if (slanted_cell_at(a, c, v).w > 0)
			origin = v;
	origin = (int)sx_warp_max((uint32_t)(origin + 1)) - 1;
	/* if all weights are 0 the plane is 0, so any origin will do */
	r.origin = origin < 0 ? v_bottom : origin;
	r.d0 = slanted_cell_at(a, c, r.origin).d;
	for (int v = v_bottom + c.lane; v <= v_top; v += SLANTED_ROWS) {
		const struct slanted_cell cell = slanted_cell_at(a, c, v);

		sx_slanted_add(&s, cell.w, cell.g, v - r.origin, cell.d - cell.road.ground_q4, cell.d - r.d0);
	}
	r.sums.n = (int32_t)sx_warp_sum((uint32_t)s.n);
	r.sums.w = (int32_t)sx_warp_sum((uint32_t)s.w);
	r.sums.x = (int32_t)sx_warp_sum((uint32_t)s.x);
	r.sums.xx = sx_warp_sum64(s.xx);
	r.sums.e = sx_warp_sum64(s.e);
	r.sums.xe = sx_warp_sum64(s.xe);
	r.sums.ee = sx_warp_sum64(s.ee);
	r.sums.c = sx_warp_sum64(s.c);
	r.sums.cc = sx_warp_sum64(s.cc);
	return r;
}

/* Returns the cheapest class of a kind; if equal, the first. Sums are integers below 2^23. */
SLANTED_INLINE uint8_t slanted_label(const struct slanted_arguments &a, const struct slanted_column &c,
				     int kind, int v_bottom, int v_top)
{
	const struct slanted_slots *slots = &c.lookup->slots;
	const float *low = slanted_scores_of(a, c, v_bottom), *high = slanted_scores_of(a, c, v_top + 1);
	const int end = slots->first[kind] + slots->count[kind];
	uint32_t best = UINT32_MAX;

	for (int slot = slots->first[kind] + c.lane; slot < end; slot += SLANTED_ROWS) {
		const uint32_t key = (uint32_t)(high[slot] - low[slot]) << 8 | (uint32_t)slot;

		best = key < best ? key : best;
	}
	best = sx_warp_min(best) & 255;
	return slots->class_of[best] == SLANTED_NO_CLASS ? (uint8_t)STIXEL_LABEL_NONE : slots->class_of[best];
}

SLANTED_INLINE struct sx_slanted_choice slanted_choice_of(const struct slanted_arguments &a,
							  const struct slanted_column &c, bool scored,
							  int kind, int v_bottom, int v_top)
{
	const struct slanted_piece piece = slanted_piece_of(a, c, v_bottom, v_top);
	struct sx_slanted_choice r;

	r.v_bottom = (uint16_t)v_bottom;
	r.v_top = (uint16_t)v_top;
	r.kind = (uint8_t)kind;
	r.label = scored ? slanted_label(a, c, kind, v_bottom, v_top) : (uint8_t)STIXEL_LABEL_NONE;
	r.valid = piece.sums.w > 0;
	r.origin = piece.origin;
	r.plane.a = r.plane.b = r.plane.fit = 0.0f;
	if (kind == STIXEL_GROUND)
		r.plane = sx_slanted_ground(&a.m, &piece.sums, a.row[v_bottom].lambda_offset,
					    a.road->lambda_slope, v_bottom - piece.origin);
	else if (kind == STIXEL_OBJECT)
		r.plane = sx_slanted_object(&a.m, &piece.sums, piece.d0);
	return r;
}

/* Returns the kind of the segment below a stixel. Not for row 0. */
SLANTED_INLINE int slanted_kind_below(const struct slanted_arguments &a, const struct slanted_column &c,
				      const struct sx_slanted_choice &s)
{
	const struct sx_slanted_below below = slanted_final_of(a, c, s.v_bottom - 1)->below;

	if (s.kind == STIXEL_OBJECT)
		return sx_slanted_on_object(&a.m, &below, s.plane.a, a.row[s.v_bottom].gravity).from;
	if (s.kind == STIXEL_SKY)
		return sx_slanted_on_sky(&a.m, &below).from;
	return sx_slanted_on_ground(&a.m, &below,
				    (float)slanted_ground_of(a, c, s.v_bottom) +
					    (s.plane.a + s.plane.b * (float)((int)s.v_bottom - s.origin)))
		.from;
}

/* Returns the cheapest kind of the top row; if equal, the first. */
SLANTED_INLINE int slanted_top_kind(const struct sx_slanted_below &top, int32_t *total)
{
	float cost = top.cost[STIXEL_GROUND];
	int kind = STIXEL_GROUND;

#pragma unroll
	for (int k = STIXEL_OBJECT; k <= STIXEL_SKY; k++)
		if (top.cost[k] < cost) {
			cost = top.cost[k];
			kind = k;
		}
	*total = sx_slanted_total(cost);
	return kind;
}

SLANTED_INLINE struct sx_slanted_geometry slanted_geometry_of(const struct slanted_arguments &a,
							      const struct slanted_column &c, bool scored,
							      int v_bottom)
{
	struct sx_slanted_geometry g;

	g.cell_height = a.cell_height;
	g.scored = scored;
	g.slope = v_bottom < a.road->knee ? a.road->slope : a.road->bent;
	g.ground_q4 = slanted_ground_of(a, c, v_bottom);
	return g;
}

/*
 * Follows the choices down from the top row. Afterwards the segments are at the end of list, bottom to top.
 */
SLANTED_INLINE int slanted_back_track(const struct slanted_arguments &a, const struct slanted_column &c,
				      bool scored, int32_t *total, struct sx_segment *list)
{
	const struct sx_slanted_below top = slanted_final_of(a, c, a.rows - 1)->below;
	int kind = slanted_top_kind(top, total), n = 0;

	for (int v = a.rows - 1; v >= 0;) {
		const int v_bottom = slanted_final_of(a, c, v)->from[kind];
		const struct sx_slanted_choice choice = slanted_choice_of(a, c, scored, kind, v_bottom, v);
		struct sx_slanted_choice shown = choice;

		if (sx_slanted_cut_unseen(&shown, c.place->unseen)) {
			const struct sx_slanted_geometry g =
				slanted_geometry_of(a, c, scored, shown.v_bottom);

			n++;
			if (c.lane == 0)
				list[a.rows - n] = sx_slanted_segment(&g, &shown);
		}
		if (v_bottom > 0)
			kind = slanted_kind_below(a, c, choice);
		v = v_bottom - 1;
	}
	if (c.place->unseen > 0) {
		n++;
		if (c.lane == 0)
			list[a.rows - n] = sx_segment_unseen(c.place->unseen);
	}
	__syncwarp();
	return n;
}

/*
 * Extends ground to the rows in front of the object that stands on it, as rise() in
 * stages/stixels/slanted_tables.c does. list: first of the n segments. One lane per object; only this lane
 * writes its v_bottom and the v_top of the ground.
 */
SLANTED_INLINE void slanted_rise(const struct slanted_arguments &a, const struct slanted_column &c, int n,
				 struct sx_segment *list)
{
	for (int i = 1 + c.lane; i < n; i += SLANTED_ROWS) {
		struct sx_segment s = list[i];
		const int first = s.v_bottom;
		int most;

		if (s.kind != STIXEL_OBJECT || list[i - 1].kind != STIXEL_GROUND)
			continue;
		most = first + sx_slanted_feet(&a.m, &s);
		while ((int)s.v_bottom < most &&
		       sx_slanted_is_before(&list[i - 1], &s, a.cell_height,
					    slanted_ground_of(a, c, s.v_bottom - 1)))
			s.v_bottom++;
		if ((int)s.v_bottom > first) {
			list[i].v_bottom = s.v_bottom;
			list[i - 1].v_top = (uint16_t)(s.v_bottom - 1);
		}
	}
	__syncwarp();
}

/*
 * Moves the n segments to the front. Without scores, sky on sky only raises the top of the sky below, and of
 * several only the topmost lane writes. One lane per segment; a lane writes at or before places that were
 * already read. Returns the number of segments left.
 */
SLANTED_INLINE int slanted_join_sky(const struct slanted_column &c, bool scored, int rows, int n,
				    struct sx_segment *list)
{
	int kept = 0, last_kind = STIXEL_UNKNOWN;

	for (int first = 0; first < n; first += SLANTED_ROWS) {
		const bool inside = first + c.lane < n;
		struct sx_segment s = sx_segment();
		int kind = STIXEL_UNKNOWN, below;
		unsigned keeps, joins;

		if (inside) {
			s = list[rows - n + first + c.lane];
			kind = s.kind;
		}
		below = __shfl_up_sync(SLANTED_ALL, kind, 1);
		if (c.lane == 0)
			below = last_kind;
		last_kind = __shfl_sync(SLANTED_ALL, kind, 31);
		joins = __ballot_sync(SLANTED_ALL,
				      inside && !scored && kind == STIXEL_SKY && below == STIXEL_SKY);
		keeps = __ballot_sync(SLANTED_ALL, inside) & ~joins;
		if (keeps >> c.lane & 1)
			list[kept + __popc(keeps & ((1u << c.lane) - 1))] = s;
		__syncwarp();
		if (joins >> c.lane & 1 && (c.lane == 31 || !(joins >> (c.lane + 1) & 1)))
			list[kept + __popc(keeps & ((1u << c.lane) - 1)) - 1].v_top = s.v_top;
		__syncwarp();
		kept += __popc(keeps);
	}
	return kept;
}

#endif
