/*
 * Class cut: borders and patches worked out by hand, and short stixels against every sequence of classes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "stages/stixels/class_cut.h"
#include "tests/check.h"

enum { ROAD, BUILDING, WALK, SKY, GRASS, CLASSES };
#define ROWS 60

static struct sx_params params_of(double cost)
{
	struct sx_params p = {
		.stixels = {.method = SX_STIXEL_SLANTED,
			    .width = 4,
			    .cell_height = 4,
			    .max_per_column = ROWS},
		.semantics = {.classes = CLASSES,
			      .kind = {STIXEL_GROUND, STIXEL_OBJECT, STIXEL_GROUND, STIXEL_SKY,
				       STIXEL_GROUND}},
	};

	p.stixels.slanted.class_cut = cost;
	return p;
}

static struct sx_class_cut table_of(double cost)
{
	const struct sx_params p = params_of(cost);
	struct sx_class_cut t;

	sx_class_cut_set(&t, &p);
	return t;
}

/* A column: its cells, their scores, and its list. */
struct column {
	uint16_t cells[ROWS];
	uint8_t scores[ROWS][CLASSES];
	struct sx_segment list[ROWS];
	int n;
};

/* Gives rows first .. last to a class: its score is c / 255, the rest belongs to the other classes. */
static void paint(struct column *c, int first, int last, int class_of, int score)
{
	for (int v = first; v <= last; v++)
		for (int k = 0; k < CLASSES; k++)
			c->scores[v][k] = (uint8_t)(k == class_of ? score : (255 - score) / (CLASSES - 1));
}

/* A column of ground on a line of half a pixel in each image row, all of it road. */
static struct column ground(void)
{
	struct column c = {.n = 1};

	c.list[0] = (struct sx_segment){.v_top = ROWS - 1,
					.disparity_q7 = 20000,
					.slope_q14 = -8192,
					.kind = STIXEL_GROUND,
					.label = ROAD};
	paint(&c, 0, ROWS - 1, ROAD, 200);
	return c;
}

static void cut(struct column *c, double cost)
{
	const struct sx_class_cut t = table_of(cost);

	c->n = sx_class_cut_column(&t, c->cells, c->scores[0], c->list, c->n);
}

static void expect(const struct column *c, int i, int bottom, int top, int label)
{
	const struct sx_segment *s = &c->list[i];

	assert_in_range(i, 0, c->n - 1);
	assert_int_equal(s->kind, STIXEL_GROUND);
	assert_int_equal(s->v_bottom, bottom);
	assert_int_equal(s->v_top, top);
	assert_int_equal(s->label, label);
	assert_int_equal(s->slope_q14, -8192);
	assert_int_equal(s->disparity_q7,
			 20000 - 64 * 4 * bottom); /* 64 / 128 px in each of the 4 rows of a cell */
}

static void a_border_cuts(void **state)
{
	struct column c = ground();

	(void)state;
	paint(&c, 25, ROWS - 1, WALK, 200);
	cut(&c, 16);
	assert_int_equal(c.n, 2);
	expect(&c, 0, 0, 24, ROAD);
	expect(&c, 1, 25, ROWS - 1, WALK);
}

/* A cell of a wrong class with 200 against 13 of 255 loses ln(200 / 13) = 2.73 nats. */
static void a_patch_has_to_pay_for_two_cuts(void **state)
{
	struct column c = ground();

	(void)state;
	paint(&c, 20, 30, WALK, 200); /* 11 cells: 30.1 nats for 2 cuts of 16 */
	cut(&c, 16);
	assert_int_equal(c.n, 1);
	expect(&c, 0, 0, ROWS - 1, ROAD);
	paint(&c, 31, 31, WALK, 200); /* 12 cells: 32.8 nats */
	cut(&c, 16);
	assert_int_equal(c.n, 3);
	expect(&c, 0, 0, 19, ROAD);
	expect(&c, 1, 20, 31, WALK);
	expect(&c, 2, 32, ROWS - 1, ROAD);
}

