/*
 * Slanted stixels on columns of known truth: roads that climb and fall, objects on them, cells of planes,
 * class scores.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/stages/stixels/slanted_rig.h"

/* ---- scenes: flat up to row 16, then a slope of `climb`, then an upright object, then nothing ---- */

static void scene(struct rig *g, double climb, struct check_rng *r)
{
	double last = 0;

	for (int v = 0; v < g->rows; v++) {
		const double flat = g->row[v].ground_q4 / 16.0;

		if (v < 34)
			last = flat + (v > 16 ? climb * (v - 16) : 0);
		g->d[v] = v < 50 ? (uint16_t)(16 * last + check_below(r, 9) - 4) : SX_DISPARITY_INVALID;
	}
}

static void check_scene(double climb, struct check_rng *r)
{
	const struct sx_params p = rig_params(ROWS);
	const struct sx_road road = stixel_case_road(ROWS, 40, 50);
	const struct sx_segment *list, *g0, *g1, *o;
	struct rig g;
	int n;

	rig_init(&g, &p, ROWS, &road);
	scene(&g, climb, r);
	list = rig_run(&g);
	n = g.out.count[0];
	g0 = &list[0];
	g1 = climb == 0 ? g0 : &list[1];
	o = &g1[1];
	assert_true(n >= (climb == 0 ? 2 : 3) && o < list + n);
	assert_int_equal(g0->kind, G);
	assert_int_equal(g1->kind, G);
	assert_int_equal(o->kind, O);
	/* a cut may be off by a row or two while the planes are still close to each other */
	if (climb != 0)
		assert_in_range(g1->v_bottom, 14, 20);
	assert_in_range(o->v_bottom, 32, 36);
	assert_in_range(abs(g0->disparity_q7 - 8 * g.row[0].ground_q4), 0, 64);
	assert_in_range(abs(g1->slope_q14 - (int)(16384 * (climb - road.slope))), 0, 16384 / 10);
	assert_in_range(abs(o->mean_q4 - g.d[45]), 0, 8);
	assert_in_range(abs(o->disparity_q7 - 8 * o->mean_q4), 0, 4);
	assert_int_equal(o->slope_q14, 0);
	rig_finish(&g);
}

static void test_roads(void **state)
{
	struct check_rng r = check_rng_seed(43);

	for (int i = 0; i < 20; i++) {
		check_scene(0, &r);
		check_scene(0.8, &r); /* climbs: the disparity of the road stays large for longer */
		check_scene(-0.3, &r);
	}
}

/* Returns the cost of four rows that lie half a pixel too high, on an otherwise empty road. */
static double cost_of_bump(double roughness, int first)
{
	struct sx_params p = rig_params(ROWS);
	const struct sx_road road = stixel_case_road(ROWS, ROWS, 100);
	double cost;
	struct rig g;

	p.stixels.slanted.roughness = roughness;
	rig_init(&g, &p, ROWS, &road);
	for (int v = 0; v < ROWS; v++)
		g.d[v] = (uint16_t)(g.row[v].ground_q4 + (v >= first && v < first + 4 ? 12 : 0));
	rig_run(&g);
	assert_true(g.out.count[0] == 1 && g.out.list[0].kind == G);
	cost = rig_total(&g) - p.stixels.slanted.cut;
	rig_finish(&g);
	return cost;
}

/* Near the camera the road's own roughness explains the bump. Far away it explains less of it. */
static void test_roughness(void **state)
{
	const double near = cost_of_bump(0.025, 10) / cost_of_bump(0, 10);
	const double far = cost_of_bump(0.025, 50) / cost_of_bump(0, 50);

	/* expected ground: 82 and 19 px; sigma 1 px */
	assert_true(near > 0.1 && near < 0.3);
	assert_true(far > 0.6 && far < 0.95);
}

