/*
 * Path aggregation on the device against sx_sgm(): both flows, every number of disparities, paths and
 * descriptor width, penalties at their limits, P2 that falls at edges, costs of windows, narrow and wide
 * images.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/stages_cuda.h"
#include "gpu/stereo/cost_cuda.h"
#include "gpu/stereo/winner_cuda.h"
#include "gpu/zncc/zncc_cuda.h"
#include "stages/stereo/sgm.h"
#include "stages/stereo/winner.h"
#include "tests/check.h"
#include "tests/gpu/on_device.h"

/* Rows of sums are wider than sx_image_init() allows. */
static struct sx_image host_image(enum sx_pixel pixel, int width, int height)
{
	const size_t pitch = (size_t)width * sx_pixel_bytes(pixel);
	const struct sx_image img = {test_calloc((size_t)height, pitch), width, height, pitch, pixel};

	return img;
}

/*
 * The right image is the left one moved by a few pixels, with wrong bits; every fourth row is noise or flat.
 */
static void fill_census(const struct sx_image census[2], uint64_t mask, struct check_rng *r)
{
	for (int y = 0; y < census[0].height; y++) {
		const int kind = check_below(r, 4), shift = check_below(r, 20);

		for (int side = 0; side < 2; side++) {
			for (int x = 0; x < census[0].width; x++) {
				uint64_t v = ((uint64_t)check_random(r) << 32 | check_random(r)) & mask;

				if (kind == 0)
					v = side ? mask : 0;
				if (kind > 1 && side) {
					int from = x + shift < census[0].width ? x + shift : x;
					const void *left = sx_image_row(&census[0], y);

					v &= (uint64_t)check_random(r) << 32 | check_random(r);
					v &= check_random(r);
					v ^= census[0].pixel == SX_PIXEL_U32 ? ((const uint32_t *)left)[from]
									     : ((const uint64_t *)left)[from];
				}
				if (census[0].pixel == SX_PIXEL_U32)
					((uint32_t *)sx_image_row(&census[side], y))[x] = (uint32_t)v;
				else
					((uint64_t *)sx_image_row(&census[side], y))[x] = v;
			}
		}
	}
}

static const uint64_t masks[] = {
	[SX_COST_CSCT] = 0x7fffffff,
	[SX_COST_CENSUS] = 0x3fffffffffffffff,
	[SX_COST_CENSUS48] = 0xffffffffffff,
	[SX_COST_CENSUS63] = 0x3fffffffffffffff,
};

