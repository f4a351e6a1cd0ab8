/*
 * Tests the conversion of raw pixels to grey against a conversion by way of three colours.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/capture/v4l2/raw_case.h"
#include "tests/check.h"

static const char *const orders[2][2] = {{"RGGB", "GRBG"}, {"GBRG", "BGGR"}}; /* index: red_y, red_x */

/* Returns samples in a buffer that ends with the last sample, at an odd address, with gaps between rows. */
static uint8_t *packed(const struct raw_case *c, enum sx_raw_packing packing, size_t *pitch)
{
	const size_t row = sx_raw_row_bytes(packing, c->width);
	uint8_t *data;

	*pitch = row + 3;
	data = malloc(1 + *pitch * (size_t)(c->height - 1) + row);
	assert_non_null(data);
	raw_case_pack(c, packing, data + 1, *pitch);
	return data;
}

static void check_bayer(int width, int height, enum sx_raw_packing packing, int bits, uint64_t seed)
{
	struct raw_case c;
	size_t pitch;
	uint8_t *data;

	raw_case_init(&c, width, height, bits, seed);
	data = packed(&c, packing, &pitch);
	for (int red = 0; red < 4; red++) {
		const struct sx_raw from = {data + 1, pitch, packing, red % 2, red / 2, false};
		struct check_image to;

		check_image_init(&to, packing == SX_RAW_8 ? SX_PIXEL_U8 : SX_PIXEL_Y16, width, height, red);
		sx_raw_grey(&from, &to.image);
		assert_true(raw_case_shows(&to.image, &c, orders[red / 2][red % 2]));
		assert_true(check_guards(&to, "raw"));
		check_image_finish(&to);
	}
	free(data);
	raw_case_finish(&c);
}

/*
 * Tests the smallest size, odd sizes, and sizes around the strips and lanes in which columns are processed.
 */
static void test_bayer(void **state)
{
	static const int sizes[][2] = {{2, 2},	  {3, 2},    {2, 3},	{5, 7},	  {15, 4},
				       {16, 5},	  {17, 4},   {48, 34},	{131, 9}, {1023, 3},
				       {1024, 3}, {1025, 4}, {1026, 3}, {2051, 3}};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		check_bayer(sizes[i][0], sizes[i][1], SX_RAW_8, 8, i);
		check_bayer(sizes[i][0], sizes[i][1], SX_RAW_10P, 10, i);
		check_bayer(sizes[i][0], sizes[i][1], SX_RAW_16, 10, i);
		check_bayer(sizes[i][0], sizes[i][1], SX_RAW_16, 16, i); /* some drivers shift to the left */
	}
}

/* A surface of one colour gets one grey value up to its borders, the same as from RGB24 pixels. */
static void test_one_colour(void **state)
{
	static const uint8_t colours[][3] = {
		{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {255, 255, 255}, {90, 51, 17}};

	for (size_t k = 0; k < sizeof(colours) / sizeof(colours[0]); k++) {
		const uint8_t *rgb = colours[k];
		struct sx_image to;
		uint8_t data[6 * 9];

		for (int i = 0; i < 6 * 9; i++) /* GRBG */
			data[i] = rgb[i / 9 % 2 ? (i % 9 % 2 ? 1 : 2) : (i % 9 % 2 ? 0 : 1)];
		assert_int_equal(sx_image_init(&to, SX_PIXEL_U8, 9, 6), 0);
		sx_raw_grey(&(struct sx_raw){data, 9, SX_RAW_8, 1, 0, false}, &to);
		for (int i = 0; i < 6 * 9; i++)
			assert_int_equal(((uint8_t *)sx_image_row(&to, i / 9))[i % 9],
					 (77 * rgb[0] + 150 * rgb[1] + 29 * rgb[2] + 128) >> 8);
		sx_image_finish(&to);
	}
}

static void test_y12i(void **state)
{
	static const int sizes[][2] = {{1, 1}, {7, 3}, {64, 2}};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const int w = sizes[i][0], h = sizes[i][1];
		const size_t pitch = 3 * (size_t)w + 1;
		uint8_t *data = malloc(pitch * (size_t)h - 1);
		struct raw_case c[2];
		struct check_image to;

		assert_non_null(data);
		raw_case_init(&c[0], w, h, 12, i);
		raw_case_init(&c[1], w, h, 12, i + 9);
		raw_case_y12i(&c[0], &c[1], data, pitch);
		for (int side = 0; side < 2; side++) {
			check_image_init(&to, SX_PIXEL_Y16, w, h, 1);
			sx_raw_grey(&(struct sx_raw){data, pitch, SX_RAW_Y12I, 0, 0, side}, &to.image);
			assert_true(raw_case_shows(&to.image, &c[side], NULL));
			assert_true(check_guards(&to, "Y12I"));
			check_image_finish(&to);
			raw_case_finish(&c[side]);
		}
		free(data);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bayer),
		cmocka_unit_test(test_one_colour),
		cmocka_unit_test(test_y12i),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
