/*
 * Left-right check: values worked out by hand, and the check in place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "stages/stereo/flat.h"
#include "stages/stereo/left_right.h"
#include "tests/stages/stereo/map_case.h"

#define NONE SX_DISPARITY_INVALID

/* One row to check. */
#define ROW 8
struct row {
	uint16_t left[ROW], right[ROW], out[ROW];
};

static void check_row_of(struct row *row, int tolerance, bool keep, enum sx_cost cost, int min_disparity)
{
	const struct sx_stereo_params p = {.cost = cost, .min_disparity = min_disparity};
	struct sx_filter_params f = {.left_right = tolerance, .left_right_keep = keep};
	struct sx_image l = {row->left, ROW, 1, sizeof(row->left), SX_PIXEL_U16};
	struct sx_image r = {row->right, ROW, 1, sizeof(row->right), SX_PIXEL_U16};
	struct sx_image o = {row->out, ROW, 1, sizeof(row->out), SX_PIXEL_U16};

	sx_left_right(&l, &r, &o, &f, &p);
}

/* Checks the row with a cost that has no border. */
static void check_row(struct row *row, int tolerance, bool keep, int min_disparity)
{
	check_row_of(row, tolerance, keep, SX_COST_ZNCC, min_disparity);
}

static void expect(const struct row *row, const int *want)
{
	for (int i = 0; i < ROW; i++)
		assert_int_equal(row->out[i], want[i] < 0 ? (int)NONE : want[i]);
}

/*
 * Returns a row with disparity 3 everywhere: 3 + 5/16 in the left map. The right map has 3, 4, 5, 2, 1 in
 * columns 0..4.
 */
static struct row slanted(void)
{
	return (struct row){{53, 53, 53, 53, 53, 53, 53, 53}, {3, 4, 5, 2, 1, 3, 3, 3}, {0}};
}

static void left_right_by_hand(void **state)
{
	struct row row = slanted();

	check_row(&row, 1, false, 0); /* partners of columns 0..2 are out of view */
	expect(&row, (int[]){-1, -1, -1, 53, 53, -1, 53, -1});
	check_row(&row, 1, true, 0);
	expect(&row, (int[]){53, 53, 53, 53, 53, -1, 53, -1});
	check_row(&row, 0, false, 0);
	expect(&row, (int[]){-1, -1, -1, 53, -1, -1, -1, -1});
	check_row(&row, 2, false, 0);
	expect(&row, (int[]){-1, -1, -1, 53, 53, 53, 53, 53});
	check_row(&row, -1, false, 0);
	expect(&row, (int[]){53, 53, 53, 53, 53, 53, 53, 53});
	row.left[3] = NONE;
	check_row(&row, -1, true, 0);
	expect(&row, (int[]){53, 53, 53, -1, 53, 53, 53, 53});
}

/* The four border columns of the census have no descriptor, so their values must not matter. */
static void left_right_border(void **state)
{
	struct row row = slanted();

	check_row_of(&row, 2, false, SX_COST_CSCT, 0);
	expect(&row, (int[]){-1, -1, -1, 53, -1, -1, -1, -1});
	check_row_of(&row, 2, false, SX_COST_CENSUS48, -1);
	expect(&row, (int[]){-1, -1, -1, 37, -1, -1, -1, -1});
	/* libSGM's rule and no check at all ignore the border */
	check_row_of(&row, 2, true, SX_COST_CSCT, 0);
	expect(&row, (int[]){53, 53, 53, 53, 53, 53, 53, 53});
	check_row_of(&row, -1, false, SX_COST_CENSUS, 0);
	expect(&row, (int[]){53, 53, 53, 53, 53, 53, 53, 53});
}

static void left_right_shifted(void **state)
{
	struct row row = slanted();

	/* +2: the partner is x - 5; columns 3 and 4 have a right(k) but no partner in view */
	check_row(&row, 2, false, 2);
	expect(&row, (int[]){-1, -1, -1, -1, -1, 85, 85, 85});
	check_row(&row, 2, true, 2);
	expect(&row, (int[]){85, 85, 85, 85, 85, 85, 85, 85});
	check_row(&row, 1, true, 2); /* libSGM's rule still compares if right(k) exists */
	expect(&row, (int[]){85, 85, 85, 85, 85, -1, 85, -1});
	/*
	 * -2: the partner is x - 1; it is in view for columns 1 and 2, but the shifted map does not reach
	 * that far
	 */
	check_row(&row, 2, false, -2);
	expect(&row, (int[]){-1, -1, -1, 21, 21, 21, 21, 21});
	/* -5: the partner is x + 2, beyond the right border for the last two */
	check_row(&row, 2, false, -5);
	expect(&row, (int[]){-1, -1, -1, 0, 0, 0, -1, -1}); /* 53 - 80 < 0: clamped to infinity */
	check_row(&row, 2, true, -5);
	expect(&row, (int[]){0, 0, 0, 0, 0, 0, 0, 0});
}

