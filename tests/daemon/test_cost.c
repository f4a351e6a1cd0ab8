/*
 * Tests the predicted time of a frame with other settings. Compares it with measurements of stixel-bench on
 * one thread, on the machine of the table and on others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/cost.h"

#define LIMIT INT64_C(10000000000)

static struct sx_stixel_params params[3];

static struct sx_frame_cost_case case_of(int at, enum sx_stixel_method method, int width, int cell,
					 int image_width, int image_height)
{
	params[at] = (struct sx_stixel_params){.method = method, .width = width, .cell_height = cell};
	return (struct sx_frame_cost_case){
		.stixels = &params[at], .width = image_width, .height = image_height};
}

/* Measured segmentation times in ms on one machine, by method, stixel width, cell height and image size. */
static const struct {
	enum sx_stixel_method method;
	int width, cell, image_width, image_height;
	double ms;
} measured[] = {
	{SX_STIXEL_DP, 4, 0, 640, 376, 4.02},
	{SX_STIXEL_DP, 4, 0, 1242, 375, 13.4},
	{SX_STIXEL_RDP, 4, 0, 1242, 375, 1.36},
	{SX_STIXEL_SLANTED, 4, 0, 640, 376, 0.89},
	{SX_STIXEL_SLANTED, 1, 0, 1242, 375, 106},
	{SX_STIXEL_SLANTED, 4, 1, 1920, 1080, 213},
	{SX_STIXEL_SLANTED_EXACT, 4, 0, 640, 376, 28.2},
	{SX_STIXEL_SLANTED_EXACT, 8, 1, 640, 376, 767},
	{SX_STIXEL_SLANTED_EXACT, 16, 4, 1280, 720, 143},
	{SX_STIXEL_SLANTED_EXACT, 32, 2, 1280, 720, 350},
};

/* Predicts each case from each other case, on machines of the same speed and eight times slower. */
static void predictions_are_not_too_low(void **state)
{
	const size_t count = sizeof(measured) / sizeof(measured[0]);

	for (size_t k = 0; k < 2 * count * count; k++) {
		const size_t a = k / 2 / count, b = k / 2 % count;
		const double slower = k % 2 ? 8 : 1;
		const struct sx_frame_cost_case now =
			case_of(0, measured[a].method, measured[a].width, measured[a].cell,
				measured[a].image_width, measured[a].image_height);
		const struct sx_frame_cost_case next =
			case_of(1, measured[b].method, measured[b].width, measured[b].cell,
				measured[b].image_width, measured[b].image_height);
		const int64_t segment = (int64_t)(measured[a].ms * slower * 1e6);
		struct sx_frame_cost cost = {0};
		double ms;

		sx_frame_cost_see(&cost, &now, segment, segment + 30000000);
		ms = sx_frame_cost_frame_ns(&cost, &next) / 1e6 - 30;
		/*
		 * A quarter of the limit is allowed. A frame that takes twice its prediction is thus still
		 * within half of the limit.
		 */
		if (ms < measured[b].ms * slower * 0.5 || ms > measured[b].ms * slower * 12)
			fail_msg("from %zu to %zu: predicted %.1f ms, measured %.1f", a, b, ms,
				 measured[b].ms * slower);
	}
}

