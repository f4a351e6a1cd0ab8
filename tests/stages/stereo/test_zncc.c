/*
 * ZNCC against its textbook form in double precision, and at the largest whole numbers, which must not
 * overflow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "stages/stereo/cost.h"
#include "stages/stereo/zncc.h"
#include "tests/check.h"
#include "tests/emulated.h"

#define T SX_ZNCC_SCALE

struct rig {
	struct check_image grey[2], words[2];
	struct sx_cost_input in;
	struct sx_stereo_params p;
	uint8_t *cost;
	float *real;
};

static void rig_init(struct rig *g, int width, int height, int window, int min_disparity)
{
	g->p = (struct sx_stereo_params){.cost = SX_COST_ZNCC,
					 .disparities = 32,
					 .zncc_window = window,
					 .min_disparity = min_disparity};
	for (int i = 0; i < 2; i++) {
		check_image_init(&g->grey[i], SX_PIXEL_U8, width, height, 3 * i);
		check_image_init(&g->words[i], SX_PIXEL_U64, width, height, 1 + i);
		g->in.grey[i] = g->grey[i].image;
		g->in.descriptor[i] = g->words[i].image;
	}
	g->cost = malloc((size_t)width * 32);
	g->real = malloc((size_t)width * 32 * sizeof(float));
	assert_true(g->cost && g->real);
}

static void describe(struct rig *g)
{
	for (int i = 0; i < 2; i++) {
		sx_describe(&g->in.grey[i], &g->in.descriptor[i], &g->p);
		assert_true(check_guards(&g->words[i], "words"));
	}
}

static void rig_finish(struct rig *g)
{
	for (int i = 0; i < 2; i++) {
		check_image_finish(&g->grey[i]);
		check_image_finish(&g->words[i]);
	}
	free(g->cost);
	free(g->real);
}

static double grey_at(const struct sx_image *img, int x, int y)
{
	x = x < 0 ? 0 : x >= img->width ? img->width - 1 : x;
	y = y < 0 ? 0 : y >= img->height ? img->height - 1 : y;
	return ((const uint8_t *)sx_image_row(img, y))[x];
}

static double mean_at(const struct sx_image *img, int x, int y, int r)
{
	double sum = 0;

	for (int j = -r; j <= r; j++)
		for (int i = -r; i <= r; i++)
			sum += grey_at(img, x + i, y + j);
	return sum / ((2 * r + 1) * (2 * r + 1));
}

/* Computes the textbook form: deviations from the means. NAN if a window is flat. */
static double textbook(const struct sx_image grey[2], int x, int partner, int y, int r)
{
	double ma = mean_at(&grey[0], x, y, r), mb = mean_at(&grey[1], partner, y, r), ab = 0, aa = 0, bb = 0;

	for (int j = -r; j <= r; j++) {
		for (int i = -r; i <= r; i++) {
			double a = grey_at(&grey[0], x + i, y + j) - ma,
			       b = grey_at(&grey[1], partner + i, y + j) - mb;

			ab += a * b;
			aa += a * a;
			bb += b * b;
		}
	}
	return aa < 1e-6 || bb < 1e-6 ? NAN : ab / sqrt(aa * bb);
}

struct tally {
	int all, equal, flat, outside;
};

static void check_cell(const struct rig *g, int x, int y, int d, struct tally *t)
{
	int partner = x - d - g->p.min_disparity, cost = g->cost[x * 32 + d];
	double z = 0, real = g->real[x * 32 + d];

	if (partner < 0 || partner >= g->in.grey[0].width) {
		int want = g->p.out_of_view == SX_OUT_OF_VIEW_MAX ? 2 * T : T;

		t->outside++;
		assert_int_equal(cost, want);
		assert_true(real == (double)want / T);
		return;
	}
	z = textbook(g->in.grey, x, partner, y, g->p.zncc_window / 2);
	if (isnan(z)) {
		t->flat++;
		assert_int_equal(cost, T);
		assert_true(real == 1);
		return;
	}
	t->all++;
	t->equal += cost == T - (int)lrint(z * T);
	assert_true(fabs(cost - (T - z * T)) <= 0.5 + 1e-4);
	assert_true(fabs(real - (1 - z)) <= 1e-6);
}

