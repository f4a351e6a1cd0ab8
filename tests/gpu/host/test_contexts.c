/*
 * The CUDA engine over frames and contexts: frames that follow each other, contexts in flight, waiting,
 * transfers, memory. On the emulator or on a GPU:
 *
 *   test_gpu_contexts_device [--full] [--repeat N]   --full: every flow
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stixel.h>
#include <cmocka.h>

#include "tests/gpu/host/engine_flows.h"
#ifdef SX_EMULATE
#include "tests/gpu/emulate/emulate.h"
#include "tests/gpu/host/frame_calls.h"
#endif

/* Moves planes and rows so far apart that the engine copies them one by one. */
static struct sx_scores scatter(const struct sx_scores *s, uint8_t **memory)
{
	struct sx_scores r = *s;

	r.pitch = 3 * (size_t)s->width + 1;
	r.plane_bytes = r.pitch * ((size_t)s->height + 20) + 3;
	*memory = malloc(r.plane_bytes * (size_t)s->classes);
	assert_non_null(*memory);
	for (int k = 0; k < s->classes; k++)
		for (int y = 0; y < s->height; y++)
			memcpy(*memory + (size_t)k * r.plane_bytes + (size_t)y * r.pitch,
			       s->data + (size_t)k * s->plane_bytes + (size_t)y * s->pitch, (size_t)s->width);
	r.data = *memory;
	return r;
}

struct scored {
	struct engine_case t;
	struct engine_frame f;
	struct sx_context *want, *got;
	int flow;
};

/* Checks a frame with these scores. Returns the number of copies that the frame took. */
static uint64_t check_scored(struct scored *c, const struct sx_scores *scores, const char *how)
{
	struct sx_transfers before, after;

	c->f.pair.scores = scores;
	cuda->transfers(devices[c->flow], &before);
	run_frame(&sx_backend_reference, c->want, &c->f, NULL);
	run_frame(cuda, c->got, &c->f, NULL);
	cuda->transfers(devices[c->flow], &after);
	assert_true(same(&c->t, c->want, c->got, how, false));
	return after.copies_in - before.copies_in;
}

/*
 * One context computes frames with scores, without scores and with other scores. Without scores no copy is
 * made.
 */
static void check_scores_in_turn(int flow)
{
	const bool mapped = engine_flows[flow].input == SX_INPUT_MAPPED;
	struct scored c = {.flow = flow};
	struct sx_scores usual, far;
	uint8_t *memory;
	uint64_t none;

	c.t = small_one(1700);
	c.t.params.stixels.method = SX_STIXEL_SLANTED;
	c.t.params.semantics.classes = 5;
	c.t.params.semantics.kind[2] = c.t.params.semantics.kind[4] = STIXEL_OBJECT;
	c.t.params.semantics.kind[3] = STIXEL_SKY;
	c.t.score_scale = 1;
	engine_frame_init(&c.f, &c.t);
	usual = *c.f.pair.scores;
	far = scatter(&usual, &memory);
	c.want = context_of(&sx_backend_reference, reference, &c.t, false);
	c.got = context_of(cuda, devices[flow], &c.t, false);
	check_scored(&c, NULL, "no scores yet:");
	none = check_scored(&c, NULL, "none again:");
	check_scored(&c, &usual, "scores:");
	assert_int_equal(check_scored(&c, &usual, "scores again:"), none + 1);
	check_scored(&c, NULL, "none any more:");
	assert_int_equal(check_scored(&c, NULL, "still none:"), none);
	check_scored(&c, &far, "far apart:");
	assert_int_equal(check_scored(&c, &far, "far apart again:"), none + 5);
	assert_int_equal(cuda->pin(devices[flow], c.f.planes.memory, c.f.planes.bytes), 0);
	check_scored(&c, &usual, "pinned:");
	assert_int_equal(check_scored(&c, &usual, "pinned again:"), none + !mapped);
	cuda->unpin(devices[flow], c.f.planes.memory);
	cuda->context_destroy(c.got);
	sx_backend_reference.context_destroy(c.want);
	assert_true(engine_frame_finish(&c.f));
	free(memory);
}

