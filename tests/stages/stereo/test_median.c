/*
 * Median against sorting.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "stages/stereo/median.h"
#include "tests/stages/stereo/map_case.h"

static int by_value(const void *a, const void *b)
{
	return (int)*(const uint16_t *)a - (int)*(const uint16_t *)b;
}

static uint16_t sorted_median(const struct sx_image *img, int x, int y, enum sx_median_border border)
{
	uint16_t v[9];

	if (x == 0 || y == 0 || x == img->width - 1 || y == img->height - 1)
		return border == SX_MEDIAN_BORDER_ZERO ? 0 : at(img, x, y);
	for (int i = 0; i < 9; i++)
		v[i] = at(img, x + i % 3 - 1, y + i / 3 - 1);
	qsort(v, 9, sizeof(v[0]), by_value);
	return v[4];
}

static void median_sorts(void **state)
{
	for (uint64_t seed = 0; seed < SHAPES * 12; seed++) {
		const int *s = shapes[seed % SHAPES];
		enum sx_median_border border =
			seed / SHAPES % 2 ? SX_MEDIAN_BORDER_ZERO : SX_MEDIAN_BORDER_COPY;
		struct check_rng r = check_rng_seed(seed);
		struct check_image in, want, got;

		check_image_init(&in, SX_PIXEL_U16, s[0], s[1], s[2]);
		check_image_init(&want, SX_PIXEL_U16, s[0], s[1], 0);
		check_image_init(&got, SX_PIXEL_U16, s[0], s[1], 1);
		if (seed / SHAPES < 6)
			check_fill_disparity(&in.image, 256, (int)(seed / SHAPES) * 20, &r);
		else
			check_fill(&in.image, (enum check_fill)(seed / SHAPES - 6), &r);
		for (int y = 0; y < s[1]; y++)
			for (int x = 0; x < s[0]; x++)
				put(&want.image, x, y, sorted_median(&in.image, x, y, border));
		sx_median(&in.image, &got.image, border);
		assert_true(check_same("median", seed, &want.image, &got.image, 0));
		assert_true(check_guards(&got, "median") && check_guards(&in, "median input"));
		check_image_finish(&in);
		check_image_finish(&want);
		check_image_finish(&got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(median_sorts),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
