/*
 * Path aggregation on the device against sx_sgm(): both flows, every number of disparities, paths and
 * descriptor width, penalties at their limits, P2 that falls at edges, costs of windows, narrow and wide
 * images.
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

#include "gpu/stages_cuda.h"
#include "gpu/stereo/checkpoint_cuda.h"
#include "gpu/stereo/cost_cuda.h"
#include "gpu/stereo/winner_cuda.h"
#include "gpu/zncc/zncc_cuda.h"
#include "predict/predict.h"
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

/* What a flow is compared on: winner of both images, confidence, S. */
struct flow {
	struct on_device d;
	struct sx_image grey[2], descriptors[2], got[4];
	const struct sx_context_config *c;
	const struct sx_image *want;
	uint64_t seed;
};

/* volume: right descriptors are as a flow with a cost volume has them. */
static void begin_flow(struct flow *f, bool volume, const struct sx_context_config *c,
		       const struct sx_cost_input *in, const struct sx_image want[4], uint64_t seed)
{
	on_device_init(&f->d);
	for (int i = 0; i < 2; i++) {
		f->grey[i] = on_device_copy(&f->d, &in->grey[i]);
		if (volume || i == 0) {
			f->descriptors[i] = on_device_copy(&f->d, &in->descriptor[i]);
			continue;
		}
		sx_descriptors_cuda_take(&f->d.memory, &f->descriptors[i], c);
		on_device_put(&f->d, &in->descriptor[i], &f->descriptors[i]);
	}
	for (int i = 0; i < 3; i++)
		f->got[i] = on_device_image(&f->d, want[i].pixel, want[i].width, want[i].height);
	f->got[3] = (struct sx_image){sx_cuda_take(&f->d.memory, want[3].pitch * (size_t)want[3].height),
				      want[3].width, want[3].height, want[3].pitch, want[3].pixel};
	f->c = c;
	f->want = want;
	f->seed = seed;
}

/* volumes: S of them is compared too, unless NULL. */
static void end_flow(struct flow *f, const char *name, const struct sx_cuda_volumes *volumes)
{
	const struct sx_stereo_params *p = &f->c->params.stereo;
	char what[200];

	snprintf(what, sizeof(what),
		 "sgm %s %dx%d D %d paths %d cost %d p1 %d %d p2 %d %d edge %d min %d view %d", name,
		 f->c->width, f->c->height, p->disparities, p->paths, p->cost, p->p1, p->p1_vertical, p->p2,
		 p->p2_vertical, p->p2_edge, p->min_disparity, p->out_of_view);
	if (volumes) {
		ON_DEVICE(sx_winner_cuda_sum(volumes, p, &f->got[3], f->d.stream));
		on_device_compare(&f->d, what, f->seed, &f->want[3], &f->got[3], p->disparities);
	}
	for (int i = 0; i < 3; i++)
		on_device_compare(&f->d, what, f->seed, &f->want[i], &f->got[i], 0);
}

/* counted: without a cost volume. */
static void run_stored(const struct sx_context_config *c, bool counted, const struct sx_cost_input *in,
		       const struct sx_image want[4], uint64_t seed)
{
	const struct sx_stereo_params *p = &c->params.stereo;
	struct sx_sgm_cuda *s = NULL;
	struct flow f;
	uint8_t *costs = NULL;

	begin_flow(&f, !counted, c, in, want, seed);
	if (!counted)
		costs = sx_cuda_take(&f.d.memory,
				     (size_t)c->width * (size_t)c->height * (size_t)p->disparities);
	assert_int_equal(sx_sgm_cuda_create(&s, &f.d.memory, c, costs), 0);
	assert_true(sx_sgm_cuda_traffic(s) > 0);
	/* Twice: nothing of the first run may be left in the second. */
	for (int i = 0; i < 2; i++) {
		if (counted)
			; /* nothing to prepare */
		else if (p->cost == SX_COST_ZNCC)
			ON_DEVICE(sx_zncc_cost_cuda_run(f.grey, f.descriptors, p, costs, f.d.stream));
		else
			ON_DEVICE(sx_cost_cuda_run(f.descriptors, p, costs, f.d.stream));
		ON_DEVICE(sx_sgm_cuda_run(s, &f.grey[0], f.descriptors, f.d.stream));
		ON_DEVICE(sx_winner_cuda_run(sx_sgm_cuda_volumes(s), p, &f.got[0], &f.got[1], &f.got[2],
					     f.d.stream));
	}
	end_flow(&f, counted ? "counted" : "stored", sx_sgm_cuda_volumes(s));
	sx_sgm_cuda_destroy(s);
	on_device_finish(&f.d);
}

