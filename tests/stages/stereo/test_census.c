/*
 * Census descriptors and their Hamming cost, against the textbook with explicit bit numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "stages/stereo/census.h"
#include "stages/stereo/cost.h"
#include "tests/check.h"

static const enum sx_cost costs[] = {SX_COST_CSCT, SX_COST_CENSUS, SX_COST_CENSUS48, SX_COST_CENSUS63};
static const char *const cost_names[] = {"csct", "census", "census48", "census63"};

static int at(const struct sx_image *img, int x, int y)
{
	return ((const uint8_t *)img->data)[(size_t)y * img->pitch + (size_t)x];
}

/* Returns x of the i-th of the 63 window positions in scan order, relative to the centre. */
static int window_dx(int i)
{
	return i % 9 - 4;
}

static int window_dy(int i)
{
	return i / 9 - 3;
}

static uint64_t textbook(const struct sx_image *img, int x, int y, enum sx_cost cost)
{
	uint64_t want = 0;
	int bits[63], n = 0;

	if (x < 4 || y < 3 || x + 4 >= img->width || y + 3 >= img->height)
		return 0;
	if (cost == SX_COST_CSCT) {
		/* the first 31 positions face the last 31, the 32nd is the centre */
		for (int i = 0; i < 31; i++) {
			int dx = window_dx(i), dy = window_dy(i);

			if (at(img, x + dx, y + dy) > at(img, x - dx, y - dy))
				want |= UINT64_C(1) << (30 - i);
		}
		return want;
	}
	for (int i = 0; i < 63; i++)
		if (cost == SX_COST_CENSUS63 || (cost == SX_COST_CENSUS && i != 31) ||
		    (cost == SX_COST_CENSUS48 && window_dx(i) != 0 && window_dy(i) != 0))
			bits[n++] = i;
	for (int k = 0; k < n; k++)
		if (at(img, x, y) > at(img, x + window_dx(bits[k]), y + window_dy(bits[k])))
			want |= UINT64_C(1) << (n - 1 - k);
	return want;
}

static void check_shape(int width, int height, int padding, enum check_fill how, enum sx_cost cost,
			uint64_t seed)
{
	struct check_rng r = check_rng_seed(seed);
	struct check_image in, want, got;
	char what[64];

	snprintf(what, sizeof(what), "census %s %s", cost_names[cost], check_fill_name(how));
	check_image_init(&in, SX_PIXEL_U8, width, height, padding);
	check_image_init(&want, sx_census_pixel(cost), width, height, 0);
	check_image_init(&got, sx_census_pixel(cost), width, height, padding);
	check_fill(&in.image, how, &r);
	/* the code must write the borders, so fill them with noise first */
	check_fill(&got.image, CHECK_NOISE, &r);
	for (int y = 0; y < height; y++) {
		for (int x = 0; x < width; x++) {
			uint64_t v = textbook(&in.image, x, y, cost);

			if (cost == SX_COST_CSCT)
				((uint32_t *)sx_image_row(&want.image, y))[x] = (uint32_t)v;
			else
				((uint64_t *)sx_image_row(&want.image, y))[x] = v;
		}
	}
	sx_census(&in.image, &got.image, cost);
	assert_true(check_same(what, seed, &want.image, &got.image, 0));
	assert_true(check_guards(&got, what));
	check_image_finish(&in);
	check_image_finish(&want);
	check_image_finish(&got);
}

static void equals_textbook(void **state)
{
	static const int shapes[][3] = {{1, 1, 0}, {1, 20, 1}, {20, 1, 0}, {8, 7, 0},	{9, 6, 3},
					{9, 7, 0}, {10, 8, 1}, {32, 9, 0}, {33, 12, 5}, {101, 17, 27}};

	for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
		for (int how = 0; how < CHECK_FILL_COUNT; how++)
			for (size_t c = 0; c < 4; c++)
				check_shape(shapes[s][0], shapes[s][1], shapes[s][2], how, costs[c], s);
}

/*
 * Returns the descriptor at (4, 3) of a flat 9x7 image in which one pixel differs. Exactly one bit with a
 * known number must be set.
 */
static uint64_t single(enum sx_cost cost, int x, int y, uint8_t value)
{
	uint8_t grey[7][9];
	uint64_t out[7][9];
	struct sx_image in = {grey, 9, 7, 9, SX_PIXEL_U8};
	struct sx_image d = {out, 9, 7, sizeof(out[0]), sx_census_pixel(cost)};

	for (int i = 0; i < 63; i++)
		grey[i / 9][i % 9] = 100;
	grey[y][x] = value;
	sx_census(&in, &d, cost);
	return cost == SX_COST_CSCT ? ((const uint32_t *)(const void *)out[3])[4] : out[3][4];
}

