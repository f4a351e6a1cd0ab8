/*
 * RDP: the iteration against the recursive definition, and the labels of known scenes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <stixel.h>
#include <cmocka.h>

#include "stages/stixels/rdp.h"
#include "tests/stixel_case.h"

enum { MAX = 2160 };

/* Recursive definition: values with invalid ones filled, in doubles. */
static void recursive(const double *d, const bool *valid, int f, int l, double epsilon, uint8_t *cut)
{
	double best = epsilon;
	int at = 0;

	for (int i = f + 1; i < l; i++) {
		const double off = fabs((d[l] - d[f]) * (i - f) - (d[i] - d[f]) * (l - f)) / (l - f);

		/* the quotients of one segment are the same double or differ by at least 1 / (l - f) */
		if (valid[i] && off > best) {
			best = off;
			at = i;
		}
	}
	if (!at)
		return;
	cut[at] = 1;
	recursive(d, valid, f, at, epsilon, cut);
	recursive(d, valid, at, l, epsilon, cut);
}

static void define(const uint16_t *column, int h, double epsilon, uint8_t *cut)
{
	static double d[MAX];
	static bool valid[MAX];
	double last = 0;

	for (int i = h - 1; i >= 0; i--)
		if (column[i] != SX_DISPARITY_INVALID)
			last = column[i];
	for (int i = 0; i < h; i++) {
		valid[i] = column[i] != SX_DISPARITY_INVALID;
		d[i] = last = valid[i] ? column[i] : last;
	}
	memset(cut, 0, (size_t)h);
	cut[0] = cut[h - 1] = 1;
	recursive(d, valid, 0, h - 1, epsilon, cut);
}

static void check_cuts(const struct sx_rdp_tables *t, const uint16_t *column, const char *what)
{
	static uint8_t want[MAX], got[MAX];
	static uint16_t filled[MAX], stack[MAX];

	define(column, t->height, t->epsilon_q4, want);
	sx_rdp_fill(t, column, filled);
	sx_rdp_cut(t, filled, got, stack);
	if (memcmp(want, got, (size_t)t->height))
		fail_msg("%s, %d rows: cuts differ", what, t->height);
}

static void test_iterative_is_recursive(void **state)
{
	static const int heights[] = {1, 2, 3, 4, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 128, 129, 375};
	struct check_rng r = check_rng_seed(6);
	static uint16_t column[MAX];
	int columns = 0;

	for (size_t i = 0; i < sizeof(heights) / sizeof(*heights); i++)
		for (int round = 0; round < 10; round++) {
			const int h = heights[i];
			struct sx_params p = stixel_case_random_params(h, &r);
			const struct sx_road road = stixel_case_road(h, check_below(&r, h + 1), 60);
			struct sx_rdp_tables *t;

			assert_int_equal(sx_rdp_tables_create(&t, &p, h, 128), 0);
			for (int how = 0; how < CASE_COUNT; how++, columns++) {
				stixel_case_column((enum stixel_case)how, &road, 128, h, column, &r);
				check_cuts(t, column, stixel_case_name((enum stixel_case)how));
			}
			sx_rdp_tables_destroy(t);
		}
	assert_true(columns >= 1000);
}

/* Deep recursion and the largest numbers. A parabola is cut in halves, a saw at every row. */
static void test_extremes(void **state)
{
	struct sx_params p = stixel_case_params(MAX);
	struct sx_road road = stixel_case_road(MAX, 1000, 383);
	struct sx_segments out;
	struct sx_rdp_tables *t;
	struct sx_image columns;
	struct sx_rdp *r;
	uint16_t *d;

	p.stixels.rdp_epsilon_px = 0;
	assert_int_equal(sx_rdp_tables_create(&t, &p, MAX, SX_RANGE_MAX), 0);
	assert_int_equal(sx_rdp_create(&r, t), 0);
	assert_int_equal(sx_segments_init(&out, 3, MAX), 0);
	assert_int_equal(sx_image_init(&columns, SX_PIXEL_U16, MAX, 3), 0);
	for (int v = 0; v < MAX; v++) {
		d = sx_image_row(&columns, 0);
		d[v] = (uint16_t)(v % 2 ? 16 * SX_RANGE_MAX - 1 : 0);
		d = sx_image_row(&columns, 1);
		d[v] = (uint16_t)(v * v / 760);
		d = sx_image_row(&columns, 2);
		d[v] = (uint16_t)(v == MAX - 1 ? 0xfffe : 0);
	}
	for (int u = 0; u < 3; u++)
		check_cuts(t, sx_image_row(&columns, u), "extreme");
	sx_rdp_run(r, &road, &columns, 0, &out);
	road.slope = 1e300;
	sx_rdp_run(r, &road, &columns, 0, &out);
	for (int u = 0; u < 3; u++)
		assert_int_equal(sx_segments_column(&out, u)[out.count[u] - 1].v_top, MAX - 1);
	sx_image_finish(&columns);
	sx_segments_finish(&out);
	sx_rdp_destroy(r);
	sx_rdp_tables_destroy(t);
	assert_int_equal(sx_rdp_tables_create(&t, &p, 0, 64), -EINVAL);
}