/* keep: sums stay in memory, and are compared; else the winner is found where they are formed, or not. */
static void run_checkpoint(const struct sx_context_config *without, bool keep, int sms,
			   const struct sx_cost_input *in, const struct sx_image want[4], uint64_t seed)
{
	struct sx_context_config c = *without;
	struct sx_checkpoint_cuda *s = NULL;
	struct flow f;

	c.keep_volume = keep;
	begin_flow(&f, false, &c, in, want, seed);
	assert_int_equal(sx_checkpoint_cuda_create(&s, &f.d.memory, &c, sms), 0);
	assert_true(sx_checkpoint_cuda_traffic(s) > 0);
	for (int i = 0; i < 2; i++) {
		const struct sx_checkpoint_images images = {&f.grey[0], f.descriptors, &f.got[0], &f.got[1],
							    &f.got[2]};

		ON_DEVICE(sx_checkpoint_cuda_paths(s, &images, f.d.stream));
		ON_DEVICE(sx_checkpoint_cuda_winner(s, &images, f.d.stream));
	}
	if (keep)
		assert_non_null(sx_checkpoint_cuda_volumes(s));
	end_flow(&f, keep ? "checkpoint, sums kept" : "checkpoint",
		 keep ? sx_checkpoint_cuda_volumes(s) : NULL);
	sx_checkpoint_cuda_destroy(s);
	on_device_finish(&f.d);
}

static void check_flows(struct sx_stereo_params p, int width, int height, uint64_t seed, bool only_checkpoint)
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
	if (!only_checkpoint)
		run_stored(&c, false, &in, want, seed);
	if (!sx_predict_counted_refuses(&p, 90))
		run_stored(&c, true, &in, want, seed);
	if (only_checkpoint)
		assert_null(sx_predict_checkpoint_refuses(&p));
	/* rows in one part, and in two where they are long enough */
	for (int i = 0; i < (only_checkpoint ? 4 : 2) && !sx_predict_checkpoint_refuses(&p); i++)
		run_checkpoint(&c, i % 2, i < 2 ? 1 : 999, &in, want, seed);
	for (int i = 0; i < 4; i++)
		test_free(want[i].data);
	for (int i = 0; i < 2; i++) {
		test_free(in.grey[i].data);
		test_free(in.descriptor[i].data);
	}
	free(scratch);
}

