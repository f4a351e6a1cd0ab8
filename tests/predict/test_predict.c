/*
 * Predictions: the table against the slices to which it was fitted, boards and their names, choices, and
 * unsupported settings.
 *
 *   test_predict SLICES.csv   as tests/lab/work/slices.csv
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "predict/predict.h"

static const char *slices;

/* Returns an H200, or a slice of it, with the figures of tests/lab/work/count_work.py. */
static struct sx_predict_device slice_of(int sms)
{
	return (struct sx_predict_device){90, sms, 1.98e9, 4.8e12, true};
}

/* Returns the defaults of the configuration, resolved. */
static struct sx_params defaults(void)
{
	struct sx_settings s;
	struct sx_params p;

	assert_int_equal(sx_settings_init(&s), 0);
	p = s.params;
	sx_settings_finish(&s);
	sx_stereo_resolve(&p.stereo);
	return p;
}

struct slice {
	int width, height, disparities, speckle, sms;
	enum sx_volume_choice flow;
	double chain_ms;
};

/* Reads one row. Returns false if the line is not a row of figures. */
static bool read_slice(const char *line, struct slice *s)
{
	char flow[16];

	if (sscanf(line, "%dx%d,%d,%d,%15[^,],%d,%lf", &s->width, &s->height, &s->disparities, &s->speckle,
		   flow, &s->sms, &s->chain_ms) != 7)
		return false;
	s->flow = strcmp(flow, "stored") == 0 ? SX_VOLUME_STORED : SX_VOLUME_CHECKPOINT;
	return true;
}

/*
 * The stated error is correct, by the formula of this code and not only of the script. The sizes here are the
 * fitted ones, so the error is smaller than the stated one, apart from rounding.
 */
static void test_slices(void **state)
{
	FILE *f = fopen(slices, "r");
	int rows = 0;
	char line[256];
	struct slice s;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		struct sx_params p = defaults();
		struct sx_predict_device d;
		struct sx_prediction got;
		double off;

		if (!read_slice(line, &s) || s.sms > 24)
			continue;
		p.stereo.disparities = s.disparities;
		p.filters.speckle_size = s.speckle ? 100 : 0;
		d = slice_of(s.sms);
		sx_predict(&got, &d, &(struct sx_predict_case){&p, s.width, s.height}, s.flow);
		assert_int_equal(got.volume, s.flow);
		assert_non_null(got.chain);
		off = 100 * (got.chain_ms / s.chain_ms - 1);
		if (off < got.chain->off[0] - 2 || off > got.chain->off[1] + 2)
			fail_msg("%.40s: %.3f ms, %+.1f %%: %+d to %+d is told", line, got.chain_ms, off,
				 got.chain->off[0], got.chain->off[1]);
		assert_true(got.chain->off[1] - got.chain->off[0] < 30);
		rows++;
	}
	fclose(f);
	assert_true(rows >= 24);
}

static enum sx_volume_choice choice(const struct sx_predict_device *d, const struct sx_params *p, int width,
				    int height, struct sx_why *why)
{
	const struct sx_predict_case c = {p, width, height};

	return sx_predict_volume(d, !d->copies, &c, SX_VOLUME_AUTO, why);
}

/*
 * Choices as measured with D = 128: on slices of an H200 `stored` is faster, on a whole H200 `counted`. On
 * every embedded board `checkpoint` would be faster.
 */
static void test_volume(void **state)
{
	static const int sizes[][4] = {{1242, 375, 128, 1},
				       {1024, 440, 128, 1},
				       {2048, 1024, 128, 1},
				       {960, 540, 128, 1},
				       {960, 540, 64, 0}};
	struct sx_params p = defaults();
	struct sx_why why;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		p.stereo.disparities = sizes[i][2];
		for (int sms = 8; sms <= 132; sms += sms < 24 ? 8 : 108) {
			const struct sx_predict_device d = slice_of(sms);

			const bool counted = sms == 132 && sizes[i][3];

			assert_int_equal(choice(&d, &p, sizes[i][0], sizes[i][1], &why),
					 counted ? SX_VOLUME_RECOMPUTE : SX_VOLUME_STORED);
			assert_non_null(
				strstr(why.text, counted ? "engine.volume = auto: counted, predicted "
							 : "engine.volume = auto: stored, predicted "));
			assert_non_null(strstr(why.text, "checkpoint"));
		}
		for (int b = 0; b < sx_predict_board_count; b++)
			assert_int_equal(
				choice(&sx_predict_boards[b].device, &p, sizes[i][0], sizes[i][1], &why),
				SX_VOLUME_CHECKPOINT);
	}
}

