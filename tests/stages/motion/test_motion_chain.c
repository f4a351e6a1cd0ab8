/*
 * The chain of motion: which frame each frame is measured against, and what is remembered.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "stages/motion/filter/chain.h"
#include "stages/motion/step.h"
#include "stages/motion/view.h"
#include "tests/check.h"

#define MS INT64_C(1000000)
#define SIZE 24

/* Stands in for the stages: writes the number of the frame into its view, and notes its arguments. */
struct calls {
	int now, before; /* numbers; before -1: none */
	bool expected;
	struct sx_motion_range prior;
	double seconds;
	struct sx_motion_ego says; /* outcome of the next call */
};

static void take_view(void *arg, struct sx_motion_view *view, const struct sx_image *grey,
		      const struct sx_image *disparity)
{
	const struct calls *c = arg;

	(void)grey;
	(void)disparity;
	*(uint32_t *)sx_image_row(&view->census, 0) = (uint32_t)c->now;
}

static void take_pair(void *arg, struct sx_motion_pair *pair, const struct sx_motion_frame *now,
		      const struct sx_motion_view *before, const struct sx_motion_step *expected,
		      const struct sx_motion_range *prior)
{
	struct calls *c = arg;

	assert_int_equal(*(const uint32_t *)sx_image_row(&now->view->census, 0), c->now);
	c->before = before ? (int)*(const uint32_t *)sx_image_row(&before->census, 0) : -1;
	c->expected = expected != NULL;
	c->prior = *prior;
	c->seconds = now->seconds;
	pair->ego = c->says;
}

struct rig {
	struct sx_motion_chain chain;
	struct sx_motion_found found;
	struct calls calls;
	int64_t times[2000];
	const struct stixel *stixels; /* of the next frames: one, or NULL */
};

static void rig_init(struct rig *g, bool filters)
{
	const struct sx_camera camera = {.fx = 100, .fy = 100, .cx = 12, .cy = 12, .baseline_m = 0.1};

	memset(g, 0, sizeof(*g));
	assert_int_equal(sx_motion_chain_init(&g->chain, &camera, SIZE, SIZE, 10, filters), 0);
	assert_int_equal(sx_motion_found_init(&g->found, &camera, SIZE, SIZE, 10), 0);
	assert_true(sx_motion_chain_bytes(&g->chain) >= (size_t)(4 * SIZE * SIZE * 8));
	g->calls.says.step = sx_motion_no_step();
	g->calls.says.verdict = SX_MOTION_STEP_FIRST;
}

static void rig_finish(struct rig *g)
{
	for (int i = 0; i < 2; i++) { /* a second time nothing is left */
		sx_motion_chain_finish(&g->chain);
		sx_motion_found_finish(&g->found);
	}
}

/* Runs frame n at a time, and returns its age difference to the frame before, ns; 0: none. */
static int64_t run(struct rig *g, int n, int64_t time_ns)
{
	const struct sx_motion_by by = {&g->calls,
					take_view,
					take_pair,
					sx_motion_by_reference.find,
					sx_motion_by_reference.group,
					sx_motion_by_reference.each};
	const struct sx_motion_input in = {
		.captured_ns = time_ns, .stixels = g->stixels, .stixel_count = g->stixels ? 1 : 0};

	g->calls.now = n;
	g->times[n] = time_ns;
	sx_motion_chain_run(&g->chain, &by, &in, &g->found);
	assert_int_equal(g->found.pair.span_ns,
			 g->calls.before < 0 ? 0 : time_ns - g->times[g->calls.before]);
	assert_true(g->calls.seconds == (double)g->found.pair.span_ns / 1e9);
	return g->found.pair.span_ns;
}

/* At every rate from 7 to 400 frames per second, with jitter, a frame about 0.1 s older is found. */
static void any_frame_rate(void **state)
{
	struct check_rng r = check_rng_seed(1);
	struct rig g;

	(void)state;
	for (int fps = 7; fps <= 400; fps += 1 + fps / 10) {
		const int64_t period = 1000 * MS / fps;

		rig_init(&g, false);
		for (int n = 0; n < 2 * fps; n++) {
			const int64_t time = n * period + (n % 3 ? check_below(&r, (int)(period / 8)) : 0);
			const int64_t span = run(&g, n, time);

			if (n * period < 110 * MS)
				continue;
			if (span < 60 * MS || span > (period > 100 * MS ? 1200 * MS / fps : 151 * MS))
				fail_msg("%d fps, frame %d: %.1f ms", fps, n, (double)span / 1e6);
		}
		rig_finish(&g);
	}
	rig_init(&g, false);
	for (int n = 0; n < 60; n++) /* exact times: exactly 0.1 s */
		if (run(&g, n, n * 1000 * MS / 30) != 100 * MS)
			assert_true(n < 3);
	rig_finish(&g);
}