/* lean: no cost volume. Paths and winner, then S. */
static void run_flow(const struct sx_context_config *c, bool lean, const struct sx_cost_input *in,
		     const struct sx_image want[4], uint64_t seed)
{
	struct on_device d;
	struct sx_sgm_cuda *s = NULL;
	struct sx_image grey[2], device[2], got[4];
	const struct sx_stereo_params *p = &c->params.stereo;
	const size_t cells = (size_t)c->width * (size_t)c->height * (size_t)p->disparities;
	uint8_t *costs = NULL;
	char what[160];

	on_device_init(&d);
	if (!lean || p->cost == SX_COST_ZNCC)
		costs = sx_cuda_take(&d.memory, cells);
	for (int i = 0; i < 2; i++) {
		grey[i] = on_device_copy(&d, &in->grey[i]);
		device[i] = on_device_copy(&d, &in->descriptor[i]);
	}
	for (int i = 0; i < 3; i++)
		got[i] = on_device_image(&d, want[i].pixel, want[i].width, want[i].height);
	got[3] = (struct sx_image){sx_cuda_take(&d.memory, want[3].pitch * (size_t)want[3].height),
				   want[3].width, want[3].height, want[3].pitch, want[3].pixel};
	assert_int_equal(sx_sgm_cuda_create(&s, &d.memory, c, costs), 0);
	assert_true(sx_sgm_cuda_traffic(s) > 0);
	/* Twice: nothing of the first run may be left in the second. */
	for (int i = 0; i < 2; i++) {
		if (costs && p->cost == SX_COST_ZNCC)
			ON_DEVICE(sx_zncc_cost_cuda_run(grey, device, p, costs, d.stream));
		else if (costs)
			ON_DEVICE(sx_cost_cuda_run(device, p, costs, d.stream));
		ON_DEVICE(sx_sgm_cuda_run(s, &grey[0], device, d.stream));
		ON_DEVICE(sx_winner_cuda_run(sx_sgm_cuda_volumes(s), p, &got[0], &got[1], &got[2], d.stream));
	}
	ON_DEVICE(sx_winner_cuda_sum(sx_sgm_cuda_volumes(s), p, &got[3], d.stream));
	snprintf(what, sizeof(what),
		 "sgm %s %dx%d D %d paths %d cost %d p1 %d %d p2 %d %d edge %d min %d view %d",
		 lean ? "lean" : "stored", c->width, c->height, c->params.stereo.disparities,
		 c->params.stereo.paths, c->params.stereo.cost, c->params.stereo.p1,
		 c->params.stereo.p1_vertical, c->params.stereo.p2, c->params.stereo.p2_vertical,
		 c->params.stereo.p2_edge, c->params.stereo.min_disparity, c->params.stereo.out_of_view);
	on_device_compare(&d, what, seed, &want[3], &got[3], c->params.stereo.disparities);
	for (int i = 0; i < 3; i++)
		on_device_compare(&d, what, seed, &want[i], &got[i], 0);
	sx_sgm_cuda_destroy(s);
	on_device_finish(&d);
}

static void check(struct sx_stereo_params p, int width, int height, uint64_t seed)
{
	const enum sx_pixel pixel = p.cost == SX_COST_CSCT ? SX_PIXEL_U32 : SX_PIXEL_U64;
	struct check_rng r = check_rng_seed(seed);
	const struct sx_cost_input in = {
		.grey = {host_image(SX_PIXEL_U8, width, height), host_image(SX_PIXEL_U8, width, height)},
		.descriptor = {host_image(pixel, width, height), host_image(pixel, width, height)}};
	const struct sx_image want[4] = {
		host_image(SX_PIXEL_U16, width, height),
		host_image(SX_PIXEL_U16, width, height),
		host_image(SX_PIXEL_U8, width, height),
		host_image(SX_PIXEL_U16, width * p.disparities, height),
	};
	const size_t bytes = (sx_sgm_scratch_bytes(width, &p) + 63) / 64 * 64;
	void *scratch = aligned_alloc(64, bytes);
	struct sx_context_config c;

	assert_non_null(scratch);
	memset(&c, 0, sizeof(c));
	c.width = width;
	c.height = height;
	c.params.stereo = p;
	check_fill_pair(&in.grey[0], &in.grey[1], seed % 2 ? CHECK_NOISE : CHECK_STEPS, 5, 9, &r);
	if (p.cost == SX_COST_ZNCC)
		for (int i = 0; i < 2; i++)
			sx_describe(&in.grey[i], &in.descriptor[i], &p);
	else
		fill_census(in.descriptor, masks[p.cost], &r);
	sx_sgm(&in, &want[3], &p, scratch);
	sx_winner(&want[3], &want[0], &want[1], &want[2], &p);
	run_flow(&c, false, &in, want, seed);
	run_flow(&c, true, &in, want, seed);
	for (int i = 0; i < 4; i++)
		test_free(want[i].data);
	for (int i = 0; i < 2; i++) {
		test_free(in.grey[i].data);
		test_free(in.descriptor[i].data);
	}
	free(scratch);
}

static struct sx_stereo_params common(int disparities, int paths)
{
	struct sx_stereo_params p;

	memset(&p, 0, sizeof(p));
	p.cost = SX_COST_CSCT;
	p.paths = paths;
	p.disparities = disparities;
	p.uniqueness = 95;
	p.subpixel = SX_SUBPIXEL_TRUNC;
	sx_stereo_resolve(&p);
	return p;
}