/* One case for each row of the table of rules, in the table's order. */
static void test_rules(void **state)
{
	static const struct sx_predict_device card = {90, 132, 1.98e9, 4.8e12, true};
	static const struct sx_predict_device slice = {90, 16, 1.98e9, 4.8e12, true};
	static const struct sx_predict_device slow = {89, 24, 2.5e9, 80e9, true};
	static const struct sx_predict_device thor = {110, 20, 1.57e9, 273e9, false}, unknown = {90, 8};
	static const struct {
		enum sx_volume_choice asked;
		const struct sx_predict_device *device;
		bool integrated;
		enum sx_cost cost;
		enum sx_volume_choice flow;
		const char *words;
	} cases[] = {
		{SX_VOLUME_STORED, &thor, true, SX_COST_CSCT, SX_VOLUME_STORED, "= stored"},
		{SX_VOLUME_RECOMPUTE, &thor, true, SX_COST_CSCT, SX_VOLUME_STORED,
		 "= counted: stored, as counted is for GPUs that multiply bits"},
		{SX_VOLUME_RECOMPUTE, &card, false, SX_COST_CSCT, SX_VOLUME_RECOMPUTE, "= counted"},
		{SX_VOLUME_CHECKPOINT, &card, false, SX_COST_CENSUS, SX_VOLUME_STORED,
		 "= checkpoint: stored, as checkpoint is for stereo.cost"},
		{SX_VOLUME_CHECKPOINT, &card, false, SX_COST_CSCT, SX_VOLUME_CHECKPOINT, "= checkpoint"},
		{SX_VOLUME_AUTO, &thor, true, SX_COST_CENSUS, SX_VOLUME_STORED,
		 "= auto: stored, as checkpoint is for stereo.cost"},
		{SX_VOLUME_AUTO, &unknown, true, SX_COST_CSCT, SX_VOLUME_CHECKPOINT,
		 "= auto: checkpoint, as the GPU is integrated; not predicted (no figures of this GPU)"},
		{SX_VOLUME_AUTO, &unknown, false, SX_COST_CSCT, SX_VOLUME_STORED,
		 "= auto: stored, as the GPU is a card; not predicted (no figures of this GPU)"},
		{SX_VOLUME_AUTO, &slow, false, SX_COST_CSCT, SX_VOLUME_CHECKPOINT,
		 "= auto: checkpoint, predicted "},
		{SX_VOLUME_AUTO, &card, false, SX_COST_CSCT, SX_VOLUME_RECOMPUTE,
		 "= auto: counted, predicted "},
		{SX_VOLUME_AUTO, &slice, false, SX_COST_CSCT, SX_VOLUME_STORED, "= auto: stored, predicted "},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sx_params p = defaults();
		const struct sx_predict_case c = {&p, 1242, 375};
		struct sx_why why;

		p.stereo.cost = cases[i].cost;
		assert_int_equal(
			sx_predict_volume(cases[i].device, cases[i].integrated, &c, cases[i].asked, &why),
			cases[i].flow);
		if (!strstr(why.text, cases[i].words) || strncmp(why.text, "engine.volume = ", 16) != 0)
			fail_msg("case %zu: '%s' does not say '%s'", i, why.text, cases[i].words);
	}
}