static void other_kinds_stay(void **state)
{
	struct column c = ground();
	const struct sx_segment
		object = {10, 29, 400, 3200, 0, STIXEL_OBJECT, BUILDING},
		unknown = {30, 39, 0, STIXEL_DISPARITY_UNKNOWN, 0, STIXEL_UNKNOWN, STIXEL_LABEL_NONE};
	struct sx_segment upper = c.list[0];

	(void)state;
	c.list[0].v_top = 9;
	c.list[1] = object;
	c.list[2] = unknown;
	upper.v_bottom = 40;
	upper.disparity_q7 = 20000 - 64 * 4 * 40;
	c.list[3] = upper;
	c.n = 4;
	/* borders inside the object and inside the unknown part, and one in the ground behind them */
	paint(&c, 20, 49, GRASS, 250);
	cut(&c, 16);
	assert_int_equal(c.n, 5);
	expect(&c, 0, 0, 9, ROAD);
	assert_memory_equal(&c.list[1], &object, sizeof(object));
	assert_memory_equal(&c.list[2], &unknown, sizeof(unknown));
	expect(&c, 3, 40, 49, GRASS);
	expect(&c, 4, 50, ROWS - 1, ROAD);
}

/* Objects and sky are no classes of ground, whatever their scores. */
static void ground_gets_classes_of_ground(void **state)
{
	struct column c = ground();

	(void)state;
	paint(&c, 25, ROWS - 1, BUILDING, 255);
	cut(&c, 16);
	assert_int_equal(c.n, 1);
	expect(&c, 0, 0, ROWS - 1, ROAD);
}

static void equal_costs(void **state)
{
	const struct sx_class_cut t = table_of(1);
	struct column c = ground();
	int score = 20, gain;

	(void)state;
	memset(c.scores, 20, sizeof(c.scores)); /* the first class */
	c.list[0].label = GRASS;
	cut(&c, 1);
	assert_int_equal(c.n, 1);
	expect(&c, 0, 0, ROWS - 1, ROAD);
	/* grass at the top gains exactly the cost of a cut: the class goes on */
	c = ground();
	memset(c.scores[ROWS - 3], 20, sizeof(c.scores[0]) * 3);
	while (t.energy[20] - t.energy[score] < SX_CLASS_CUT_UNIT)
		score++;
	c.scores[ROWS - 1][GRASS] = (uint8_t)score;
	gain = t.energy[20] - t.energy[score];
	cut(&c, gain / (double)SX_CLASS_CUT_UNIT);
	assert_int_equal(c.n, 1);
	cut(&c, (gain - 1) / (double)SX_CLASS_CUT_UNIT);
	assert_int_equal(c.n, 2);
	expect(&c, 1, ROWS - 3, ROWS - 1, GRASS);
}

/* The lowest and the highest run have three measured cells. */
static void classes_that_alternate(void **state)
{
	struct column c = ground();

	(void)state;
	for (int v = 0; v < ROWS; v++)
		paint(&c, v, v, v % 2 ? WALK : ROAD, 255);
	cut(&c, 0.25);
	assert_int_equal(c.n, ROWS - 4);
	expect(&c, 0, 0, 2, ROAD);
	for (int v = 3; v < ROWS - 3; v++)
		expect(&c, v - 2, v, v, v % 2 ? WALK : ROAD);
	expect(&c, c.n - 1, ROWS - 3, ROWS - 1, WALK);
}

static void ends_keep_measured_cells(void **state)
{
	struct column c = ground();

	(void)state;
	paint(&c, 0, 3, WALK, 255);
	paint(&c, 53, ROWS - 1, GRASS, 255);
	c.cells[0] = c.cells[2] = SX_DISPARITY_INVALID; /* rows 1, 3 and 4 are the first three */
	for (int v = 55; v < ROWS - 1; v++)
		c.cells[v] = SX_DISPARITY_INVALID; /* rows 59, 54 and 53 are the last three */
	cut(&c, 2);
	assert_int_equal(c.n, 3);
	expect(&c, 0, 0, 4, WALK);
	expect(&c, 1, 5, 52, ROAD);
	expect(&c, 2, 53, ROWS - 1, GRASS);
	/* a stixel of five measured cells is not cut */
	c = ground();
	paint(&c, 25, ROWS - 1, WALK, 255);
	for (int v = 0; v < ROWS; v++)
		c.cells[v] = v % 12 ? SX_DISPARITY_INVALID : 100;
	cut(&c, 16);
	assert_int_equal(c.n, 1);
}

