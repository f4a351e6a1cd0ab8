/*
 * engine.volume on emulated devices: the flow that path costs take. The sentence about the flow must be true.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/host/engine_priv.h"
#include "tests/check.h"
#include "tests/emulated.h"
#include "tests/stixel_case.h"

/* Large enough that sequential work does not decide. */
enum { WIDTH = 256, HEIGHT = 128 };

static const struct sx_engine_params one_context = {.backend = SX_BACKEND_CUDA, .contexts = 1};

static struct sx_context_config usual(int width, int height)
{
	struct sx_context_config c = {.width = width, .height = height, .pixel = SX_PIXEL_U8};

	c.params = stixel_case_params(height);
	c.params.stereo = (struct sx_stereo_params){
		.cost = SX_COST_CSCT, .paths = 4, .disparities = 128, .uniqueness = 95};
	return c;
}

/*
 * Creates a context with these settings on a device. Checks that the sentence about its flow begins as
 * required and has these words, and that the moved bytes of a frame fit this flow.
 */
static void assert_moves(const char *device, enum sx_volume_choice asked, const struct sx_context_config *c,
			 double least, double most, const char *words)
{
	const double cells = (double)c->width * c->height * c->params.stereo.disparities;
	struct sx_engine_params p = one_context;
	struct sx_device *d = NULL;
	struct sx_context *x = NULL;
	struct sx_why why_not = {""};
	const char *why;
	double moved;

	setenv("SX_EMULATE_DEVICE", device, 1);
	p.volume = asked;
	if (sx_backend_cuda.open(&d, &p, &why_not) < 0 ||
	    sx_backend_cuda.context_create(&x, d, c, &why_not) < 0)
		fail_msg("%s: %s", device, why_not.text);
	why = sx_backend_cuda.volume(x);
	moved = (double)sx_backend_cuda.traffic(x) / cells;
	if (!strstr(why, words) || strncmp(why, "engine.volume = ", 16) != 0)
		fail_msg("%s: '%s' does not say '%s'", device, why, words);
	if (moved < least || moved > most)
		fail_msg("%s: '%s', but %.1f bytes a cell are moved", device, why, moved);
	sx_backend_cuda.context_destroy(x);
	sx_backend_cuda.close(d);
	unsetenv("SX_EMULATE_DEVICE");
}

static void assert_volume(const char *device, enum sx_volume_choice asked, const struct sx_context_config *c,
			  bool checkpoint, const char *words)
{
	const double most = 1.75 * c->params.stereo.paths; /* upper limit of checkpoint, bytes per cell */

	assert_moves(device, asked, c, checkpoint ? 0 : 1.5 * most, checkpoint ? most : 100, words);
}

/* Checks the recomputing flow: it moves only path costs, written and read, four of them, and descriptors. */
static void assert_recompute(const char *device, enum sx_volume_choice asked,
			     const struct sx_context_config *c, const char *words)
{
	assert_moves(device, asked, c, 8, 10, words);
}

#define H200 "integrated=0,sms=132,cc=90"

static void test_choice(void **state)
{
	static const char *const boards[] = {
		"integrated=1,cc=87,sms=8,clock=918000",
		"integrated=1,cc=72,sms=6,clock=1100000",
		"integrated=1,cc=101,sms=20,clock=1575000",
	};
	struct sx_context_config c = usual(WIDTH, HEIGHT);

	/* the first frame of each context takes a second with sanitizers, which need every flow only once */
	for (size_t i = 0; i < (IS_SLOW ? 1 : sizeof(boards) / sizeof(boards[0])); i++)
		assert_volume(boards[i], SX_VOLUME_AUTO, &c, true, "auto: checkpoint, predicted ");
	/* a whole GPU, which is limited by memory, and a slice of one, which is not */
	assert_recompute(H200, SX_VOLUME_AUTO, &c, "auto: counted, predicted ");
	assert_volume("integrated=0,sms=16,cc=90", SX_VOLUME_AUTO, &c, false, "auto: stored, predicted ");
	if (IS_SLOW)
		return;
	/* a discrete GPU with the memory bandwidth of an embedded board */
	assert_volume("integrated=0,sms=24,cc=89,clock=2500000,memory_clock=5000000,bus=64", SX_VOLUME_AUTO,
		      &c, true, "auto: checkpoint, predicted ");
}

