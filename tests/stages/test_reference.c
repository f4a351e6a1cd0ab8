/*
 * The reference engine as its users see it: known scenes are recovered, taps are the stages' outputs, misuse
 * is refused, and no state is left from the previous frame.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "stages/engine.h"
#include "stages/stereo/confidence.h"
#include "stages/stereo/left_right.h"
#include "stages/stereo/median.h"
#include "stages/stereo/smooth.h"
#include "stages/stereo/speckle.h"
#include "stages/stereo/winner.h"
#include "tests/check.h"
#include "tests/stages/sound_params.h"
#include <stixel.h>

static const struct sx_backend *const engine = &sx_backend_reference;

struct rig {
	struct sx_device *device;
	struct sx_context *x;
	struct check_image left, right;
	struct sx_pair pair;
};

static struct sx_context_config config_of(int width, int height)
{
	return (struct sx_context_config){.width = width,
					  .height = height,
					  .pixel = SX_PIXEL_U8,
					  .params = sound_params(),
					  .keep_volume = true};
}

static void rig_init(struct rig *g, const struct sx_context_config *c)
{
	const struct sx_engine_params p = {.backend = SX_BACKEND_REFERENCE, .contexts = 1};
	struct sx_why why = {""};

	*g = (struct rig){0};
	assert_int_equal(engine->open(&g->device, &p, &why), 0);
	if (engine->context_create(&g->x, g->device, c, &why) < 0)
		fail_msg("%s", why.text);
	check_image_init(&g->left, c->pixel, c->width, c->height, 13);
	check_image_init(&g->right, c->pixel, c->width, c->height, 0);
	g->pair = (struct sx_pair){.left = g->left.image, .right = g->right.image};
}

static void rig_finish(struct rig *g)
{
	engine->context_destroy(g->x);
	engine->close(g->device);
	check_image_finish(&g->left);
	check_image_finish(&g->right);
}

static void run(struct rig *g)
{
	assert_int_equal(engine->submit(g->x, &g->pair, NULL, NULL, NULL), 0);
	assert_int_equal(engine->wait(g->x, -1), 1);
}

static struct sx_image tap(const struct rig *g, enum sx_tap which)
{
	struct sx_image view = {0};

	assert_int_equal(engine->peek(g->x, which, &view), 0);
	return view;
}

static uint16_t at(const struct sx_image *img, int x, int y)
{
	return ((const uint16_t *)sx_image_row(img, y))[x];
}

/*
 * Returns the percentage of pixels with the disparity of a moved pair, among the pixels whose partner is in
 * view and in the shifted map (left_right.h). Disparities beyond infinity count as infinity.
 */
static int recovered_percent(const struct sx_image *map, int shift, int min_disparity)
{
	int first = 5 + (min_disparity < 0 ? shift - min_disparity : shift);
	int end = map->width - 5 + (shift < 0 ? shift : 0);
	int right = 0, all = 0, want = shift > 0 ? 16 * shift : 0;

	for (int y = 4; y < map->height - 4; y++) {
		for (int x = first; x < end; x++) {
			all++;
			right += abs(at(map, x, y) - want) <= 8;
		}
	}
	assert_true(all > 500);
	return 100 * right / all;
}

static void check_shift(int shift, int min_disparity, int paths, enum sx_cost cost,
			enum sx_aggregation aggregation)
{
	struct sx_context_config c = config_of(160, 48);
	struct check_rng r = check_rng_seed((uint64_t)(shift + 200));
	struct sx_image map;
	struct rig g;
	int percent;

	c.params.stereo.disparities = 64;
	c.params.stereo.min_disparity = min_disparity;
	c.params.stereo.paths = paths;
	c.params.stereo.cost = cost;
	c.params.stereo.aggregation = aggregation;
	rig_init(&g, &c);
	check_fill_pair(&g.left.image, &g.right.image, CHECK_NOISE, shift, 40, &r);
	run(&g);
	map = tap(&g, SX_TAP_DISPARITY);
	percent = recovered_percent(&map, shift, min_disparity);
	if (percent < 98)
		fail_msg(
			"shift %d, min_disparity %d, %d paths, cost %d, aggregation %d: only %d %% recovered",
			shift, min_disparity, paths, (int)cost, (int)aggregation, percent);
	for (int y = 0; y < map.height; y++)
		for (int x = 0; x < shift; x++)
			assert_int_not_equal(at(&map, x, y), 16 * shift); /* out of view: must differ */
	assert_true(check_guards(&g.left, "left input") && check_guards(&g.right, "right input"));
	rig_finish(&g);
}