/* An object in the lowest row stands on ground outside the image, and pays the cost of that. */
static void test_first_object(void **state)
{
	const struct sx_params p = rig_params(ROWS);
	const struct sx_road road = stixel_case_road(ROWS, 40, 50);
	struct rig g;

	rig_init(&g, &p, ROWS, &road);
	for (int v = 0; v < ROWS; v++)
		g.d[v] = 800;
	rig_run(&g);
	assert_true(g.out.count[0] == 1 && g.out.list[0].kind == O);
	assert_true(rig_total(&g) == 2 * p.stixels.slanted.cut);
	rig_finish(&g);
}

/* The published disparity of a plane is the one at the lowest image row of its lowest cell. */
static void test_cells_of_a_plane(void **state)
{
	for (int cell = 1; cell <= 16; cell++) {
		struct sx_params p = rig_params(ROWS * 16);
		const struct sx_road road = stixel_case_road(ROWS * 16, ROWS * 16, 100);
		const struct sx_segment *list;
		struct rig g;

		p.stixels.cell_height = cell * 4 > 32 ? 32 : cell * 4;
		if (ROWS * 16 / p.stixels.cell_height > ROWS)
			continue;
		rig_init(&g, &p, ROWS * 16, &road);
		for (int v = 0; v < g.rows; v++)
			g.d[v] = (uint16_t)(g.row[v].ground_q4 > 0 ? g.row[v].ground_q4 : 0);
		list = rig_run(&g);
		assert_int_equal(list[0].kind, G);
		assert_in_range(abs(list[0].disparity_q7 - 128 * 100), 0, 12);
		assert_in_range(abs(list[0].slope_q14 + (int)(16384 * road.slope)), 0, 24);
		rig_finish(&g);
	}
}

/* ---- class scores ---- */

/* The disparities fit sky or a far wall, so the scores decide. Class 1 and 2 tie: the first wins. */
static void test_scores_decide(void **state)
{
	struct sx_params p = rig_params(ROWS);
	const struct sx_road road = stixel_case_road(ROWS, 20, 30);
	struct rig g;

	p.stixels.slanted.sky_outlier = 1000; /* otherwise a row of sky lifts the object off the ground */
	rig_init(&g, &p, ROWS, &road);
	g.scored = true;
	for (int sky = 0; sky < 2; sky++) {
		const struct sx_segment *list, *last;

		for (int v = 0; v < ROWS; v++) {
			g.d[v] = v < 20 ? (uint16_t)g.row[v].ground_q4 : 12;
			memset(g.scores + v * CLASSES, 2, CLASSES);
			if (v < 20)
				g.scores[v * CLASSES] = 240;
			else if (sky)
				g.scores[v * CLASSES + 3] = 240;
			else
				g.scores[v * CLASSES + 1] = g.scores[v * CLASSES + 2] = 120;
		}
		list = rig_run(&g);
		last = &list[g.out.count[0] - 1];
		assert_int_equal(g.out.count[0], 2);
		assert_int_equal(list[0].kind, G);
		assert_int_equal(list[0].label, 0);
		assert_in_range(last->v_bottom, sky ? 20 : 19,
				20); /* the wall stands on the ground of row 19 */
		assert_int_equal(last->kind, sky ? S : O);
		assert_int_equal(last->label, sky ? 3 : 1);
	}
	/* one object by disparity, two objects by class */
	for (int v = 0; v < ROWS; v++) {
		g.d[v] = v < 20 ? (uint16_t)g.row[v].ground_q4 : 480;
		memset(g.scores + v * CLASSES, 1, CLASSES);
		g.scores[v * CLASSES + (v < 20 ? 0 : v < 45 ? 2 : 1)] = 250;
	}
	rig_run(&g);
	assert_int_equal(g.out.count[0], 3);
	assert_int_equal(g.out.list[1].label, 2);
	assert_int_equal(g.out.list[2].label, 1);
	assert_int_equal(g.out.list[2].v_bottom, 45);
	/* nothing valid: only the scores decide, and objects then have no disparity */
	memset(g.d, 0xff, sizeof(g.d));
	rig_run(&g);
	assert_int_equal(g.out.list[g.out.count[0] - 1].kind, STIXEL_UNKNOWN);
	assert_int_equal(g.out.list[g.out.count[0] - 1].label, 1);
	g.scored = false;
	rig_run(&g);
	assert_int_equal(g.out.list[0].label, STIXEL_LABEL_NONE);
	rig_finish(&g);
}

