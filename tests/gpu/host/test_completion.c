/*
 * How the host learns that a frame is done: asleep, by asking shortly before the end, and when the device
 * fails meanwhile. On the emulated device; a frame is a host function that takes its time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "gpu/host/engine_priv.h"
#include "tests/gpu/emulate/emulate.h"

#define WAIT_MS 20000

struct watched {
	struct sx_device *device;
	cudaStream_t stream;
	struct sx_completion completion;
};

static void watched_init(struct watched *w, int spin_us)
{
	const struct sx_engine_params p = {.backend = SX_BACKEND_CUDA, .contexts = 1, .spin_us = spin_us};
	char why[512] = "";

	unsetenv("SX_EMULATE_FAIL");
	if (sx_backend_cuda.open(&w->device, &p, why, sizeof(why)) < 0 ||
	    sx_completion_init(&w->completion, w->device, false, why, sizeof(why)) < 0)
		fail_msg("%s", why);
	assert_int_equal(sx_cuda_stream(w->device, &w->stream), cudaSuccess);
	sx_emulate_reset();
}

static void watched_finish(struct watched *w)
{
	sx_completion_finish(&w->completion);
	cudaStreamDestroy(w->stream);
	sx_backend_cuda.close(w->device);
}

static void take_time(void *us)
{
	usleep((useconds_t)(uintptr_t)us);
}

/* A frame of us: the descriptor tells once, and not before it is done. Returns what it came to. */
static cudaError_t run_frame(struct watched *w, unsigned us)
{
	struct pollfd fd = {.fd = w->completion.fd, .events = POLLIN};
	const int64_t began_ns = sx_now_ns();

	assert_int_equal(cudaLaunchHostFunc(w->stream, take_time, (void *)(uintptr_t)us), cudaSuccess);
	assert_int_equal(sx_completion_submit(&w->completion, w->stream), cudaSuccess);
	assert_int_equal(poll(&fd, 1, WAIT_MS), 1);
	assert_int_equal(sx_completion_wait(&w->completion, 0), 1);
	assert_int_equal(poll(&fd, 1, 0), 0);
	if (!atomic_load(&w->completion.error))
		assert_true(atomic_load(&w->completion.finished_ns) - began_ns >= us * INT64_C(1000));
	return (cudaError_t)atomic_load(&w->completion.error);
}

static void run_frames(struct watched *w, int count, unsigned us)
{
	for (int i = 0; i < count; i++)
		assert_int_equal(run_frame(w, us), cudaSuccess);
}

static void test_asleep(void **state)
{
	struct watched w;

	watched_init(&w, 0);
	run_frames(&w, 2 * SX_COMPLETION_FRAMES, 500);
	assert_int_equal(sx_emulate_count("cudaEventQuery"), 0);
	assert_int_equal(sx_emulate_count("cudaEventSynchronize"), 2 * SX_COMPLETION_FRAMES);
	watched_finish(&w);
}

/* Asks as soon as it knows how long frames take; a frame that takes much longer is slept for. */
static void test_asks(void **state)
{
	struct watched w;

	watched_init(&w, 1000);
	run_frames(&w, SX_COMPLETION_FRAMES, 3000);
	assert_int_equal(sx_emulate_count("cudaEventQuery"), 0);
	run_frames(&w, 4, 3000);
	assert_in_range(sx_emulate_count("cudaEventQuery"), 4, 1000000000);
	sx_emulate_reset();
	run_frames(&w, 1, 100000);
	assert_int_equal(sx_emulate_count("cudaEventSynchronize"), 1);
	watched_finish(&w);
}

/* Frames become shorter than those before: each that is noticed late makes the next be asked for earlier. */
static void test_overslept(void **state)
{
	struct watched w;
	int64_t before_ns, took_ns;

	watched_init(&w, 10000);
	run_frames(&w, SX_COMPLETION_FRAMES, 100000);
	before_ns = INT64_C(95000000);
	for (int i = 0; i < 4; i++) {
		run_frames(&w, 1, 10);
		took_ns = w.completion.took_ns[(w.completion.frames - 1) % SX_COMPLETION_FRAMES];
		assert_true(took_ns < before_ns);
		before_ns = took_ns;
	}
	run_frames(&w, 2 * SX_COMPLETION_FRAMES, 10);
	took_ns = w.completion.took_ns[(w.completion.frames - 1) % SX_COMPLETION_FRAMES];
	assert_true(took_ns < 30000000);
	watched_finish(&w);
}

static void test_failure(void **state)
{
	struct watched w;

	watched_init(&w, 1000);
	run_frames(&w, SX_COMPLETION_FRAMES, 1000);
	sx_emulate_reset();
	setenv("SX_EMULATE_FAIL", "cudaEventQuery:1=719", 1);
	assert_int_equal(run_frame(&w, 1000), cudaErrorLaunchFailure);
	assert_int_equal(sx_completion_submit(&w.completion, w.stream),
			 cudaErrorLaunchFailure); /* for good */
	unsetenv("SX_EMULATE_FAIL");
	sx_emulate_reset();
	watched_finish(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_asleep),
		cmocka_unit_test(test_asks),
		cmocka_unit_test(test_overslept),
		cmocka_unit_test(test_failure),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