static void shifts_are_recovered(void **state)
{
	static const int shifts[][2] = {{0, 0},	  {1, 0},   {17, 0},   {62, 0},	   {60, 40},
					{45, 40}, {0, -16}, {30, -16}, {-10, -16}, {-100, -128}};

	for (size_t i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++)
		for (int cost = SX_COST_CSCT; cost <= SX_COST_ZNCC; cost++)
			if (cost == SX_COST_ZNCC || i % 4 == (size_t)cost)
				check_shift(shifts[i][0], shifts[i][1], 2 << i % 3, (enum sx_cost)cost,
					    SX_AGGREGATION_SGM);
}

static void all_systems_recover_shifts(void **state)
{
	check_shift(17, 0, 4, SX_COST_CSCT, SX_AGGREGATION_FASTDT);
	check_shift(17, 0, 4, SX_COST_ZNCC, SX_AGGREGATION_FASTDT);
	check_shift(-10, -16, 4, SX_COST_CENSUS, SX_AGGREGATION_FASTDT);
	check_shift(45, 40, 4, SX_COST_ZNCC, SX_AGGREGATION_FASTDT);
}

/* Checks that each tap from the winner on is the output of the stage applied to the previous taps. */
static void check_taps(const struct sx_context_config *c, uint64_t seed)
{
	const struct sx_filter_params *f = &c->params.filters;
	struct check_rng rng = check_rng_seed(seed);
	struct check_image left, right, confidence;
	struct sx_image flat[2];
	struct sx_image sum, winner, winner_right, median, median_right, view;
	uint32_t *scratch = malloc(sx_speckle_scratch_bytes(c->width, c->height));
	struct rig g;

	assert_non_null(scratch);
	rig_init(&g, c);
	check_image_init(&left, SX_PIXEL_U16, c->width, c->height, 1);
	check_image_init(&right, SX_PIXEL_U16, c->width, c->height, 0);
	check_image_init(&confidence, SX_PIXEL_U8, c->width, c->height, 3);
	check_fill_pair(&g.left.image, &g.right.image, (enum check_fill)(seed % CHECK_FILL_COUNT), 9, 3,
			&rng);
	run(&g);
	sum = tap(&g, SX_TAP_SUM);
	winner = tap(&g, SX_TAP_WINNER);
	winner_right = tap(&g, SX_TAP_WINNER_RIGHT);
	sx_winner(&sum, &left.image, &right.image, &confidence.image, &c->params.stereo);
	assert_true(check_same("tap winner", seed, &left.image, &winner, 0));
	assert_true(check_same("tap right winner", seed, &right.image, &winner_right, 0));
	if (f->median) {
		sx_median(&winner, &left.image, f->median_border);
		sx_median(&winner_right, &right.image, f->median_border);
	}
	median = tap(&g, SX_TAP_MEDIAN);
	median_right = tap(&g, SX_TAP_MEDIAN_RIGHT);
	assert_true(check_same("tap median", seed, &left.image, &median, 0));
	assert_true(check_same("tap right median", seed, &right.image, &median_right, 0));
	sx_left_right(&median, &median_right, &left.image, f, &c->params.stereo);
	flat[0] = tap(&g, SX_TAP_LEFT_FLAT);
	flat[1] = tap(&g, SX_TAP_RIGHT_FLAT);
	sx_left_right_hide_flat(&median, flat, &left.image, c->params.stereo.min_disparity, 0, c->height);
	view = tap(&g, SX_TAP_LEFT_RIGHT);
	assert_true(check_same("tap left-right", seed, &left.image, &view, 0));
	sx_speckle(&left.image, f, scratch);
	view = tap(&g, SX_TAP_SPECKLE);
	assert_true(check_same("tap speckle", seed, &left.image, &view, 0));
	if (f->smooth)
		sx_smooth(&view, &left.image);
	view = tap(&g, SX_TAP_DISPARITY);
	assert_true(check_same("tap disparity", seed, &left.image, &view, 0));
	sx_confidence(&left.image, &confidence.image);
	view = tap(&g, SX_TAP_CONFIDENCE);
	assert_true(check_same("tap confidence", seed, &confidence.image, &view, 0));
	check_image_finish(&left);
	check_image_finish(&right);
	check_image_finish(&confidence);
	free(scratch);
	rig_finish(&g);
}

static void taps_are_the_stages(void **state)
{
	struct sx_context_config c = config_of(67, 41);

	for (uint64_t seed = 0; seed < 12; seed++) {
		c.params.stereo.disparities = seed % 2 ? 96 : 32;
		c.params.stereo.min_disparity = (int)(seed % 3) * 10 - 10;
		c.params.filters = (struct sx_filter_params){.median = seed % 4 != 3,
							     .median_border = seed % 5 == 0,
							     .left_right = (int)(seed % 4) - 1,
							     .left_right_keep = seed % 2,
							     .speckle_size = seed % 3 ? 20 : 0,
							     .speckle_range = 1,
							     .smooth = seed % 3 != 1};
		check_taps(&c, seed);
	}
}

