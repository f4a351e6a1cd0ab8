/*
 * Ingest against its definition in real numbers, for each pixel format, with rows of any pitch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stages/stereo/ingest.h"
#include "tests/check.h"
#include "tests/emulated.h"

static const struct {
	int width, height, padding;
} shapes[] = {{1, 1, 0}, {1, 1, 3}, {2, 5, 1}, {7, 3, 0}, {64, 2, 0}, {67, 9, 27}};

#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static uint8_t grey(const struct check_image *c, int x, int y)
{
	return ((const uint8_t *)sx_image_row(&c->image, y))[x];
}

/* Checks one format. The byte of pixel x is bytes[x * stride + first]. */
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
	for (size_t i = 0; i < 6; i++) /* the last value: 26.5, rounded half up */
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

/* Both images lie at odd addresses with an odd pitch. */
enum { W = 331, H = 203, PITCH = 2 * W + 5, N = W * H };

struct y16 {
	uint8_t memory[2][PITCH * H + 1], grey[2][N];
	unsigned values[2][N];
	struct sx_image img[2], out[2];
	struct sx_stretch stretch;
};

static void y16_make(struct y16 *p)
{
	for (int i = 0; i < 2; i++) {
		p->img[i] = (struct sx_image){p->memory[i] + 1, W, H, PITCH, SX_PIXEL_Y16};
		p->out[i] = (struct sx_image){p->grey[i], W, H, W, SX_PIXEL_U8};
		for (int k = 0; k < N; k++)
			put_y16(&p->img[i], k % W, k / W, p->values[i][k]);
	}
	p->stretch = sx_ingest_stretch(&p->img[0], &p->img[1]);
	for (int i = 0; i < 2; i++)
		sx_ingest(&p->img[i], &p->out[i], p->stretch);
}

static int by_value(const void *a, const void *b)
{
	const unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return (x > y) - (x < y);
}

/* Computes the range from its definition: sorts all medians. */
static struct sx_stretch range_of(const struct y16 *p)
{
	enum { PLACES = 2 * (W - 8) * H, TAIL = PLACES / 1000 };
	static unsigned sorted[PLACES];
	unsigned n = 0, low, high, step = 1;

	for (int i = 0; i < 2; i++)
		for (int k = 0; k < N; k++) {
			unsigned three[3] = {p->values[i][k]};

			if (k % W >= W - 8)
				continue;
			three[1] = p->values[i][k + 4];
			three[2] = p->values[i][k + 8];
			qsort(three, 3, sizeof(*three), by_value);
			sorted[n++] = three[1];
		}
	qsort(sorted, n, sizeof(*sorted), by_value);
	low = sorted[TAIL];
	high = sorted[PLACES - 1 - TAIL];
	while (16 * 2 * step <= high - low + 1)
		step *= 2;
	return (struct sx_stretch){(uint16_t)(low / step * step), (uint16_t)(high / step * step + step - 1)};
}

static void assert_stretched(const struct y16 *p)
{
	const unsigned min = p->stretch.min, max = p->stretch.max;

	for (int i = 0; i < 2; i++)
		for (int k = 0; k < N; k++) {
			const unsigned v = p->values[i][k];
			const double share = max == min || v < min ? 0
					     : v > max		   ? 1
								   : 1. * (v - min) / (max - min);

			assert_int_equal(p->grey[i][k], (int)floor(255 * share + 0.5));
		}
}

/* Fills values low .. high: about `few` distinct values, or any value if few is 0. */
static void fill_y16(struct y16 *p, unsigned low, unsigned high, int few, uint64_t seed)
{
	struct check_rng r = check_rng_seed(seed);
	const int all = (int)(high - low) + 1, step = few && few < all ? all / few : 1;

	for (int i = 0; i < 2; i++)
		for (int k = 0; k < N; k++)
			p->values[i][k] = low + (unsigned)(check_below(&r, (all + step - 1) / step) * step);
}

static void y16_is_stretched_by_pair(void **state)
{
	static const unsigned ranges[][2] = {
		{0, 65535}, {0, 0},	    {65535, 65535}, {7, 8},	{100, 355},	     {0, 1023},
		{3, 65534}, {40000, 40510}, {0, 509},	    {0, 14},	{12, 12 + 2 * 255},  {63, 64},
		{60, 75},   {4000, 4015},   {0, 4095},	    {10, 8201}, {65535 - 31, 65535}, {1000, 1031}};
	static struct y16 p;

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		for (uint64_t seed = 0; seed < 4; seed++) {
			struct sx_stretch want;

			fill_y16(&p, ranges[i][0], ranges[i][1], (int)(seed % 4) * 5, seed);
			y16_make(&p);
			want = range_of(&p);
			assert_int_equal(p.stretch.min, want.min);
			assert_int_equal(p.stretch.max, want.max);
			assert_stretched(&p);
		}
}

