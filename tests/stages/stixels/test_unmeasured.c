/*
 * Unmeasured cells are no part of a stixel: cases worked out by hand, and properties of any column.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unmeasured_case.h"

#define ROWS 40 /* number of cells, each 4 px high */
#define CELL 4
#define NONE SX_DISPARITY_INVALID

/* Column 80 px from the left border with all cells measured, images without flat tiles, and no road. */
struct column {
	struct sx_road road;
	uint16_t cells[ROWS];
	uint8_t left[ROWS][60], right[ROWS][60];
	struct sx_segment list[ROWS];
	int n;
	int32_t reach_q7;
	bool drops;
};

static struct column measured(void)
{
	struct column c = {.n = 0};

	for (int v = 0; v < ROWS; v++)
		c.cells[v] = 20 * 16;
	return c;
}

static void add(struct column *c, int kind, int bottom, int top)
{
	c->list[c->n++] = (struct sx_segment){
		.v_bottom = (uint16_t)bottom,
		.v_top = (uint16_t)top,
		.disparity_q7 = 20 * 128,
		.slope_q14 = (int16_t)(kind == STIXEL_GROUND ? -1024 : 0),
		.kind = (uint8_t)kind,
		.label = STIXEL_LABEL_NONE,
	};
}

/*
 * Marks rows first .. last as unmeasured. The left image (side 0) or the right one (side 1) has tiles of a
 * level. -1: no tiles.
 */
static void blank(struct column *c, int first, int last, int side, int level)
{
	for (int v = first; v <= last; v++) {
		c->cells[v] = NONE;
		if (side == 0)
			memset(c->left[ROWS - 1 - v], level, 60);
		if (side == 1)
			memset(c->right[ROWS - 1 - v], level, 60);
	}
}

static void part(struct column *c)
{
	const struct sx_unmeasured_column column = {
		.road = &c->road,
		.cells = c->cells,
		.flat = {c->left[0], c->right[0]},
		.flat_pitch = {60, 60},
		.x = 80,
		.height = ROWS * CELL,
		.cell_height = CELL,
		.reach_q7 = c->reach_q7,
		.drops = c->drops,
	};

	c->n = sx_unmeasured_column(&column, c->list, c->n);
}

static void expect(const struct column *c, int i, int kind, int bottom, int top)
{
	assert_true(i < c->n);
	assert_int_equal(c->list[i].kind, kind);
	assert_int_equal(c->list[i].v_bottom, bottom);
	assert_int_equal(c->list[i].v_top, top);
	if (kind == STIXEL_UNKNOWN)
		assert_int_equal(c->list[i].disparity_q7, STIXEL_DISPARITY_UNKNOWN);
}

static void tape_on_a_road(void **state)
{
	for (int side = 0; side < 2; side++) {
		struct column c = measured();

		add(&c, STIXEL_GROUND, 0, 19);
		add(&c, STIXEL_OBJECT, 20, 39);
		blank(&c, 6, 13, side, SX_TILE_FLAT);
		part(&c);
		assert_int_equal(c.n, 4);
		expect(&c, 0, STIXEL_GROUND, 0, 5);
		expect(&c, 1, STIXEL_UNKNOWN, 6, 13);
		expect(&c, 2, STIXEL_GROUND, 14, 19);
		assert_int_equal(c.list[2].disparity_q7,
				 20 * 128 - 14 * CELL * 1024 / 128); /* the line of the ground continues */
		expect(&c, 3, STIXEL_OBJECT, 20, 39);
	}
}

static void holes_that_show_something_stay(void **state)
{
	struct column c = measured();

	add(&c, STIXEL_GROUND, 0, 23);
	add(&c, STIXEL_OBJECT, 24, 39);
	blank(&c, 6, 12, -1, SX_TILE_FLAT); /* 28 px without texture that could be matched */
	blank(&c, 1, 3, 0, SX_TILE_FLAT);   /* 12 px are too small to hide an object */
	part(&c);
	assert_int_equal(c.n, 2);
	blank(&c, 13, 13, -1, SX_TILE_FLAT); /* 32 px of the road: an object could stand there */
	part(&c);
	assert_int_equal(c.n, 4);
	expect(&c, 1, STIXEL_UNKNOWN, 6, 13);
}

