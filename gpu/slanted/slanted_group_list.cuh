/*
 * Slanted stixels on the GPU: a group of warps makes the column's list from the outcome of every row. One
 * warp goes back from stixel to stixel, for which it needs only the outcomes. Then each warp describes some
 * of the stixels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_SLANTED_SLANTED_GROUP_LIST_CUH
#define SX_GPU_SLANTED_SLANTED_GROUP_LIST_CUH

#include "gpu/slanted/slanted_group.cuh"
#include "gpu/slanted/slanted_list.cuh"

/*
 * Returns the kind of the segment below the stixel of a kind that ends in a row, as slanted_kind_below()
 * does. v_bottom: start row of the stixel, not 0.
 */
SLANTED_INLINE int slanted_kind_under(const struct slanted_arguments &a, const struct slanted_group &t,
				      const struct slanted_final &f, int kind, int v_bottom)
{
	const struct sx_slanted_below below = t.meeting->back.final[v_bottom - 1].below;
	const struct slanted_tile *tile = t.tile + v_bottom / SLANTED_ROWS;

	if (kind == STIXEL_OBJECT)
		return sx_slanted_on_object(&a.m, &below, f.below.object,
					    tile->row[v_bottom % SLANTED_ROWS].gravity)
			.from;
	if (kind == STIXEL_SKY)
		return sx_slanted_on_sky(&a.m, &below).from;
	return sx_slanted_on_ground(&a.m, &below, f.foot).from;
}

/* Goes from the top row down to the rows that are not shown. For a whole warp. */
SLANTED_INLINE void slanted_group_go_back(const struct slanted_arguments &a, const struct slanted_column &c,
					  const struct slanted_group &t)
{
	struct slanted_back *back = &t.meeting->back;
	int32_t total;
	int kind = slanted_top_kind(back->final[a.rows - 1].below, &total), n = 0;

	for (int v = a.rows - 1; v >= 0 && v >= c.place->unseen; n++) {
		const struct slanted_final &f = back->final[v];
		const int v_bottom = f.from[kind];

		if (c.lane == 0) {
			back->stixel[n].v_bottom = (uint16_t)v_bottom;
			back->stixel[n].v_top = (uint16_t)v;
			back->stixel[n].kind = kind;
		}
		if (v_bottom > 0)
			kind = slanted_kind_under(a, t, f, kind, v_bottom);
		v = v_bottom - 1;
	}
	if (c.lane == 0) {
		back->stixels = n;
		a.total[c.u] = total;
	}
}

/* Turns a stixel into a segment. For a whole warp. */
SLANTED_INLINE void slanted_group_show(const struct slanted_arguments &a, const struct slanted_column &c,
				       const struct slanted_stixel &s, bool scored, struct sx_segment *to)
{
	struct sx_slanted_choice shown = slanted_choice_of(a, c, scored, s.kind, s.v_bottom, s.v_top);
	struct sx_slanted_geometry g;

	sx_slanted_cut_unseen(&shown, c.place->unseen);
	g = slanted_geometry_of(a, c, scored, shown.v_bottom);
	if (c.lane == 0)
		*to = sx_slanted_segment(&g, &shown);
}

/* Makes the list of the column. c: at any tile. */
SLANTED_INLINE void slanted_group_list(const struct slanted_arguments &a, const struct slanted_column &c,
				       const struct slanted_group &t, bool scored)
{
	struct sx_segment *list = a.list + (size_t)c.u * (size_t)a.rows;
	int n;

	for (int v = t.warp * SLANTED_ROWS + c.lane; v < a.rows; v += SLANTED_GROUP * SLANTED_ROWS)
		t.meeting->back.final[v] = *slanted_final_of(a, c, v);
	__syncthreads();
	if (t.warp == 0)
		slanted_group_go_back(a, c, t);
	__syncthreads();
	n = t.meeting->back.stixels;
	for (int i = t.warp; i < n; i += SLANTED_GROUP)
		slanted_group_show(a, c, t.meeting->back.stixel[i], scored, list + (a.rows - 1 - i));
	if (c.place->unseen > 0) {
		n++;
		if (t.warp == 0 && c.lane == 0)
			list[a.rows - n] = sx_segment_unseen(c.place->unseen);
	}
	__syncthreads();
	if (t.warp > 0)
		return;
	slanted_rise(a, c, n, list + (a.rows - n));
	n = slanted_join_sky(c, scored, a.rows, n, list);
	if (c.lane == 0)
		a.list_count[c.u] = (uint16_t)n;
}

#endif
