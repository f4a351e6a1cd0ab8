/*
 * How the host notices that a frame is done: by sleeping, by polling shortly before the expected end, and
 * when the device fails. Runs on the emulated device. A frame is a host function that takes a given time.
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
	struct sx_why why = {""};

	unsetenv("SX_EMULATE_FAIL");
	if (sx_backend_cuda.open(&w->device, &p, &why) < 0 ||
	    sx_completion_init(&w->completion, w->device, false, &why) < 0)
		fail_msg("%s", why.text);
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

static void submit(struct watched *w, unsigned us)
{
	assert_int_equal(cudaLaunchHostFunc(w->stream, take_time, (void *)(uintptr_t)us), cudaSuccess);
	assert_int_equal(sx_completion_submit(&w->completion, w->stream), cudaSuccess);
}

static bool is_readable(const struct watched *w, int timeout_ms)
{
	struct pollfd fd = {.fd = w->completion.fd, .events = POLLIN};

	return poll(&fd, 1, timeout_ms) == 1;
}

/*
 * Runs a frame of `us` microseconds and waits as the daemon does: polls around the expected end, and sleeps
 * otherwise.
 */
static cudaError_t run_frame(struct watched *w, unsigned us)
{
	struct sx_completion *c = &w->completion;
	const int64_t began_ns = sx_now_ns();
	int64_t from_ns, until_ns;
	int r;

	submit(w, us);
	while ((r = sx_completion_wait(c, 0)) == 0) {
		const bool known = sx_completion_nearly(c, &from_ns, &until_ns);
		const int64_t now_ns = sx_now_ns();

		if (known && now_ns < from_ns)
			is_readable(w, (int)((from_ns - now_ns) / 1000000));
		else if (!known || now_ns >= until_ns)
			assert_true(is_readable(w, WAIT_MS));
	}
	assert_int_equal(r, 1);
	if (!c->error)
		assert_true(c->finished_ns - began_ns >= us * INT64_C(1000));
	return c->error;
}

static void run_frames(struct watched *w, int count, unsigned us)
{
	for (int i = 0; i < count; i++)
		assert_int_equal(run_frame(w, us), cudaSuccess);
}

/* Sleeping: the descriptor alone reports the end, once per frame. */
static void test_asleep(void **state)
{
	struct watched w;
	int64_t from_ns, until_ns;

	watched_init(&w, 0);
	for (int i = 0; i < 2 * SX_COMPLETION_FRAMES; i++) {
		submit(&w, 500);
		assert_false(sx_completion_nearly(&w.completion, &from_ns, &until_ns));
		assert_true(is_readable(&w, WAIT_MS));
		assert_int_equal(sx_completion_wait(&w.completion, 0), 1);
		assert_int_equal(w.completion.error, cudaSuccess);
		assert_false(is_readable(&w, 0));
	}
	assert_int_equal(sx_emulate_count("cudaEventQuery"), 0);
	watched_finish(&w);
}

static void test_timeout(void **state)
{
	struct watched w;

	watched_init(&w, 0);
	submit(&w, 300000);
	assert_int_equal(sx_completion_wait(&w.completion, 0), 0);
	assert_int_equal(sx_completion_wait(&w.completion, 20), 0);
	assert_int_equal(sx_completion_wait(&w.completion, -1), 1);
	watched_finish(&w);
}

/* The expected end is known after SX_COMPLETION_FRAMES frames. It is the duration of the shortest of them. */
static void test_expected(void **state)
{
	struct watched w;
	int64_t from_ns, until_ns, least_ns;

	watched_init(&w, 1000);
	for (int i = 0; i < SX_COMPLETION_FRAMES; i++) {
		submit(&w, i == 5 ? 2000 : 60000);
		assert_false(sx_completion_nearly(&w.completion, &from_ns, &until_ns));
		assert_int_equal(sx_completion_wait(&w.completion, -1), 1);
	}
	submit(&w, 3000);
	assert_true(sx_completion_nearly(&w.completion, &from_ns, &until_ns));
	least_ns = w.completion.took_ns[6]; /* duration of the sixth frame: frames count from 1 */
	assert_true(least_ns >= 2000000);
	assert_int_equal(from_ns, w.completion.submitted_ns + least_ns - 1000000);
	assert_int_equal(until_ns, w.completion.submitted_ns + least_ns + 1000000);
	assert_int_equal(sx_completion_wait(&w.completion, -1), 1);
	watched_finish(&w);
}

/*
 * Polling finds the end of a normal frame, and the thread reports the end of a much longer one. After shorter
 * frames, the host soon stops sleeping too long.
 */
static void test_asks(void **state)
{
	struct watched w;

	watched_init(&w, 10000);
	run_frames(&w, SX_COMPLETION_FRAMES, 60000);
	sx_emulate_reset();
	run_frames(&w, 2, 60000);
	assert_in_range(sx_emulate_count("cudaEventQuery"), 3, 1000000000);
	run_frames(&w, 1, 200000);
	run_frames(&w, 6, 10);
	assert_true(w.completion.took_ns[w.completion.frame % SX_COMPLETION_FRAMES] < 40000000);
	watched_finish(&w);
}

/*
 * If polling already found the end of a frame, the thread's late report must not be taken for the end of the
 * next frame.
 */
static void test_reported_late(void **state)
{
	struct watched w;

	watched_init(&w, 1000);
	for (int i = 0; i < 20; i++) {
		int64_t began_ns;

		submit(&w, 100);
		while (sx_completion_wait(&w.completion, 0) == 0)
			;
		began_ns = sx_now_ns();
		submit(&w, 100000);
		/* report of the first frame, if it did not arrive before */
		assert_true(is_readable(&w, WAIT_MS));
		if (sx_completion_wait(&w.completion, 0) == 0)
			assert_int_equal(sx_completion_wait(&w.completion, -1), 1);
		assert_true(w.completion.finished_ns - began_ns >= 100000000);
	}
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
			 cudaErrorLaunchFailure); /* the error stays */
	unsetenv("SX_EMULATE_FAIL");
	sx_emulate_reset();
	watched_finish(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_asleep),	      cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_expected),      cmocka_unit_test(test_asks),
		cmocka_unit_test(test_reported_late), cmocka_unit_test(test_failure),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