/* Only the left image is dark and only the right one is bright. Both must get one common range. */
static void y16_has_one_range(void **state)
{
	static struct y16 p;

	fill_y16(&p, 100, 199, 0, 1);
	for (int k = 0; k < N; k++)
		p.values[1][k] += 800;
	y16_make(&p);
	assert_int_equal(p.stretch.min, 96); /* steps of 32 levels */
	assert_int_equal(p.stretch.max, 1023);
	assert_stretched(&p);
}

static void put_patch(struct y16 *p, int side, int x, int y, int edge, unsigned value)
{
	for (int j = 0; j < edge; j++)
		for (int i = 0; i < edge; i++)
			p->values[side][(y + j) * W + x + i] = value;
}

/* Draws a texture of these values with noise. The darkest and brightest values occur in many places. */
static void draw_y16(struct y16 *p, unsigned low, unsigned high, struct check_rng *r)
{
	const unsigned noise = (high - low) / 50 + 1, period = 24;

	for (int i = 0; i < 2; i++)
		for (int k = 0; k < N; k++) {
			const unsigned phase = (unsigned)(k % W + 3 * (k / W) + 7 * i) % period;
			const unsigned level = phase < period / 2 ? phase : period - phase;

			p->values[i][k] = low + (high - low - noise) * 2 * level / period +
					  (unsigned)check_below(r, (int)noise);
		}
}

static unsigned apart(unsigned a, unsigned b)
{
	return a < b ? b - a : a - b;
}

/*
 * Returns true if a hot or dead patch in each image changes the grey of a pixel outside of it. The patch may
 * hide a value that determines an end of the range. Then that end moves by a step.
 */
static bool patch_changes(unsigned low, unsigned high, int edge, unsigned value, struct check_rng *r)
{
	static struct y16 clean, hot;
	bool changed = false;

	draw_y16(&clean, low, high, r);
	hot = clean;
	for (int i = 0; i < 2; i++)
		put_patch(&hot, i, check_below(r, W - edge), check_below(r, H - edge), edge, value);
	y16_make(&clean);
	y16_make(&hot);
	assert_true(apart(hot.stretch.min, clean.stretch.min) <= (high - low) / 16 + 1);
	assert_true(apart(hot.stretch.max, clean.stretch.max) <= (high - low) / 16 + 1);
	for (int i = 0; i < 2; i++)
		for (int k = 0; k < N; k++)
			if (hot.values[i][k] != clean.values[i][k])
				assert_int_equal(hot.grey[i][k], value ? 255 : 0);
			else
				changed = changed || hot.grey[i][k] != clean.grey[i][k];
	return changed;
}

static void hot_and_dead_pixels_change_nothing(void **state)
{
	static const struct {
		int edge;
		unsigned value;
		int most; /* number of pairs, out of 100 with a patch in both images, that may change */
	} patches[] = {{1, 65535, 0}, {1, 0, 0}, {4, 65535, 5}, {4, 0, 5}};

	for (size_t i = 0; i < sizeof(patches) / sizeof(patches[0]); i++) {
		int changed = 0;

		for (uint64_t seed = 0; seed < ENOUGH_OF(100); seed++) {
			struct check_rng r = check_rng_seed(seed);
			const unsigned low = 1 + (unsigned)check_below(&r, 8000),
				       high = low + 100 + (unsigned)check_below(&r, seed % 2 ? 4000 : 50000);

			changed += patch_changes(low, high, patches[i].edge, patches[i].value, &r);
		}
		if (changed > patches[i].most)
			fail_msg("patches of %d px of %u: %d pairs change", patches[i].edge, patches[i].value,
				 changed);
	}
}

/* A thousandth counts only in a pair so large that it is more than 32 pixels. */
static void tails_are_a_thousandth(void **state)
{
	assert_int_equal(sx_stretch_tail(1), 0);
	assert_int_equal(sx_stretch_tail(2), 0);
	assert_int_equal(sx_stretch_tail(64), 31);
	assert_int_equal(sx_stretch_tail(2048), 32);
	assert_int_equal(sx_stretch_tail(32999), 32);
	assert_int_equal(sx_stretch_tail(33000), 33);
	assert_int_equal(sx_stretch_tail(2 * 1242 * 375), 931);
	assert_int_equal(sx_stretch_tail(2 * 4096 * 2160), 17694);
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
		cmocka_unit_test(y16_has_one_range),
		cmocka_unit_test(hot_and_dead_pixels_change_nothing),
		cmocka_unit_test(tails_are_a_thousandth),
		cmocka_unit_test(other_formats_are_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