static void no_stixel_is_pushed_out(void **state)
{
	struct sx_params p = params_of(16);
	struct column c = ground();
	struct sx_class_cut t;

	(void)state;
	paint(&c, 25, 45, WALK, 200);
	p.stixels.max_per_column = 2;
	sx_class_cut_set(&t, &p);
	assert_int_equal(sx_class_cut_column(&t, c.cells, c.scores[0], c.list, 1), 1);
	expect(&c, 0, 0, ROWS - 1, ROAD);
	p.stixels.max_per_column = 3;
	sx_class_cut_set(&t, &p);
	assert_int_equal(sx_class_cut_column(&t, c.cells, c.scores[0], c.list, 1), 3);
}

static void some_tables_cut_nothing(void **state)
{
	struct sx_params p = params_of(0);
	struct sx_class_cut t;

	(void)state;
	sx_class_cut_set(&t, &p);
	assert_int_equal(t.ground, 0);
	p = params_of(16);
	p.stixels.method = SX_STIXEL_DP; /* reads no scores */
	sx_class_cut_set(&t, &p);
	assert_int_equal(t.ground, 0);
	p = params_of(16);
	p.semantics.kind[WALK] = p.semantics.kind[GRASS] = STIXEL_OBJECT;
	sx_class_cut_set(&t, &p);
	assert_int_equal(t.ground, 0);
	p = params_of(16);
	sx_class_cut_set(&t, &p);
	assert_int_equal(t.ground, 3);
	assert_int_equal(t.energy[255], 0);
	assert_int_equal(t.energy[0], 399); /* 64 ln 510 */
}

static int measured(const struct column *c, int first, int last)
{
	int n = 0;

	for (int v = first; v <= last; v++)
		n += c->cells[v] != SX_DISPARITY_INVALID;
	return n;
}

/* Returns the cost of a sequence of classes, in units. A change too near to an end costs more than any sequence. */
static int cost_of(const struct sx_class_cut *t, const struct column *c, const uint8_t *sequence, int rows)
{
	int sum = 0;

	for (int v = 0; v < rows; v++) {
		sum += t->energy[c->scores[v][sequence[v]]];
		if (v == 0 || sequence[v] == sequence[v - 1])
			continue;
		sum += measured(c, 0, v - 1) < 3 || measured(c, v, rows - 1) < 3 ? 1 << 20 : t->cost;
	}
	return sum;
}

static void the_cheapest_of_all_sequences(void **state)
{
	struct check_rng r = check_rng_seed(1);
	int cuts = 0;

	(void)state;
	for (int round = 0; round < 100; round++) {
		const struct sx_class_cut t = table_of(0.1 + check_below(&r, 10) / 10.0);
		const int rows = 4 + check_below(&r, 5);
		struct column c = ground();
		uint8_t sequence[8], got[8];
		int least = 1 << 30, of = 1;

		for (int v = 0; v < rows; v++) {
			for (int k = 0; k < CLASSES; k++)
				c.scores[v][k] = (uint8_t)check_below(&r, 256);
			if (check_below(&r, 8) == 0)
				c.cells[v] = SX_DISPARITY_INVALID;
			of *= 3;
		}
		for (int i = 0; i < of; i++) {
			int cost;

			for (int v = 0, rest = i; v < rows; v++, rest /= 3)
				sequence[v] = t.class_of[rest % 3];
			cost = cost_of(&t, &c, sequence, rows);
			least = cost < least ? cost : least;
		}
		c.list[0].v_top = (uint16_t)(rows - 1);
		c.n = sx_class_cut_column(&t, c.cells, c.scores[0], c.list, 1);
		for (int i = 0, v = 0; i < c.n; i++) {
			assert_int_equal(c.list[i].v_bottom, v);
			for (; v <= (int)c.list[i].v_top; v++)
				got[v] = c.list[i].label;
		}
		assert_int_equal(c.list[c.n - 1].v_top, rows - 1);
		assert_int_equal(cost_of(&t, &c, got, rows), least);
		cuts += c.n - 1;
	}
	assert_in_range(cuts, 10, 400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_border_cuts),
		cmocka_unit_test(a_patch_has_to_pay_for_two_cuts),
		cmocka_unit_test(other_kinds_stay),
		cmocka_unit_test(ground_gets_classes_of_ground),
		cmocka_unit_test(equal_costs),
		cmocka_unit_test(classes_that_alternate),
		cmocka_unit_test(ends_keep_measured_cells),
		cmocka_unit_test(no_stixel_is_pushed_out),
		cmocka_unit_test(some_tables_cut_nothing),
		cmocka_unit_test(the_cheapest_of_all_sequences),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