static void check(struct sx_stereo_params p, int width, int height, uint64_t seed)
{
	check_flows(p, width, height, seed, false);
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

/*
 * What the stored flow does not care about: bands and segments that end early, blocks of 32 columns, warps of
 * 4 rows.
 */
static void test_checkpoints(void **state)
{
	static const struct {
		int disparities, paths, width, height, min_disparity, edge, p2, p2_vertical;
		enum sx_out_of_view view;
	} cases[] = {
		{128, 4, 363, 33, 0, 0, 0, 0, SX_OUT_OF_VIEW_ZERO},
		{128, 4, 160, 40, -37, 0, 0, 0, SX_OUT_OF_VIEW_MAX},
		{128, 4, 33, 41, 21, 0, 0, 0, SX_OUT_OF_VIEW_MAX},
		{128, 4, 400, 32, 5, 0, 60, 60, SX_OUT_OF_VIEW_ZERO},
		{128, 2, 135, 34, 0, 0, 0, 0, SX_OUT_OF_VIEW_ZERO},
		{128, 4, 47, 39, 0, 30, 0, 0, SX_OUT_OF_VIEW_ZERO},
		{128, 2, 47, 32, 3, 9, 0, 0, SX_OUT_OF_VIEW_ZERO},
		{128, 4, 134, 35, 0, 0, 96, 96, SX_OUT_OF_VIEW_ZERO}, /* sums that are not narrow; 254 */
		{128, 4, 40, 37, 0, 12, 96, 96, SX_OUT_OF_VIEW_MAX},
		{64, 4, 97, 43, -3, 0, 96, 20, SX_OUT_OF_VIEW_MAX},
		{192, 4, 64, 32, 0, 0, 0, 0, SX_OUT_OF_VIEW_ZERO},
		{256, 4, 70, 36, 0, 0, 0, 0, SX_OUT_OF_VIEW_MAX},
		{32, 4, 90, 33, 7, 0, 96, 96, SX_OUT_OF_VIEW_MAX}, /* words one at a time: odd D / 32 */
		{32, 2, 77, 35, 0, 8, 0, 0, SX_OUT_OF_VIEW_ZERO},
		{96, 4, 300, 39, -5, 20, 0, 0, SX_OUT_OF_VIEW_MAX}, /* once around the rings */
		{160, 4, 301, 32, 0, 0, 96, 1, SX_OUT_OF_VIEW_ZERO},
		{160, 2, 49, 34, 100, 0, 0, 0, SX_OUT_OF_VIEW_MAX},
		{224, 4, 330, 35, -2, 0, 0, 96, SX_OUT_OF_VIEW_ZERO},
		{224, 4, 65, 41, 0, 40, 0, 0, SX_OUT_OF_VIEW_MAX},
		{32, 4, 90, 33, -128, 0, 0, 0, SX_OUT_OF_VIEW_ZERO}, /* right rows begin before their lead */
		{64, 2, 131, 34, -127, 9, 0, 0, SX_OUT_OF_VIEW_MAX},
		{96, 4, 150, 33, 128, 0, 0, 0, SX_OUT_OF_VIEW_ZERO},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sx_stereo_params p = common(cases[i].disparities, cases[i].paths);

		p.min_disparity = cases[i].min_disparity;
		p.p2_edge = cases[i].edge;
		p.p2 = cases[i].p2 ? cases[i].p2 : p.p2;
		p.p2_vertical = cases[i].p2_vertical ? cases[i].p2_vertical : p.p2_vertical;
		p.out_of_view = cases[i].view;
		p.uniqueness = i % 3 == 2 ? 100 : 95;
		p.subpixel = (enum sx_subpixel)(i % 3);
		check_flows(p, cases[i].width, cases[i].height, 60 + i, true);
	}
}

/*
 * Diagonals: images narrower and wider than a block of 16, than high and than long, heights around bands of
 * 8; paths that begin and end in any row of a band.
 */
static void test_diagonals(void **state)
{
	static const int heights[] = {1, 2, 7, 8, 9, 15, 16, 17, 23, 24, 25, 33, 40, 41};

	for (int width = 1; width <= 40; width++) {
		struct sx_stereo_params p = common(width % 4 == 0 ? 64 : 32, 8);

		p.p2_edge = width % 3 == 1 ? width : 0;
		p.out_of_view = width % 5 < 2 ? SX_OUT_OF_VIEW_MAX : SX_OUT_OF_VIEW_ZERO;
		p.min_disparity = width % 7 - 3;
		check_flows(p, width, width % 2 ? heights[width % 14] : 42 - width, 200 + (uint64_t)width,
			    true);
	}
	for (int i = 0; i < 14; i++) {
		struct sx_stereo_params p = common(32 + 32 * (i % 8), 8);

		p.p2_edge = i % 4 == 1 ? 16 : 0;
		p.out_of_view = i % 4 > 1 ? SX_OUT_OF_VIEW_MAX : SX_OUT_OF_VIEW_ZERO;
		p.min_disparity = 7 * (i % 3 - 1);
		p.p2 = i % 5 == 0 ? 96 : p.p2;
		p.p2_vertical = i % 5 < 2 ? 96 : p.p2_vertical;
		check_flows(p, i % 2 ? 97 + i : 17 + i, heights[i], 400 + (uint64_t)i, true);
	}
}

/* What predict/, which may not include gpu/, says that the flow takes is what it takes. */
static void assert_takes(const struct sx_stereo_params *p, bool takes)
{
	struct sx_context_config c = {.width = 64, .height = 32};
	struct sx_cuda_memory m = {.counting = true};
	struct sx_checkpoint_cuda *s = NULL;

	c.params.stereo = *p;
	assert_int_equal(!sx_predict_checkpoint_refuses(p), takes);
	assert_int_equal(sx_checkpoint_cuda_create(&s, &m, &c, 1), takes ? 0 : -EINVAL);
	sx_checkpoint_cuda_destroy(s);
}

static void test_checkpoints_refused(void **state)
{
	struct sx_stereo_params p;

	for (int paths = 2; paths <= 8; paths *= 2)
		for (int p2 = 95; p2 <= 98; p2++) {
			p = common(128, paths);
			p.p2 = p2;
			assert_takes(&p, p2 <= 96);
			p = common(96, paths);
			p.p2_vertical = p2;
			assert_takes(&p, p2 <= 96 || paths == 2);
		}
	p = common(128, 4);
	p.cost = SX_COST_CENSUS;
	assert_takes(&p, false);
	p = common(128, 4);
	p.aggregation = SX_AGGREGATION_FASTDT;
	assert_takes(&p, false);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_disparities),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_costs),
		cmocka_unit_test(test_penalties),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_checkpoints),
		cmocka_unit_test(test_diagonals),
		cmocka_unit_test(test_checkpoints_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