static void darkness_over_a_floor(void **state)
{
	struct column c = measured();

	add(&c, STIXEL_GROUND, 0, 9);
	add(&c, STIXEL_OBJECT, 10, 39); /* a box with a dark area above it */
	blank(&c, 26, 39, 0, SX_TILE_FLAT | SX_TILE_DARK);
	part(&c);
	assert_int_equal(c.n, 3);
	expect(&c, 1, STIXEL_OBJECT, 10, 25);
	expect(&c, 2, STIXEL_UNKNOWN, 26, 39);
	c = measured();
	add(&c, STIXEL_GROUND, 0, 9);
	add(&c, STIXEL_OBJECT, 10, 39); /* a wall that was filled from its neighbours */
	blank(&c, 10, 39, 0, SX_TILE_FLAT | SX_TILE_DARK);
	part(&c);
	assert_int_equal(c.n, 2);
	expect(&c, 1, STIXEL_UNKNOWN, 10, 39);
}

static void white_doors_are_part_of_a_car(void **state)
{
	struct column c = measured();

	add(&c, STIXEL_GROUND, 0, 9);
	add(&c, STIXEL_OBJECT, 10, 39);
	blank(&c, 14, 20, 0, SX_TILE_FLAT);
	blank(&c, 32, 39, 0, SX_TILE_FLAT);
	part(&c);
	assert_int_equal(c.n, 2);
}

/* An object nearer than the search range: some wrong disparities among invalid cells. */
static void too_near_to_be_matched(void **state)
{
	struct column c = measured();

	add(&c, STIXEL_OBJECT, 0, 29);
	add(&c, STIXEL_OBJECT, 30, 39);
	blank(&c, 0, 12, -1, SX_TILE_FLAT);
	blank(&c, 15, 29, -1, SX_TILE_FLAT);
	part(&c);
	assert_int_equal(c.n, 2);
	expect(&c, 0, STIXEL_UNKNOWN, 0, 29);
	expect(&c, 1, STIXEL_OBJECT, 30, 39);
}

/* Noise of a covered lens: a wall stays, but what looks like the road is not known to be there. */
static void matched_by_chance(void **state)
{
	struct column c = measured();

	add(&c, STIXEL_GROUND, 0, 19);
	add(&c, STIXEL_OBJECT, 20, 39);
	for (int v = 6; v < ROWS; v++)
		memset(c.left[ROWS - 1 - v], SX_TILE_CHANCE, 60);
	part(&c);
	assert_int_equal(c.n, 3);
	expect(&c, 0, STIXEL_GROUND, 0, 5);
	expect(&c, 1, STIXEL_UNKNOWN, 6, 19);
	expect(&c, 2, STIXEL_OBJECT, 20, 39);
}

/* Sets the ranges of both images in rows first .. last. */
static void contrast(struct column *c, int first, int last, int left, int right)
{
	for (int v = first; v <= last; v++) {
		memset(c->left[ROWS - 1 - v], left, 60);
		memset(c->right[ROWS - 1 - v], right, 60);
	}
}

/*
 * A tape on one lens shows the noise of a sensor, which is not flat. The other image shows the road there. Rows are
 * lost whether SGM carried a disparity through them or not. A plain floor is the same in both images.
 */
static void tape_that_shows_noise(void **state)
{
	static const struct {
		int left, right, parts;
	} cases[] = {{SX_TILE_RANGES, 0, 4},
		     {0, SX_TILE_RANGES, 4},
		     {SX_TILE_RANGE_2 | SX_TILE_RANGE_4, 0, 4},
		     {SX_TILE_RANGE_4, 0, 2},
		     {SX_TILE_RANGES, SX_TILE_RANGES, 2},
		     {SX_TILE_RANGES, SX_TILE_RANGE_2 | SX_TILE_RANGE_4, 2}};

	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		struct column c = measured();

		add(&c, STIXEL_GROUND, 0, 19);
		add(&c, STIXEL_OBJECT, 20, 39);
		contrast(&c, 7, 12, cases[i / 2].left, cases[i / 2].right);
		if (i % 2 == 0)
			blank(&c, 7, 12, -1, 0);
		part(&c);
		assert_int_equal(c.n, cases[i / 2].parts);
		if (c.n == 4)
			expect(&c, 1, STIXEL_UNKNOWN, 7, 12);
	}
}

/* The line of the ground has 19 px in row 4 and 17 px in row 12, of which a quarter and 1 px may be missing. */
static void cells_far_below_the_line_of_the_ground(void **state)
{
	static const struct {
		int q4, parts; /* 1/16 px */
	} cases[] = {{8 * 16, 4}, {14 * 16, 2}, {40 * 16, 2}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct column c = measured();

		add(&c, STIXEL_GROUND, 0, 19);
		add(&c, STIXEL_OBJECT, 20, 39);
		for (int v = 4; v <= 12; v++)
			c.cells[v] = (uint16_t)cases[i].q4;
		part(&c);
		assert_int_equal(c.n, cases[i].parts);
		if (c.n == 4)
			expect(&c, 1, STIXEL_UNKNOWN, 4, 12);
	}
}