struct copy {
	struct check_image maps[SX_TAP_COUNT];
	struct stixel *stixels;
	uint32_t count;
};

static void copy_frame(const struct rig *g, struct copy *c)
{
	const struct sx_result *r = engine->result(g->x);

	for (int t = 0; t < SX_TAP_COUNT; t++) {
		struct sx_image view;

		if (engine->peek(g->x, t, &view) < 0)
			continue; /* only pyramid search has tiles */
		check_image_init(&c->maps[t], view.pixel, view.width, view.height, 0);
		check_copy(&view, &c->maps[t].image);
	}
	c->count = r->count;
	c->stixels = malloc((r->count + 1) * sizeof(*c->stixels));
	assert_non_null(c->stixels);
	memcpy(c->stixels, r->stixels, r->count * sizeof(*c->stixels));
}

static void expect_frame(const struct rig *g, struct copy *c)
{
	const struct sx_result *r = engine->result(g->x);

	for (int t = 0; t < SX_TAP_COUNT; t++) {
		struct sx_image view;

		if (engine->peek(g->x, t, &view) < 0)
			continue;
		assert_true(check_same("tap again", (uint64_t)t, &c->maps[t].image, &view, 0));
		check_image_finish(&c->maps[t]);
	}
	assert_int_equal(r->count, c->count);
	assert_memory_equal(r->stixels, c->stixels, c->count * sizeof(*c->stixels));
	free(c->stixels);
}

/* The same pair gives the same bytes after a very different pair, with either segmentation method. */
static void nothing_is_left_of_the_frame_before(void **state)
{
	for (int method = 0; method < 3; method++) {
		struct sx_context_config c = config_of(90, 50);
		struct check_rng r = check_rng_seed(8);
		struct rig g, other;
		struct copy first;

		c.params.stixels.method = method == 1 ? SX_STIXEL_RDP : SX_STIXEL_DP;
		c.params.stereo.search = method == 2 ? SX_SEARCH_PYRAMID : SX_SEARCH_FULL;
		c.params.filters.speckle_size = 10;
		rig_init(&g, &c);
		rig_init(&other, &c);
		check_fill_pair(&g.left.image, &g.right.image, CHECK_STEPS, 12, 30, &r);
		run(&g);
		copy_frame(&g, &first);
		check_fill_pair(&other.left.image, &other.right.image, CHECK_NOISE, 3, 2, &r);
		assert_int_equal(engine->submit(g.x, &other.pair, NULL, NULL, NULL), 0);
		assert_int_equal(engine->wait(g.x, 0), 1);
		run(&g);
		expect_frame(&g, &first);
		rig_finish(&other);
		rig_finish(&g);
	}
}

static void columns_are_covered(void **state)
{
	struct sx_context_config c = config_of(83, 61);
	struct check_rng r = check_rng_seed(2);
	const struct sx_result *result;
	struct rig g;

	rig_init(&g, &c);
	check_fill_pair(&g.left.image, &g.right.image, CHECK_NOISE, 20, 10, &r);
	run(&g);
	result = engine->result(g.x);
	assert_int_equal(result->columns, 16);
	assert_int_equal(result->offsets[0], 0);
	assert_int_equal(result->offsets[16], result->count);
	for (uint32_t u = 0; u < 16; u++) {
		int next = 60; /* bottom row of the next stixel, counted upwards */

		for (uint32_t i = result->offsets[u]; i < result->offsets[u + 1]; i++) {
			assert_int_equal(result->stixels[i].column, u);
			assert_int_equal(result->stixels[i].row_bottom, next);
			next = result->stixels[i].row_top - 1;
		}
		assert_int_equal(next, -1);
	}
	assert_true(result->finished_ns > result->started_ns);
	for (int s = 0; s < SX_STAGE_COUNT; s++)
		assert_true(result->stage_ns[s] >= 0 && sx_stage_name(s, &c.params.stereo)[0]);
	assert_true(result->stage_ns[SX_STAGE_AGGREGATE] > 0);
	rig_finish(&g);
}

static int readable(const struct rig *g)
{
	struct pollfd p = {engine->event_fd(g->x), POLLIN, 0};

	return poll(&p, 1, 0);
}

