/*
 * FastDT and its winner on the device against sx_fastdt() and sx_winner(): int16 and int8, every number of
 * disparities, width of descriptors and reach, images that are flat, saturated, noise, narrower than the
 * disparities; costs of ZNCC.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/why.h"
#include "gpu/fastdt/fastdt_cuda.h"
#include "gpu/host/engine.h"
#include "gpu/stereo/cost_cuda.h"
#include "gpu/zncc/zncc_cuda.h"
#include "stages/stereo/fastdt.h"
#include "stages/stereo/winner.h"
#include "tests/check.h"
#include "tests/engine_case.h"
#include "tests/gpu/on_device.h"
#include "tests/gpu/stereo/aggregation_case.h"

/* Content of the images. */
enum content { NOISE, FLAT, STRIPES, SMOOTH };

static void fill_grey(const struct sx_image *grey, enum content how, struct check_rng *r)
{
	for (int y = 0; y < grey->height; y++) {
		uint8_t *row = sx_image_row(grey, y);

		for (int x = 0; x < grey->width; x++)
			row[x] = how == NOISE	  ? (uint8_t)check_below(r, 256)
				 : how == FLAT	  ? 77
				 : how == STRIPES ? (uint8_t)((x + y) / 5 % 2 * 255)
						  : (uint8_t)(x + 2 * y + check_below(r, 9));
	}
}

static uint64_t ones(int n)
{
	return n == 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
}

static void set(const struct sx_image *img, int x, int y, uint64_t v)
{
	if (img->pixel == SX_PIXEL_U32)
		((uint32_t *)sx_image_row(img, y))[x] = (uint32_t)v;
	else
		((uint64_t *)sx_image_row(img, y))[x] = v;
}

/*
 * Fills descriptors of `bits` bits. FLAT: descriptors match nowhere, so the sums are the largest. STRIPES:
 * they match at one disparity only.
 */
static void fill_census(const struct sx_image census[2], int bits, enum content how, struct check_rng *r)
{
	for (int y = 0; y < census[0].height; y++) {
		for (int x = 0; x < census[0].width; x++) {
			const uint64_t noise =
				((uint64_t)check_random(r) << 32 | check_random(r)) & ones(bits);
			const uint64_t left = how == FLAT      ? 0
					      : how == STRIPES ? (x % 7 ? ones(bits) : 0)
							       : noise;
			const uint64_t right = how == FLAT	? ones(bits)
					       : how == STRIPES ? (x % 7 ? 0 : ones(bits))
								: noise;
			const int from = x + 5 < census[0].width ? x + 5 : x;

			set(&census[0], x, y, left);
			if (how != SMOOTH)
				set(&census[1], x, y, right);
			else if (x >= 5) /* the left descriptor moved, with one wrong bit */
				set(&census[1], x - 5, y, left ^ (1u << check_below(r, 30)));
			if (how == SMOOTH && from == x)
				set(&census[1], x, y, right);
		}
	}
}

/*
 * Fills the right image with independent noise or with the left image moved. Computes the windows of both
 * images.
 */
static void fill_windows(const struct sx_cost_input *in, enum content how, const struct sx_stereo_params *p,
			 struct check_rng *r)
{
	const struct sx_image *left = &in->grey[0], *right = &in->grey[1];

	if (how == NOISE)
		fill_grey(right, how, r);
	for (int y = 0; y < left->height && how != NOISE; y++)
		for (int x = 0; x < left->width; x++) {
			const int from = x + 5 + p->min_disparity;

			((uint8_t *)sx_image_row(right, y))[x] =
				from >= 0 && from < left->width
					? ((const uint8_t *)sx_image_row(left, y))[from]
					: (uint8_t)check_below(r, 256);
		}
	for (int i = 0; i < 2; i++)
		sx_describe(&in->grey[i], &in->descriptor[i], p);
}

