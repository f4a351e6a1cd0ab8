/*
 * Class cut in plain C: see class_cut.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stixels/class_cut.h"

#include <math.h>
#include <string.h>

#include "stages/stixels/cells.h"

static uint16_t units_of(double nats)
{
	return (uint16_t)floor(SX_CLASS_CUT_UNIT * nats + 0.5);
}

void sx_class_cut_set(struct sx_class_cut *t, const struct sx_params *p)
{
	memset(t, 0, sizeof(*t));
	t->cost = units_of(p->stixels.slanted.class_cut);
	t->cell_height = sx_cell_height(&p->stixels);
	t->classes = p->semantics.classes;
	t->most = p->stixels.max_per_column;
	for (int c = 0; c < 256; c++)
		t->energy[c] = units_of(-log((c ? c : 0.5) / 255.0));
	for (int k = 0; k < t->classes; k++)
		if (p->semantics.kind[k] == STIXEL_GROUND)
			t->class_of[t->ground++] = (uint8_t)k;
	if (t->cost == 0 || t->ground < 2 || !sx_is_slanted(&p->stixels))
		t->ground = 0;
}

/* Finds the cheapest sequence of classes up to each row of a segment of ground. Returns the class of its end. */
static int walk(const struct sx_class_cut *t, const uint16_t *cells, const uint8_t *scores,
		const struct sx_segment *s, struct sx_class_cut_row *row)
{
	const struct sx_class_cut_rows rows = sx_class_cut_rows_of(s, cells);
	int32_t sum[SX_CLASSES_MAX] = {0};
	int best = 0;

	for (int v = s->v_bottom; v <= (int)s->v_top; v++) {
		const int32_t change = sum[best] + t->cost;

		row[v].best = (uint8_t)best;
		row[v].anew = 0;
		for (int k = 0; k < t->ground; k++) {
			if (change < sum[k] && v >= rows.first && v <= rows.last) {
				sum[k] = change;
				row[v].anew |= 1u << k;
			}
			sum[k] += t->energy[scores[v * t->classes + t->class_of[k]]];
		}
		best = 0;
		for (int k = 1; k < t->ground; k++)
			best = sum[k] < sum[best] ? k : best;
	}
	return best;
}

int sx_class_cut_column(const struct sx_class_cut *t, const uint16_t *cells, const uint8_t *scores,
			struct sx_segment *list, int n)
{
	struct sx_class_cut_row row[SX_CLASS_CUT_ROWS];
	int parts = 0;

	if (t->ground == 0)
		return n;
	for (int i = 0; i < n; i++)
		parts += list[i].kind == STIXEL_GROUND
				 ? sx_class_cut_back(&list[i], walk(t, cells, scores, &list[i], row), row)
				 : 1;
	if (parts > t->most)
		return n;
	sx_class_cut_spread(t, row, list, n, parts);
	return parts;
}