/* View of a column in which all ground has a partner. */
enum { IN_VIEW = 40 };

struct rig {
	struct sx_rdp_tables *t;
	struct sx_rdp *r;
	struct sx_segments out;
	struct sx_image column;
};

static void rig_init(struct rig *g, const struct sx_params *p, int h)
{
	assert_int_equal(sx_rdp_tables_create(&g->t, p, h, 64), 0);
	assert_int_equal(sx_rdp_create(&g->r, g->t), 0);
	assert_int_equal(sx_segments_init(&g->out, 1, h), 0);
	assert_int_equal(sx_image_init(&g->column, SX_PIXEL_U16, h, 1), 0);
}

static void rig_finish(struct rig *g)
{
	sx_image_finish(&g->column);
	sx_segments_finish(&g->out);
	sx_rdp_destroy(g->r);
	sx_rdp_tables_destroy(g->t);
}

static void test_labels_of_a_scene(void **state)
{
	enum { H = 150, VHOR = 90 };
	const struct sx_params p = stixel_case_params(H);
	const struct sx_road road = stixel_case_road(H, VHOR, 40);
	const struct sx_segment *s;
	int32_t ground[H];
	struct rig g;
	uint16_t *d;

	rig_init(&g, &p, H);
	d = sx_image_row(&g.column, 0);
	sx_road_ground(&road, H, ground);
	for (int v = 0; v < H; v++)
		d[v] = (uint16_t)(v < 40    ? ground[v]
				  : v < 70  ? 30 * 16
				  : v < 110 ? 12 * 16
				  : v < 140 ? 0
					    : 0xffff);
	d[10] = d[11] = 0xffff;
	sx_rdp_run(g.r, &road, &g.column, IN_VIEW, &g.out);
	s = sx_segments_column(&g.out, 0);
	assert_int_equal(g.out.count[0], 4);
	assert_int_equal(s[0].kind, STIXEL_GROUND);
	assert_int_equal(s[0].v_top, 39);
	/* the least-squares line is the ground itself, except for the rounding of its samples */
	assert_true(abs(s[0].disparity_q7 - 8 * ground[0]) <= 8);
	assert_true(abs(s[0].slope_q14 + (int)(road.slope * 16384)) <= 40);
	assert_int_equal(s[1].kind, STIXEL_OBJECT);
	assert_int_equal(s[1].disparity_q7, 30 * 128);
	assert_int_equal(s[1].slope_q14, 0);
	assert_int_equal(s[2].kind, STIXEL_OBJECT);
	assert_int_equal(s[2].v_top, 109);
	assert_int_equal(s[3].kind, STIXEL_SKY);
	assert_int_equal(s[3].disparity_q7, 0);
	/* nothing valid at the top: the cells are filled from below and form no segment of their own */
	assert_int_equal(s[3].v_top, H - 1);
	rig_finish(&g);
}

/*
 * A flat piece at the foot of the picture counts as ground while the ground changes less over it than the
 * tolerance (1.5 px + 5 % of about 40 px), and as an object if it is longer. A stair in noise is no obstacle.
 */
static void test_short_ground_may_be_flat(void **state)
{
	enum { H = 150, VHOR = 120 };
	struct sx_params p = stixel_case_params(H);
	const struct sx_road road = stixel_case_road(H, VHOR, 40); /* 1/3 px per row */
	const struct sx_segment *s;
	struct rig g;
	int32_t ground[H];
	uint16_t *d;

	p.stixels.rdp_ground_px = 1.5;
	rig_init(&g, &p, H);
	d = sx_image_row(&g.column, 0);
	s = sx_segments_column(&g.out, 0);
	sx_road_ground(&road, H, ground);
	for (int flat = 9; flat <= 12; flat += 3) {
		for (int v = 0; v < H; v++)
			d[v] = (uint16_t)(v < flat ? ground[flat / 2] : v < VHOR ? ground[v] : 0);
		d[flat] = (uint16_t)(d[flat] +
				     60); /* one wrong cell cuts the column there and becomes an object */
		sx_rdp_run(g.r, &road, &g.column, IN_VIEW, &g.out);
		assert_int_equal(s[0].v_bottom, 0);
		assert_int_equal(s[0].kind, flat == 9 ? STIXEL_GROUND : STIXEL_OBJECT);
	}
	rig_finish(&g);
}

