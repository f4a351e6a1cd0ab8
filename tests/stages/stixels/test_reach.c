/*
 * Reach of a frame: cases worked out by hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "stages/stixels/reach.h"
#include "tests/check.h"

#define COLUMNS 64
#define ROWS 40 /* number of rows of cells */
#define CELL 4
#define HEIGHT (ROWS * CELL)
#define HORIZON 79.5 /* between rows 19 and 20 of the cells, from the image's bottom */

static const struct sx_stixel_params params = {
	.method = SX_STIXEL_SLANTED, .width = CELL, .cell_height = CELL};

/* A road with a quarter of a pixel of disparity in each image row below the horizon. */
static struct sx_road flat_road(void)
{
	return (struct sx_road){.slope = 0.25, .offset = -0.25 * HORIZON};
}

/* Cells that measure the road exactly, from the bottom up to disparities of `least` pixels. */
static void measure(struct sx_image *columns, const struct sx_road *road, double least)
{
	for (int u = 0; u < COLUMNS; u++) {
		uint16_t *d = sx_image_row(columns, u);

		for (int v = 0; v < ROWS; v++) {
			const double g = road->slope * (HEIGHT - 1 - (v * CELL + CELL / 2)) + road->offset +
					 road->cross * (u * CELL + 1.5 - road->axis);

			d[v] = g >= least ? (uint16_t)(16 * g + 0.5) : SX_DISPARITY_INVALID;
		}
	}
}

static int32_t reach(const struct sx_image *columns, const struct sx_road *road)
{
	uint32_t count[SX_REACH_BINS] = {0};

	/* workers count in parts */
	sx_reach_count(columns, 0, 13, road, HEIGHT, &params, count);
	sx_reach_count(columns, 13, COLUMNS, road, HEIGHT, &params, count);
	return sx_reach_of(count, COLUMNS, &params);
}

static void hide(struct sx_image *columns, int u0, int u1)
{
	for (int u = u0; u < u1; u++)
		memset(sx_image_row(columns, u), 0xff, ROWS * sizeof(uint16_t));
}

/* Rows of cells are 1 px of disparity apart: the middle of the last one below the horizon has 0.375 px. */
static void as_far_as_the_road_is_measured(void **state)
{
	const struct sx_road road = flat_road();
	struct sx_image columns;

	assert_int_equal(sx_image_init(&columns, SX_PIXEL_U16, ROWS, COLUMNS), 0);
	measure(&columns, &road, 0.0);
	assert_int_equal(reach(&columns, &road), 0);
	measure(&columns, &road, 9.0); /* 9.375 px, in the bin from 9 px on */
	assert_int_equal(reach(&columns, &road), 9 * 128);
	hide(&columns, 0, COLUMNS);
	assert_int_equal(reach(&columns, &road), 32 * 128);
	sx_image_finish(&columns);
}

/* Columns behind a patch do not count. A few columns, whose disparities may be wrong, do not suffice. */
static void a_few_columns_do_not_suffice(void **state)
{
	const struct sx_road road = flat_road();
	struct sx_image columns;

	assert_int_equal(sx_image_init(&columns, SX_PIXEL_U16, ROWS, COLUMNS), 0);
	measure(&columns, &road, 2.0);
	hide(&columns, 2, COLUMNS); /* 2 cells of 4 rows in 64 columns: more than a sixteenth */
	assert_int_equal(reach(&columns, &road), 2 * 128);
	hide(&columns, 1, COLUMNS);
	assert_int_equal(reach(&columns, &road), 32 * 128);
	sx_image_finish(&columns);
}

static void only_disparities_of_the_road_count(void **state)
{
	const struct sx_road road = flat_road();
	struct sx_image columns;

	for (int off = -33; off <= 33; off++) {
		assert_int_equal(sx_image_init(&columns, SX_PIXEL_U16, ROWS, COLUMNS), 0);
		measure(&columns, &road, 9.0);
		for (int u = 0; u < COLUMNS; u++)
			for (int v = 0; v < ROWS; v++)
				if (((uint16_t *)sx_image_row(&columns, u))[v] != SX_DISPARITY_INVALID)
					((uint16_t *)sx_image_row(&columns, u))[v] += (uint16_t)off;
		assert_int_equal(reach(&columns, &road), off < -32 || off > 32 ? 32 * 128 : 9 * 128);
		sx_image_finish(&columns);
	}
}

/* A camera that rolls sees the road at other rows in each column, but at the same disparities. */
static void a_road_that_rolls(void **state)
{
	struct sx_road road = flat_road();
	struct sx_image columns;

	road.cross = 0.02;
	road.axis = 0.5 * COLUMNS * CELL;
	assert_int_equal(sx_image_init(&columns, SX_PIXEL_U16, ROWS, COLUMNS), 0);
	measure(&columns, &road, 6.5);
	assert_int_equal(reach(&columns, &road), 6 * 128 + 64);
	sx_image_finish(&columns);
}

/* Without a road there is no ground. */
static void without_a_road(void **state)
{
	const struct sx_road road = flat_road(), none = {.slope = 0.0};
	struct sx_image columns;

	assert_int_equal(sx_image_init(&columns, SX_PIXEL_U16, ROWS, COLUMNS), 0);
	measure(&columns, &road, 0.0);
	assert_int_equal(reach(&columns, &none), 32 * 128);
	sx_image_finish(&columns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_far_as_the_road_is_measured),
		cmocka_unit_test(a_few_columns_do_not_suffice),
		cmocka_unit_test(only_disparities_of_the_road_count),
		cmocka_unit_test(a_road_that_rolls),
		cmocka_unit_test(without_a_road),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