/* A device that is slower in one respect takes longer, and the stage names the limiting resource. */
static void test_bounds(void **state)
{
	struct sx_params p = defaults();
	const struct sx_predict_case c = {&p, 1242, 375};
	const struct sx_predict_device d = sx_predict_board_find("agx-orin")->device;
	struct sx_predict_device slow = d;
	struct sx_prediction want, got;

	sx_predict(&want, &d, &c, SX_VOLUME_STORED);
	assert_int_equal(want.stage[SX_STAGE_AGGREGATE].bound, SX_BOUND_BYTES);
	slow.bytes_per_s /= 2;
	sx_predict(&got, &slow, &c, SX_VOLUME_STORED);
	assert_true(fabs(got.stage[SX_STAGE_AGGREGATE].ms / want.stage[SX_STAGE_AGGREGATE].ms - 2) < 1e-6);
	sx_predict(&want, &d, &c, SX_VOLUME_CHECKPOINT);
	assert_int_equal(want.stage[SX_STAGE_AGGREGATE].bound, SX_BOUND_ISSUE);
	slow = d;
	slow.clock_hz /= 2;
	sx_predict(&got, &slow, &c, SX_VOLUME_CHECKPOINT);
	assert_true(fabs(got.stage[SX_STAGE_AGGREGATE].ms / want.stage[SX_STAGE_AGGREGATE].ms - 2) < 1e-6);
	assert_true(got.chain_ms < 2 * want.chain_ms); /* the host's share stays the same */
	slow = d;
	slow.sms = 1000000;
	sx_predict(&got, &slow, &c, SX_VOLUME_CHECKPOINT);
	assert_int_equal(got.stage[SX_STAGE_ROAD].bound, SX_BOUND_FLOOR);
	assert_true(got.stage[SX_STAGE_ROAD].ms == want.stage[SX_STAGE_ROAD].ms);
	/* sm_110 has no product of bits */
	slow = d;
	slow.capability = 110;
	sx_predict(&got, &slow, &c, SX_VOLUME_CHECKPOINT);
	assert_true(got.stage[SX_STAGE_AGGREGATE].issue_ms > 1.05 * want.stage[SX_STAGE_AGGREGATE].issue_ms);
}

static void assert_missing(const struct sx_params *p, const char *words, enum sx_stage unknown)
{
	const struct sx_predict_case c = {p, 640, 480};
	const struct sx_predict_device *d = &sx_predict_board_find("orin-nx")->device;
	struct sx_prediction got;
	struct sx_why why;

	sx_predict(&got, d, &c, sx_predict_volume(d, true, &c, SX_VOLUME_AUTO, &why));
	if (!strstr(got.missing, words))
		fail_msg("'%s' does not say '%s'", got.missing, words);
	assert_true(isnan(got.chain_ms));
	assert_null(got.chain);
	assert_true(isnan(got.stage[unknown].ms));
	assert_false(isnan(got.stage[SX_STAGE_COMPACT].ms));
}

static void test_missing(void **state)
{
	struct sx_params p = defaults();

	p.stereo.paths = 8;
	assert_missing(&p, "stereo.paths = 8: counted for 4", SX_STAGE_WINNER);
	p = defaults();
	p.stereo.disparities = 192;
	assert_missing(&p, "stereo.disparities = 192: counted for 64 and 128", SX_STAGE_AGGREGATE);
	p = defaults();
	p.stereo.cost = SX_COST_ZNCC;
	assert_missing(&p, "stereo.cost = zncc", SX_STAGE_CENSUS);
	p = defaults();
	p.stereo.aggregation = SX_AGGREGATION_FASTDT;
	assert_missing(&p, "stereo.aggregation = fastdt", SX_STAGE_AGGREGATE);
	p = defaults();
	p.stereo.p2_edge = 10;
	assert_missing(&p, "stereo.p2_edge = 10", SX_STAGE_AGGREGATE);
	p = defaults();
	p.stereo.p2 = p.stereo.p2_vertical = 95;
	assert_missing(&p, "sums of paths up to 504", SX_STAGE_WINNER);
	p = defaults();
	p.filters.median = true;
	assert_missing(&p, "filters.median = yes", SX_STAGE_MEDIAN);
	p = defaults();
	p.road.mode = SX_ROAD_CALIBRATED;
	assert_missing(&p, "road.mode = calibrated", SX_STAGE_ROAD);
	p = defaults();
	p.stixels.method = SX_STIXEL_DP;
	assert_missing(&p, "stixels.method = dp", SX_STAGE_SEGMENT);
	p = defaults();
	p.stixels.cell_height = 8;
	assert_missing(&p, "cells of 4x8", SX_STAGE_REDUCE);
	p = defaults();
	p.semantics.classes = 3;
	assert_missing(&p, "class scores", SX_STAGE_SEGMENT);
}

