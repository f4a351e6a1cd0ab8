/*
 * Splits the segments of a column at stretches that were not measured and that a segment does not cross
 * (unmeasured.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STIXELS_UNMEASURED_PART_H
#define SX_STAGES_STIXELS_UNMEASURED_PART_H

#include "stages/stixels/unmeasured.h"

/* A run of rows of a segment, first and last inclusive. */
struct sx_unmeasured_run {
	int first, last;
	bool unknown;
};

/*
 * Returns the next run of a segment from row v on. v is v_bottom or the row after the run before. foot:
 * sx_unmeasured_foot() of the segment. Stretches without a measured cell that the segment does not cross are
 * unknown: all of ground, but of an object only those at its foot and at its top, and the rows at its foot that
 * see the road before it. Measured rows before such a stretch are a run of their own.
 */
SX_SEGMENT_INLINE struct sx_unmeasured_run sx_unmeasured_next(const struct sx_unmeasured_column *c,
							      const struct sx_unmeasured_word *rows,
							      const struct sx_segment *s, int foot, int v)
{
	const int bottom = s->v_bottom, top = s->v_top;
	struct sx_unmeasured_run r = {v, top, false};

	if (!sx_unmeasured_asks(s))
		return r;
	for (int begin = sx_unmeasured_find(rows, v, top, false), end; begin <= top;
	     begin = sx_unmeasured_find(rows, end, top, false)) {
		end = sx_unmeasured_find(rows, begin, top, true);
		if (s->kind == STIXEL_GROUND || begin == bottom || end > top) {
			const struct sx_unmeasured_stretch t = sx_unmeasured_stretch_of(rows, begin, end - 1);

			if (sx_unmeasured_ends(c, s, &t)) {
				r.unknown = begin == v;
				r.last = r.unknown ? end - 1 : begin - 1;
				return r;
			}
		}
		if (foot > 0 && begin == bottom) {
			r.unknown = true;
			r.last = bottom + foot - 1;
			return r;
		}
		if (end > top)
			return r;
	}
	return r;
}

/* Returns a run as a segment. A ground line continues in it. */
SX_SEGMENT_INLINE struct sx_segment sx_unmeasured_segment(const struct sx_segment *s,
							  const struct sx_unmeasured_run *r, int cell_height)
{
	struct sx_segment part = *s;

	part.v_bottom = (uint16_t)r->first;
	part.v_top = (uint16_t)r->last;
	if (r->unknown) {
		part.kind = STIXEL_UNKNOWN;
		part.disparity_q7 = STIXEL_DISPARITY_UNKNOWN;
		part.mean_q4 = 0;
		part.slope_q14 = 0;
		part.label = STIXEL_LABEL_NONE;
	} else if (part.v_bottom > s->v_bottom) {
		part.disparity_q7 = (uint16_t)sx_segment_q7(s, r->first, cell_height);
	}
	return part;
}

/* Returns true if less than one cell in SX_UNMEASURED_CELLS of a segment was measured. */
SX_SEGMENT_INLINE bool sx_unmeasured_few(const struct sx_unmeasured_word *rows, const struct sx_segment *s)
{
	int measured = 0;

	for (int w = s->v_bottom / 32; w <= (int)s->v_top / 32; w++)
		measured +=
			sx_unmeasured_count(rows[w].measured & sx_unmeasured_mask(w, s->v_bottom, s->v_top));
	return SX_UNMEASURED_CELLS * measured < (int)s->v_top - (int)s->v_bottom + 1;
}

/*
 * Makes segments unknown of which few cells were measured: ground, and the lowest segments of a column, up to
 * one of which more was measured, or one that is unknown already. A surface nearer than the search range has
 * no disparity except a few wrong ones. It covers most at the foot of a column.
 */
SX_SEGMENT_INLINE void sx_unmeasured_whole(const struct sx_unmeasured_column *c,
					   const struct sx_unmeasured_word *rows, struct sx_segment *list,
					   int n)
{
	bool foot = true;

	for (int i = 0; i < n; i++) {
		const struct sx_unmeasured_run whole = {list[i].v_bottom, list[i].v_top, true};
		const bool few = sx_unmeasured_asks(&list[i]) && sx_unmeasured_few(rows, &list[i]);

		foot &= few;
		if (few && (foot || list[i].kind == STIXEL_GROUND))
			list[i] = sx_unmeasured_segment(&list[i], &whole, c->cell_height);
	}
}

