/*
 * Ingest against its definition in real numbers, for each pixel format, with rows of any pitch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "stages/stereo/ingest.h"
#include "tests/check.h"

static const struct {
	int width, height, padding;
} shapes[] = {{1, 1, 0}, {1, 1, 3}, {2, 5, 1}, {7, 3, 0}, {64, 2, 0}, {67, 9, 27}};

#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static uint8_t grey(const struct check_image *c, int x, int y)
{
	return ((const uint8_t *)sx_image_row(&c->image, y))[x];
}

/* One format: the byte of pixel x is bytes[x * stride + first]. */
static void check_luma(enum sx_pixel pixel, int stride, int first)
{
	for (size_t i = 0; i < SHAPES; i++) {
		struct check_rng r = check_rng_seed(i);
		struct check_image in, out;

		check_image_init(&in, pixel, shapes[i].width, shapes[i].height, shapes[i].padding);
		check_image_init(&out, SX_PIXEL_U8, shapes[i].width, shapes[i].height, 5);
		check_fill(&in.image, CHECK_NOISE, &r);
		sx_ingest(&in.image, &out.image, sx_ingest_stretch(&in.image, &in.image));
		for (int y = 0; y < shapes[i].height; y++)
			for (int x = 0; x < shapes[i].width; x++)
				assert_int_equal(grey(&out, x, y),
						 ((uint8_t *)sx_image_row(&in.image, y))[x * stride + first]);
		assert_true(check_guards(&in, "ingest input"));
		assert_true(check_guards(&out, "ingest"));
		check_image_finish(&in);
		check_image_finish(&out);
	}
}

static void luma_is_taken_as_it_is(void **state)
{
	check_luma(SX_PIXEL_U8, 1, 0);
	check_luma(SX_PIXEL_YUYV, 2, 0);
	check_luma(SX_PIXEL_UYVY, 2, 1);
	check_luma(SX_PIXEL_NV12, 1, 0);
}

static void rgb_is_weighted(void **state)
{
	struct check_image in, out;
	struct check_rng r = check_rng_seed(3);
	static const uint8_t corners[][4] = {{0, 0, 0, 0},     {255, 255, 255, 255}, {255, 0, 0, 77},
					     {0, 255, 0, 149}, {0, 0, 255, 29},	     {64, 0, 64, 27}};

	check_image_init(&in, SX_PIXEL_RGB24, 61, 4, 2);
	check_image_init(&out, SX_PIXEL_U8, 61, 4, 0);
	check_fill(&in.image, CHECK_NOISE, &r);
	for (size_t i = 0; i < 6; i++) /* the last one: 26.5, half up */
		for (size_t k = 0; k < 3; k++)
			((uint8_t *)in.image.data)[3 * i + k] = corners[i][k];
	sx_ingest(&in.image, &out.image, (struct sx_stretch){0, 0});
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(grey(&out, (int)i, 0), corners[i][3]);
	for (int y = 0; y < 4; y++) {
		const uint8_t *p = sx_image_row(&in.image, y);

		for (int x = 0; x < 61; x++, p += 3)
			assert_int_equal(grey(&out, x, y),
					 (int)floor((77. * p[0] + 150. * p[1] + 29. * p[2]) / 256 + 0.5));
	}
	assert_true(check_guards(&out, "ingest rgb"));
	check_image_finish(&in);
	check_image_finish(&out);
}

static void put_y16(const struct sx_image *img, int x, int y, unsigned v)
{
	uint8_t *row = sx_image_row(img, y);

	row[2 * x] = (uint8_t)v;
	row[2 * x + 1] = (uint8_t)(v >> 8);
}

/* Both images lie at odd addresses with an odd pitch; low .. high is the range of the pair. */
static void check_y16(unsigned low, unsigned high, uint64_t seed)
{
	enum { W = 37, H = 3, PITCH = 2 * W + 5 };
	static uint8_t memory[2][PITCH * H + 1];
	static uint8_t greys[2][W * H];
	struct sx_image img[2], out[2];
	unsigned values[2][W * H];
	struct check_rng r = check_rng_seed(seed);
	struct sx_stretch s;

	for (int i = 0; i < 2; i++) {
		img[i] = (struct sx_image){memory[i] + 1, W, H, PITCH, SX_PIXEL_Y16};
		out[i] = (struct sx_image){greys[i], W, H, W, SX_PIXEL_U8};
		for (int k = 0; k < W * H; k++) {
			values[i][k] = low + (unsigned)check_below(&r, (int)(high - low) + 1);
			if (i == 0 && k == W * H - 1)
				values[i][k] = low; /* only the left image holds the minimum for sure, */
			if (i == 1 && k == 0)
				values[i][k] = high; /* only the right one the maximum */
			put_y16(&img[i], k % W, k / W, values[i][k]);
		}
	}
	s = sx_ingest_stretch(&img[0], &img[1]);
	assert_int_equal(s.min, low);
	assert_int_equal(s.max, high);
	for (int i = 0; i < 2; i++) {
		sx_ingest(&img[i], &out[i], s);
		for (int k = 0; k < W * H; k++) {
			double want =
				high > low ? floor(255. * (values[i][k] - low) / (high - low) + 0.5) : 0;

			assert_int_equal(greys[i][k], (int)want);
		}
	}
}

static void y16_is_stretched_by_pair(void **state)
{
	static const unsigned ranges[][2] = {
		{0, 65535}, {0, 0},	    {65535, 65535}, {7, 8},   {100, 355},
		{0, 1023},  {40000, 40510}, {3, 65534},	    {0, 509}, {12, 12 + 2 * 255}};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		for (uint64_t seed = 0; seed < 20; seed++)
			check_y16(ranges[i][0], ranges[i][1], seed);
}

static void other_formats_are_refused(void **state)
{
	assert_true(sx_ingest_supports(SX_PIXEL_U8) && sx_ingest_supports(SX_PIXEL_RGB24));
	assert_false(sx_ingest_supports(SX_PIXEL_U16));
	assert_false(sx_ingest_supports(SX_PIXEL_U32));
	assert_false(sx_ingest_supports(SX_PIXEL_U64));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(luma_is_taken_as_it_is),
		cmocka_unit_test(rgb_is_weighted),
		cmocka_unit_test(y16_is_stretched_by_pair),
		cmocka_unit_test(other_formats_are_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
