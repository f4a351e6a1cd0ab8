/*
 * Every call of the CUDA runtime fails once, whatever its name: the first, the second, ... while the engine
 * is opened, a context created, frames computed, a tap read, and everything destroyed. Each failure ends in
 * an error sentence or changes nothing. If it changes nothing, the frame is that of a run without failures.
 * No resources are left behind.
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

#include "gpu/host/engine_priv.h"
#include "tests/check.h"
#include "tests/gpu/emulate/emulate.h"
#include "tests/gpu/host/small_case.h"

enum { WAIT_MS = 20000, MOST_STIXELS = 4096 };
enum phase { OPEN, MAKE, COMPUTE, READ, END, PHASES };

static const char *const phase_names[PHASES] = {"open", "make", "compute", "read", "end"};
/*
 * Errors to inject. By default only the first two: one that loses the device and one that does not. With an
 * argument all of them.
 */
static const cudaError_t errors[] = {cudaErrorInvalidValue, cudaErrorLaunchFailure, cudaErrorMemoryAllocation,
				     cudaErrorECCUncorrectable};
static size_t error_count = 2;

static struct check_image left, right;
static struct sx_pair pair;
static struct stixel whole[MOST_STIXELS]; /* result of a run in which nothing fails */
static uint32_t whole_count;

/* One life of the engine in which the nth call of one phase fails. */
struct life {
	enum phase phase;
	int nth;
	cudaError_t error;
	unsigned long long calls; /* calls of this phase so far */
	int failed;		  /* phase in which the engine reported a failure; -1: none */
	char why[512];
};

static void begin_phase(const struct life *l, enum phase phase)
{
	char order[64];

	if (phase != l->phase)
		return;
	snprintf(order, sizeof(order), "any:%d=%d", l->nth, (int)l->error);
	sx_emulate_reset();
	setenv("SX_EMULATE_FAIL", order, 1);
}

static void end_phase(struct life *l, enum phase phase)
{
	if (phase != l->phase)
		return;
	l->calls = sx_emulate_count("any");
	unsetenv("SX_EMULATE_FAIL");
}

static void life_failed(struct life *l, enum phase phase, const char *why)
{
	l->failed = (int)phase;
	snprintf(l->why, sizeof(l->why), "%s", why);
}

/* Compares the frame with `whole`. The first call stores its frame in `whole`. */
static void check_frame(const struct sx_context *x)
{
	const struct sx_result *r = sx_backend_cuda.result(x);

	if (!whole_count) {
		assert_in_range(r->count, 1, MOST_STIXELS);
		memcpy(whole, r->stixels, r->count * sizeof(*whole));
		whole_count = r->count;
	}
	assert_int_equal(r->count, whole_count);
	assert_memory_equal(r->stixels, whole, whole_count * sizeof(*whole));
}

static void life_compute(struct life *l, struct sx_device *d, struct sx_context *x)
{
	int r;

	begin_phase(l, COMPUTE);
	for (int frame = 0; frame < 2 && l->failed < 0; frame++) {
		r = sx_backend_cuda.submit(x, &pair, NULL, NULL, NULL);
		if (r == 0)
			r = sx_backend_cuda.wait(x, WAIT_MS);
		if (r == 1)
			check_frame(x);
		else
			life_failed(l, COMPUTE, sx_backend_cuda.failure(d));
	}
	end_phase(l, COMPUTE);
}

static void life_read(struct life *l, struct sx_context *x)
{
	struct sx_image view;

	begin_phase(l, READ);
	if (sx_backend_cuda.peek(x, SX_TAP_DISPARITY, &view) < 0)
		life_failed(l, READ, "engine cuda: the tap cannot be read"); /* peek returns only an errno */
	end_phase(l, READ);
}

static void life_run(struct life *l)
{
	const struct sx_engine_params p = {.backend = SX_BACKEND_CUDA, .contexts = 1};
	const struct sx_context_config config = small();
	struct sx_device *d = NULL;
	struct sx_context *x = NULL;
	struct sx_why why = {""};

	l->failed = -1;
	begin_phase(l, OPEN);
	if (sx_backend_cuda.open(&d, &p, &why) < 0)
		life_failed(l, OPEN, why.text);
	end_phase(l, OPEN);
	if (d) {
		begin_phase(l, MAKE);
		if (sx_backend_cuda.context_create(&x, d, &config, &why) < 0)
			life_failed(l, MAKE, why.text);
		end_phase(l, MAKE);
	}
	if (x)
		life_compute(l, d, x);
	if (x && l->failed < 0)
		life_read(l, x);
	begin_phase(l, END);
	sx_backend_cuda.context_destroy(x);
	sx_backend_cuda.close(d);
	end_phase(l, END);
	sx_emulate_reset();
}

static void assert_nothing_held(const struct life *l)
{
	static const char *const held[] = {"device bytes", "pinned bytes", "streams held", "events held",
					   "graphs held"};

	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++)
		if (sx_emulate_count(held[i]))
			fail_msg("%s, call %d, error %d: %llu %s", phase_names[l->phase], l->nth, l->error,
				 sx_emulate_count(held[i]), held[i]);
}

static void test_every_call(void **state)
{
	const int descriptors = check_descriptors();
	int lives = 0, ended = 0;

	for (int phase = 0; phase < PHASES; phase++)
		for (size_t e = 0; e < error_count; e++) {
			struct life l = {.phase = (enum phase)phase, .error = errors[e]};

			do {
				l.nth++;
				life_run(&l);
				/* a failing call is reported at once or has no consequence */
				if (l.failed >= 0 && (l.failed != phase || !strstr(l.why, "engine cuda: ")))
					fail_msg("%s, call %d, error %d: in %s, '%s'", phase_names[phase],
						 l.nth, l.error, phase_names[l.failed], l.why);
				assert_nothing_held(&l);
				assert_int_equal(check_descriptors(), descriptors);
				lives++;
				ended += l.failed >= 0;
			} while ((unsigned long long)l.nth < l.calls);
		}
	printf("# %d calls failed, of them %d with a sentence\n", lives, ended);
	assert_true(ended > 0);
}

static int set_up(void **state)
{
	struct check_rng r = check_rng_seed(3);
	struct life nothing = {.phase = PHASES};

	unsetenv("SX_EMULATE_FAIL");
	check_image_init(&left, SX_PIXEL_U8, WIDTH, HEIGHT, 5);
	check_image_init(&right, SX_PIXEL_U8, WIDTH, HEIGHT, 9);
	check_fill_pair(&left.image, &right.image, CHECK_NOISE, 5, 9, &r);
	pair = (struct sx_pair){.left = left.image, .right = right.image};
	life_run(&nothing);
	return nothing.failed < 0 && whole_count ? 0 : -1;
}

static int tear_down(void **state)
{
	check_image_finish(&left);
	check_image_finish(&right);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_call)};

	if (argc > 1)
		error_count = sizeof(errors) / sizeof(errors[0]);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
