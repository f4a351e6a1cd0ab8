/*
 * Motion of sequences in the CUDA engine against the reference, byte for byte: every output, with 1, 2 and 4 frames
 * in flight, repeated and missing frames, times that jump, and contexts that are replaced.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/host/engine.h"
#include "stages/context.h"
#include "stages/motion/ego.h"
#include "stages/motion/group.h"
#include "tests/chain_case.h"
#include "tests/check.h"
#include "tests/emulated.h"

#define DRAWN ENOUGH_OF(IS_JUDGED ? 2 : 6)

static struct sx_device *cuda;

static int open_device(void **state)
{
	const struct sx_engine_params p = {.contexts = 4, .volume = SX_VOLUME_CHECKPOINT};
	struct sx_why why = {""};

	(void)state;
	if (sx_backend_cuda.open(&cuda, &p, &why) < 0)
		fail_msg("%s", why.text);
	return 0;
}

static int close_device(void **state)
{
	(void)state;
	sx_backend_cuda.close(cuda);
	return 0;
}

static struct chain_case draw(unsigned seed)
{
	struct chain_case t = chain_case_draw(seed);

	t.params.motion.mode = SX_MOTION_MODE_PAIR;
	t.params.stereo.disparities = 32; /* the emulator is slow */
	return t;
}

/* Sequences of each kind, with the number of frames in flight that follows from the seed. */
static void sequences(void **state)
{
	const struct sx_engine_params p = {.contexts = 1};
	const size_t before = sx_backend_cuda.memory(cuda);
	struct sx_device *reference;
	struct sx_why why;
	int steps = 0, velocities = 0, moving = 0;

	(void)state;
	assert_int_equal(sx_backend_reference.open(&reference, &p, &why), 0);
	for (unsigned seed = 0; seed < DRAWN; seed++) {
		const int contexts = seed % 3 == 0 ? 2 : seed % 3 == 1 ? 1 : 4;
		const struct chain_case t = draw(seed);
		struct chain_record want, got;

		chain_case_run(&t, &sx_backend_reference, reference, 1, false, &want);
		chain_case_run(&t, &sx_backend_cuda, cuda, contexts, contexts == 2, &got);
		assert_true(chain_record_same(t.scene, &want, &got));
		chain_record_finish(&got);
		for (int i = 0; i < want.frames; i++) {
			steps += want.frame[i].ego->verdict == SX_MOTION_STEP_FOUND;
			for (uint32_t k = 0; k < want.frame[i].stixels; k++) {
				velocities += want.frame[i].velocities[k].measured;
				moving += want.frame[i].velocities[k].state == SX_MOTION_STATE_MOVES;
			}
		}
		chain_record_finish(&want);
	}
	printf("# %d steps, %d velocities, %d stixels that move\n", steps, velocities, moving);
	assert_true(steps > 2 * DRAWN);
	assert_true(velocities > 20 * DRAWN);
	assert_int_equal(sx_backend_cuda.memory(cuda), before);
	sx_backend_reference.close(reference);
}

/* Motion costs memory only with a chain, and what cannot be computed is refused in words. */
static void chains_are_made(void **state)
{
	const struct chain_case t = draw(1);
	struct sx_context_config c = {
		.width = t.width, .height = t.height, .pixel = SX_PIXEL_U8, .params = t.params};
	const size_t before = sx_backend_cuda.memory(cuda);
	struct sx_chain *chain;
	struct sx_why why;

	(void)state;
	assert_int_equal(sx_chain_create(&chain, &sx_backend_cuda, cuda, &c, &why), 0);
	/* four views of grey, half, both with descriptors, and disparities: 8.25 bytes for a pixel */
	assert_true(sx_backend_cuda.memory(cuda) - before > (size_t)(33 * c.width * c.height));
	sx_backend_cuda.chain_destroy(chain);
	assert_int_equal(sx_backend_cuda.memory(cuda), before);
	c.params.motion.mode = SX_MOTION_MODE_FILTER;
	assert_int_equal(sx_chain_create(&chain, &sx_backend_cuda, cuda, &c, &why), -ENOTSUP);
	assert_string_equal(why.text,
			    "motion.mode = filter: only engine.backend = cpu or reference computes it");
	sx_backend_cuda.chain_destroy(NULL);
}

/* Motion has a time of its own with time_stages, which is no part of another stage's. */
static void stages_are_timed(void **state)
{
	const struct chain_case t = draw(0);
	struct sx_context_config c = {.width = t.width,
				      .height = t.height,
				      .pixel = SX_PIXEL_U8,
				      .params = t.params,
				      .time_stages = true};
	struct sx_context *x;
	struct sx_image grey;
	struct sx_pair pair;
	struct sx_why why;

	(void)state;
	assert_int_equal(sx_image_init(&grey, SX_PIXEL_U8, t.width, t.height), 0);
	assert_int_equal(sx_chain_create(&c.chain, &sx_backend_cuda, cuda, &c, &why), 0);
	assert_int_equal(sx_backend_cuda.context_create(&x, cuda, &c, &why), 0);
	for (int i = 0; i < 2; i++) {
		const struct sx_result *r = sx_backend_cuda.result(x);
		int64_t sum = 0;

		pair = (struct sx_pair){.left = grey, .right = grey, .left_ns = 100000000 * i};
		assert_int_equal(sx_backend_cuda.submit(x, &pair, NULL, NULL, NULL), 0);
		assert_int_equal(sx_backend_cuda.wait(x, -1), 1);
		for (int stage = 0; stage < SX_STAGE_COUNT; stage++)
			sum = stage == SX_STAGE_COMPACT || stage == SX_STAGE_MOTION ? sum + r->stage_ns[stage]
										    : sum;
		assert_true(r->stage_ns[SX_STAGE_MOTION] > 0 && r->stage_ns[SX_STAGE_COMPACT] > 0);
		assert_true(sum < r->device_ns[1] - r->device_ns[0]);
		assert_int_equal(r->ego->verdict, i ? SX_MOTION_STEP_REPEATS : SX_MOTION_STEP_FIRST);
		assert_int_equal(r->motion_span_ns, 100000000 * i);
	}
	sx_backend_cuda.context_destroy(x);
	sx_backend_cuda.chain_destroy(c.chain);
	sx_image_finish(&grey);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_are_made),
		cmocka_unit_test(stages_are_timed),
		cmocka_unit_test(sequences),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, open_device, close_device);
}