/* Returns the kind of row 15 of a road whose rows 10 to 19 measure half of the road's disparity. */
static int kind_behind_the_road(enum sx_road_origin origin, double below)
{
	struct sx_params p = rig_params(ROWS);
	struct sx_road road = stixel_case_road(ROWS, 40, 50);
	int kind = -1;
	struct rig g;

	road.origin = origin;
	p.stixels.slanted.below = below;
	p.stixels.slanted.hole = 0.1;
	rig_init(&g, &p, ROWS, &road);
	for (int v = 0; v < ROWS; v++)
		g.d[v] = (uint16_t)(v >= 40 ? 0 : v >= 10 && v < 20 ? 300 : g.row[v].ground_q4);
	rig_run(&g);
	for (int i = 0; i < g.out.count[0]; i++)
		if (g.out.list[i].v_bottom <= 15 && g.out.list[i].v_top >= 15)
			kind = g.out.list[i].kind;
	rig_finish(&g);
	return kind;
}

/*
 * A match in a puddle lies behind the road, and the road goes on. An unmeasured road may be wrong, so every
 * match counts.
 */
static void test_behind_the_road(void **state)
{
	assert_int_equal(kind_behind_the_road(SX_ROAD_MEASURED, 0.15), G);
	assert_int_equal(kind_behind_the_road(SX_ROAD_PREVIOUS, 0.15), G);
	assert_int_equal(kind_behind_the_road(SX_ROAD_FROM_CALIBRATION, 0.15), O);
	assert_int_equal(kind_behind_the_road(SX_ROAD_MEASURED, 1), O);
	assert_int_equal(kind_behind_the_road(SX_ROAD_MEASURED, 0.6), O);
}

/*
 * The lowest rows of the first columns are out of the right camera's view. Matches there have no effect, and
 * the object above does not reach down to them.
 */
static void test_out_of_view(void **state)
{
	struct sx_params p = rig_params(ROWS);
	const struct sx_road road = stixel_case_road(ROWS, 40, 50);
	struct sx_slanted_place at;
	struct rig g;
	int total;

	p.stixels.width = 60; /* 26 px */
	rig_init(&g, &p, ROWS, &road);
	at = g.at;
	assert_in_range(at.unseen, 17, 22);
	assert_true(g.ground[at.unseen - 1] > 26 * 16 && g.ground[at.unseen] <= 26 * 16);
	for (int v = 0; v < ROWS; v++)
		g.d[v] = 416;
	rig_run(&g);
	total = g.out.total[0];
	for (int i = 0; i < g.out.count[0]; i++)
		if (g.out.list[i].kind == O)
			assert_true(g.out.list[i].v_bottom >= at.unseen || g.out.list[i].v_top < at.unseen);
	assert_int_equal(g.out.list[0].kind, STIXEL_UNKNOWN);
	assert_int_equal(g.out.list[0].v_top, at.unseen - 1);
	assert_int_equal(g.out.list[0].disparity_q7, STIXEL_DISPARITY_UNKNOWN);
	assert_int_equal(g.out.list[0].label, STIXEL_LABEL_NONE);
	assert_int_equal(g.out.list[1].kind, O);
	for (int v = 0; v < at.unseen; v++)
		g.d[v] = v % 2 ? 0 : 5000;
	rig_run(&g);
	assert_int_equal(g.out.total[0], total);
	rig_finish(&g);
	/* farther right the whole column is seen, and there is one object from the bottom */
	p.stixels.width = 1000;
	rig_init(&g, &p, ROWS, &road);
	assert_int_equal(g.at.unseen, 0);
	for (int v = 0; v < ROWS; v++)
		g.d[v] = 800;
	rig_run(&g);
	assert_int_equal(g.out.count[0], 1);
	rig_finish(&g);
	/* a column with less than 4 px in view sees nothing at all */
	for (p.stixels.width = 15; p.stixels.width <= 16; p.stixels.width++) {
		rig_init(&g, &p, ROWS, &road);
		rig_run(&g);
		if (p.stixels.width == 15)
			assert_int_equal(g.at.unseen, ROWS);
		else
			assert_in_range(g.at.unseen, 30, ROWS - 1);
		assert_int_equal(g.out.list[0].kind, STIXEL_UNKNOWN);
		assert_int_equal(g.out.list[0].v_top, g.at.unseen - 1);
		assert_int_equal(g.out.count[0] == 1, p.stixels.width == 15);
		rig_finish(&g);
	}
}