static void test_scores_in_turn(void **state)
{
	for (int flow = 0; flow < ENGINE_FLOWS; flow++)
		check_scores_in_turn(flow);
}

/* The same pair must give the same bytes every time. */
static void test_repeat(void **state)
{
	struct engine_case t = small_one(1000);
	struct sx_context *want, *got[ENGINE_FLOWS];
	struct engine_frame f;
	bool good = true;

	if (full) {
		t.width = 331;
		t.height = 179;
		t.params.stereo.disparities = 128;
	}
	engine_frame_init(&f, &t);
	want = context_of(&sx_backend_reference, reference, &t, true);
	run_frame(&sx_backend_reference, want, &f, NULL);
	for (int flow = 0; flow < ENGINE_FLOWS; flow++)
		got[flow] = context_of(cuda, devices[flow], &t, false);
	for (int round = 0; round < repeat; round++) {
		for (int flow = 0; flow < ENGINE_FLOWS; flow++) {
			run_frame(cuda, got[flow], &f, NULL);
			good &= same(&t, want, got[flow], engine_flows[flow].name, false);
		}
	}
	for (int flow = 0; flow < ENGINE_FLOWS; flow++)
		cuda->context_destroy(got[flow]);
	sx_backend_reference.context_destroy(want);
	assert_true(engine_frame_finish(&f));
	assert_true(good);
}

/* A previously found road is passed on while no road is found. */
static void test_previous_road(void **state)
{
	const struct sx_road previous = {.slope = 0.3, .offset = -5, .origin = SX_ROAD_MEASURED, .age = 3};
	struct engine_case t = small_one(1001);
	struct sx_context *want, *got;
	struct engine_frame f;

	engine_frame_init(&f, &t);
	want = context_of(&sx_backend_reference, reference, &t, false);
	got = context_of(cuda, devices[0], &t, false);
	for (int i = 0; i < 4; i++) {
		const struct sx_road *reported = i & 1 ? &previous : NULL;

		run_frame(&sx_backend_reference, want, &f, reported);
		run_frame(cuda, got, &f, reported);
		assert_true(same(&t, want, got, "previous road:", false));
	}
	cuda->context_destroy(got);
	sx_backend_reference.context_destroy(want);
	assert_true(engine_frame_finish(&f));
}

#define CONTEXTS 4

/* Runs n contexts of different shape on one device, all in flight, and waits for them in changing order. */
static void check_contexts(int n, int flow)
{
	struct engine_case t[CONTEXTS];
	struct sx_context *want[CONTEXTS], *got[CONTEXTS];
	struct engine_frame f[CONTEXTS];
	char how[64];
	bool good = true;

	for (int i = 0; i < n; i++) {
		t[i] = small_one(1100 + (uint64_t)i);
		t[i].width += 13 * i;
		t[i].height -= 3 * i;
		t[i].params.stereo.paths = i == 1 ? 8 : i == 2 ? 2 : 4;
		t[i].params.stereo.disparities = i == 3 ? 64 : 32;
		t[i].params.stereo.min_disparity = i == 1 ? 5 : 0;
		t[i].params.stixels.method = i & 1 ? SX_STIXEL_RDP : SX_STIXEL_DP;
		t[i].params.filters.speckle_size = i & 1 ? 20 : 0;
		engine_frame_init(&f[i], &t[i]);
		want[i] = context_of(&sx_backend_reference, reference, &t[i], true);
		got[i] = context_of(cuda, devices[flow], &t[i], false);
		run_frame(&sx_backend_reference, want[i], &f[i], NULL);
	}
	for (int round = 0; round < repeat; round++) {
		for (int i = 0; i < n; i++)
			assert_int_equal(cuda->submit(got[i], &f[i].pair, NULL, NULL, NULL), 0);
		assert_int_equal(cuda->submit(got[0], &f[0].pair, NULL, NULL, NULL), -EBUSY);
		for (int i = 0; i < n; i++)
			assert_int_equal(cuda->wait(got[(i + round) % n], -1), 1);
		for (int i = 0; i < n; i++) {
			snprintf(how, sizeof(how), "%d contexts, %s:", n, engine_flows[flow].name);
			good &= same(&t[i], want[i], got[i], how, false);
		}
	}
	for (int i = 0; i < n; i++) {
		struct sx_image view;

		assert_int_equal(cuda->peek(got[i], SX_TAP_SUM, &view), -ENOENT);
		cuda->context_destroy(got[i]);
		sx_backend_reference.context_destroy(want[i]);
		assert_true(engine_frame_finish(&f[i]));
	}
	assert_true(good);
}

