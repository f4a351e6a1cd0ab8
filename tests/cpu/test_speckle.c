/*
 * The speckle filter in stripes against the reference: widths around words of bits, sizes and ranges from
 * none to everything, and components that cross stripes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cpu/kernel_sets.h"
#include "cpu/speckle.h"
#include "stages/stereo/speckle.h"
#include "tests/check.h"
#include "tests/cpu/simd_case.h"

/* Fills winding corridors one pixel wide: components that need many unions and extend far. */
static void fill_maze(const struct sx_image *img, struct check_rng *r)
{
	for (int y = 0; y < img->height; y++) {
		uint16_t *row = sx_image_row(img, y);

		for (int x = 0; x < img->width; x++) {
			bool wall = x % 2 && y % 2 ? true : (x % 2 || y % 2) && check_below(r, 2);

			row[x] = wall ? SX_DISPARITY_INVALID : (uint16_t)(16 * (x / 40));
		}
	}
}

static bool same_on(const char *simd, const struct sx_image *map, const struct sx_filter_params *p,
		    uint64_t seed)
{
	const struct sx_kernels *k = sx_kernels_choose(simd);
	struct check_image want, got;
	struct sx_speckle s;
	void *memory, *scratch;
	char text[128];
	bool same;

	if (!k)
		return true;
	check_image_init(&want, SX_PIXEL_U16, map->width, map->height, 0);
	check_image_init(&got, SX_PIXEL_U16, map->width, map->height, 5);
	memory = malloc(sx_speckle_bytes(map->width, map->height));
	scratch = malloc(sx_speckle_scratch_bytes(map->width, map->height));
	assert_non_null(memory);
	assert_non_null(scratch);
	check_copy(map, &want.image);
	sx_speckle(&want.image, p, scratch);
	sx_speckle_init(&s, k->matcher, p, map->width, map->height, memory);
	for (int i = sx_speckle_stripes(&s) - 1; i >= 0; i--)
		sx_speckle_stripe(&s, map, &got.image, i);
	sx_speckle_join(&s, map);
	for (int i = 0; i < sx_speckle_stripes(&s); i++)
		sx_speckle_erase(&s, &got.image, i);
	snprintf(text, sizeof(text), "%s size %d range %d", simd, p->speckle_size, p->speckle_range);
	same = check_same(text, seed, &want.image, &got.image, 0) && check_guards(&got, text);
	free(memory);
	free(scratch);
	check_image_finish(&want);
	check_image_finish(&got);
	return same;
}

static void check_map(int width, int height, int invalid_percent, uint64_t seed)
{
	static const struct sx_filter_params params[] = {
		{.speckle_size = 1, .speckle_range = 0},
		{.speckle_size = 5, .speckle_range = 1},
		{.speckle_size = 60, .speckle_range = 1},
		{.speckle_size = 1000, .speckle_range = 2},
		{.speckle_size = 70, .speckle_range = 300},
		{.speckle_size = 1000000, .speckle_range = 1000000},
	};
	struct check_rng r = check_rng_seed(seed);
	struct check_image map;

	check_image_init(&map, SX_PIXEL_U16, width, height, 3);
	if (invalid_percent < 0)
		fill_maze(&map.image, &r);
	else
		check_fill_disparity(&map.image, 384, invalid_percent, &r);
	for (size_t i = 0; i < sizeof(params) / sizeof(params[0]); i++)
		for (int k = 0; k < SIMD_COUNT; k++)
			assert_true(same_on(simd_names[k], &map.image, &params[i], seed));
	check_image_finish(&map);
}

static void test_widths(void **state)
{
	static const int widths[] = {32, 33, 63, 64, 65, 127, 128, 129, 193};

	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
		check_map(widths[i], 33 + 7 * (int)i, 10, i);
}

static void test_density(void **state)
{
	static const int percent[] = {0, 1, 30, 60, 100};

	for (size_t i = 0; i < sizeof(percent) / sizeof(percent[0]); i++)
		check_map(150, 95, percent[i], 100 + i);
}

static void test_mazes(void **state)
{
	for (int i = 0; i < 6; i++)
		check_map(80 + 17 * i, 48 + 16 * i + i % 2, -1, 200 + (uint64_t)i);
}

static void test_largest(void **state)
{
	check_map(4096, 40, 20, 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_density),
		cmocka_unit_test(test_mazes),
		cmocka_unit_test(test_largest),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
