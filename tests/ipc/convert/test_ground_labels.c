/*
 * Tests free space and scans of ground of some classes: where they end, and what counts as unseen.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/check.h"
#include "tests/ipc/convert/scan_case.h"

#define LOWEST_M 3.125 /* distance at which the lower edge of the image sees the road, m */
#define NONE STIXEL_LABEL_NONE

enum { ROAD, SIDEWALK, WALL, TERRAIN }; /* labels */

/* A stixel of the column under test, on top of the one before it. */
struct piece {
	int top; /* highest row; 480: no further piece */
	unsigned kind, label;
	double disparity; /* 0 of ground: that of the road */
};

static double road_px(double row)
{
	return (row - 239.5) / 3;
}

static double ground_m(double row)
{
	return 250 / road_px(row);
}

static void add_pieces(struct scan *s, const struct piece *pieces, size_t count)
{
	int bottom = 479;

	for (size_t i = 0; i < count && pieces[i].top < 480; i++) {
		const struct piece *p = &pieces[i];
		const double d =
			p->kind == STIXEL_GROUND && p->disparity == 0.0 ? road_px(bottom) : p->disparity;
		struct stixel *one = case_add(&s->c, COLUMN, p->kind, bottom, p->top, d);

		one->label = (uint8_t)p->label;
		one->support = 9;
		bottom = p->top - 1;
	}
}

static void free_by(struct scan *s, uint32_t labels, struct stixel_free_column columns[CASE_COLUMNS])
{
	struct stixel_free_options o;

	assert_int_equal(stixel_free_defaults(&s->c.frame, &o, sizeof(o)), 0);
	assert_int_equal(o.ground_labels, 0);
	o.ground_labels = labels;
	assert_int_equal(stixel_free_space(&s->c.frame, &o, sizeof(o), columns, CASE_COLUMNS), CASE_COLUMNS);
}

#define PIECES 4

