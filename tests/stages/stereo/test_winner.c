/*
 * Winner-takes-all against its definition in real numbers, with ties, range ends and the uniqueness bound.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "stages/stereo/sgm.h"
#include "stages/stereo/winner.h"
#include "tests/check.h"

struct maps {
	struct check_image left, right, confidence;
};

static void maps_init(struct maps *m, int width, int height, int padding)
{
	check_image_init(&m->left, SX_PIXEL_U16, width, height, padding);
	check_image_init(&m->right, SX_PIXEL_U16, width, height, padding);
	check_image_init(&m->confidence, SX_PIXEL_U8, width, height, padding);
}

static void maps_finish(struct maps *m)
{
	check_image_finish(&m->left);
	check_image_finish(&m->right);
	check_image_finish(&m->confidence);
}

static void run(const struct sx_image *sum, const struct maps *m, const struct sx_stereo_params *p)
{
	sx_winner(sum, &m->left.image, &m->right.image, &m->confidence.image, p);
}

static int sum_at(const struct sx_image *sum, int x, int y, int d, int disparities)
{
	return ((const uint16_t *)sx_image_row(sum, y))[x * disparities + d];
}

static double rounded(double v, enum sx_subpixel how)
{
	return how == SX_SUBPIXEL_FLOOR ? floor(v) : trunc(v);
}

static void define_pixel(const struct sx_image *sum, int x, int y, const struct maps *m,
			 const struct sx_stereo_params *p)
{
	int n = p->disparities, best = 0, right = -1, q4, conf = 25;
	bool unique = true, fastdt = p->aggregation == SX_AGGREGATION_FASTDT;

	for (int d = n - 1; d >= 0; d--)
		if (sum_at(sum, x, y, d, n) <= sum_at(sum, x, y, best, n))
			best = d;
	q4 = 16 * best;
	for (int k = 0; k < n; k++)
		if ((k < best - 1 || k > best + 1) &&
		    sum_at(sum, x, y, k, n) * (p->uniqueness / 100.) <= sum_at(sum, x, y, best, n) + 1e-6)
			unique = false;
	if (best > 0 && best < n - 1) {
		double l = sum_at(sum, x, y, best - 1, n), r = sum_at(sum, x, y, best + 1, n);
		double s = sum_at(sum, x, y, best, n);

		if (p->subpixel != SX_SUBPIXEL_OFF)
			q4 += (int)rounded(16 * (l - r) / (2 * (l - 2 * s + r)) + 0.5, p->subpixel);
		conf = (int)floor(fmin(255, (fmax(l, r) - s) * 255 / (fastdt ? 4096. : 60. * p->paths)));
	} else if (fastdt && best == 0 && sum_at(sum, x, y, 1, n) == sum_at(sum, x, y, 0, n)) {
		conf = 0;
	}
	for (int d = 0; d < n && x + d < m->left.image.width; d++)
		if (right < 0 || sum_at(sum, x + d, y, d, n) < sum_at(sum, x + right, y, right, n))
			right = d;
	((uint16_t *)sx_image_row(&m->left.image, y))[x] = unique ? (uint16_t)q4 : SX_DISPARITY_INVALID;
	((uint16_t *)sx_image_row(&m->right.image, y))[x] = (uint16_t)right;
	((uint8_t *)sx_image_row(&m->confidence.image, y))[x] = (uint8_t)conf;
}

static void check_random_sums(int width, int height, int values, int base, const struct sx_stereo_params *p,
			      uint64_t seed)
{
	struct check_rng r = check_rng_seed(seed);
	struct check_image sum;
	struct maps want, got;
	char what[80];

	snprintf(what, sizeof(what), "winner D %d values %d+%d u %d subpixel %d", p->disparities, base,
		 values, p->uniqueness, (int)p->subpixel);
	check_image_init(&sum, SX_PIXEL_U16, width * p->disparities, height, 7);
	maps_init(&want, width, height, 0);
	maps_init(&got, width, height, 3);
	for (int y = 0; y < height; y++)
		for (int i = 0; i < sum.image.width; i++)
			((uint16_t *)sx_image_row(&sum.image, y))[i] =
				(uint16_t)(base + check_below(&r, values));
	for (int y = 0; y < height; y++)
		for (int x = 0; x < width; x++)
			define_pixel(&sum.image, x, y, &want, p);
	run(&sum.image, &got, p);
	assert_true(check_same(what, seed, &want.left.image, &got.left.image, 0));
	assert_true(check_same(what, seed, &want.right.image, &got.right.image, 0));
	assert_true(check_same(what, seed, &want.confidence.image, &got.confidence.image, 0));
	assert_true(check_guards(&got.left, what) && check_guards(&got.right, what) &&
		    check_guards(&got.confidence, what));
	check_image_finish(&sum);
	maps_finish(&want);
	maps_finish(&got);
}

static void equals_definition(void **state)
{
	/*
	 * few values: ties; 2041: all sums that 8 paths can give; high base: small differences of large sums;
	 * 65536: sums of FastDT
	 */
	static const int shapes[][2] = {{1, 1}, {1, 7}, {31, 2}, {70, 3}},
			 values[][2] = {{1, 0},	    {2, 0},	{5, 0},	    {2041, 0},
					{40, 2001}, {300, 900}, {65536, 0}, {9000, 56536}};
	uint64_t seed = 0;

	for (size_t s = 0; s < 4; s++)
		for (size_t v = 0; v < 8; v++)
			for (int sub = 0; sub < 3; sub++)
				for (int d = 32; d <= 256; d *= 2) {
					struct sx_stereo_params p = {.disparities = d,
								     .paths = 2 << (seed % 3),
								     .uniqueness = seed % 2 ? 95 : 100,
								     .subpixel = sub};

					if (v < 6)
						check_random_sums(shapes[s][0], shapes[s][1], values[v][0],
								  values[v][1], &p, seed);
					p.aggregation = SX_AGGREGATION_FASTDT;
					check_random_sums(shapes[s][0], shapes[s][1], values[v][0],
							  values[v][1], &p, seed++);
				}
}