/*
 * Fog: the line of the ground has 15 px in row 19 and 16 px in row 16. The last 16 image rows were not measured.
 * They are free if other columns measured ground there.
 */
/*
 * A step down, seen from far away: a few rows of the lower floor, and a wall behind it. The line of the floor has
 * 16 px in row 16 and 15.25 px in row 19, of which a seventh and 0.5 px may be missing.
 */
static void rows_below_a_floor(void **state)
{
	static const struct {
		bool drops;
		int first, last, q4, parts; /* rows of cells with a disparity, 1/16 px */
	} cases[] = {{true, 16, 17, 12 * 16, 4}, {true, 16, 16, 12 * 16, 2},  {true, 16, 17, 214, 2},
		     {true, 19, 20, 11 * 16, 3}, {false, 16, 17, 12 * 16, 2}, {false, 19, 20, 11 * 16, 2}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct column c = measured();

		c.drops = cases[i].drops;
		add(&c, STIXEL_GROUND, 0, 19);
		add(&c, STIXEL_OBJECT, 20, 39);
		for (int v = cases[i].first; v <= cases[i].last; v++)
			c.cells[v] = (uint16_t)cases[i].q4;
		part(&c);
		assert_int_equal(c.n, cases[i].parts);
		expect(&c, 0, STIXEL_GROUND, 0, c.n > 2 ? cases[i].first - 1 : 19);
		if (c.n > 2) /* an object keeps its rows */
			expect(&c, 1, STIXEL_UNKNOWN, cases[i].first,
			       cases[i].last < 19 ? cases[i].last : 19);
		expect(&c, c.n - 1, STIXEL_OBJECT, 20, 39);
	}
}

static void ground_beyond_the_reach(void **state)
{
	static const struct {
		int reach_q4, parts; /* 1/16 px */
	} cases[] = {{14 * 16, 2}, {15 * 16 + 4, 2}, {16 * 16, 2}, {16 * 16 + 4, 3}, {32 * 16, 3}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct column c = measured();

		c.reach_q7 = 8 * cases[i].reach_q4;
		add(&c, STIXEL_GROUND, 0, 19);
		add(&c, STIXEL_SKY, 20, 39);
		blank(&c, 16, 19, -1, 0);
		part(&c);
		assert_int_equal(c.n, cases[i].parts);
		if (c.n == 3)
			expect(&c, 1, STIXEL_UNKNOWN, 16, 19);
	}
}

/* A short piece of ground that no camera measured, above a stixel that was. */
static void ground_without_a_measurement(void **state)
{
	struct column c = measured();

	add(&c, STIXEL_OBJECT, 0, 19);
	add(&c, STIXEL_GROUND, 20, 23);
	add(&c, STIXEL_OBJECT, 24, 39);
	blank(&c, 20, 23, -1, 0);
	part(&c);
	assert_int_equal(c.n, 3);
	expect(&c, 1, STIXEL_UNKNOWN, 20, 23);
	c = measured();
	add(&c, STIXEL_OBJECT, 0, 19);
	add(&c, STIXEL_OBJECT, 20, 23); /* the side of a car, seen by one camera alone */
	add(&c, STIXEL_OBJECT, 24, 39);
	blank(&c, 20, 23, -1, 0);
	part(&c);
	expect(&c, 1, STIXEL_OBJECT, 20, 23);
}

/* Ground of 26 px at the foot of the column, and 10 px in row 20. */
static struct column before_a_road(void)
{
	struct column c = measured();

	c.road = (struct sx_road){.slope = 0.2, .offset = -5.4};
	for (int v = 0; v < ROWS; v++)
		c.cells[v] = 10 * 16;
	add(&c, STIXEL_OBJECT, 0, 39);
	c.list[0].disparity_q7 = 10 * 128;
	return c;
}

/*
 * An object of 10 px whose rows from the bottom on were not measured. Up to row 17 they see the road nearer than
 * the object by 1 px and a sixteenth.
 */
static void what_lies_before_an_object(void **state)
{
	struct column c = before_a_road();

	blank(&c, 0, 29, -1, 0);
	part(&c);
	assert_int_equal(c.n, 2);
	expect(&c, 0, STIXEL_UNKNOWN, 0, 17);
	expect(&c, 1, STIXEL_OBJECT, 18, 39);
	assert_int_equal(c.list[1].disparity_q7, 10 * 128);
}

