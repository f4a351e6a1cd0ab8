/*
 * Kernels of zncc alone against the reference: rows in bands that begin anywhere.
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

#include "cpu/kernel_sets.h"
#include "stages/stereo/cost.h"
#include "tests/check.h"

static const char *const names[] = {"plain", "sse4", "avx2", "avx512", "neon"};

struct shape {
	int width, height, disparities, min_disparity, window, band;
	enum sx_out_of_view out_of_view;
	enum check_fill fill;
};

static const struct shape shapes[] = {
	{70, 37, 64, 0, 3, 16, SX_OUT_OF_VIEW_ZERO, CHECK_NOISE},
	{70, 37, 64, 0, 3, 1, SX_OUT_OF_VIEW_MAX, CHECK_NEAR_255},
	{33, 40, 128, -20, 5, 7, SX_OUT_OF_VIEW_MAX, CHECK_NOISE},
	{101, 32, 32, 9, 7, 5, SX_OUT_OF_VIEW_ZERO, CHECK_CHECKERBOARD},
	{32, 33, 192, 0, 15, 33, SX_OUT_OF_VIEW_ZERO, CHECK_NOISE},
	{59, 45, 96, 60, 11, 11, SX_OUT_OF_VIEW_MAX, CHECK_STEPS},
	{40, 32, 256, -128, 13, 3, SX_OUT_OF_VIEW_ZERO, CHECK_NEAR_0},
	{64, 32, 64, 128, 9, 8, SX_OUT_OF_VIEW_MAX, CHECK_NOISE},
	{50, 34, 64, 0, 15, 8, SX_OUT_OF_VIEW_MAX, CHECK_FLAT},
};

static void *memory(size_t bytes)
{
	void *p = aligned_alloc(64, (bytes + 63) & ~(size_t)63);

	assert_non_null(p);
	memset(p, 0x5a, bytes);
	return p;
}

struct pair {
	struct check_image grey[2], want[2], got[2];
	struct sx_cost_input in;
};

static void pair_init(struct pair *p, const struct shape *s, const struct sx_stereo_params *stereo,
		      uint64_t seed)
{
	struct check_rng r = check_rng_seed(seed);

	for (int i = 0; i < 2; i++) {
		check_image_init(&p->grey[i], SX_PIXEL_U8, s->width, s->height, 5);
		check_image_init(&p->want[i], SX_PIXEL_U64, s->width, s->height, 0);
		check_image_init(&p->got[i], SX_PIXEL_U64, s->width, s->height, 0);
	}
	check_fill_pair(&p->grey[0].image, &p->grey[1].image, s->fill, s->min_disparity + 10, 9, &r);
	for (int i = 0; i < 2; i++) {
		sx_describe(&p->grey[i].image, &p->want[i].image, stereo);
		p->in.grey[i] = p->grey[i].image;
		p->in.descriptor[i] = p->want[i].image;
	}
}

static bool pair_finish(struct pair *p)
{
	bool sound = true;

	for (int i = 0; i < 2; i++) {
		sound &= check_guards(&p->grey[i], "grey");
		sound &= check_guards(&p->got[i], "words");
		check_image_finish(&p->grey[i]);
		check_image_finish(&p->want[i]);
		check_image_finish(&p->got[i]);
	}
	return sound;
}

static void run(const struct sx_matcher *m, const struct sx_matcher_frame *f, int band,
		struct sx_matcher_scratch *s)
{
	for (int side = 0; side < 2; side++)
		for (int y = 0; y < m->height; y += band)
			m->kernels->zncc_words_rows(m, f, side, y,
						    y + band < m->height ? y + band : m->height, s);
	for (int y = 0; y < m->height; y += band)
		m->kernels->zncc_rows(m, f, y, y + band < m->height ? y + band : m->height, s);
}

static void check_shape(const struct shape *s, const char *simd, uint64_t seed)
{
	const struct sx_kernels *k = sx_kernels_choose(simd);
	struct sx_stereo_params stereo = {.cost = SX_COST_ZNCC,
					  .paths = 4,
					  .disparities = s->disparities,
					  .min_disparity = s->min_disparity,
					  .out_of_view = s->out_of_view,
					  .uniqueness = 95,
					  .zncc_window = s->window};
	size_t row = (size_t)s->width * (size_t)s->disparities, cells = row * (size_t)s->height;
	uint8_t *costs = memory(cells), *want = memory(row);
	struct sx_matcher_scratch scratch;
	struct sx_matcher_frame f = {.costs = costs};
	struct sx_matcher m;
	struct pair p;
	uint8_t *scratch_memory;

	sx_stereo_resolve(&stereo);
	pair_init(&p, s, &stereo, seed);
	assert_int_equal(
		sx_matcher_init(&m, sx_kernels_for(k, s->disparities)->matcher, &stereo, s->width, s->height),
		0);
	scratch_memory = memory(sx_matcher_scratch_bytes(&m));
	sx_matcher_scratch_init(&scratch, &m, scratch_memory);
	for (int i = 0; i < 2; i++) {
		f.grey[i] = p.grey[i].image;
		f.census[i] = p.got[i].image;
	}
	run(&m, &f, s->band, &scratch);
	for (int i = 0; i < 2; i++)
		assert_true(check_same("words", seed, &p.want[i].image, &p.got[i].image, 0));
	for (int y = 0; y < s->height; y++) {
		sx_cost_row(&p.in, y, &stereo, want);
		if (memcmp(want, costs + (size_t)y * row, row) != 0)
			fail_msg("%s: window %d, row %d: costs differ", simd, s->window, y);
	}
	assert_true(pair_finish(&p));
	sx_matcher_finish(&m);
	free(scratch_memory);
	free(costs);
	free(want);
}

static void test_kernels(void **state)
{
	int tried = 0;

	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		if (!sx_kernels_choose(names[k]))
			continue;
		for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
			check_shape(&shapes[i], names[k], 10 + i);
		tried++;
	}
	assert_true(tried > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