/* Returns the number of runs of a segment. */
SX_SEGMENT_INLINE int sx_unmeasured_runs(const struct sx_unmeasured_column *c,
					 const struct sx_unmeasured_word *rows, const struct sx_segment *s)
{
	const int foot = sx_unmeasured_foot(c, rows, s);
	int n = 0;

	for (int v = s->v_bottom; v <= (int)s->v_top; n++)
		v = sx_unmeasured_next(c, rows, s, foot, v).last + 1;
	return n;
}

/*
 * Finds the states of the rows of a column, as far as they are asked for (sx_unmeasured_asks()). rows: words for them,
 * which this function writes. It is for one thread; gpu/ shares the rows among lanes.
 */
SX_SEGMENT_INLINE void sx_unmeasured_fill(const struct sx_unmeasured_column *c, const struct sx_segment *list,
					  int n, struct sx_unmeasured_word *rows)
{
	const struct sx_unmeasured_word none = {0, 0, 0, 0, 0};

	for (int w = 0; n > 0 && w <= (int)list[n - 1].v_top / 32; w++)
		rows[w] = none;
	for (int i = 0; i < n; i++)
		for (int v = list[i].v_bottom; sx_unmeasured_asks(&list[i]) && v <= (int)list[i].v_top; v++) {
			struct sx_unmeasured_word *word = &rows[v / 32];
			const uint32_t bit = 1u << v % 32;
			struct sx_unmeasured_view view;
			int32_t q7;
			int state;

			if (list[i].kind != STIXEL_GROUND && c->cells[v] != SX_DISPARITY_INVALID) {
				word->measured |= bit; /* most rows: no tile decides */
				continue;
			}
			q7 = sx_segment_q7(&list[i], v, c->cell_height);
			view = sx_unmeasured_look(c, q7, v);
			state = sx_unmeasured_state(c, &list[i], v, q7, &view);
			word->measured |= state == SX_ROW_MEASURED ? bit : 0;
			word->flat |= state >= SX_ROW_FLAT ? bit : 0;
			word->dark |= state == SX_ROW_DARK ? bit : 0;
			word->drop |= state == SX_ROW_DROP ? bit : 0;
			word->beyond |= q7 < c->reach_q7 ? bit : 0;
		}
}

/*
 * Splits the n segments of a column in place by the result of sx_unmeasured_fill(). Returns the new number of
 * segments. Adjacent unknown segments become one. A list has as many entries as rows, so it cannot overflow.
 */
SX_SEGMENT_INLINE int sx_unmeasured_part(const struct sx_unmeasured_column *c,
					 const struct sx_unmeasured_word *rows, struct sx_segment *list,
					 int n)
{
	int to = 0, kept = 0, parts;

	sx_unmeasured_whole(c, rows, list, n);

	for (int i = 0; i < n; i++)
		to += sx_unmeasured_runs(c, rows, &list[i]);
	parts = to;
	/* from the last to the first: each goes to its place or further back */
	for (int i = n - 1; i >= 0; i--) {
		const struct sx_segment s = list[i];
		const int foot = sx_unmeasured_foot(c, rows, &s);

		to -= sx_unmeasured_runs(c, rows, &s);
		for (int v = s.v_bottom, k = to; v <= (int)s.v_top; k++) {
			const struct sx_unmeasured_run r = sx_unmeasured_next(c, rows, &s, foot, v);

			list[k] = sx_unmeasured_segment(&s, &r, c->cell_height);
			v = r.last + 1;
		}
	}
	for (int i = 0; i < parts; i++) {
		if (kept > 0 && list[i].kind == STIXEL_UNKNOWN && list[kept - 1].kind == STIXEL_UNKNOWN)
			list[kept - 1].v_top = list[i].v_top;
		else
			list[kept++] = list[i];
	}
	return kept;
}

/* Does both steps. */
static inline int sx_unmeasured_column(const struct sx_unmeasured_column *c, struct sx_segment *list, int n)
{
	struct sx_unmeasured_word rows[SX_UNMEASURED_WORDS];

	sx_unmeasured_fill(c, list, n, rows);
	return sx_unmeasured_part(c, rows, list, n);
}

#endif