static void misuse_is_refused(void **state)
{
	struct sx_context_config c = config_of(64, 40);
	struct sx_pair wrong;
	struct rig g;

	rig_init(&g, &c);
	check_fill_pair(&g.left.image, &g.right.image, CHECK_FLAT, 0, 0, &(struct check_rng){1});
	assert_int_equal(engine->wait(g.x, -1), -ENODATA);
	wrong = g.pair;
	wrong.right.width--;
	assert_int_equal(engine->submit(g.x, &wrong, NULL, NULL, NULL), -EINVAL);
	wrong = g.pair;
	wrong.left.pixel = wrong.right.pixel = SX_PIXEL_Y16;
	assert_int_equal(engine->submit(g.x, &wrong, NULL, NULL, NULL), -EINVAL);
	wrong = g.pair;
	wrong.left.pitch = 63;
	assert_int_equal(engine->submit(g.x, &wrong, NULL, NULL, NULL), -EINVAL);
	assert_int_equal(readable(&g), 0);
	assert_int_equal(engine->submit(g.x, &g.pair, NULL, NULL, NULL), 0);
	assert_int_equal(readable(&g), 1);
	assert_int_equal(engine->submit(g.x, &g.pair, NULL, NULL, NULL), -EBUSY);
	assert_int_equal(engine->wait(g.x, 0), 1);
	assert_int_equal(readable(&g), 0);
	assert_int_equal(engine->wait(g.x, 0), -ENODATA);
	run(&g);
	rig_finish(&g);
}

static void contexts_are_checked_and_counted(void **state)
{
	const struct sx_engine_params p = {.contexts = 1};
	struct sx_context_config c = config_of(64, 40);
	struct sx_context *a = NULL, *b = NULL;
	struct sx_device *d;
	struct sx_why why = {""};
	size_t empty, one;

	assert_int_equal(engine->open(&d, &p, &why), 0);
	assert_non_null(engine->describe(d));
	empty = engine->memory(d);
	assert_int_equal(engine->context_create(&a, d, &c, &why), 0);
	one = engine->memory(d) - empty;
	assert_true(one > (size_t)64 * 40 * 128 * 2); /* the size of S alone */
	assert_int_equal(engine->context_create(&b, d, &c, &why), 0);
	assert_int_equal(engine->memory(d), empty + 2 * one);
	assert_int_equal(engine->context_memory(a), one);
	engine->context_destroy(a);
	engine->context_destroy(b);
	assert_int_equal(engine->memory(d), empty);
	a = NULL;
	c = config_of(31, 40);
	assert_int_equal(engine->context_create(&a, d, &c, &why), -EINVAL);
	assert_non_null(strstr(why.text, "31x40"));
	assert_null(a);
	engine->context_destroy(NULL);
	engine->close(d);
	engine->close(NULL);
}

static void raw_formats_give_the_same_map(void **state)
{
	struct sx_context_config c = config_of(80, 40);
	struct check_rng r = check_rng_seed(4);
	struct sx_image grey, from_y16;
	struct rig g, y16;

	rig_init(&g, &c);
	c.pixel = SX_PIXEL_Y16;
	rig_init(&y16, &c);
	check_fill_pair(&g.left.image, &g.right.image, CHECK_NOISE, 7, 5, &r);
	/* Two rows of extreme values make the range the full one, so that 257 v becomes v again. */
	memset(sx_image_row(&g.left.image, 0), 0, 80);
	memset(sx_image_row(&g.right.image, 0), 255, 80);
	for (int y = 0; y < 40; y++) {
		for (int x = 0; x < 80; x++) {
			uint8_t l = ((uint8_t *)sx_image_row(&g.left.image, y))[x];
			uint8_t rt = ((uint8_t *)sx_image_row(&g.right.image, y))[x];

			((uint16_t *)sx_image_row(&y16.left.image, y))[x] = (uint16_t)(257 * l);
			((uint16_t *)sx_image_row(&y16.right.image, y))[x] = (uint16_t)(257 * rt);
		}
	}
	run(&g);
	run(&y16);
	grey = tap(&g, SX_TAP_DISPARITY);
	from_y16 = tap(&y16, SX_TAP_DISPARITY);
	assert_true(check_same("disparity of y16", 4, &grey, &from_y16, 0));
	rig_finish(&g);
	rig_finish(&y16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shifts_are_recovered),
		cmocka_unit_test(all_systems_recover_shifts),
		cmocka_unit_test(taps_are_the_stages),
		cmocka_unit_test(nothing_is_left_of_the_frame_before),
		cmocka_unit_test(columns_are_covered),
		cmocka_unit_test(misuse_is_refused),
		cmocka_unit_test(contexts_are_checked_and_counted),
		cmocka_unit_test(raw_formats_give_the_same_map),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
