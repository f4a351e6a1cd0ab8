/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/stages/stixels/slanted_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct sx_params rig_params(int rows)
{
	struct sx_params p = stixel_case_params(rows);
	static const uint8_t kinds[CLASSES] = {G, O, O, S};

	p.stixels.method = SX_STIXEL_SLANTED;
	p.stixels.cell_height = 1;
	p.stixels.width = 1000; /* the right camera sees all of the first column */
	p.stixels.slanted.slope_px = 1;
	p.stixels.slanted.feet_px = 0;
	p.semantics.classes = CLASSES;
	memcpy(p.semantics.kind, kinds, sizeof(kinds));
	return p;
}

void rig_init(struct rig *g, const struct sx_params *p, int height, const struct sx_road *road)
{
	*g = (struct rig){.p = *p, .road = *road};
	assert_int_equal(sx_slanted_tables_create(&g->t, p, height, 128), 0);
	g->rows = g->t->rows;
	assert_in_range(g->rows, 1, ROWS);
	assert_int_equal(sx_slanted_create(&g->s, g->t), 0);
	assert_int_equal(sx_segments_init(&g->out, 1, g->rows), 0);
	g->f.row = g->row;
	sx_slanted_frame_set(&g->f, g->t, road);
	g->at = sx_slanted_place_of(&g->f, g->t, 0);
	for (int v = 0; v < g->rows; v++)
		g->ground[v] = sx_slanted_expected(g->row[v].ground_q4, g->at.shift);
}

void rig_finish(struct rig *g)
{
	sx_slanted_destroy(g->s);
	sx_slanted_tables_destroy(g->t);
	sx_segments_finish(&g->out);
}

const struct sx_segment *rig_run(struct rig *g)
{
	const size_t n = (size_t)g->rows;
	const struct sx_image columns = {g->d, g->rows, 1, 2 * n, SX_PIXEL_U16};
	const struct sx_image c = {g->c, g->rows, 1, n, SX_PIXEL_U8};
	const struct sx_image scores = {g->scores, CLASSES * g->rows, 1, CLASSES * n, SX_PIXEL_U8};
	const struct sx_segment *list = g->out.list;
	int v = 0;

	sx_slanted_run(g->s, &g->road, &columns, g->confident ? &c : NULL, g->scored ? &scores : NULL,
		       &g->out);
	for (int i = 0; i < g->out.count[0]; i++) {
		assert_int_equal(list[i].v_bottom, v);
		assert_true(list[i].v_top >= v && list[i].kind <= STIXEL_UNKNOWN);
		assert_true(list[i].label == STIXEL_LABEL_NONE ||
			    g->p.semantics.kind[list[i].label] == list[i].kind ||
			    list[i].kind == STIXEL_UNKNOWN);
		v = list[i].v_top + 1;
	}
	assert_int_equal(v, g->rows);
	assert_true(g->out.total[0] >= 0);
	return list;
}

void rig_random_column(struct rig *g, int i, struct check_rng *r)
{
	struct sx_road seen = g->road;

	seen.offset += g->at.shift / 16.0;
	seen.cross = seen.axis = 0;
	stixel_case_column((enum stixel_case)(i % CASE_COUNT), &seen, 128, g->rows, g->d, r);
	g->confident = i % 3 != 0;
	g->scored = i % 4 == 3;
	for (int v = 0; v < g->rows; v++)
		g->c[v] = (uint8_t)(check_below(r, 5) ? 100 + check_below(r, 156) : check_below(r, 256));
	for (int k = 0; k < g->rows * CLASSES; k++)
		g->scores[k] = (uint8_t)(i % 8 == 3 ? check_below(r, 256) : 255 * check_below(r, 2));
}

double rig_total(const struct rig *g)
{
	return g->out.total[0] / 4096.0;
}