static void test_contexts(void **state)
{
	for (int n = 1; n <= CONTEXTS; n *= 2)
		for (int flow = 0; flow < ENGINE_FLOWS; flow++)
			if (full || flow == n % ENGINE_FLOWS)
				check_contexts(n, flow);
}

/* The event becomes readable once per frame. A context may be destroyed with a frame in flight. */
static void test_waiting(void **state)
{
	struct engine_case t = small_one(1200);
	struct pollfd pfd = {.events = POLLIN};
	struct engine_frame f;
	struct sx_context *x = context_of(cuda, devices[0], &t, false);

	engine_frame_init(&f, &t);
	pfd.fd = cuda->event_fd(x);
	assert_int_equal(cuda->wait(x, 0), -ENODATA);
	assert_int_equal(poll(&pfd, 1, 0), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(cuda->submit(x, &f.pair, NULL, NULL, NULL), 0);
		assert_int_equal(poll(&pfd, 1, 60000), 1);
		assert_int_equal(cuda->wait(x, 0), 1);
		assert_int_equal(poll(&pfd, 1, 0), 0);
		assert_true(cuda->result(x)->finished_ns >= cuda->result(x)->started_ns);
	}
	assert_int_equal(cuda->wait(x, 0), -ENODATA);
	assert_int_equal(cuda->submit(x, &f.pair, NULL, NULL, NULL), 0);
	cuda->context_destroy(x);
	assert_true(engine_frame_finish(&f));
}

/* Pairs in pinned memory are read in place or copied at most once each. Other pairs are staged. */
static void check_transfers(int flow, bool pinned)
{
	const uint64_t frames = 3;
	struct engine_case t = small_one(1300);
	struct sx_transfers before, after;
	struct sx_context *x = context_of(cuda, devices[flow], &t, false);
	struct engine_frame f;

	engine_frame_init(&f, &t);
	if (pinned) {
		assert_int_equal(cuda->pin(devices[flow], f.left.memory, f.left.bytes), 0);
		assert_int_equal(cuda->pin(devices[flow], f.right.memory, f.right.bytes), 0);
	}
	run_frame(cuda, x, &f, NULL); /* the first frame also counts the calls that warmed up the context */
	cuda->transfers(devices[flow], &before);
	for (uint64_t i = 0; i < frames; i++)
		run_frame(cuda, x, &f, NULL);
	cuda->transfers(devices[flow], &after);
	assert_int_equal(after.frames - before.frames, frames);
	if (engine_flows[flow].input == SX_INPUT_MAPPED) {
		assert_string_equal(after.path, "mapped");
		assert_int_equal(after.copies_in - before.copies_in, 0);
	} else {
		assert_string_equal(after.path, "copy");
		/* one copy serves both images if they lie side by side */
		assert_in_range(after.copies_in - before.copies_in, frames, 2 * frames);
	}
	assert_int_equal(after.staged - before.staged, pinned ? 0 : 2 * frames);
	if (pinned) {
		cuda->unpin(devices[flow], f.left.memory);
		cuda->unpin(devices[flow], f.right.memory);
	}
	cuda->context_destroy(x);
	assert_true(engine_frame_finish(&f));
}

static void test_transfers(void **state)
{
	for (int flow = 0; flow < ENGINE_FLOWS; flow++) {
		check_transfers(flow, true);
		check_transfers(flow, false);
	}
}