/* One pixel with 32 sums, all high except the given ones. */
struct pixel {
	uint16_t sums[32];
	uint16_t left, right;
	uint8_t confidence;
};

static void run_pixel(struct pixel *px, int uniqueness, enum sx_subpixel subpixel)
{
	struct sx_stereo_params p = {
		.disparities = 32, .paths = 4, .uniqueness = uniqueness, .subpixel = subpixel};
	struct sx_image sum = {px->sums, 32, 1, sizeof(px->sums), SX_PIXEL_U16};
	struct sx_image l = {&px->left, 1, 1, 2, SX_PIXEL_U16}, r = {&px->right, 1, 1, 2, SX_PIXEL_U16};
	struct sx_image c = {&px->confidence, 1, 1, 1, SX_PIXEL_U8};

	sx_winner(&sum, &l, &r, &c, &p);
}

static struct pixel high(void)
{
	struct pixel p = {.left = 0};

	for (int d = 0; d < 32; d++)
		p.sums[d] = 2000;
	return p;
}

static void ends_and_ties(void **state)
{
	struct pixel p = high();

	run_pixel(&p, 95, SX_SUBPIXEL_TRUNC); /* all equal: the lowest disparity wins, and is not unique */
	assert_int_equal(p.left, SX_DISPARITY_INVALID);
	run_pixel(&p, 100, SX_SUBPIXEL_TRUNC);
	assert_int_equal(p.left, SX_DISPARITY_INVALID);
	assert_int_equal(p.right, 0);
	assert_int_equal(p.confidence, 25);

	p.sums[31] = 10;
	run_pixel(&p, 95, SX_SUBPIXEL_TRUNC);
	assert_int_equal(p.left, 31 * 16);
	assert_int_equal(p.right, 0); /* the image has one column: only S(0,0) is inside */
	assert_int_equal(p.confidence, 25);

	p = high();
	/* neighbours do not count as rivals; the lower one wins, half way to the other */
	p.sums[7] = p.sums[8] = 100;
	run_pixel(&p, 95, SX_SUBPIXEL_TRUNC);
	assert_int_equal(p.left, 7 * 16 + 8);
	run_pixel(&p, 95, SX_SUBPIXEL_OFF);
	assert_int_equal(p.left, 7 * 16);
	assert_int_equal(p.confidence, 255);

	p.sums[9] = 100; /* a disparity two steps away: a rival */
	run_pixel(&p, 95, SX_SUBPIXEL_TRUNC);
	assert_int_equal(p.left, SX_DISPARITY_INVALID);
	run_pixel(&p, 100, SX_SUBPIXEL_TRUNC);
	assert_int_equal(p.left, SX_DISPARITY_INVALID); /* a tie */
	p.sums[9] = 101;
	run_pixel(&p, 100, SX_SUBPIXEL_TRUNC);
	assert_int_equal(p.left, 7 * 16 + 8);
	memset(p.sums, 0, sizeof(p.sums)); /* equal sums of 0, as in an area where both images are flat */
	run_pixel(&p, 95, SX_SUBPIXEL_TRUNC);
	assert_int_equal(p.left, SX_DISPARITY_INVALID);
}

