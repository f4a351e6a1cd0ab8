/*
 * Class cut: cuts ground stixels where the class of the ground changes, as at a border between road and
 * sidewalk, which the disparity does not show. Networks are wrong about whole areas, so class scores weigh
 * little against the disparity (sx_slanted_params.semantic), and such a border hardly ever pays for a stixel of
 * its own. But a cut between two classes of ground changes no kind and no plane. So here scores have their full
 * weight.
 *
 * The cells of a ground stixel get the cheapest sequence of classes: -ln of the score of each cell's class, and
 * a cost for each change of class (Viterbi, Error bounds for convolutional codes, IEEE Trans. Inf. Theory 1967).
 * Each run of a class becomes a stixel and continues the line. This is the last step on a list, after unmeasured
 * parts were removed (unmeasured.h): a cut must not divide a stretch that was not measured.
 *
 * The lowest and the highest run of a stixel keep SX_CLASS_CUT_CELLS measured cells each, because a reader looks
 * there for a step of the ground, such as a kerb or a drop (ipc/client/look.c), and believes no stixel with less.
 * A column keeps its list if more stixels than max_per_column came out: what is above the last one would be lost
 * (compact.h), and no border is worth an obstacle.
 *
 * Ties: a class goes on, and of several cheapest classes the first counts. Works on one column at a time, for
 * stages/, cpu/ and gpu/; integers alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STIXELS_CLASS_CUT_H
#define SX_STAGES_STIXELS_CLASS_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/image.h"
#include "base/scores.h"
#include "stages/params/params.h"
#include "stages/stixels/segment.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SX_CLASS_CUT_UNIT 64   /* units in a nat */
#define SX_CLASS_CUT_ROWS 2160 /* most rows of a column: sums of energies stay below 2^20 */
#define SX_CLASS_CUT_CELLS 3   /* measured cells of the runs at both ends */
#define SX_CLASS_CUT_NONE 0xff /* no run begins in this row */

/*
 * Plain data, the same for all frames of a context. ground: number of classes of ground; 0: nothing is cut.
 * most: number of stixels that a column may have.
 * energy: of a cell whose score is c / 255 (0 counts as half a step). cost: of a change of class. Both in units.
 */
struct sx_class_cut {
	int32_t cost;
	int cell_height, classes, ground, most;
	uint8_t class_of[SX_CLASSES_MAX]; /* the classes of ground, in their order */
	uint16_t energy[256];
};

/*
 * A row of a ground stixel. Indices count the classes of ground. best: the cheapest class up to the row below.
 * anew: bits of the classes whose cheapest sequence changes from `best` to them in this row. begins: the class
 * of the run that begins here, or SX_CLASS_CUT_NONE.
 */
struct sx_class_cut_row {
	uint32_t anew;
	uint8_t best, begins;
};

/* Sets the table. With a method that reads no scores, without a cost and with one class of ground, ground is 0. */
void sx_class_cut_set(struct sx_class_cut *t, const struct sx_params *p);

/* Rows of a segment of ground in which another class may begin. None if last < first. */
struct sx_class_cut_rows {
	int first, last;
};

/* Returns these rows. cells: as in sx_unmeasured_column. */
SX_SEGMENT_INLINE struct sx_class_cut_rows sx_class_cut_rows_of(const struct sx_segment *s,
								const uint16_t *cells)
{
	struct sx_class_cut_rows r = {s->v_bottom, (int)s->v_top + 1};

	for (int n = 0; n < SX_CLASS_CUT_CELLS && r.first <= (int)s->v_top; r.first++)
		n += cells[r.first] != SX_DISPARITY_INVALID;
	for (int n = 0; n < SX_CLASS_CUT_CELLS && r.last > (int)s->v_bottom; r.last--)
		n += cells[r.last - 1] != SX_DISPARITY_INVALID;
	return r;
}

/*
 * Cuts the n segments of a column in place, and sets the class of ground. cells: those of sx_unmeasured_column.
 * scores: U8, [row][class] (sx_reduce_scores()). Returns the new number of segments. A list has as many
 * entries as rows, so it cannot overflow. Thread: any; allocates nothing.
 */
int sx_class_cut_column(const struct sx_class_cut *t, const uint16_t *cells, const uint8_t *scores,
			struct sx_segment *list, int n);

/*
 * Goes back from the top row of a segment of ground, whose cheapest class there is `last`. Sets `begins` of its
 * rows. Returns the number of runs.
 */
SX_SEGMENT_INLINE int sx_class_cut_back(const struct sx_segment *s, int last, struct sx_class_cut_row *row)
{
	int runs = 0;

	for (int v = s->v_top; v >= (int)s->v_bottom; v--) {
		row[v].begins = SX_CLASS_CUT_NONE;
		if (v > (int)s->v_bottom && !(row[v].anew >> last & 1))
			continue;
		row[v].begins = (uint8_t)last;
		last = row[v].best;
		runs++;
	}
	return runs;
}

/* Writes the runs of a segment of ground to the entries that end before `end`. Returns the first of them. */
SX_SEGMENT_INLINE struct sx_segment *sx_class_cut_runs(const struct sx_class_cut *t,
						       const struct sx_segment *s,
						       const struct sx_class_cut_row *row,
						       struct sx_segment *end)
{
	int top = s->v_top;

	for (int v = top; v >= (int)s->v_bottom; v--) {
		if (row[v].begins == SX_CLASS_CUT_NONE)
			continue;
		*--end = *s;
		end->v_bottom = (uint16_t)v;
		end->v_top = (uint16_t)top;
		end->label = t->class_of[row[v].begins];
		end->disparity_q7 = (uint16_t)sx_segment_q7(s, v, t->cell_height);
		top = v - 1;
	}
	return end;
}

/* Expands the n segments of a list to `parts` in place, the last first: each goes to its place or further back. */
SX_SEGMENT_INLINE void sx_class_cut_spread(const struct sx_class_cut *t, const struct sx_class_cut_row *row,
					   struct sx_segment *list, int n, int parts)
{
	struct sx_segment *end = list + parts;

	for (int i = n - 1; i >= 0; i--) {
		const struct sx_segment s = list[i];

		if (s.kind == STIXEL_GROUND)
			end = sx_class_cut_runs(t, &s, row, end);
		else
			*--end = s;
	}
}

#ifdef __cplusplus
}
#endif

#endif