/*
 * Ground that continues above the unseen rows begins there and keeps its line. Also checked with class
 * scores, and with a road that bends in the unseen rows.
 */
static void test_ground_out_of_view(void **state)
{
	for (int i = 0; i < 8; i++) {
		struct sx_params p = rig_params(ROWS);
		struct sx_road road = stixel_case_road(ROWS, 40, 50);
		struct sx_slanted_choice whole = {.v_top = 39, .kind = G, .valid = true, .origin = 39};
		const struct sx_segment *list;
		struct sx_segment got[2];
		struct rig g;
		int seen;

		p.stixels.width = 60; /* 26 px */
		if (i & 4) {
			road.bend = 0.2;
			road.bend_row = ROWS - 10;
		}
		rig_init(&g, &p, ROWS, &road);
		seen = g.at.unseen;
		assert_in_range(seen, 10, 30);
		g.scored = i & 2;
		for (int v = 0; v < ROWS; v++) {
			g.d[v] = (uint16_t)(v >= 40 ? 0 : g.ground[v] + (i & 1 ? 8 : 0));
			memset(g.scores + v * CLASSES, 2, CLASSES);
			g.scores[v * CLASSES + (v < 40 ? 0 : 3)] = 240;
		}
		list = rig_run(&g);
		assert_int_equal(list[0].kind, STIXEL_UNKNOWN);
		assert_int_equal(list[0].v_top, seen - 1);
		assert_int_equal(list[0].label, STIXEL_LABEL_NONE);
		assert_int_equal(list[1].kind, G);
		assert_int_equal(list[1].v_bottom, seen);
		assert_int_equal(list[1].label, g.scored ? 0 : STIXEL_LABEL_NONE);
		assert_in_range(abs(list[1].disparity_q7 - 8 * g.d[seen]), 0, 8 * 16);
		/* a line of 1 px per row more than the road, at the row where it begins now */
		whole.plane.b = 16;
		assert_int_equal(sx_slanted_publish(g.t, &g.f, &g.at, false, &whole, 1, got), 2);
		assert_in_range(abs(got[1].disparity_q7 - 8 * (g.ground[seen] - 16 * (39 - seen))), 0, 1);
		assert_in_range(abs(got[1].slope_q14 - 16384 -
				    (int)(1024 * (seen < g.f.knee ? g.f.slope : g.f.bent))),
				0, 1);
		rig_finish(&g);
	}
}

/*
 * For any content of a column, the unseen rows below are one unknown segment, and there are no more segments
 * than rows.
 */
static void test_publish_out_of_view(void **state)
{
	struct check_rng r = check_rng_seed(46);

	for (int i = 0; i < 400; i++) {
		const int rows = 1 + check_below(&r, ROWS);
		const struct sx_road road = stixel_case_road(rows, 1 + check_below(&r, rows), 40);
		struct sx_params p = rig_params(rows);
		struct rig g;

		p.stixels.width = 8 + check_below(&r, 80);
		rig_init(&g, &p, rows, &road);
		rig_random_column(&g, i, &r);
		rig_run(&g);
		assert_in_range(g.out.count[0], 1, rows);
		if (g.at.unseen > 0) {
			assert_int_equal(g.out.list[0].kind, STIXEL_UNKNOWN);
			assert_int_equal(g.out.list[0].v_top, g.at.unseen - 1);
			assert_int_equal(g.out.list[0].mean_q4 | g.out.list[0].slope_q14, 0);
		}
		rig_finish(&g);
	}
}