static void what_is_too_much(void **state)
{
	const struct sx_frame_cost_case now = case_of(0, SX_STIXEL_SLANTED, 4, 0, 1920, 1080);
	struct sx_frame_cost_case next;
	struct sx_frame_cost cost = {0};
	struct sx_why why = {""};

	sx_frame_cost_see(&cost, &now, 12000000, 100000000);
	next = case_of(1, SX_STIXEL_SLANTED_EXACT, 4, 1, 1920, 1080);
	assert_true(sx_frame_cost_is_too_much(&cost, &now, &next, LIMIT, &why));
	assert_non_null(strstr(why.text, "now it takes 100 ms, and after 10 s without one the watchdog"));
	next = case_of(1, SX_STIXEL_SLANTED, 4, 1, 1920, 1080);
	assert_false(sx_frame_cost_is_too_much(&cost, &now, &next, LIMIT, &why));
	assert_true(sx_frame_cost_is_too_much(&cost, &now, &next, LIMIT / 20, &why));
	next = case_of(1, SX_STIXEL_SLANTED_EXACT, 16, 16, 1920, 1080);
	assert_false(sx_frame_cost_is_too_much(&cost, &now, &next, LIMIT, &why));
	/* KITTI's image size, columns of 1 px: a change of the method alone is too much */
	next = case_of(0, SX_STIXEL_SLANTED, 1, 0, 1242, 375);
	cost = (struct sx_frame_cost){0};
	sx_frame_cost_see(&cost, &next, 52000000, 80000000);
	params[1] = params[0];
	params[1].method = SX_STIXEL_SLANTED_EXACT;
	assert_true(sx_frame_cost_is_too_much(
		&cost, &next,
		&(struct sx_frame_cost_case){.stixels = &params[1], .width = 1242, .height = 375}, LIMIT,
		&why));
}

/* A frame that is already slow, and runs, may get faster. Changes without cost are allowed, too. */
static void what_runs_may_go_on(void **state)
{
	const struct sx_frame_cost_case now = case_of(0, SX_STIXEL_SLANTED_EXACT, 4, 1, 1280, 720);
	struct sx_frame_cost_case next = case_of(1, SX_STIXEL_SLANTED_EXACT, 5, 1, 1280, 720);
	struct sx_frame_cost cost = {0};
	struct sx_why why;

	sx_frame_cost_see(&cost, &now, 8000000000, 8100000000);
	assert_false(sx_frame_cost_is_too_much(&cost, &now, &next, LIMIT, &why));
	next = case_of(1, SX_STIXEL_SLANTED_EXACT, 4, 1, 1280, 720);
	assert_false(sx_frame_cost_is_too_much(&cost, &now, &next, LIMIT, &why));
	next = case_of(1, SX_STIXEL_SLANTED_EXACT, 3, 1, 1280, 720);
	assert_true(sx_frame_cost_is_too_much(&cost, &now, &next, LIMIT, &why));
	next = case_of(1, SX_STIXEL_SLANTED, 4, 1, 1280, 720);
	assert_false(sx_frame_cost_is_too_much(&cost, &now, &next, LIMIT, &why));
	/* the time of the whole frame counts if other stages take the time */
	cost = (struct sx_frame_cost){0};
	params[2] = params[0];
	params[2].width = 16;
	sx_frame_cost_see(&cost,
			  &(struct sx_frame_cost_case){.stixels = &params[2], .width = 1280, .height = 720},
			  4000000000, 21000000000);
	next = case_of(1, SX_STIXEL_SLANTED, 8, 1, 1280, 720);
	assert_true(sx_frame_cost_frame_ns(&cost, &next) < 21e9);
	assert_false(sx_frame_cost_is_too_much(
		&cost, &(struct sx_frame_cost_case){.stixels = &params[2], .width = 1280, .height = 720},
		&next, LIMIT, &why));
}

static void before_anything_was_measured(void **state)
{
	struct sx_frame_cost_case next = case_of(1, SX_STIXEL_SLANTED_EXACT, 4, 1, 1920, 1080);
	struct sx_frame_cost cost = {0};
	struct sx_why why;

	sx_frame_cost_see(&cost, &next, 0, 0); /* an engine that reports no times */
	assert_true(cost.rate == 0);
	assert_true(sx_frame_cost_is_too_much(&cost, NULL, &next, LIMIT, &why));
	assert_null(strstr(why.text, "now it takes"));
	next = case_of(1, SX_STIXEL_SLANTED, 4, 0, 1920, 1080);
	assert_false(sx_frame_cost_is_too_much(&cost, NULL, &next, LIMIT, &why));
	/* the reference engine is slow, but its default settings are accepted */
	next.plain = true;
	assert_false(sx_frame_cost_is_too_much(&cost, NULL, &next, LIMIT, &why));
}

