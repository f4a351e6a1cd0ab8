/*
 * Flat areas: against their definition, and on images as cameras deliver them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "stages/stereo/flat.h"
#include "tests/flat_case.h"

static int held(int v, int most)
{
	return v < 0 ? 0 : v > most ? most : v;
}

/* Computes the bits of the square that begins at tile i, j, pixel by pixel. */
static int square_bits(const struct sx_image *grey, int i, int j)
{
	const int width = SX_FLAT_TILES(grey->width), height = SX_FLAT_TILES(grey->height);
	int least = 255, most = 0, along = 0;

	if (i < -1 || j < -1 || i + SX_FLAT_SQUARE > width + 1 || j + SX_FLAT_SQUARE > height + 1)
		return 0;
	for (int v = j * SX_FLAT_TILE; v < (j + SX_FLAT_SQUARE) * SX_FLAT_TILE; v++) {
		/* rows above the image repeat the rows of its first tiles in the same order */
		const int tile = held(v < 0 ? -1 : v / SX_FLAT_TILE, height - 1);
		const int y = tile * SX_FLAT_TILE + (v + SX_FLAT_TILE) % SX_FLAT_TILE;
		int low = 255, high = 0;

		if (y >= grey->height)
			continue;
		for (int u = i * SX_FLAT_TILE; u < (i + SX_FLAT_SQUARE) * SX_FLAT_TILE; u++) {
			const int level = ((const uint8_t *)sx_image_row(grey, y))[held(u, grey->width - 1)];

			low = level < low ? level : low;
			high = level > high ? level : high;
		}
		least = low < least ? low : least;
		most = high > most ? high : most;
		along = high > 4 && high - low > along ? high - low : along;
	}
	return (most <= 64 ? SX_TILE_DIM : 0) | (most - least <= 6 ? SX_TILE_RANGE_1 : 0) |
	       (most - least <= 12 ? SX_TILE_RANGE_2 : 0) | (most - least <= 24 ? SX_TILE_RANGE_4 : 0) |
	       (along > 1 && most - least > 2 ? 0
		: most <= 32		      ? SX_TILE_FLAT | SX_TILE_DARK
					      : SX_TILE_FLAT);
}

static int tile_bits(const struct sx_image *grey, int i, int j)
{
	int bits = 0;

	for (int v = j - SX_FLAT_SQUARE + 2; v < j; v++)
		for (int u = i - SX_FLAT_SQUARE + 2; u < i; u++)
			bits |= square_bits(grey, u, v);
	return bits;
}

static struct check_image flat_of(const struct sx_image *grey)
{
	void *scratch = malloc(sx_flat_scratch_bytes(grey->width, grey->height));
	struct check_image flat;

	assert_non_null(scratch);
	check_image_init(&flat, SX_PIXEL_U8, SX_FLAT_TILES(grey->width), SX_FLAT_TILES(grey->height), 3);
	sx_flat(grey, &flat.image, scratch);
	assert_true(check_guards(&flat, "flat"));
	free(scratch);
	return flat;
}

static void as_defined(void **state)
{
	for (uint64_t seed = 0; seed < 60; seed++) {
		struct check_rng r = check_rng_seed(seed);
		struct check_image grey, flat;

		check_image_init(&grey, SX_PIXEL_U8, 32 + check_below(&r, 90), 32 + check_below(&r, 60), 5);
		flat_case_fill(&grey.image, &r);
		flat = flat_of(&grey.image);
		for (int y = 0; y < flat.image.height; y++)
			for (int x = 0; x < flat.image.width; x++)
				assert_int_equal(((uint8_t *)sx_image_row(&flat.image, y))[x],
						 tile_bits(&grey.image, x, y));
		check_image_finish(&grey);
		check_image_finish(&flat);
	}
}

/* Returns the percentage of flat tiles in an image of noise with one area of weaker noise. */
static int flat_percent(int x0, int y0, int width, int height, int base, int range, int down)
{
	struct check_rng r = check_rng_seed(1);
	struct check_image grey, flat;
	int n = 0;

	check_image_init(&grey, SX_PIXEL_U8, 200, 100, 0);
	check_fill(&grey.image, CHECK_NOISE, &r);
	flat_case_area(&grey.image, x0, y0, width, height, base, range, down, &r);
	flat = flat_of(&grey.image);
	for (int y = 0; y < flat.image.height; y++)
		for (int x = 0; x < flat.image.width; x++)
			n += ((uint8_t *)sx_image_row(&flat.image, y))[x] & SX_TILE_FLAT;
	n = 100 * n / (flat.image.width * flat.image.height);
	check_image_finish(&grey);
	check_image_finish(&flat);
	return n;
}

static void what_cameras_show(void **state)
{
	assert_int_equal(flat_percent(0, 0, 0, 0, 0, 0, 0), 0);		/* texture everywhere */
	assert_int_equal(flat_percent(0, 0, 200, 100, 255, 0, 0), 100); /* white */
	assert_int_equal(flat_percent(0, 0, 200, 100, 0, 4, 0), 100);	/* black with JPEG noise */
	assert_int_equal(flat_percent(0, 0, 200, 100, 128, 2, 0), 100); /* grey with a little noise */
	assert_int_equal(flat_percent(0, 0, 200, 100, 128, 9, 0), 0);	/* noise that could be texture */
	assert_int_equal(flat_percent(0, 0, 200, 100, 9, 1, 20),
			 100); /* a dim floor: rows differ, columns do not */
	assert_int_equal(flat_percent(0, 0, 200, 100, 9, 2, 20), 0);
	/* a border of 20 columns, without its innermost tile */
	assert_int_equal(flat_percent(180, 0, 20, 100, 0, 0, 0), 8);
	assert_int_equal(flat_percent(100, 40, 16, 16, 0, 0, 0), 0); /* too small to be a cover */
	assert_int_equal(flat_percent(60, 20, 80, 60, 0, 0, 0), 18);
}

/* Contrasts differ if one range is more than twice the other, by steps of 6, 12 and 24 levels. */
static void contrasts_that_differ(void **state)
{
	for (int a = 0; a < 256; a++)
		for (int b = 0; b < 256; b++) {
			const int low = a < b ? a : b, high = a < b ? b : a;

			assert_int_equal(sx_flat_differs(sx_flat_ranges(a), sx_flat_ranges(b)),
					 (low <= 6 && high > 12) || (low <= 12 && high > 24));
		}
	/* a tile at the edge of an object has squares of all ranges */
	assert_false(sx_flat_differs(SX_TILE_RANGES, SX_TILE_RANGES));
	assert_false(sx_flat_differs(SX_TILE_FLAT | SX_TILE_DIM | SX_TILE_CHANCE, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_defined),
		cmocka_unit_test(what_cameras_show),
		cmocka_unit_test(contrasts_that_differ),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