/* Runs everything from images and descriptors to the winner on one stream. */
static void run_once(const struct sx_fastdt_cuda *s, const struct sx_stereo_params *p, uint8_t *costs,
		     const struct sx_image grey[2], const struct sx_image descriptors[2],
		     const struct sx_image got[3], cudaStream_t stream)
{
	ON_DEVICE(sx_fastdt_cuda_weights(s, &grey[0], stream));
	ON_DEVICE(sx_fastdt_cuda_gain(s, stream));
	if (p->cost == SX_COST_ZNCC)
		ON_DEVICE(sx_zncc_cost_cuda_run(grey, descriptors, p, costs, stream));
	else
		ON_DEVICE(sx_cost_cuda_run(descriptors, p, costs, stream));
	ON_DEVICE(sx_fastdt_cuda_passes(s, stream));
	ON_DEVICE(sx_fastdt_cuda_winner(s, &got[0], &got[1], &got[2], stream));
}

/* Runs with and without keep_volume. S needs keep_volume, which writes S to the place of U. */
static void run(const struct sx_context_config *c, const struct sx_cost_input *in,
		const struct sx_image want[AGGREGATION_OUT], const char *name, uint64_t seed)
{
	struct sx_fastdt_cuda *s = NULL;
	struct sx_image census[2], grey[2], got[AGGREGATION_OUT];
	struct on_device d;
	uint8_t *costs;
	char what[192];

	on_device_init(&d);
	costs = sx_cuda_take(&d.memory, sx_fastdt_cuda_cost_bytes(c));
	for (int i = 0; i < 2; i++) {
		grey[i] = on_device_copy(&d, &in->grey[i]);
		census[i] = on_device_copy(&d, &in->descriptor[i]);
	}
	aggregation_take(&d, want, got);
	assert_int_equal(sx_fastdt_cuda_create(&s, &d.memory, c, costs), 0);
	assert_true(sx_fastdt_cuda_traffic(s) > 0);
	/* twice with keep_volume: the second run must not depend on the first */
	for (int i = 0; i < 1 + c->keep_volume; i++)
		run_once(s, &c->params.stereo, costs, grey, census, got, d.stream);
	snprintf(what, sizeof(what), "%s %s", name, c->keep_volume ? "kept" : "");
	if (c->keep_volume)
		ON_DEVICE(sx_fastdt_cuda_sum(s, &got[3], d.stream));
	aggregation_compare(&d, what, seed, want, got, c->keep_volume ? c->params.stereo.disparities : 0);
	sx_fastdt_cuda_destroy(s);
	on_device_finish(&d);
}

static void check(struct sx_stereo_params p, int width, int height, enum content how, uint64_t seed)
{
	static const char *const variants[] = {"auto", "float", "int32", "int16", "int8"};
	struct check_rng r = check_rng_seed(seed);
	struct aggregation_case a;
	struct sx_context_config c;
	char name[160];
	void *scratch;

	sx_stereo_resolve(&p);
	scratch = aligned_alloc(64, (sx_fastdt_scratch_bytes(width, height, &p) + 63) / 64 * 64);
	assert_non_null(scratch);
	memset(&c, 0, sizeof(c));
	c.width = width;
	c.height = height;
	c.params.stereo = p;
	snprintf(name, sizeof(name),
		 "fastdt %s %dx%d D %d cost %d window %d min %d view %d sigma %g %g content %d",
		 variants[p.fastdt], width, height, p.disparities, p.cost, p.zncc_window, p.min_disparity,
		 p.out_of_view, p.fastdt_sigma_space, p.fastdt_sigma_range, how);
	aggregation_case_init(&a, &p, width, height);
	fill_grey(&a.in.grey[0], how, &r);
	if (p.cost == SX_COST_ZNCC)
		fill_windows(&a.in, how, &p, &r);
	else
		fill_census(a.in.descriptor, sx_cost_max(p.cost), how, &r);
	sx_fastdt(&a.in, &a.want[3], &p, scratch);
	sx_winner(&a.want[3], &a.want[0], &a.want[1], &a.want[2], &p);
	for (int keep = 0; keep < 2; keep++) {
		c.keep_volume = keep;
		run(&c, &a.in, a.want, name, seed);
	}
	aggregation_case_finish(&a);
	free(scratch);
}

static struct sx_stereo_params common(int disparities, enum sx_fastdt variant)
{
	struct sx_stereo_params p;

	memset(&p, 0, sizeof(p));
	p.cost = SX_COST_CSCT;
	p.aggregation = SX_AGGREGATION_FASTDT;
	p.fastdt = variant;
	p.paths = 4;
	p.disparities = disparities;
	p.uniqueness = 95;
	p.subpixel = SX_SUBPIXEL_TRUNC;
	return p;
}