static void test_without_prediction(void **state)
{
	static const char jetson[] = "integrated=1,cc=87,sms=8,clock=918000";
	struct sx_context_config c = usual(40, 36);

	/* a GPU without known figures */
	assert_volume("integrated=1,sms=14,cc=87", SX_VOLUME_AUTO, &c, true, "no figures of this GPU");
	assert_volume("integrated=0,sms=24,cc=89,memory_clock=0", SX_VOLUME_AUTO, &c, false,
		      "no figures of this GPU");
	/* explicit settings */
	assert_volume(jetson, SX_VOLUME_STORED, &c, false, "= stored");
	assert_volume(H200, SX_VOLUME_CHECKPOINT, &c, true, "= checkpoint");
	assert_recompute(H200, SX_VOLUME_RECOMPUTE, &c, "= counted");
	assert_recompute("integrated=0,sms=24,cc=89,memory_clock=0", SX_VOLUME_RECOMPUTE, &c, "= counted");
	assert_volume("integrated=1,cc=110,sms=20,clock=1575000", SX_VOLUME_RECOMPUTE, &c, false,
		      "counted: stored, as counted is for GPUs that multiply bits");
	/* settings that a flow does not support */
	c.params.stereo.disparities = 192;
	assert_volume(jetson, SX_VOLUME_AUTO, &c, true,
		      "integrated; not predicted (stereo.disparities = 192");
	assert_volume(H200, SX_VOLUME_AUTO, &c, false, "a card; not predicted (stereo.disparities = 192");
	c.params.stereo.disparities = 96;
	assert_volume(jetson, SX_VOLUME_AUTO, &c, true, "integrated; not predicted (stereo.disparities = 96");
	c.params.stereo.disparities = 64;
	c.params.stereo.paths = 8;
	assert_volume(H200, SX_VOLUME_CHECKPOINT, &c, true, "= checkpoint");
	assert_volume(jetson, SX_VOLUME_AUTO, &c, true, "integrated; not predicted (stereo.paths = 8");
}

/*
 * If an explicitly selected flow does not support the settings, the stored flow is used, and the sentence
 * says so.
 */
static void test_refused(void **state)
{
	static const struct {
		enum sx_volume_choice asked;
		enum sx_cost cost;
		int paths, p2_vertical;
		const char *words;
	} cases[] = {
		{SX_VOLUME_CHECKPOINT, SX_COST_CENSUS, 4, 0,
		 "checkpoint: stored, as checkpoint is for stereo.cost = csct"},
		{SX_VOLUME_CHECKPOINT, SX_COST_CSCT, 4, 97, "stored, as checkpoint is for P2 up to 96"},
		{SX_VOLUME_CHECKPOINT, SX_COST_CSCT, 8, 97, "stored, as checkpoint is for P2 up to 96"},
		{SX_VOLUME_RECOMPUTE, SX_COST_CENSUS, 4, 0,
		 "counted: stored, as counted is for stereo.cost = csct"},
		{SX_VOLUME_RECOMPUTE, SX_COST_CSCT, 8, 0, "stored, as counted is for stereo.paths = 2 or 4"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sx_context_config c = usual(40, 36);

		c.params.stereo.disparities = 64;
		c.params.stereo.cost = cases[i].cost;
		c.params.stereo.paths = cases[i].paths;
		c.params.stereo.p2_vertical = cases[i].p2_vertical;
		assert_volume(H200, cases[i].asked, &c, false, cases[i].words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_without_prediction),
		cmocka_unit_test(test_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