static void test_merging(void **state)
{
	enum { H = 60 };
	const struct sx_params p = stixel_case_params(H);
	const struct sx_road none = {0}, road = stixel_case_road(H, 50, 30);
	const struct sx_segment *s;
	int32_t ground[H];
	struct rig g;
	uint16_t *d;

	rig_init(&g, &p, H);
	d = sx_image_row(&g.column, 0);
	/*
	 * at 40 px, 3 m of depth span 9.6 px: 33 px is the same object, 25 px is not, and the rest is invalid
	 */
	for (int v = 0; v < H; v++)
		d[v] = (uint16_t)(v < 20 ? 640 : v < 40 ? 33 * 16 : 20 * 16);
	sx_rdp_run(g.r, &none, &g.column, IN_VIEW, &g.out);
	s = sx_segments_column(&g.out, 0);
	assert_int_equal(g.out.count[0], 2);
	assert_int_equal(s[0].v_top, 39);
	assert_true(abs(s[0].mean_q4 - 584) <= 1); /* mean of both parts */
	assert_int_equal(s[1].mean_q4, 320);

	memset(d, 0xff, H * 2);
	sx_rdp_run(g.r, &road, &g.column, IN_VIEW, &g.out);
	assert_int_equal(g.out.count[0], 1);
	assert_int_equal(s[0].kind, STIXEL_UNKNOWN);

	/* ground above an object that is farther away than the ground itself is no ground */
	sx_road_ground(&road, H, ground);
	for (int v = 0; v < H; v++)
		d[v] = (uint16_t)(v < 20 ? 2 * 16 : v < 40 ? ground[v] : 0);
	sx_rdp_run(g.r, &road, &g.column, IN_VIEW, &g.out);
	for (int i = 0; i < g.out.count[0]; i++)
		assert_int_not_equal(s[i].kind, STIXEL_GROUND);
	rig_finish(&g);
}

/* A column sees its own ground and not that of the axis. Rows without a partner are left out. */
static void test_leans_and_border(void **state)
{
	enum { H = 150, VHOR = 90, COLUMNS = 40 };
	const struct sx_params p = stixel_case_params(H);
	struct sx_road road = stixel_case_road(H, VHOR, 30);
	const struct sx_segment *s;
	struct rig g;

	stixel_case_roll(&road, COLUMNS, 24);
	rig_init(&g, &p, H);
	s = sx_segments_column(&g.out, 0);
	for (int u = 0; u < COLUMNS; u++) {
		const struct sx_road here = stixel_case_road_in(&road, u);
		int32_t ground[H];
		int unseen = 0;

		sx_road_ground(&here, H, ground);
		for (int v = 0; v < H; v++)
			((uint16_t *)g.column.data)[v] = (uint16_t)(ground[v] > 0 ? ground[v] : 0);
		while (unseen < H && (u < 2 || ground[unseen] > 16 * (5 * u + 2 - 4)))
			unseen++;
		sx_rdp_run(g.r, &road, &g.column, u, &g.out);
		if (unseen > 0) {
			assert_int_equal(s[0].kind, STIXEL_UNKNOWN);
			/* RDP rounds this ground in another way, so the top may be off by one */
			assert_true(abs(s[0].v_top + 1 - unseen) <= 1);
		}
		for (int i = unseen > 0; i < g.out.count[0]; i++)
			assert_int_equal(s[i].kind, i == (unseen > 0) && ground[s[i].v_bottom + 3] > 0
							    ? STIXEL_GROUND
							    : STIXEL_SKY);
	}
	rig_finish(&g);
}

/* Lists cover the column without gaps, for any input. */
static void test_lists_are_whole(void **state)
{
	struct check_rng rng = check_rng_seed(12);

	for (int round = 0; round < 300; round++) {
		const int h = 1 + check_below(&rng, 200);
		const struct sx_params p = stixel_case_random_params(h, &rng);
		const struct sx_road road = stixel_case_road(h, check_below(&rng, h + 1), 50);
		const struct sx_segment *s;
		int next = 0;
		struct rig g;

		rig_init(&g, &p, h);
		stixel_case_columns((enum stixel_case)(round % CASE_COUNT), &road, 64, &g.column, &rng);
		sx_rdp_run(g.r, &road, &g.column, check_below(&rng, 20), &g.out);
		s = sx_segments_column(&g.out, 0);
		for (int i = 0; i < g.out.count[0]; i++) {
			assert_int_equal(s[i].v_bottom, next);
			assert_true(s[i].v_top >= s[i].v_bottom);
			next = s[i].v_top + 1;
			if (i && s[i].kind != STIXEL_OBJECT)
				assert_int_not_equal(s[i].kind, s[i - 1].kind);
		}
		assert_int_equal(next, h);
		rig_finish(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_iterative_is_recursive),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_labels_of_a_scene),
		cmocka_unit_test(test_short_ground_may_be_flat),
		cmocka_unit_test(test_merging),
		cmocka_unit_test(test_leans_and_border),
		cmocka_unit_test(test_lists_are_whole),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
