/*
 * One case of path aggregation on the device, in every flow that supports it, against sx_sgm() and
 * sx_winner().
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
#include "gpu/stereo/checkpoint_cuda.h"
#include "gpu/stereo/cost_cuda.h"
#include "gpu/stereo/winner_cuda.h"
#include "gpu/zncc/zncc_cuda.h"
#include "predict/predict.h"
#include "stages/stereo/sgm.h"
#include "stages/stereo/winner.h"
#include "tests/check.h"
#include "tests/emulated.h"
#include "tests/gpu/on_device.h"
#include "tests/gpu/stereo/aggregation_case.h"
#include "tests/gpu/stereo/sgm_flows.h"

/*
 * Fills the descriptors. In a random half of the rows the right image is the left one moved by a few pixels,
 * with wrong bits. The other rows are noise or flat.
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

/* Compared outputs of a flow: winner of both images, confidence, S. */
struct flow {
	struct on_device d;
	struct sx_image grey[2], descriptors[2], got[AGGREGATION_OUT];
	const struct sx_context_config *c;
	const struct sx_image *want;
	uint64_t seed;
};

/* Starts a flow. volume: the right descriptors are as in a flow with a cost volume. */
static void begin_flow(struct flow *f, bool volume, const struct sx_context_config *c,
		       const struct sx_cost_input *in, const struct sx_image want[AGGREGATION_OUT],
		       uint64_t seed)
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
	aggregation_take(&f->d, want, f->got);
	f->c = c;
	f->want = want;
	f->seed = seed;
}

/* Compares the outputs. volumes: compares S of these volumes too, unless NULL. */
static void end_flow(struct flow *f, const char *name, const struct sx_cuda_volumes *volumes)
{
	const struct sx_stereo_params *p = &f->c->params.stereo;
	char what[200];

	snprintf(what, sizeof(what),
		 "sgm %s %dx%d D %d paths %d cost %d p1 %d %d p2 %d %d edge %d min %d view %d", name,
		 f->c->width, f->c->height, p->disparities, p->paths, p->cost, p->p1, p->p1_vertical, p->p2,
		 p->p2_vertical, p->p2_edge, p->min_disparity, p->out_of_view);
	if (volumes)
		ON_DEVICE(sx_winner_cuda_sum(volumes, p, &f->got[3], f->d.stream));
	aggregation_compare(&f->d, what, f->seed, f->want, f->got, volumes ? p->disparities : 0);
}

/* counted: runs without a cost volume. */
static void run_stored(const struct sx_context_config *c, bool counted, const struct sx_cost_input *in,
		       const struct sx_image want[AGGREGATION_OUT], uint64_t seed)
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
	/* twice: the second run must not depend on the first */
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

/* keep: sums stay in memory and are compared. Otherwise the winner may be found where the sums are formed. */
static void run_checkpoint(const struct sx_context_config *without, bool keep, int sms,
			   const struct sx_cost_input *in, const struct sx_image want[AGGREGATION_OUT],
			   uint64_t seed)
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
	struct check_rng r = check_rng_seed(seed);
	struct aggregation_case a;
	const size_t bytes = (sx_sgm_scratch_bytes(width, &p) + 63) / 64 * 64;
	void *scratch = aligned_alloc(64, bytes);
	struct sx_context_config c;

	assert_non_null(scratch);
	memset(&c, 0, sizeof(c));
	c.width = width;
	c.height = height;
	c.params.stereo = p;
	aggregation_case_init(&a, &p, width, height);
	check_fill_pair(&a.in.grey[0], &a.in.grey[1], seed % 2 ? CHECK_NOISE : CHECK_STEPS, 5, 9, &r);
	if (p.cost == SX_COST_ZNCC)
		for (int i = 0; i < 2; i++)
			sx_describe(&a.in.grey[i], &a.in.descriptor[i], &p);
	else
		fill_census(a.in.descriptor, masks[p.cost], &r);
	sx_sgm(&a.in, &a.want[3], &p, NULL, scratch);
	sx_winner(&a.want[3], &a.want[0], &a.want[1], &a.want[2], &p);
	if (!only_checkpoint)
		run_stored(&c, false, &a.in, a.want, seed);
	if (!sx_predict_recompute_refuses(&p, 90))
		run_stored(&c, true, &a.in, a.want, seed);
	if (only_checkpoint)
		assert_null(sx_predict_checkpoint_refuses(&p));
	/* rows in one part, and in two parts if they are long enough */
	for (int i = 0; i < (only_checkpoint ? 4 : 2) && !sx_predict_checkpoint_refuses(&p); i++)
		run_checkpoint(&c, i % 2, i < 2 ? 1 : 999, &a.in, a.want, seed);
	aggregation_case_finish(&a);
	free(scratch);
}

void sgm_flows_check(struct sx_stereo_params p, int width, int height, uint64_t seed, bool only_checkpoint)
{
	static int turn;

	if (!IS_JUDGED || turn++ % 4 == 0)
		check_flows(p, width, height, seed, only_checkpoint);
}