static void what_lies_before_an_object_was_measured(void **state)
{
	struct column c = before_a_road();

	blank(&c, 0, 4, -1, 0); /* 20 px: few */
	blank(&c, 6, 29, -1, 0);
	part(&c);
	assert_int_equal(c.n, 1);
	c = before_a_road();
	blank(&c, 0, 5, -1, 0); /* 24 px */
	part(&c);
	assert_int_equal(c.n, 2);
	expect(&c, 0, STIXEL_UNKNOWN, 0, 5);
	c = before_a_road();
	c.road.slope = 0; /* no road */
	blank(&c, 0, 29, -1, 0);
	part(&c);
	assert_int_equal(c.n, 1);
}

/* Darkness that continues an unmeasured foot is no part of the object either. */
static void darkness_above_a_foot(void **state)
{
	struct column c = before_a_road();

	blank(&c, 0, 17, -1, 0);
	blank(&c, 18, 24, 0, SX_TILE_FLAT | SX_TILE_DARK);
	part(&c);
	assert_int_equal(c.n, 2);
	expect(&c, 0, STIXEL_UNKNOWN, 0, 24);
	expect(&c, 1, STIXEL_OBJECT, 25, 39);
}

static void what_holds_of_any_column(void **state)
{
	for (uint64_t seed = 0; seed < 3000; seed++) {
		struct check_rng r = check_rng_seed(seed);
		struct column c = measured(), before;
		const struct sx_image cells = {c.cells, ROWS, 1, sizeof(c.cells), SX_PIXEL_U16};
		const struct sx_image left = {c.left, 60, ROWS, 60, SX_PIXEL_U8};
		const struct sx_image right = {c.right, 60, ROWS, 60, SX_PIXEL_U8};
		bool foot = true;

		c.road = unmeasured_case_road(ROWS * CELL, &r);
		unmeasured_case_cells(&cells, &r);
		unmeasured_case_tiles(&left, &r);
		unmeasured_case_tiles(&right, &r);
		c.n = unmeasured_case_list(c.list, ROWS, &r);
		c.reach_q7 = check_below(&r, 40 * 128);
		c.drops = check_below(&r, 2);
		before = c;
		part(&c);
		assert_true(c.n > 0 && c.n <= ROWS);
		/* no gap, and no two adjacent unknown segments */
		for (int i = 0, v = 0; i < c.n; v = c.list[i++].v_top + 1) {
			assert_int_equal(c.list[i].v_bottom, v);
			assert_true(c.list[i].v_top >= c.list[i].v_bottom && c.list[i].v_top < ROWS);
			assert_true(i == 0 || c.list[i].kind != STIXEL_UNKNOWN ||
				    c.list[i - 1].kind != STIXEL_UNKNOWN);
			assert_true(i < c.n - 1 || c.list[i].v_top == ROWS - 1);
		}
		/* above the foot of the column, measured cells keep their kind unless it is ground */
		for (int i = 0, k = 0, v = 0; v < ROWS; v++) {
			while (c.list[i].v_top < v)
				i++;
			while (before.list[k].v_top < v)
				k++;
			foot &= c.list[i].kind == STIXEL_UNKNOWN;
			if (!foot && c.cells[v] != NONE && before.list[k].kind != STIXEL_GROUND)
				assert_int_equal(c.list[i].kind, before.list[k].kind);
			assert_true(c.list[i].kind == before.list[k].kind ||
				    c.list[i].kind == STIXEL_UNKNOWN);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tape_on_a_road),
		cmocka_unit_test(holes_that_show_something_stay),
		cmocka_unit_test(darkness_over_a_floor),
		cmocka_unit_test(white_doors_are_part_of_a_car),
		cmocka_unit_test(too_near_to_be_matched),
		cmocka_unit_test(matched_by_chance),
		cmocka_unit_test(tape_that_shows_noise),
		cmocka_unit_test(cells_far_below_the_line_of_the_ground),
		cmocka_unit_test(rows_below_a_floor),
		cmocka_unit_test(ground_beyond_the_reach),
		cmocka_unit_test(ground_without_a_measurement),
		cmocka_unit_test(what_lies_before_an_object),
		cmocka_unit_test(what_lies_before_an_object_was_measured),
		cmocka_unit_test(darkness_above_a_foot),
		cmocka_unit_test(what_holds_of_any_column),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