static void assert_model(const char *model, double hz, const char *name)
{
	const struct sx_predict_board *b = sx_predict_board_of_model(model, hz);

	if (!b || strcmp(b->name, name) != 0)
		fail_msg("%s is %s, not %s", model, b ? b->name : "nothing", name);
}

/* Model names as in device trees: tests/power/tree.c. */
static void test_boards(void **state)
{
	const struct sx_predict_board *b;

	for (int i = 0; i < sx_predict_board_count; i++) {
		b = &sx_predict_boards[i];
		assert_ptr_equal(sx_predict_board_find(b->name), b);
		assert_ptr_equal(
			sx_predict_board_of_gpu(b->device.capability, b->device.sms, b->device.clock_hz), b);
	}
	assert_null(sx_predict_board_find("nano"));
	assert_null(sx_predict_board_of_gpu(87, 14, 0.93e9));
	assert_null(sx_predict_board_of_gpu(90, 8, 1e9));
	assert_model("Jetson-AGX", 0, "xavier");
	assert_model("NVIDIA Jetson AGX Xavier Developer Kit", 0, "xavier");
	assert_model("NVIDIA Jetson Xavier NX Developer Kit", 1.1e9, "xavier-nx");
	assert_model("NVIDIA Jetson Orin Nano Developer Kit", 0, "orin-nano");
	assert_model("NVIDIA Jetson Orin Nano Developer Kit", 0.6e9, "orin-nano");
	assert_model("NVIDIA Jetson Orin Nano Engineering Reference Developer Kit Super", 1.02e9,
		     "orin-nano-super");
	assert_model("NVIDIA Jetson Orin NX Engineering Reference Developer Kit", 0.9e9, "orin-nx");
	assert_model("NVIDIA Jetson Orin NX Engineering Reference Developer Kit", 1.2e9, "orin-nx-super");
	assert_model("Jetson AGX Orin Developer Kit", 1.3005e9, "agx-orin");
	assert_model("NVIDIA Jetson AGX Thor Developer Kit", 1.57e9, "thor");
	assert_null(sx_predict_board_of_model("NVIDIA Jetson Nano Developer Kit", 0));
	assert_null(sx_predict_board_of_model("", 0));
}

/*
 * A power mode lowers the clock, but never sets it above the table's clock. A device with fewer
 * multiprocessors is another device.
 */
static void test_device_of_model(void **state)
{
	static const char nx[] = "NVIDIA Jetson Orin NX Engineering Reference Developer Kit";
	struct sx_predict_device d;
	const char *title;

	assert_true(sx_predict_device_of_model(nx, 0.612e9, 8, &d, &title));
	assert_true(d.clock_hz == 0.612e9 && d.sms == 8);
	assert_string_equal(title, "Jetson Orin NX 16 GB");
	assert_true(sx_predict_device_of_model(nx, 2e9, 0, &d, &title));
	assert_true(d.clock_hz == sx_predict_board_find("orin-nx-super")->device.clock_hz);
	assert_true(sx_predict_device_of_model(nx, 0, 0, &d, &title));
	assert_true(d.clock_hz == sx_predict_board_find("orin-nx")->device.clock_hz);
	assert_false(sx_predict_device_of_model(nx, 0.612e9, 4, &d, &title));
	assert_false(sx_predict_device_of_model("PC", 1e9, 8, &d, &title));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slices), cmocka_unit_test(test_volume),
		cmocka_unit_test(test_bounds), cmocka_unit_test(test_missing),
		cmocka_unit_test(test_boards), cmocka_unit_test(test_device_of_model),
		cmocka_unit_test(test_rules),
	};

	if (argc != 2)
		return 2;
	slices = argv[1];
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