/* Returns the memory of a context in bytes. Checks that the context frees all of it. */
static size_t memory_of(const struct engine_case *t, int flow)
{
	const size_t before = cuda->memory(devices[flow]);
	struct sx_context *x = context_of(cuda, devices[flow], t, false);
	const size_t taken = cuda->memory(devices[flow]) - before;

	cuda->context_destroy(x);
	assert_int_equal(cuda->memory(devices[flow]), before);
	return taken;
}

/*
 * A context takes at most 5 bytes per cell and 64 MB, including the memory of the filters. These sizes are
 * created only on a device, because the emulator would have to compute the frame that warms up a context.
 * test_faults.c checks the required memory on the emulator.
 */
static void test_memory(void **state)
{
	static const int sizes[][2] = {
#ifdef SX_EMULATE
		{160, 120},
#else
		{1024, 440},
		{1242, 375},
		{2048, 1024},
#endif
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct engine_case t = engine_case_small(1400);

		t.width = sizes[i][0];
		t.height = sizes[i][1];
		t.params.stereo.disparities = 128;
		t.params.filters.speckle_size = 100;
		for (int flow = 0; flow < ENGINE_FLOWS; flow++) {
			const size_t most = memory_of(&t, flow);
			struct engine_case external = t;

			assert_in_range(most, 1, 5 * engine_case_cells(&t) + 64000000);
			/* an external map needs no memory for matching costs and path costs, in any flow */
			external.external = ENGINE_MAP_PLAIN;
			external.params.stereo.matcher = SX_MATCH_EXTERNAL;
			assert_in_range(memory_of(&external, flow), 1, most - (size_t)(t.width * t.height));
		}
	}
}

#ifdef SX_EMULATE /* the emulator counts calls */
/*
 * Checks the runtime calls of a frame: a graph, an event, copies of the pair. A frame allocates, creates and
 * frees nothing, waits for no stream or device, and does not use the default stream.
 */
static void check_steady(int flow)
{
	const bool copies = engine_flows[flow].input == SX_INPUT_COPY;
	struct engine_case t = small_one(1500);
	struct engine_frame f;
	struct sx_context *x = context_of(cuda, devices[flow], &t, false);

	engine_frame_init(&f, &t);
	assert_int_equal(cuda->pin(devices[flow], f.left.memory, f.left.bytes), 0);
	assert_int_equal(cuda->pin(devices[flow], f.right.memory, f.right.bytes), 0);
	run_frame(cuda, x, &f, NULL);
	sx_emulate_reset();
	for (int i = 0; i < 3; i++)
		run_frame(cuda, x, &f, NULL);
	if (sx_emulate_other_than(calls_of_a_frame))
		fail_msg("%s: frames need %s", engine_flows[flow].name,
			 sx_emulate_other_than(calls_of_a_frame));
	assert_int_equal(sx_emulate_count("cudaGraphLaunch"), 3);
	assert_int_equal(sx_emulate_count("cudaEventSynchronize"), 3);
	assert_int_equal(sx_emulate_count("copy"), sx_emulate_count("cudaMemcpyAsync"));
	assert_in_range(sx_emulate_count("copy"), copies ? 3 : 0, copies ? 6 : 0);
	cuda->unpin(devices[flow], f.left.memory);
	cuda->unpin(devices[flow], f.right.memory);
	cuda->context_destroy(x);
	assert_true(engine_frame_finish(&f));
}

static void test_steady_state(void **state)
{
	for (int flow = 0; flow < ENGINE_FLOWS; flow++)
		check_steady(flow);
}
#endif

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scores_in_turn), cmocka_unit_test(test_repeat),
		cmocka_unit_test(test_previous_road),  cmocka_unit_test(test_contexts),
		cmocka_unit_test(test_waiting),	       cmocka_unit_test(test_transfers),
		cmocka_unit_test(test_memory),
#ifdef SX_EMULATE
		cmocka_unit_test(test_steady_state),
#endif
	};
	int r;

	if (read_arguments(argc, argv) != argc)
		return 64;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	r = cmocka_run_group_tests(tests, open_devices, close_devices);
	fprintf(stderr, "# %lu comparisons with the reference\n", checks);
	return r;
}