static void test_disparities(void **state)
{
	for (int d = 32; d <= 256; d += 32)
		for (int v = SX_FASTDT_INT16; v <= SX_FASTDT_INT8; v++)
			if (d <= 128 || v % 2 == d / 32 % 2)
				check(common(d, (enum sx_fastdt)v), 33 + d / 32, d == 128 ? 41 : 32, SMOOTH,
				      (uint64_t)(d + v));
}

/* Widths and heights just below and just above whole batches, 8 rows, and the columns of a block. */
static void test_shapes(void **state)
{
	for (int i = 0; i < 9; i += 2)
		for (int v = SX_FASTDT_INT16; v <= SX_FASTDT_INT8; v++)
			check(common(32, (enum sx_fastdt)v), 32 + i, 40 - i, NOISE, (uint64_t)(10 * i + v));
	check(common(32, SX_FASTDT_INT8), 203, 32, SMOOTH, 1);
	check(common(32, SX_FASTDT_INT16), 32, 171, SMOOTH, 2);
}

static void test_costs(void **state)
{
	for (int cost = SX_COST_CENSUS; cost <= SX_COST_CENSUS63; cost++) {
		for (int v = SX_FASTDT_INT16; v <= SX_FASTDT_INT8; v++) {
			struct sx_stereo_params p = common(64, (enum sx_fastdt)v);

			p.cost = (enum sx_cost)cost;
			p.min_disparity = v % 2 ? -17 : 9;
			p.out_of_view = cost == SX_COST_CENSUS48 ? SX_OUT_OF_VIEW_MAX : SX_OUT_OF_VIEW_ZERO;
			check(p, 45, 33, v % 3 ? SMOOTH : STRIPES, (uint64_t)(10 * cost + v));
		}
	}
}

/* The largest sums, which int16 can hold, and sums of 0. */
static void test_extremes(void **state)
{
	static const struct {
		enum sx_cost cost;
		double space, range;
	} reach[] = {{SX_COST_CSCT, 6.2, 52},
		     {SX_COST_CENSUS, 5.2, 1000},
		     {SX_COST_CENSUS48, 0.3, 1},
		     {SX_COST_CSCT, 2, 8}};

	for (int i = 0; i < 4; i++) {
		for (int v = SX_FASTDT_INT16; v <= SX_FASTDT_INT8; v++) {
			struct sx_stereo_params p = common(32, (enum sx_fastdt)v);

			p.cost = reach[i].cost;
			p.fastdt_sigma_space = reach[i].space;
			p.fastdt_sigma_range = reach[i].range;
			p.out_of_view = i % 2 ? SX_OUT_OF_VIEW_MAX : SX_OUT_OF_VIEW_ZERO;
			for (int how = NOISE; how <= SMOOTH; how++)
				check(p, 42, 33, (enum content)how, (uint64_t)(100 * i + 10 * v + how));
		}
	}
}

static struct sx_stereo_params zncc(int window, int disparities, enum sx_fastdt variant)
{
	struct sx_stereo_params p = common(disparities, variant);

	p.cost = SX_COST_ZNCC;
	p.zncc_window = window;
	return p;
}

/* Every window and number of disparities. Right columns lie outside on either side. */
static void test_zncc(void **state)
{
	static const int shifts[] = {0, 3, -9, 40, -100};

	for (int window = 3; window <= 15; window += 2) {
		for (int d = 32; d <= 256; d += 32) {
			const int n = window / 2 + d / 32;
			struct sx_stereo_params p = zncc(window, d, n % 2 ? SX_FASTDT_INT16 : SX_FASTDT_INT8);

			if (d > 128 && n % 3)
				continue;
			p.min_disparity = shifts[n % 5];
			p.out_of_view = n % 2 ? SX_OUT_OF_VIEW_MAX : SX_OUT_OF_VIEW_ZERO;
			check(p, 32 + 5 * (n % 8), 32 + n % 3, n % 4 == 1 ? NOISE : SMOOTH, (uint64_t)n);
		}
	}
}

