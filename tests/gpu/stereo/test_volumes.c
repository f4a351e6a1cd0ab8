/*
 * Cost volume and winner of the CUDA engine equal stages/: every kernel variant at sizes around its segments
 * and batches, then random settings. SX_SEED repeats or extends the random part.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/check.h"
#include "tests/gpu/stereo/volume_case.h"

#define RANDOM_CASES 150

static const int path_counts[] = {2, 4, 8};
static const enum sx_cost costs[] = {SX_COST_CSCT, SX_COST_CENSUS, SX_COST_CENSUS48, SX_COST_CENSUS63};

static struct sx_stereo_params usual(void)
{
	struct sx_stereo_params p = {
		.cost = SX_COST_CSCT,
		.paths = 4,
		.disparities = 128,
		.uniqueness = 95,
		.subpixel = SX_SUBPIXEL_TRUNC,
	};

	return p;
}

/*
 * Checks each disparity range with each number of paths, and with P2 just below and just above every limit
 * that chooses a kernel.
 */
static void test_winner_variants(void **state)
{
	for (int d = 32; d <= 256; d += 32) {
		for (int i = 0; i < 3; i++) {
			for (int p2 = 60; p2 <= 200; p2 += 35) {
				struct sx_stereo_params p = usual();

				p.disparities = d;
				p.paths = path_counts[i];
				p.p1 = p.p1_vertical = 10;
				p.p2 = p2;
				p.p2_vertical = d % 64 ? p2 : 260 - p2;
				assert_true(volume_case_winner(&p, 75, 2, VOLUME_NOISE, (uint64_t)(d + p2)));
				assert_true(volume_case_winner(&p, 75, 2, VOLUME_TIES, (uint64_t)(d + p2)));
			}
		}
	}
}

/* Checks widths around segments of 64 px and batches of 8: one pixel more and one less. */
static void test_winner_widths(void **state)
{
	static const int widths[] = {32, 33, 63, 64, 65, 127, 129, 255, 257, 511, 513, 520, 1023, 1025, 1242};

	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		struct sx_stereo_params p = usual();

		sx_stereo_resolve(&p);
		for (int how = 0; how < VOLUME_FILL_COUNT; how++)
			assert_true(volume_case_winner(&p, widths[i], 1, (enum volume_fill)how, i));
		p.disparities = 96;
		assert_true(volume_case_winner(&p, widths[i], 1, VOLUME_WINNER, i));
		p.disparities = 256;
		assert_true(volume_case_winner(&p, widths[i], 1, VOLUME_WINNER, i));
	}
}

static void test_winner_wide(void **state)
{
	struct sx_stereo_params p = usual();

	sx_stereo_resolve(&p);
	assert_true(volume_case_winner(&p, 4096, 1, VOLUME_NOISE, 1));
	p.disparities = 256;
	assert_true(volume_case_winner(&p, 4096, 1, VOLUME_TIES, 2));
}

static void test_winner_options(void **state)
{
	static const int shares[] = {1, 50, 80, 94, 95, 96, 99, 100};

	for (int how = 0; how < VOLUME_FILL_COUNT; how++) {
		for (int subpixel = 0; subpixel < 3; subpixel++) {
			for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
				struct sx_stereo_params p = usual();

				p.uniqueness = shares[i];
				p.subpixel = (enum sx_subpixel)subpixel;
				sx_stereo_resolve(&p);
				assert_true(volume_case_winner(&p, 100, 2, (enum volume_fill)how, i));
				p.cost = SX_COST_CENSUS;
				p.p1 = p.p2 = p.p1_vertical = p.p2_vertical = 0;
				sx_stereo_resolve(&p);
				assert_true(volume_case_winner(&p, 100, 2, (enum volume_fill)how, i));
			}
		}
	}
}

static void test_cost_variants(void **state)
{
	static const int shifts[] = {0, 1, -1, 7, 128, -128};

	for (int d = 32; d <= 256; d += 32) {
		for (size_t c = 0; c < sizeof(costs) / sizeof(costs[0]); c++) {
			for (size_t i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++) {
				struct sx_stereo_params p = usual();

				p.disparities = d;
				p.cost = costs[c];
				p.min_disparity = shifts[i];
				p.out_of_view = i % 2 ? SX_OUT_OF_VIEW_MAX : SX_OUT_OF_VIEW_ZERO;
				sx_stereo_resolve(&p);
				assert_true(volume_case_cost(&p, 32 + (int)i * 37, 2, i));
				p.out_of_view = i % 2 ? SX_OUT_OF_VIEW_ZERO : SX_OUT_OF_VIEW_MAX;
				assert_true(volume_case_cost(&p, 641 - (int)c, 1, i));
			}
		}
	}
}

static struct sx_stereo_params random_params(struct check_rng *r)
{
	struct sx_stereo_params p = usual();

	p.cost = costs[check_below(r, 4)];
	p.paths = path_counts[check_below(r, 3)];
	p.disparities = 32 * (1 + check_below(r, 8));
	p.min_disparity = check_below(r, 257) - 128;
	p.out_of_view = (enum sx_out_of_view)check_below(r, 2);
	p.uniqueness = 1 + check_below(r, 100);
	p.subpixel = (enum sx_subpixel)check_below(r, 3);
	p.p1 = 1 + check_below(r, 20);
	p.p2 = p.p1 + check_below(r, 255 - sx_cost_max(p.cost) - 2 * p.p1 + 1);
	p.p1_vertical = p.p1;
	p.p2_vertical = p.p1 + check_below(r, 255 - sx_cost_max(p.cost) - 2 * p.p1 + 1);
	return p;
}

static void test_random(void **state)
{
	const char *text = getenv("SX_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 10) : 1;
	struct check_rng r = check_rng_seed(seed);

	for (int i = 0; i < RANDOM_CASES; i++) {
		struct sx_stereo_params p = random_params(&r);
		int width = 32 + check_below(&r, 400), height = 1 + check_below(&r, 4);

		assert_true(volume_case_winner(&p, width, height,
					       (enum volume_fill)check_below(&r, VOLUME_FILL_COUNT),
					       check_random(&r)));
		assert_true(volume_case_cost(&p, width, height, check_random(&r)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_winner_variants), cmocka_unit_test(test_winner_widths),
		cmocka_unit_test(test_winner_wide),	cmocka_unit_test(test_winner_options),
		cmocka_unit_test(test_cost_variants),	cmocka_unit_test(test_random),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("gpu/volumes", tests, NULL, NULL);
}