static const struct expected {
	const char *what;
	struct piece pieces[PIECES];
	uint32_t end;	     /* enum stixel_free with road alone */
	double from_m, to_m; /* from_m 0: no ground */
	int stixel;	     /* index in the column, or -1 */
} expectations[] = {
	{"road to the horizon",
	 {{240, STIXEL_GROUND, ROAD, 0}, {0, STIXEL_SKY, NONE, 0}, {480, 0, 0, 0}},
	 STIXEL_FREE_GROUND,
	 LOWEST_M,
	 1500,
	 -1},
	{"road, then sidewalk",
	 {{360, STIXEL_GROUND, ROAD, 0}, {240, STIXEL_GROUND, SIDEWALK, 0}, {480, 0, 0, 0}},
	 STIXEL_FREE_OTHER,
	 LOWEST_M,
	 6.224,
	 1},
	{"two pieces of road, then terrain",
	 {{400, STIXEL_GROUND, ROAD, 0},
	  {360, STIXEL_GROUND, ROAD, 0},
	  {240, STIXEL_GROUND, TERRAIN, 0},
	  {480, 0, 0, 0}},
	 STIXEL_FREE_OTHER,
	 LOWEST_M,
	 6.224,
	 2},
	{"road, then ground without a class, then road",
	 {{360, STIXEL_GROUND, ROAD, 0},
	  {300, STIXEL_GROUND, NONE, 0},
	  {240, STIXEL_GROUND, ROAD, 0},
	  {480, 0, 0, 0}},
	 STIXEL_FREE_UNSEEN,
	 LOWEST_M,
	 6.224,
	 1},
	{"a label that the bits cannot name",
	 {{360, STIXEL_GROUND, ROAD, 0}, {240, STIXEL_GROUND, 32 + ROAD, 0}, {480, 0, 0, 0}},
	 STIXEL_FREE_UNSEEN,
	 LOWEST_M,
	 6.224,
	 1},
	{"a foot without a class makes the blind zone longer",
	 {{400, STIXEL_GROUND, NONE, 0}, {240, STIXEL_GROUND, ROAD, 0}, {480, 0, 0, 0}},
	 STIXEL_FREE_GROUND,
	 4.688,
	 1500,
	 -1},
	{"a foot without a class, then sidewalk",
	 {{400, STIXEL_GROUND, NONE, 0}, {240, STIXEL_GROUND, SIDEWALK, 0}, {480, 0, 0, 0}},
	 STIXEL_FREE_UNSEEN,
	 0,
	 0,
	 0},
	{"a foot without a class, then no measurement, then road",
	 {{400, STIXEL_GROUND, NONE, 0},
	  {360, STIXEL_UNKNOWN, NONE, 0},
	  {240, STIXEL_GROUND, ROAD, 0},
	  {480, 0, 0, 0}},
	 STIXEL_FREE_UNSEEN,
	 0,
	 0,
	 0},
	{"a low object at the foot, then no measurement, then road",
	 {{475, STIXEL_OBJECT, WALL, 80},
	  {360, STIXEL_UNKNOWN, NONE, 0},
	  {240, STIXEL_GROUND, ROAD, 0},
	  {480, 0, 0, 0}},
	 STIXEL_FREE_UNSEEN,
	 0,
	 0,
	 -1},
	{"a foot without a class, then a step down to the road",
	 {{400, STIXEL_GROUND, NONE, 0}, {240, STIXEL_GROUND, ROAD, 40}, {480, 0, 0, 0}},
	 STIXEL_FREE_UNSEEN,
	 0,
	 0,
	 0},
	{"no class at all", {{240, STIXEL_GROUND, NONE, 0}, {480, 0, 0, 0}}, STIXEL_FREE_UNSEEN, 0, 0, 0},
	{"sidewalk from the foot on, then road",
	 {{400, STIXEL_GROUND, SIDEWALK, 0}, {240, STIXEL_GROUND, ROAD, 0}, {480, 0, 0, 0}},
	 STIXEL_FREE_OTHER,
	 0,
	 0,
	 0},
	{"a wall on the road",
	 {{315, STIXEL_GROUND, ROAD, 0}, {100, STIXEL_OBJECT, WALL, 25}, {480, 0, 0, 0}},
	 STIXEL_FREE_OBJECT,
	 LOWEST_M,
	 10,
	 1},
	{"a low object between two pieces of road",
	 {{315, STIXEL_GROUND, ROAD, 0},
	  {311, STIXEL_OBJECT, WALL, 25},
	  {240, STIXEL_GROUND, ROAD, 0},
	  {480, 0, 0, 0}},
	 STIXEL_FREE_GROUND,
	 LOWEST_M,
	 1500,
	 -1},
	{"a low object at the foot has no class of ground",
	 {{475, STIXEL_OBJECT, WALL, 80},
	  {400, STIXEL_GROUND, NONE, 0},
	  {240, STIXEL_GROUND, ROAD, 0},
	  {480, 0, 0, 0}},
	 STIXEL_FREE_GROUND,
	 4.688,
	 1500,
	 -1},
	{"a step up to the sidewalk is an object",
	 {{360, STIXEL_GROUND, ROAD, 0}, {240, STIXEL_GROUND, SIDEWALK, 46}, {480, 0, 0, 0}},
	 STIXEL_FREE_OBJECT,
	 LOWEST_M,
	 6.2766,
	 1},
};

static void test_ends_of_free_space(void **state)
{
	static struct scan s;

	for (size_t i = 0; i < sizeof(expectations) / sizeof(expectations[0]); i++) {
		const struct expected *e = &expectations[i];
		struct stixel_free_column columns[CASE_COLUMNS], c;

		begin_column(&s);
		add_pieces(&s, e->pieces, PIECES);
		free_by(&s, 1u << ROAD, columns);
		c = columns[COLUMN];
		if (c.end != e->end || fabs((double)c.to_m - e->to_m) > 0.001 * e->to_m + 1e-9 ||
		    (e->from_m > 0.0 ? fabs((double)c.from_m - e->from_m) > 0.001 : !isnan(c.from_m)) ||
		    c.stixel != (e->stixel < 0 ? UINT32_MAX : s.c.offsets[COLUMN] + (uint32_t)e->stixel))
			fail_msg("%s: end %u, from %g to %g, stixel %u", e->what, c.end, (double)c.from_m,
				 (double)c.to_m, c.stixel - s.c.offsets[COLUMN]);
		free_by(&s, 1u << ROAD | 1u << SIDEWALK | 1u << TERRAIN, columns);
		assert_true(columns[COLUMN].end != STIXEL_FREE_OTHER);
		assert_int_equal(columns[0].end, STIXEL_FREE_UNSEEN); /* its ground has no label */
	}
}

/* Returns the range of a column of these pieces. The columns beside it are road. */
static float range_of(struct scan *s, const struct piece *pieces, uint32_t as)
{
	begin_column(s);
	s->o.ground_labels = 1u << ROAD;
	s->o.other_ground = as;
	add_pieces(s, pieces, PIECES);
	case_open_to(&s->c, COLUMN + 1, CASE_COLUMNS);
	for (uint32_t i = 0; i < s->c.header.stixel_count; i++)
		if (s->c.stixels[i].column != COLUMN && s->c.stixels[i].kind == STIXEL_GROUND)
			s->c.stixels[i].label = ROAD;
	assert_int_equal(run(s), 1);
	assert_true(s->ranges[looks_through(s, 302)] == INFINITY);
	assert_true(s->ranges[looks_through(s, 342)] == INFINITY);
	return s->ranges[looks_through(s, 322)];
}