static void test_disparities(void **state)
{
	for (int d = 32; d <= 256; d += 32)
		check(common(d, 4), 41, 33, (uint64_t)d);
}

static void test_paths(void **state)
{
	check(common(32, 2), 67, 35, 1);
	check(common(64, 8), 32, 50, 2);
	check(common(128, 8), 75, 32, 3);
	check(common(96, 8), 33, 33, 4);
}

static void test_costs(void **state)
{
	for (int cost = SX_COST_CENSUS; cost <= SX_COST_CENSUS63; cost++) {
		struct sx_stereo_params p = common(64, 4);

		p.cost = (enum sx_cost)cost;
		p.p1 = p.p2 = p.p1_vertical = p.p2_vertical = 0;
		p.min_disparity = cost == SX_COST_CENSUS ? -17 : 9;
		p.out_of_view = cost == SX_COST_CENSUS48 ? SX_OUT_OF_VIEW_MAX : SX_OUT_OF_VIEW_ZERO;
		sx_stereo_resolve(&p);
		check(p, 45, 32, (uint64_t)cost);
	}
}

/* P2 below Cmax, P1 = P2, and both as large as the range allows; the same in all directions, or not. */
static void test_penalties(void **state)
{
	enum { COUNT = 5 };
	static const int penalties[COUNT][2] = {{1, 1}, {7, 7}, {1, 223}, {112, 112}, {5, 20}};

	for (size_t i = 0; i < 2 * COUNT; i++) {
		struct sx_stereo_params p = common(32, i % 2 ? 4 : 8);
		const int *vertical = penalties[(i + (i < COUNT ? 0 : 3)) % COUNT];

		p.p1 = penalties[i % COUNT][0];
		p.p2 = penalties[i % COUNT][1];
		p.p1_vertical = vertical[0];
		p.p2_vertical = vertical[1];
		check(p, 39, 34, 10 + i);
	}
}

/*
 * From an edge at every level to one at none; P1 near P2, where there is nothing to fall; rings of 4 and 8
 * pixels.
 */
static void test_edges(void **state)
{
	static const int edges[] = {1, 8, 16, 60, 255};

	for (size_t i = 0; i < 2 * sizeof(edges) / sizeof(edges[0]); i++) {
		struct sx_stereo_params p = common(i % 3 == 0 ? 32 : i % 3 == 1 ? 64 : 160, i % 2 ? 4 : 8);

		p.cost = i % 4 == 1 ? SX_COST_CENSUS : SX_COST_CSCT;
		p.p2_edge = edges[i / 2];
		p.p2 = i == 4 ? p.p1 : i == 5 ? p.p1 + 1 : p.p2;
		p.p2_vertical = i == 4 ? p.p1_vertical + 1 : i == 5 ? p.p1_vertical : p.p2_vertical;
		check(p, i % 2 ? 41 : 53, i == 3 ? 66 : 32, 20 + i);
	}
}

static void test_windows(void **state)
{
	for (int i = 0; i < 4; i++) {
		struct sx_stereo_params p = common(i % 2 ? 64 : 96, i % 2 ? 8 : 4);

		p.cost = SX_COST_ZNCC;
		p.p1 = p.p2 = p.p1_vertical = p.p2_vertical = 0;
		p.zncc_window = i < 2 ? 3 : 7;
		p.p2_edge = i % 2 ? 16 : 0;
		p.min_disparity = i == 2 ? -9 : 3;
		p.out_of_view = i % 2 ? SX_OUT_OF_VIEW_MAX : SX_OUT_OF_VIEW_ZERO;
		sx_stereo_resolve(&p);
		check(p, 45, 33, 40 + (uint64_t)i);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_disparities), cmocka_unit_test(test_paths),
		cmocka_unit_test(test_costs),	    cmocka_unit_test(test_penalties),
		cmocka_unit_test(test_edges),	    cmocka_unit_test(test_windows),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