/*
 * Returns the object's lowest row after publishing. The column has a ground stixel up to row 19 that leaves
 * the road by `lift` px at its foot and `steeper` px per row, and on it an object of 16 rows with the road's
 * disparity in row `stands`.
 */
static int foot_of(int feet_px, int cell_height, double lift, double steeper, int stands)
{
	struct sx_params p = rig_params(ROWS);
	const struct sx_road road = stixel_case_road(ROWS * cell_height, 60 * cell_height, 100);
	struct sx_slanted_choice choice[2] = {
		{.v_top = 19, .kind = G, .valid = true, .plane = {(float)(16 * lift), (float)(16 * steeper)}},
		{.v_bottom = 20, .v_top = 35, .kind = O, .valid = true},
	};
	struct sx_segment got[2];
	struct rig g;

	p.stixels.cell_height = cell_height;
	p.stixels.slanted.feet_px = feet_px;
	rig_init(&g, &p, ROWS * cell_height, &road);
	choice[1].plane.a = (float)g.ground[stands];
	assert_int_equal(sx_slanted_publish(g.t, &g.f, &g.at, false, choice, 2, got), 2);
	assert_int_equal(got[0].v_bottom, 0);
	assert_int_equal(got[0].v_top, got[1].v_bottom - 1);
	assert_int_equal(got[1].v_top, 35);
	assert_int_equal(got[1].mean_q4, g.ground[stands]);
	rig_finish(&g);
	return got[1].v_bottom;
}

/* Rows up to and including the row in which the object stands become ground. */
static void test_feet(void **state)
{
	for (int cell = 1; cell <= 4; cell *= 2) {
		const int feet = 4 * cell;

		/* the ground is already behind the object */
		assert_int_equal(foot_of(feet, cell, 0, 0, 15), 20);
		assert_int_equal(foot_of(feet, cell, 0, 0, 19), 20);
		assert_int_equal(foot_of(feet, cell, 0, 0, 20), 21);
		assert_int_equal(foot_of(feet, cell, 0, 0, 22), 23);
		assert_int_equal(foot_of(feet, cell, 0, 0, 23), 24);
		assert_int_equal(foot_of(feet, cell, 0, 0, 40), 24); /* limited to a quarter of the object */
		assert_int_equal(foot_of(100 * cell, cell, 0, 0, 40), 24);
		assert_int_equal(foot_of(2 * cell, cell, 0, 0, 40), 22);     /* limited by feet_px */
		assert_int_equal(foot_of(3 * cell - 1, cell, 0, 0, 40), 22); /* only whole cells count */
		assert_int_equal(foot_of(0, cell, 0, 0, 40), 20);
		/* lower or falling ground ends sooner; climbing ground does not end later */
		assert_int_equal(foot_of(feet, cell, -4, 0, 22), 21);
		assert_int_equal(foot_of(feet, cell, -6, 0, 22), 20);
		assert_int_equal(foot_of(feet, cell, 0, -0.35, 22), 20);
		assert_int_equal(foot_of(feet, cell, 4, 0.25, 22), 23);
	}
}

/* Only ground takes rows from an object above it. An object on an object keeps its foot, and so does sky. */
static void test_only_ground_takes_feet(void **state)
{
	struct sx_params p = rig_params(ROWS);
	const struct sx_road road = stixel_case_road(ROWS, 60, 100);
	const struct sx_slanted_choice choice[4] = {
		{.v_top = 9, .kind = O, .valid = true, .plane = {800, 0}},
		{.v_bottom = 10, .v_top = 19, .kind = O, .valid = true, .plane = {16, 0}},
		{.v_bottom = 20, .v_top = 29, .kind = G, .valid = true, .origin = 20},
		{.v_bottom = 30, .v_top = 63, .kind = S, .valid = true},
	};
	struct sx_segment got[4];
	struct rig g;

	p.stixels.slanted.feet_px = 8;
	rig_init(&g, &p, ROWS, &road);
	assert_int_equal(sx_slanted_publish(g.t, &g.f, &g.at, false, choice, 4, got), 4);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(got[i].v_bottom, choice[i].v_bottom);
		assert_int_equal(got[i].v_top, choice[i].v_top);
	}
	rig_finish(&g);
}