/* Returns what a change of two contexts adds to their memory, MB. */
static size_t more_mb(const struct sx_context_config *now, const struct sx_context_config *next)
{
	const size_t held = (size_t)60 << 20;

	return (sx_frame_cost_memory(held, 2, now, next) - sx_frame_cost_memory(held, 2, now, now)) >> 20;
}

/*
 * The prediction is at least what two contexts of engine cpu at 1280x720 took during their creation, in MB of
 * a cgroup's usage.
 */
static void memory_is_predicted_from_above(void **state)
{
	struct sx_context_config now = {.width = 1280, .height = 720}, next;
	const size_t held = (size_t)60 << 20;
	size_t need;

	now.params.stixels =
		(struct sx_stixel_params){.method = SX_STIXEL_SLANTED, .width = 4, .max_per_column = 200};
	now.params.filters = (struct sx_filter_params){.left_right = 1, .speckle_size = 100, .smooth = true};
	next = now;
	assert_int_equal(sx_frame_cost_memory(0, 2, &now, &next), 0);
	need = sx_frame_cost_memory(held, 2, &now, &next) >> 20;
	assert_in_range(need, 66, 90);
	next.params.stixels.method = SX_STIXEL_DP;
	need = sx_frame_cost_memory(held, 2, &now, &next) >> 20;
	assert_in_range(need, 68, 100);
	next.params.stixels.width = 1;
	need = sx_frame_cost_memory(held, 2, &now, &next) >> 20;
	assert_in_range(need, 103, 140); /* 36 MB more than columns of 4 px */
	next = now;
	next.params.filters.median = true;
	need = sx_frame_cost_memory(held, 2, &now, &next) >> 20;
	assert_in_range(need, 73, 100);
	next = now;
	next.params.motion.mode = SX_MOTION_MODE_FILTER; /* 77 MB more: 9 for each context, 59 for all */
	need = sx_frame_cost_memory(held, 2, &now, &next) >> 20;
	assert_in_range(need, 141, 165);
	assert_in_range((sx_frame_cost_memory(held, 4, &now, &next) >> 20) - need, 17, 22);
	/* the old chain lives until the new one is there */
	now.params.motion.mode = SX_MOTION_MODE_PAIR;
	assert_in_range(more_mb(&now, &next), 55, 80);
	now.params.motion.mode = SX_MOTION_MODE_FILTER;
	next.params.stixels.width = 2;
	assert_in_range(more_mb(&now, &next), 80, 110); /* measured: 83 for the chain */
	now.params.motion.mode = SX_MOTION_MODE_OFF;
	next = now;
	next.params.filters.speckle_size = 0; /* savings do not reduce the prediction */
	assert_int_equal(sx_frame_cost_memory(held, 2, &now, &next),
			 sx_frame_cost_memory(held, 2, &now, &now));
}