/* Cells that are not searched are no rivals, and a winner beside one has no sub-pixel position. */
static void absent_cells(void **state)
{
	struct pixel p;

	for (int d = 0; d < 32; d++)
		p.sums[d] = SX_SUM_ABSENT;
	for (int d = 8; d < 16; d++)
		p.sums[d] = 300;
	p.sums[11] = 100;
	p.sums[12] = 200;
	run_pixel(&p, 1, SX_SUBPIXEL_TRUNC); /* 1 percent: every cell that is searched is a rival */
	assert_int_equal(p.left, SX_DISPARITY_INVALID);
	run_pixel(&p, 95, SX_SUBPIXEL_TRUNC);
	assert_int_equal(p.left, 11 * 16 + 3); /* 16 * 100 / (2 * 300), rounded */
	assert_int_equal(p.confidence, 200 * 255 / 240);
	assert_int_equal(p.right, 0); /* the only column of the right image has no cell that is searched */

	p.sums[15] = 50; /* the last cell that is searched */
	run_pixel(&p, 95, SX_SUBPIXEL_TRUNC);
	assert_int_equal(p.left, 15 * 16);
	assert_int_equal(p.confidence, 25);
	for (int d = 8; d < 15; d++)
		p.sums[d] = SX_SUM_ABSENT;
	run_pixel(&p, 1, SX_SUBPIXEL_TRUNC);
	assert_int_equal(p.left, 15 * 16);
}

static void roundings_differ_below_zero(void **state)
{
	struct pixel p = high();

	p.sums[9] = 110; /* offset 16 * (110 - 300) / (2 * 210) = -7.24 px/16, with a half added: -6.74 */
	p.sums[10] = 100;
	p.sums[11] = 300;
	run_pixel(&p, 95, SX_SUBPIXEL_TRUNC);
	assert_int_equal(p.left, 160 - 6);
	run_pixel(&p, 95, SX_SUBPIXEL_FLOOR);
	assert_int_equal(p.left, 160 - 7);
	p.sums[9] = 300; /* mirrored: +7.74; both modes give the same */
	p.sums[11] = 110;
	run_pixel(&p, 95, SX_SUBPIXEL_TRUNC);
	assert_int_equal(p.left, 160 + 7);
	run_pixel(&p, 95, SX_SUBPIXEL_FLOOR);
	assert_int_equal(p.left, 160 + 7);
	assert_int_equal(p.confidence, 200 * 255 / 240);
}

/*
 * For every pair of sums up to 2040, the integer test 100 S0 >= 95 Sk decides like libSGM's 0.95f * Sk < S0,
 * except for ties. Columns hold Sk = S0, S0 + 1, ...
 */
static void uniqueness_equals_float(void **state)
{
	enum { N = 2041, D = 32 };
	static uint16_t sums[N * D], left[N], right[N];
	static uint8_t confidence[N];
	struct sx_stereo_params p = {.disparities = D, .paths = 8, .uniqueness = 95};
	size_t wrong = 0, rejected = 0;

	for (int i = 0; i < N * D; i++)
		sums[i] = 60000;
	for (int s0 = 0; s0 < N; s0++) {
		int n = N - s0;
		struct sx_image sum = {sums, n * D, 1, sizeof(sums), SX_PIXEL_U16};
		struct sx_image l = {left, n, 1, sizeof(left), SX_PIXEL_U16};
		struct sx_image r = {right, n, 1, sizeof(right), SX_PIXEL_U16};
		struct sx_image c = {confidence, n, 1, sizeof(confidence), SX_PIXEL_U8};

		for (int i = 0; i < n; i++) {
			sums[i * D + 3] = (uint16_t)s0;
			sums[i * D + 20] = (uint16_t)(s0 + i);
		}
		sx_winner(&sum, &l, &r, &c, &p);
		for (int i = 0; i < n; i++) {
			bool by_float = (float)(s0 + i) * 0.95f < (float)s0 || 95 * (s0 + i) == 100 * s0;

			wrong += by_float != (left[i] == SX_DISPARITY_INVALID);
			rejected += by_float;
		}
	}
	assert_int_equal(wrong, 0);
	assert_in_range(rejected, 100000, 120000); /* s0 / 19 columns for each s0: about 2040^2 / 38 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equals_definition),
		cmocka_unit_test(ends_and_ties),
		cmocka_unit_test(absent_cells),
		cmocka_unit_test(roundings_differ_below_zero),
		cmocka_unit_test(uniqueness_equals_float),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