static void gaps_and_jumps(void **state)
{
	struct rig g;

	(void)state;
	rig_init(&g, false);
	assert_int_equal(run(&g, 0, 1000 * MS), 0);
	g.calls.says.verdict = SX_MOTION_STEP_FOUND;
	assert_int_equal(run(&g, 1, 1100 * MS), 100 * MS);
	assert_false(g.calls.expected);
	assert_int_equal(run(&g, 2, 1300 * MS), 200 * MS); /* a frame is missing */
	assert_true(g.calls.expected);
	assert_int_equal(run(&g, 3, 1700 * MS), 0); /* too many are missing */
	assert_int_equal(run(&g, 4, 1800 * MS), 100 * MS);
	assert_int_equal(run(&g, 5, 1800 * MS), 0); /* the same time again */
	assert_false(g.calls.expected);
	assert_int_equal(run(&g, 6, 500 * MS), 0); /* another clock */
	assert_int_equal(run(&g, 7, 600 * MS), 100 * MS);
	g.calls.says.verdict = SX_MOTION_STEP_FEW;
	assert_int_equal(run(&g, 8, 700 * MS), 100 * MS);
	assert_true(g.calls.expected);
	assert_int_equal(run(&g, 9, 800 * MS), 100 * MS);
	assert_false(g.calls.expected); /* the last frame had no step */
	rig_finish(&g);
}

/* At 30 frames per second every third frame counts for the range, and a frame without a measurement does not. */
static void what_counts_for_the_range(void **state)
{
	struct rig g;
	int counted = 0;

	(void)state;
	rig_init(&g, false);
	g.calls.says.verdict = SX_MOTION_STEP_FOUND;
	g.calls.says.offset_verdict = SX_MOTION_OFFSET_FOUND;
	for (int n = 0; n < 60; n++) {
		const double before = g.chain.learned.range.px;

		g.calls.says.range = (struct sx_motion_range){0.5 + n, 0.1};
		run(&g, n, n * 1000 * MS / 30);
		assert_true(g.calls.prior.px == before);
		counted += g.chain.learned.range.px != before;
	}
	assert_int_equal(counted, 20);
	g.calls.says.offset_verdict = SX_MOTION_OFFSET_VAGUE;
	g.calls.says.range.px = -9;
	run(&g, 60, 9000 * MS);
	assert_true(g.chain.learned.range.px > 0);
	g.calls.says.offset_verdict = SX_MOTION_OFFSET_FOUND;
	run(&g, 61, 100 * MS); /* knowledge of the range survives a clock that jumps */
	assert_true(g.calls.prior.px > 0 && g.chain.learned.range.px == -9);
	rig_finish(&g);
}

/*
 * The filter does not take frames that follow too soon: no stixel of theirs has an object, and the time goes on. The
 * objects grow older, and nothing is known of how they move.
 */
static void frames_that_follow_too_soon(void **state)
{
	const struct stixel s = {.kind = STIXEL_OBJECT};
	const struct sx_motion_object *o;
	struct rig g;

	(void)state;
	rig_init(&g, true);
	g.calls.says.verdict = SX_MOTION_STEP_FOUND;
	for (int n = 0; n < 3; n++)
		run(&g, n, n * 100 * MS);
	assert_int_equal(g.chain.filter.memory, SX_MOTION_MEMORY_RUNS);
	/* the memory has an object of a frame before */
	g.chain.filter.objects.count = 1;
	g.chain.filter.objects.objects[0] = (struct sx_motion_object){
		.id = 5, .state = SX_MOTION_STATE_MOVES, .shown = true, .age = 1.5, .stixels = 7, .core = 6};
	g.chain.filter.beliefs[0].object = 5;
	assert_non_null(sx_motion_objects_shown(&g.chain.filter.objects, 5));
	g.found.object_of[0] = 7;
	g.stixels = &s;
	run(&g, 3, 203 * MS);
	assert_int_equal(g.chain.filter.memory, SX_MOTION_MEMORY_STALE);
	assert_int_equal(g.found.object_of[0], 0);
	o = &g.found.objects.objects[0];
	assert_true(g.found.objects.count == 1 && o->id == 5 && o->shown &&
		    o->state == SX_MOTION_STATE_UNKNOWN);
	assert_true(o->age == 1.503 && o->unseen == 0.003 && o->stixels == 0 && o->core == 0);
	run(&g, 4, 204 * MS); /* the memory of the filter stays as it was: the time is that since its frame */
	assert_true(o->age == 1.504 && o->unseen == 0.004);
	assert_int_equal(g.chain.filter.objects.objects[0].state, SX_MOTION_STATE_MOVES);
	g.stixels = NULL;
	for (int n = 5; n < 11; n++) { /* 3 ms apart: the filter takes every second frame */
		run(&g, n, 200 * MS + (n - 3) * 3 * MS);
		assert_int_equal(g.chain.filter.memory,
				 n % 2 ? SX_MOTION_MEMORY_RUNS : SX_MOTION_MEMORY_STALE);
	}
	g.chain.filter.objects.last_id = 5;
	run(&g, 11, 100 * MS); /* another clock: a new start, whose objects have other identities */
	assert_int_equal(g.chain.filter.memory, SX_MOTION_MEMORY_STARTS);
	assert_int_equal(g.found.objects.last_id, 5);
	rig_finish(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(any_frame_rate), cmocka_unit_test(gaps_and_jumps),
					   cmocka_unit_test(what_counts_for_the_range),
					   cmocka_unit_test(frames_that_follow_too_soon)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