static void equals_textbook(void **state)
{
	static const int sizes[][2] = {{1, 1}, {2, 9}, {21, 5}, {50, 17}};
	struct tally t = {0};

	for (int window = 3; window <= 15; window += 2)
		for (int s = 0; s < 4; s++)
			for (int fill = 0; fill < CHECK_FILL_COUNT; fill++) {
				struct check_rng r = check_rng_seed((uint64_t)(window * 100 + s * 10 + fill));
				struct rig g;

				rig_init(&g, sizes[s][0], sizes[s][1], window, 7 * (fill % 3 - 1));
				g.p.out_of_view = fill % 2 ? SX_OUT_OF_VIEW_MAX : SX_OUT_OF_VIEW_ZERO;
				check_fill_pair(&g.in.grey[0], &g.in.grey[1], fill, 3, 5, &r);
				describe(&g);
				for (int y = 0; y < sizes[s][1]; y++) {
					sx_cost_row(&g.in, y, &g.p, g.cost);
					sx_cost_row_float(&g.in, y, &g.p, g.real);
					for (int x = 0; x < sizes[s][0]; x++)
						for (int d = 0; d < 32; d++)
							check_cell(&g, x, y, d, &t);
				}
				rig_finish(&g);
			}
	assert_true(t.all > 100000 && t.flat > 1000 && t.outside > 100000);
	assert_true(t.equal >= t.all - t.all / 1000);
}

static int cost_at_same_place(struct rig *g, int x, int y)
{
	sx_cost_row(&g->in, y, &g->p, g->cost);
	return g->cost[x * 32];
}

/* A window matches itself at any brightness and any contrast, and does not match its negative. */
static void brightness_and_contrast_do_not_matter(void **state)
{
	for (int window = 3; window <= 15; window += IS_SLOW ? 6 : 2) {
		struct check_rng r = check_rng_seed((uint64_t)window);
		struct rig g;

		rig_init(&g, 33, 20, window, 0);
		for (int y = 0; y < 20; y++) {
			uint8_t *a = sx_image_row(&g.in.grey[0], y), *b = sx_image_row(&g.in.grey[1], y);

			for (int x = 0; x < 33; x++) {
				a[x] = (uint8_t)check_below(&r, 100);
				b[x] = (uint8_t)(2 * a[x] + 37);
			}
		}
		describe(&g);
		for (int y = 0; y < 20; y++)
			for (int x = 0; x < 33; x++)
				assert_int_equal(cost_at_same_place(&g, x, y), 0);
		for (int y = 0; y < 20; y++)
			for (int x = 0; x < 33; x++)
				((uint8_t *)sx_image_row(&g.in.grey[1], y))[x] ^= 255;
		describe(&g);
		for (int y = 0; y < 20; y++)
			for (int x = 0; x < 33; x++)
				assert_int_equal(cost_at_same_place(&g, x, y), 2 * T);
		rig_finish(&g);
	}
}

/* The largest possible sums: a window of 15 px, half black, half white. n P and S1 S1' exceed 31 bits. */
static void largest_sums_are_exact(void **state)
{
	struct rig g;
	uint64_t word;

	rig_init(&g, 40, 31, 15, 0);
	for (int y = 0; y < 31; y++)
		for (int x = 0; x < 40; x++)
			((uint8_t *)sx_image_row(&g.in.grey[0], y))[x] =
				((uint8_t *)sx_image_row(&g.in.grey[1], y))[x] =
					x == 20 && y == 15 ? 254 : 255;
	describe(&g);
	word = ((const uint64_t *)sx_image_row(&g.in.descriptor[0], 15))[20];
	assert_int_equal(sx_zncc_sum(word), 225 * 255 - 1);
	/* V = 225 (224 255^2 + 254^2) - (225 255 - 1)^2 = 224 */
	assert_true(sx_zncc_inverse(word) == 1.0f / sqrtf(224.0f));
	assert_int_equal(cost_at_same_place(&g, 20, 15), 0);
	rig_finish(&g);
}

static void costs_are_rounded_to_even(void **state)
{
	assert_int_equal(sx_zncc_cost(0.0f), T);
	assert_int_equal(sx_zncc_cost(1.0000001f), 0);
	assert_int_equal(sx_zncc_cost(-1.0000001f), 2 * T);
	assert_int_equal(sx_zncc_cost(0.5f), T - 10); /* 10.5 */
	assert_int_equal(sx_zncc_cost(-0.5f), T + 10);
	assert_int_equal(sx_zncc_cost(5.0f), 0); /* clamped, in case of an arithmetic error */
	assert_int_equal(sx_zncc_cost(-5.0f), 2 * T);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equals_textbook),
		cmocka_unit_test(brightness_and_contrast_do_not_matter),
		cmocka_unit_test(largest_sums_are_exact),
		cmocka_unit_test(costs_are_rounded_to_even),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