/* Long rows, flat windows, sums of more than a byte. */
static void test_zncc_variants(void **state)
{
	for (int v = SX_FASTDT_INT16; v <= SX_FASTDT_INT8; v++) {
		struct sx_stereo_params p = zncc(v % 2 ? 3 : 5, 32, (enum sx_fastdt)v);

		p.out_of_view = SX_OUT_OF_VIEW_MAX;
		check(p, 301 + v, 33, SMOOTH, (uint64_t)v);
		check(p, 50, 32, FLAT, (uint64_t)v);
		check(p, 47, 32, STRIPES, (uint64_t)v);
		p = zncc(7, 128, (enum sx_fastdt)v);
		check(p, 230, 32, SMOOTH, (uint64_t)v);
		p = zncc(9, 32, (enum sx_fastdt)v);
		p.fastdt_sigma_space = 5.7;
		p.fastdt_sigma_range = 1000;
		check(p, 60, 32, NOISE, (uint64_t)v);
	}
}

static size_t traffic_of(struct sx_stereo_params p)
{
	struct sx_context_config c = {.width = 64, .height = 64};
	struct sx_fastdt_cuda *s = NULL;
	struct on_device d;
	size_t bytes;

	sx_stereo_resolve(&p);
	c.params.stereo = p;
	on_device_init(&d);
	assert_int_equal(sx_fastdt_cuda_create(&s, &d.memory, &c, NULL), 0);
	bytes = sx_fastdt_cuda_traffic(s);
	sx_fastdt_cuda_destroy(s);
	on_device_finish(&d);
	return bytes;
}

/* Checks which cells the passes use, by the buffers that they read and write: C, A, B, U. */
static void test_cells(void **state)
{
	const size_t cells = (size_t)64 * 64 * 128;
	struct sx_stereo_params p = zncc(5, 128, SX_FASTDT_INT16);

	assert_int_equal(traffic_of(p), 2 * cells * (1 + 1 + 2 + 2));
	p.fastdt = SX_FASTDT_INT8;
	assert_int_equal(traffic_of(p), 2 * cells * (1 + 1 + 1 + 2));
	/* sums of more than a byte */
	p.fastdt_sigma_space = 5.7;
	p.fastdt_sigma_range = 1000;
	assert_int_equal(traffic_of(p), 2 * cells * (1 + 2 + 1 + 2));
}

static void test_winner(void **state)
{
	for (int i = 0; i < 6; i++) {
		struct sx_stereo_params p =
			common(i % 2 ? 96 : 160, i % 4 ? SX_FASTDT_INT16 : SX_FASTDT_INT8);

		p.uniqueness = i % 3 == 0 ? 100 : i % 3 == 1 ? 50 : 99;
		p.subpixel = i % 3 == 0 ? SX_SUBPIXEL_OFF : SX_SUBPIXEL_FLOOR;
		check(p, 51, 35, i % 2 ? SMOOTH : NOISE, (uint64_t)i);
	}
}

/* The engine refuses parameters that only the reference supports, with a sentence that says so. */
static void test_wide(void **state)
{
	static const char *const names[] = {[SX_FASTDT_FLOAT] = "float", [SX_FASTDT_INT32] = "int32"};
	const struct sx_engine_params engine = {.contexts = 1};
	struct sx_device *d = NULL;
	char want[128];
	struct sx_why why = {""};

	assert_int_equal(sx_backend_cuda.open(&d, &engine, &why), 0);
	for (int variant = SX_FASTDT_FLOAT; variant <= SX_FASTDT_INT32; variant++) {
		const struct engine_case t = engine_case_small(1);
		struct sx_context_config c = {
			.width = t.width, .height = t.height, .pixel = t.pixel, .params = t.params};
		struct sx_context *x = NULL;

		c.params.stereo.aggregation = SX_AGGREGATION_FASTDT;
		c.params.stereo.fastdt = (enum sx_fastdt)variant;
		assert_int_equal(sx_backend_cuda.context_create(&x, d, &c, &why), -ENOTSUP);
		snprintf(want, sizeof(want),
			 "stereo.fastdt = %s: only engine.backend = reference computes it", names[variant]);
		assert_string_equal(why.text, want);
		assert_null(x);
	}
	sx_backend_cuda.close(d);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_disparities),   cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_costs),	      cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_winner),	      cmocka_unit_test(test_zncc),
		cmocka_unit_test(test_zncc_variants), cmocka_unit_test(test_cells),
		cmocka_unit_test(test_wide),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