static void left_right_in_place(void **state)
{
	for (uint64_t seed = 0; seed < SHAPES * 8; seed++) {
		const int *s = shapes[seed % SHAPES];
		struct check_rng r = check_rng_seed(seed);
		struct check_image left, right, out;
		const int minima[] = {0, 16, -16, -128};
		const struct sx_stereo_params p = {.cost = seed % 5 ? SX_COST_CSCT : SX_COST_ZNCC,
						   .min_disparity = minima[seed % 4]};
		struct sx_filter_params f = {.left_right = (int)(seed % 4) - 1,
					     .left_right_keep = seed % 3 == 0};

		check_image_init(&left, SX_PIXEL_U16, s[0], s[1], s[2]);
		check_image_init(&right, SX_PIXEL_U16, s[0], s[1], 0);
		check_image_init(&out, SX_PIXEL_U16, s[0], s[1], 3);
		check_fill_disparity(&left.image, 32, 20, &r);
		check_fill_disparity(&right.image, 32, 0, &r);
		for (int y = 0; y < s[1]; y++) /* integer disparities, mostly consistent */
			for (int x = 0; x < s[0]; x++)
				put(&right.image, x, y, at(&right.image, x, y) % 6);
		for (int y = 0; y < s[1]; y++)
			for (int x = 0; x < s[0]; x++)
				if (at(&left.image, x, y) != NONE)
					put(&left.image, x, y, at(&left.image, x, y) % 90);
		sx_left_right(&left.image, &right.image, &out.image, &f, &p);
		sx_left_right(&left.image, &right.image, &left.image, &f, &p);
		assert_true(check_same("left-right in place", seed, &out.image, &left.image, 0));
		assert_true(check_guards(&out, "left-right") && check_guards(&left, "left-right in place"));
		check_image_finish(&left);
		check_image_finish(&right);
		check_image_finish(&out);
	}
}

/* Disparity 3 everywhere, tiles of 4 px. */
static void flat_areas(void **state)
{
	struct row row = {{48, 48, 48, 48, 48, 48, 48, 48}, {3, 3, 3, 3, 3, 3, 3, 3}, {0}};
	const struct sx_image l = {row.left, ROW, 1, sizeof(row.left), SX_PIXEL_U16};
	const struct sx_image o = {row.out, ROW, 1, sizeof(row.out), SX_PIXEL_U16};
	uint8_t tiles[2][2] = {{0, 1}, {0, 0}};
	const struct sx_image flat[2] = {{tiles[0], 2, 1, 2, SX_PIXEL_U8}, {tiles[1], 2, 1, 2, SX_PIXEL_U8}};

	check_row(&row, 1, false, 0);
	sx_left_right_hide_flat(&l, flat, &o, 0, 0, 1); /* the left image is flat from column 4 on */
	expect(&row, (int[]){-1, -1, -1, 48, -1, -1, -1, -1});
	tiles[0][1] = 0, tiles[1][0] = 1;
	check_row(&row, 1, false, 0);
	sx_left_right_hide_flat(&l, flat, &o, 0, 0, 1); /* the right image is flat up to column 3 */
	expect(&row, (int[]){-1, -1, -1, -1, -1, -1, -1, 48});
	check_row(&row, 1, false, -1); /* partners lie one column to the right */
	sx_left_right_hide_flat(&l, flat, &o, -1, 0, 1);
	expect(&row, (int[]){-1, -1, -1, -1, -1, -1, 32, 32});
	check_row(&row, 1, true, 2); /* tiles of a partner out of view are not read */
	sx_left_right_hide_flat(&l, flat, &o, 2, 0, 1);
	expect(&row, (int[]){80, 80, 80, 80, 80, -1, -1, -1});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(left_right_by_hand), cmocka_unit_test(left_right_border),
		cmocka_unit_test(left_right_shifted), cmocka_unit_test(left_right_in_place),
		cmocka_unit_test(flat_areas),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