static void test_scan(void **state)
{
	static const struct piece other[PIECES] = {
		{360, STIXEL_GROUND, ROAD, 0}, {240, STIXEL_GROUND, SIDEWALK, 0}, {480, 0, 0, 0}};
	static const struct piece wall_behind[PIECES] = {{360, STIXEL_GROUND, ROAD, 0},
							 {315, STIXEL_GROUND, SIDEWALK, 0},
							 {0, STIXEL_OBJECT, WALL, 25},
							 {480, 0, 0, 0}};
	static const struct piece at_foot[PIECES] = {{240, STIXEL_GROUND, SIDEWALK, 0}, {480, 0, 0, 0}};
	static const struct piece nothing_known[PIECES] = {{400, STIXEL_GROUND, ROAD, 0},
							   {315, STIXEL_GROUND, NONE, 0},
							   {0, STIXEL_OBJECT, WALL, 25},
							   {480, 0, 0, 0}};
	static const struct piece unmeasured[PIECES] = {
		{400, STIXEL_UNKNOWN, NONE, 0}, {240, STIXEL_GROUND, NONE, 0}, {480, 0, 0, 0}};
	static struct scan s;

	for (uint32_t as = 0; as < STIXEL_SCAN_AS_UNSEEN; as++) { /* free counts as obstacle */
		assert_ahead(&s, range_of(&s, other, as), ground_m(360));
		assert_ahead(&s, range_of(&s, wall_behind, as), ground_m(360));
	}
	assert_true(isnan(range_of(&s, other, STIXEL_SCAN_AS_UNSEEN)));
	assert_ahead(&s, range_of(&s, wall_behind, STIXEL_SCAN_AS_UNSEEN), 10);
	/* no class is known within four heights of the camera: no drop hides there, so the wall counts */
	assert_ahead(&s, range_of(&s, nothing_known, STIXEL_SCAN_AS_OBSTACLE), 10);
	begin_column(&s);
	/* ground of another class at the foot has a range, even where range_min is larger */
	assert_ahead(&s, range_of(&s, at_foot, STIXEL_SCAN_AS_OBSTACLE), LOWEST_M);
	s.o.range_min = 4;
	assert_int_equal(run(&s), 1);
	assert_true(s.ranges[looks_through(&s, 322)] == 4.0f);
	assert_true(isnan(range_of(&s, at_foot, STIXEL_SCAN_AS_UNSEEN)));
	/* places without a measurement may count as free; ground without a class does not */
	assert_true(isnan(range_of(&s, unmeasured, STIXEL_SCAN_AS_OBSTACLE)));
	s.o.unknown = STIXEL_SCAN_AS_FREE;
	assert_int_equal(run(&s), 1);
	assert_true(isnan(s.ranges[looks_through(&s, 322)]));
	/* an older program, which does not know the options */
	range_of(&s, other, STIXEL_SCAN_AS_OBSTACLE);
	assert_int_equal(stixel_scan(&s.c.frame, &s.o, 48, s.ranges), 1);
	assert_true(s.ranges[looks_through(&s, 322)] == INFINITY);
	s.o.other_ground = STIXEL_SCAN_AS_UNSEEN + 1;
	assert_int_equal(stixel_scan(&s.c.frame, &s.o, sizeof(s.o), s.ranges), -EINVAL);
}

static uint32_t drawn(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)(*seed >> 8) * below) >> 24);
}

/* Makes columns of any pieces. */
static void draw_frame(struct scan *s, uint32_t *seed)
{
	begin(s);
	for (unsigned u = 0; u < CASE_COLUMNS; u++)
		for (int bottom = 479; bottom > 0;) {
			const int top =
				bottom - (int)drawn(seed, 120) > 0 ? bottom - (int)drawn(seed, 120) : 0;
			const int end = top > 0 ? top : 0;
			const unsigned kinds[] = {STIXEL_GROUND, STIXEL_GROUND,	 STIXEL_GROUND,
						  STIXEL_OBJECT, STIXEL_UNKNOWN, STIXEL_SKY};
			const unsigned kind = kinds[drawn(seed, 6)];
			const double on_road = bottom > 240 ? road_px(bottom) : 1.0;
			struct stixel *one = case_add(
				&s->c, u, kind, bottom, end,
				kind == STIXEL_SKY ? 0.0 : on_road * (0.8 + drawn(seed, 30) / 100.0));

			one->label = (uint8_t)(drawn(seed, 5) == 0 ? NONE : drawn(seed, 3) ? ROAD : SIDEWALK);
			one->support = (uint16_t)drawn(seed, 9);
			one->flags = drawn(seed, 4) == 0 ? STIXEL_FLAG_FILLED : 0;
			bottom = end - 1 - (drawn(seed, 8) == 0);
		}
}