/* Resident bytes per pixel and disparities, as measured on images of KITTI. */
static void large_memory_is_named(void **state)
{
	static const struct {
		enum sx_cost cost;
		enum sx_aggregation aggregation;
		int paths, disparities, bytes;
		enum sx_search search;
	} held[] = {
		{SX_COST_CSCT, SX_AGGREGATION_SGM, 2, 256, 43},
		{SX_COST_CSCT, SX_AGGREGATION_SGM, 4, 64, 105},
		{SX_COST_CSCT, SX_AGGREGATION_SGM, 4, 128, 174},
		{SX_COST_CSCT, SX_AGGREGATION_SGM, 4, 256, 302},
		{SX_COST_CSCT, SX_AGGREGATION_SGM, 8, 256, 559},
		{SX_COST_CENSUS, SX_AGGREGATION_SGM, 4, 256, 572},
		{SX_COST_CENSUS, SX_AGGREGATION_SGM, 8, 128, 314},
		{SX_COST_ZNCC, SX_AGGREGATION_SGM, 2, 256, 304},
		{SX_COST_ZNCC, SX_AGGREGATION_SGM, 4, 128, 433},
		{SX_COST_ZNCC, SX_AGGREGATION_SGM, 8, 256, 826},
		{SX_COST_CSCT, SX_AGGREGATION_FASTDT, 4, 256, 593},
		{SX_COST_CSCT, SX_AGGREGATION_SGM, 2, 128, 102, SX_SEARCH_PYRAMID},
		{SX_COST_CSCT, SX_AGGREGATION_SGM, 4, 512, 159, SX_SEARCH_PYRAMID},
		{SX_COST_CSCT, SX_AGGREGATION_SGM, 8, 256, 203, SX_SEARCH_PYRAMID},
		{SX_COST_CENSUS, SX_AGGREGATION_SGM, 4, 128, 219, SX_SEARCH_PYRAMID},
		{SX_COST_ZNCC, SX_AGGREGATION_SGM, 4, 256, 210, SX_SEARCH_PYRAMID},
	};
	struct sx_why why = {""};

	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++) {
		const struct sx_context_config c = {
			.width = 1242,
			.height = 375,
			.params = {
				.stereo = {.cost = held[i].cost,
					   .aggregation = held[i].aggregation,
					   .paths = held[i].paths,
					   .disparities = held[i].disparities,
					   .search = held[i].search},
				.stixels = {.method = SX_STIXEL_SLANTED, .width = 4, .max_per_column = 128},
				.filters = {.left_right = 2, .speckle_size = 100, .smooth = true}}};
		const int64_t bytes = (int64_t)1242 * 375 * held[i].bytes;

		assert_true(sx_frame_cost_is_too_large(&c, 1, bytes - bytes / 16, "this machine", &why));
		assert_false(sx_frame_cost_is_too_large(&c, 1, 2 * bytes + (64 << 20), "this machine", &why));
	}
	assert_non_null(strstr(why.text, "images of 1242x375 with stereo.disparities = 256 need about "));
	assert_non_null(strstr(why.text, " MB, and this machine has "));
}

/*
 * Measured on a machine with 2 cores and 13 busy processes, engine cpu with 1 thread and 2 contexts: the prediction
 * must not be lower, even there. On usual images it is shorter than a quarter of WatchdogSec=10.
 */
static void making_contexts_takes_time(void **state)
{
	struct sx_context_config c = {
		.width = 4096,
		.height = 2160,
		.params = {.stereo = {.cost = SX_COST_CSCT, .paths = 2, .disparities = 128},
			   .stixels = {.method = SX_STIXEL_SLANTED, .width = 4, .max_per_column = 128},
			   .filters = {.left_right = 2, .speckle_size = 100, .smooth = true}}};

	assert_true(sx_frame_cost_making_ns(&c, 2) > INT64_C(12700000000));
	assert_true(sx_frame_cost_making_ns(&c, 2) > sx_frame_cost_making_ns(&c, 1));
	c.params.stereo.paths = 8;
	c.params.stereo.disparities = 256;
	assert_true(sx_frame_cost_making_ns(&c, 2) > INT64_C(48000000000));
	assert_true(sx_frame_cost_making_ns(&c, 2) < INT64_C(150000000000));
	c.width = 1242;
	c.height = 375;
	c.params.stereo.paths = 2;
	c.params.stereo.disparities = 128;
	assert_true(sx_frame_cost_making_ns(&c, 2) < LIMIT / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(predictions_are_not_too_low),
		cmocka_unit_test(making_contexts_takes_time),
		cmocka_unit_test(what_is_too_much),
		cmocka_unit_test(what_runs_may_go_on),
		cmocka_unit_test(before_anything_was_measured),
		cmocka_unit_test(large_memory_is_named),
		cmocka_unit_test(memory_is_predicted_from_above),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
