/*
 * Tests how holes of a disparity map are filled: by the line of the ground, by the neighbour that fits the
 * object, and elsewhere by the farther neighbour.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "stixel.h"
#include "tools/process/filled.h"

enum { W = 9, H = 4, COLUMN = 4, HOLE = SX_DISPARITY_INVALID };

/* Closes the holes. The last column of pixels belongs to no stixel. */
static void close_holes(uint16_t d[H][W], const struct stixel *s, uint32_t count)
{
	struct sx_image map = {d, W, H, sizeof(d[0]), SX_PIXEL_U16};

	assert_int_equal(sx_filled(&map, s, count, COLUMN), 0);
}

static void set(uint16_t d[H][W], int value)
{
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			d[y][x] = (uint16_t)value;
}

static struct stixel stixel(int column, int top, int bottom, int kind, double px, double slope)
{
	return (struct stixel){.column = (uint16_t)column,
			       .row_top = (uint16_t)top,
			       .row_bottom = (uint16_t)bottom,
			       .kind = (uint8_t)kind,
			       .disparity_q7 = (uint16_t)(128 * px),
			       .slope_q14 = (int16_t)(16384 * slope)};
}

static void test_nothing_without_holes(void **state)
{
	const struct stixel s = stixel(0, 0, 3, STIXEL_GROUND, 30, 0);
	uint16_t d[H][W], was[H][W];

	set(d, 77);
	d[1][2] = 0; /* measured as infinitely far */
	memcpy(was, d, sizeof(d));
	close_holes(d, &s, 1);
	assert_memory_equal(d, was, sizeof(d));
}

static void test_ground_has_a_line(void **state)
{
	const struct stixel s[] = {stixel(0, 0, 3, STIXEL_GROUND, 1, -0.5),
				   stixel(1, 1, 2, STIXEL_GROUND, 10, 0.25)};
	uint16_t d[H][W];

	set(d, HOLE);
	d[2][0] = d[1][8] = 500;
	close_holes(d, s, 2);
	assert_int_equal(d[3][0], 16);
	assert_int_equal(d[2][0], 500);
	assert_int_equal(d[2][3], 8);
	assert_int_equal(d[1][3], 0);
	assert_int_equal(d[0][3], 0); /* the line is never below 0 */
	assert_int_equal(d[2][4], 160);
	assert_int_equal(d[1][7], 164);
	assert_int_equal(d[0][5], HOLE); /* no value in this row, and no stixel */
	assert_int_equal(d[1][8], 500);
}

static void test_objects_take_what_fits(void **state)
{
	const struct stixel s[] = {stixel(0, 0, 3, STIXEL_OBJECT, 20, 0),
				   stixel(1, 0, 3, STIXEL_OBJECT, 6, 0)};
	uint16_t d[H][W];

	set(d, HOLE);
	d[0][0] = 330, d[0][8] = 90;
	d[1][1] = 90, d[1][2] = 400;
	d[2][8] = 90;
	close_holes(d, s, 2);
	assert_int_equal(d[0][1], 330); /* 320 */
	assert_int_equal(d[0][3], 330);
	assert_int_equal(d[0][4], 90); /* 96 */
	assert_int_equal(d[1][0], 90); /* the only neighbour with a value */
	assert_int_equal(d[1][3], 400);
	assert_int_equal(d[2][0], 90);
	assert_int_equal(d[3][0], 320); /* no neighbour: the stixel's own disparity */
	assert_int_equal(d[3][7], 96);
	assert_int_equal(d[3][8], HOLE);
	/* if both neighbours are equally close to the stixel's disparity, the farther surface counts */
	set(d, HOLE);
	d[0][0] = 310, d[0][3] = 330;
	close_holes(d, s, 1);
	assert_int_equal(d[0][1], 310);
	assert_int_equal(d[0][2], 310);
}

static void test_elsewhere_the_farther_one(void **state)
{
	struct stixel s[] = {stixel(0, 0, 3, STIXEL_SKY, 0, 0), stixel(1, 0, 3, STIXEL_UNKNOWN, 9, 0)};
	uint16_t d[H][W];

	s[1].disparity_q7 = STIXEL_DISPARITY_UNKNOWN;
	set(d, HOLE);
	d[0][1] = 50, d[0][3] = 70, d[0][6] = 60;
	close_holes(d, s, 2);
	assert_int_equal(d[0][0], 50);
	assert_int_equal(d[0][2], 50);
	assert_int_equal(d[0][4], 60);
	assert_int_equal(d[0][8], 60);
	assert_int_equal(d[1][0], HOLE);
}

/*
 * Tests values that a frame may have but no engine writes: beyond the image, and at the limits of the types.
 */
static void test_stays_in_the_image(void **state)
{
	const struct stixel s[] = {stixel(2, 0, 60000, STIXEL_GROUND, 500, 1.9),
				   stixel(9, 0, 3, STIXEL_OBJECT, 1, 0),
				   {.column = 0,
				    .row_top = 0,
				    .row_bottom = 65535,
				    .disparity_q7 = 65534,
				    .slope_q14 = 32767,
				    .kind = STIXEL_GROUND}};
	uint16_t d[H][W];

	set(d, HOLE);
	close_holes(d, s, 3);
	assert_int_equal(d[0][8], 0x7ffe); /* the largest value */
	assert_int_equal(d[3][0], 0x7ffe);
	assert_int_equal(d[0][5], HOLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_without_holes),
		cmocka_unit_test(test_ground_has_a_line),
		cmocka_unit_test(test_objects_take_what_fits),
		cmocka_unit_test(test_elsewhere_the_farther_one),
		cmocka_unit_test(test_stays_in_the_image),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
