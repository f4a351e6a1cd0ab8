/*
 * Smoothing against its definition in a second implementation, and against values worked out by hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "stages/stereo/smooth.h"
#include "tests/stages/stereo/map_case.h"

#define NONE SX_DISPARITY_INVALID

static int by_value(const void *a, const void *b)
{
	return (int)*(const uint16_t *)a - (int)*(const uint16_t *)b;
}

/* Applies one pass to a copy of the map. dx, dy is 1, 0 or 0, 1. */
static void define_pass(const struct sx_image *in, const struct sx_image *out, int dx, int dy)
{
	for (int y = 0; y < in->height; y++)
		for (int x = 0; x < in->width; x++) {
			uint16_t v[7];
			int n = 0, valid;

			for (int i = -3; i <= 3; i++) {
				const int u = x + i * dx, w = y + i * dy;
				const bool inside = u >= 0 && u < in->width && w >= 0 && w < in->height;

				v[n++] = inside ? at(in, u, w) : NONE;
			}
			qsort(v, 7, sizeof(v[0]), by_value); /* invalid values sort last */
			for (valid = 0; valid < 7 && v[valid] != NONE;)
				valid++;
			put(out, x, y, at(in, x, y) != NONE || valid > 3 ? v[valid / 2] : NONE);
		}
}

static void smooth_is_two_medians(void **state)
{
	for (uint64_t seed = 0; seed < SHAPES * 10; seed++) {
		const int *s = shapes[seed % SHAPES];
		struct check_rng r = check_rng_seed(seed);
		struct check_image in, middle, want, got;

		check_image_init(&in, SX_PIXEL_U16, s[0], s[1], s[2]);
		check_image_init(&middle, SX_PIXEL_U16, s[0], s[1], 0);
		check_image_init(&want, SX_PIXEL_U16, s[0], s[1], 0);
		check_image_init(&got, SX_PIXEL_U16, s[0], s[1], 1);
		check_fill_disparity(&in.image, 256, (int)(seed / SHAPES) * 11, &r);
		define_pass(&in.image, &middle.image, 0, 1);
		define_pass(&middle.image, &want.image, 1, 0);
		sx_smooth(&in.image, &got.image);
		assert_true(check_same("smoothed", seed, &want.image, &got.image, 0));
		assert_true(check_guards(&got, "smooth") && check_guards(&in, "smooth input"));
		check_image_finish(&in);
		check_image_finish(&middle);
		check_image_finish(&want);
		check_image_finish(&got);
	}
}

/* Checks a line as a row and as a column. */
static void check_line(const uint16_t *line, const int *want, int n)
{
	uint16_t out[16];
	const struct sx_image row = {(void *)line, n, 1, 2 * (size_t)n, SX_PIXEL_U16};
	const struct sx_image column = {(void *)line, 1, n, 2, SX_PIXEL_U16};
	const struct sx_image to_row = {out, n, 1, sizeof(out), SX_PIXEL_U16};
	const struct sx_image to_column = {out, 1, n, 2, SX_PIXEL_U16};

	sx_smooth(&row, &to_row);
	for (int i = 0; i < n; i++)
		assert_int_equal(out[i], want[i] < 0 ? (int)NONE : want[i]);
	sx_smooth(&column, &to_column);
	for (int i = 0; i < n; i++)
		assert_int_equal(out[i], want[i] < 0 ? (int)NONE : want[i]);
}

static void smooth_by_hand(void **state)
{
	/* full windows; at the ends only the existing part */
	check_line((const uint16_t[]){10, 90, 20, 80, 30, 70, 40, 60},
		   (const int[]){80, 30, 70, 40, 60, 60, 60, 60}, 8);
	/* one valid value stays, alone or not; of two values the larger one is the median */
	check_line((const uint16_t[]){NONE, NONE, NONE, NONE, 50, NONE, NONE, NONE, NONE},
		   (const int[]){-1, -1, -1, -1, 50, -1, -1, -1, -1}, 9);
	check_line((const uint16_t[]){7, NONE, 50, NONE}, (const int[]){50, -1, 50, -1}, 4);
	/* four valid values of seven close a hole with the upper middle value; three do not */
	check_line((const uint16_t[]){1, NONE, 4, NONE, NONE, 3, 2}, (const int[]){4, -1, 3, 3, -1, 3, 3}, 7);
	/* an edge stays in place, and a structure thinner than four pixels disappears */
	check_line((const uint16_t[]){5, 5, 5, 5, 99, 99, 99, 99, 99},
		   (const int[]){5, 5, 5, 5, 99, 99, 99, 99, 99}, 9);
	check_line((const uint16_t[]){5, 5, 5, 5, 99, 99, 99, 5, 5, 5, 5},
		   (const int[]){5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5}, 11);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(smooth_is_two_medians),
		cmocka_unit_test(smooth_by_hand),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