/*
 * Something at infinity, where the road has almost reached the horizon, is the skyline. Something nearer is
 * an object.
 */
static void test_sky_begins_with_the_road_below_a_pixel(void **state)
{
	for (int i = 0; i < 3; i++) {
		const struct sx_params p = rig_params(ROWS);
		const struct sx_road road = stixel_case_road(ROWS, 60, 30);
		struct sx_slanted_choice choice[2] = {
			{.kind = G, .valid = true},
			{.v_top = 63, .kind = O, .valid = true, .plane = {i == 2 ? 17 : 12, 0}},
		};
		struct sx_segment got[2];
		struct rig g;
		int v = 0;

		rig_init(&g, &p, ROWS, &road);
		while (g.ground[v] >= 16)
			v++;
		assert_true(g.ground[v] > 0);
		choice[1].v_bottom = (uint16_t)(i == 1 ? v - 1 : v);
		choice[0].v_top = (uint16_t)(choice[1].v_bottom - 1);
		assert_int_equal(sx_slanted_publish(g.t, &g.f, &g.at, false, choice, 2, got), 2);
		assert_int_equal(got[1].kind, i == 0 ? S : O);
		assert_int_equal(sx_slanted_publish(g.t, &g.f, &g.at, true, choice, 2, got), 2);
		assert_int_equal(got[1].kind, O);
		rig_finish(&g);
	}
}

/* If scores say sky, a few wrong disparities do not create an object. Without scores they do. */
static void test_outliers_in_the_sky(void **state)
{
	for (int most = 3; most <= 1000; most += 997) {
		struct sx_params p = rig_params(ROWS);
		const struct sx_road road = stixel_case_road(ROWS, 20, 30);
		struct rig g;

		p.stixels.slanted.sky_outlier = most;
		rig_init(&g, &p, ROWS, &road);
		g.scored = true;
		for (int v = 0; v < ROWS; v++) {
			g.d[v] = v < 20 ? (uint16_t)g.row[v].ground_q4 : v / 4 == 10 ? 320 : 0;
			memset(g.scores + v * CLASSES, 10, CLASSES);
			g.scores[v * CLASSES + (v < 20 ? 0 : 3)] = 200;
		}
		rig_run(&g);
		assert_int_equal(g.out.count[0], most == 3 ? 2 : 4);
		assert_int_equal(g.out.list[1].kind, S);
		rig_finish(&g);
	}
}

/* A kind without a class behaves like a kind that is never seen: possible, but never cheap. */
static void test_kind_without_class(void **state)
{
	struct sx_params p = rig_params(ROWS);
	const struct sx_road road = stixel_case_road(ROWS, 20, 30);
	struct check_rng r = check_rng_seed(44);
	struct rig g;

	memset(p.semantics.kind, G, sizeof(p.semantics.kind));
	rig_init(&g, &p, ROWS, &road);
	for (int i = 0; i < 100; i++) {
		rig_random_column(&g, i, &r);
		g.scored = true;
		rig_run(&g);
		for (int k = 0; k < g.out.count[0]; k++)
			assert_int_equal(g.out.list[k].label != STIXEL_LABEL_NONE, g.out.list[k].kind == G);
	}
	rig_finish(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_roads),
		cmocka_unit_test(test_roughness),
		cmocka_unit_test(test_first_object),
		cmocka_unit_test(test_cells_of_a_plane),
		cmocka_unit_test(test_behind_the_road),
		cmocka_unit_test(test_out_of_view),
		cmocka_unit_test(test_ground_out_of_view),
		cmocka_unit_test(test_publish_out_of_view),
		cmocka_unit_test(test_scores_decide),
		cmocka_unit_test(test_feet),
		cmocka_unit_test(test_only_ground_takes_feet),
		cmocka_unit_test(test_sky_begins_with_the_road_below_a_pixel),
		cmocka_unit_test(test_outliers_in_the_sky),
		cmocka_unit_test(test_kind_without_class),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