/* By classes, nothing is free that is not free without them. */
static void test_never_more_free(void **state)
{
	static struct stixel_free_column all[CASE_COLUMNS], some[CASE_COLUMNS];
	unsigned differs = 0, ranges_differ = 0;
	static float ranges[ANGLES_MAX];
	uint32_t seed = 7;
	static struct scan s;

	for (int i = 0; i < 300; i++) {
		draw_frame(&s, &seed);
		free_by(&s, 0, all);
		free_by(&s, 1u << ROAD, some);
		for (unsigned u = 0; u < CASE_COLUMNS; u++) {
			assert_true(some[u].to_m <= all[u].to_m);
			assert_false(some[u].from_m < all[u].from_m);
			differs += some[u].to_m < all[u].to_m;
		}
		s.o.filled = drawn(&seed, 2) ? STIXEL_SCAN_AS_OBSTACLE : STIXEL_SCAN_AS_UNSEEN;
		s.o.unknown = drawn(&seed, 3);
		assert_int_equal(run(&s), 1);
		memcpy(ranges, s.ranges, sizeof(ranges));
		s.o.ground_labels = 1u << ROAD;
		s.o.other_ground = drawn(&seed, 3);
		assert_int_equal(run(&s), 1);
		for (uint32_t a = 0; a < s.o.count; a++) {
			assert_false(s.ranges[a] == INFINITY && ranges[a] != INFINITY);
			assert_false(isfinite(s.ranges[a]) && isfinite(ranges[a]) && s.ranges[a] > ranges[a]);
			ranges_differ +=
				s.ranges[a] != ranges[a] && !(isnan(s.ranges[a]) && isnan(ranges[a]));
		}
		for (uint32_t k = 0; k < s.c.header.stixel_count; k++)
			s.c.stixels[k].label = ROAD;
		free_by(&s, 0, all);
		free_by(&s, 1u << ROAD, some);
		for (unsigned u = 0; u < CASE_COLUMNS; u++) {
			assert_true(some[u].to_m <= all[u].to_m);
			assert_int_not_equal(some[u].end, STIXEL_FREE_OTHER);
		}
	}
	assert_true(differs > 1000 && ranges_differ > 1000);
}

static void test_names(void **state)
{
	static const char classes[] = "road:ground sidewalk:ground traffic-light sky:sky";
	char many[33 * 4 + 1] = "";
	uint32_t labels = 99;

	assert_int_equal(stixel_labels_of(classes, "road", &labels), 0);
	assert_int_equal(labels, 1);
	assert_int_equal(stixel_labels_of(classes, " Traffic_Light,sidewalk ", &labels), 0);
	assert_int_equal(labels, 6);
	assert_int_equal(stixel_labels_of("road, sidewalk\ttraffic-light", "traffic-light road", &labels), 0);
	assert_int_equal(labels, 5);
	assert_int_equal(stixel_labels_of(classes, "roa", &labels), -ENOENT);
	assert_int_equal(stixel_labels_of(classes, "road roads", &labels), -ENOENT);
	assert_int_equal(stixel_labels_of("", "road", &labels), -ENOENT);
	assert_int_equal(stixel_labels_of(classes, " ,", &labels), -EINVAL);
	assert_int_equal(stixel_labels_of(NULL, "road", &labels), -EINVAL);
	assert_int_equal(stixel_labels_of(classes, NULL, &labels), -EINVAL);
	assert_int_equal(stixel_labels_of(classes, "road", NULL), -EINVAL);
	for (int i = 0; i < 33; i++)
		snprintf(many + strlen(many), sizeof(many) - strlen(many), "c%d ", i);
	assert_int_equal(stixel_labels_of(many, "c31", &labels), 0);
	assert_true(labels == 1u << 31);
	assert_int_equal(stixel_labels_of(many, "c32", &labels), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends_of_free_space),
		cmocka_unit_test(test_scan),
		cmocka_unit_test(test_never_more_free),
		cmocka_unit_test(test_names),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