static void bits_are_numbered(void **state)
{
	assert_int_equal(single(SX_COST_CSCT, 0, 0, 101), UINT64_C(1) << 30);
	assert_int_equal(single(SX_COST_CSCT, 8, 6, 99), UINT64_C(1) << 30);
	assert_int_equal(single(SX_COST_CSCT, 8, 6, 101), 0); /* the comparison is strictly greater */
	assert_int_equal(single(SX_COST_CSCT, 8, 0, 101), UINT64_C(1) << 22);
	assert_int_equal(single(SX_COST_CSCT, 3, 3, 101), 1);
	assert_int_equal(single(SX_COST_CSCT, 4, 3, 255), 0);
	assert_int_equal(single(SX_COST_CENSUS, 0, 0, 99), UINT64_C(1) << 61);
	assert_int_equal(single(SX_COST_CENSUS, 8, 6, 99), 1);
	assert_int_equal(single(SX_COST_CENSUS, 3, 3, 99), UINT64_C(1) << 31);
	assert_int_equal(single(SX_COST_CENSUS, 5, 3, 99), UINT64_C(1) << 30);
	assert_int_equal(single(SX_COST_CENSUS, 4, 3, 101), (UINT64_C(1) << 62) - 1);
	assert_int_equal(single(SX_COST_CENSUS63, 0, 0, 99), UINT64_C(1) << 62);
	assert_int_equal(single(SX_COST_CENSUS63, 4, 3, 101),
			 ((UINT64_C(1) << 63) - 1) & ~(UINT64_C(1) << 31));
	assert_int_equal(single(SX_COST_CENSUS48, 0, 0, 99), UINT64_C(1) << 47);
	assert_int_equal(single(SX_COST_CENSUS48, 4, 0, 99), 0);
	assert_int_equal(single(SX_COST_CENSUS48, 0, 3, 99), 0);
	assert_int_equal(single(SX_COST_CENSUS48, 8, 6, 99), 1);
}

static uint64_t descriptor(const struct sx_image *img, int x, int y)
{
	return img->pixel == SX_PIXEL_U32 ? ((const uint32_t *)sx_image_row(img, y))[x]
					  : ((const uint64_t *)sx_image_row(img, y))[x];
}

static int bits_set(uint64_t v)
{
	int n = 0;

	for (int i = 0; i < 64; i++)
		n += v >> i & 1;
	return n;
}

static void check_cost(int width, const struct sx_stereo_params *p, uint64_t seed)
{
	struct check_rng r = check_rng_seed(seed);
	struct check_image l, rt, grey, cost;
	struct sx_cost_input in;
	int most = 0;

	check_image_init(&grey, SX_PIXEL_U8, width, 9, 0);
	check_image_init(&l, sx_census_pixel(p->cost), width, 9, 3);
	check_image_init(&rt, sx_census_pixel(p->cost), width, 9, 1);
	check_image_init(&cost, SX_PIXEL_U8, width * p->disparities, 1, 0);
	check_fill(&grey.image, CHECK_NOISE, &r);
	sx_census(&grey.image, &l.image, p->cost);
	check_fill(&grey.image, CHECK_NOISE, &r);
	sx_census(&grey.image, &rt.image, p->cost);
	in = (struct sx_cost_input){.descriptor = {l.image, rt.image}};
	sx_cost_row(&in, 4, p, cost.image.data);
	for (int x = 0; x < width; x++) {
		for (int d = 0; d < p->disparities; d++) {
			int column = x - (d + p->min_disparity),
			    got = at(&cost.image, x * p->disparities + d, 0);
			uint64_t a = descriptor(&l.image, x, 4), b = 0;
			bool outside = column < 0 || column >= width;

			if (!outside)
				b = descriptor(&rt.image, column, 4);
			if (outside && p->out_of_view == SX_OUT_OF_VIEW_MAX)
				assert_int_equal(got, sx_cost_max(p->cost));
			else
				assert_int_equal(got, bits_set(a ^ b));
			most = got > most ? got : most;
		}
	}
	assert_true(most <= sx_cost_max(p->cost));
	assert_true(check_guards(&cost, "cost"));
	check_image_finish(&grey);
	check_image_finish(&l);
	check_image_finish(&rt);
	check_image_finish(&cost);
}

static void cost_counts_bits(void **state)
{
	static const int widths[] = {1, 9, 31, 70}, minima[] = {-128, -16, -1, 0, 5, 16, 128};

	for (size_t c = 0; c < 4; c++)
		for (size_t w = 0; w < 4; w++)
			for (size_t m = 0; m < 7; m++)
				for (int d = 32; d <= 256; d += 112)
					for (int out = 0; out < 2; out++) {
						struct sx_stereo_params p = {.cost = costs[c],
									     .disparities = d / 32 * 32,
									     .min_disparity = minima[m],
									     .out_of_view = out};

						check_cost(widths[w], &p, 100 * c + 10 * w + m);
					}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equals_textbook),
		cmocka_unit_test(bits_are_numbered),
		cmocka_unit_test(cost_counts_bits),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
