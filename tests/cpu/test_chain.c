/*
 * Motion of sequences in the cpu engine against the reference, byte for byte: every output, with 1, 2 and 4 frames
 * in flight, repeated and missing frames, times that jump, and contexts that are replaced.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/engine/engine.h"
#include "stages/context.h"
#include "stages/motion/ego.h"
#include "stages/motion/filter/objects.h"
#include "tests/chain_case.h"
#include "tests/check.h"
#include "tests/emulated.h"

#define DRAWN ENOUGH_OF(8)

#ifdef __SANITIZE_THREAD__
/* the cpu engine with one context: other builds compare that with the reference, which has no threads */
#define JUDGE sx_backend_cpu
#define CONTEXTS_LEAST 2
#else
#define JUDGE sx_backend_reference
#define CONTEXTS_LEAST 1
#endif

static const struct sx_engine_params threads = {.contexts = 4, .threads = 3};

static void sequences(void **state)
{
	struct sx_device *judge, *cpu;
	struct sx_why why;
	int steps = 0, velocities = 0, objects = 0;

	(void)state;
	assert_int_equal(JUDGE.open(&judge, &threads, &why), 0);
	assert_int_equal(sx_backend_cpu.open(&cpu, &threads, &why), 0);
	for (unsigned seed = 0; seed < DRAWN; seed++) {
		const struct chain_case t = chain_case_draw(seed);
		struct chain_record want, got;

		chain_case_run(&t, &JUDGE, judge, 1, false, &want);
		for (int contexts = CONTEXTS_LEAST; contexts <= 4; contexts *= IS_EMULATED ? 4 : 2) {
			chain_case_run(&t, &sx_backend_cpu, cpu, contexts, contexts == 2, &got);
			assert_true(chain_record_same(t.scene, &want, &got));
			chain_record_finish(&got);
		}
		for (int i = 0; i < want.frames; i++) {
			objects += want.frame[i].objects ? (int)want.frame[i].objects->count : 0;
			steps += want.frame[i].ego->verdict == SX_MOTION_STEP_FOUND;
			for (uint32_t k = 0; k < want.frame[i].stixels; k++)
				velocities += want.frame[i].velocities[k].measured;
		}
		chain_record_finish(&want);
	}
	assert_true(steps > 2 * DRAWN);
	assert_true(velocities > 20 * DRAWN);
	assert_true(objects > DRAWN / 2);
#ifndef __SANITIZE_THREAD__
	assert_int_equal(JUDGE.memory(judge), sizeof(size_t));
#endif
	sx_backend_cpu.close(cpu);
	JUDGE.close(judge);
}

/* Motion costs memory only with a chain, and what cannot be computed is refused in words. */
static void chains_are_made(void **state)
{
	struct chain_case t = chain_case_draw(1);
	struct sx_context_config c = {
		.width = t.width, .height = t.height, .pixel = SX_PIXEL_U8, .params = t.params};
	struct sx_backend none = sx_backend_cpu;
	struct sx_device *cpu;
	struct sx_chain *chain;
	struct sx_why why;
	size_t before;

	(void)state;
	assert_int_equal(sx_backend_cpu.open(&cpu, &threads, &why), 0);
	before = sx_backend_cpu.memory(cpu);
	assert_int_equal(sx_chain_create(&chain, &sx_backend_cpu, cpu, &c, &why), 0);
	/* four views of grey, half, both with descriptors, and disparities: 8.25 bytes for a pixel */
	assert_true(sx_backend_cpu.memory(cpu) - before > (size_t)(33 * c.width * c.height));
	sx_backend_cpu.chain_destroy(chain);
	assert_int_equal(sx_backend_cpu.memory(cpu), before);
	none.chain_create = NULL;
	assert_int_equal(sx_chain_create(&chain, &none, cpu, &c, &why), -ENOTSUP);
	assert_string_equal(why.text,
			    "motion.mode = filter: only engine.backend = cpu or reference computes it");
	c.params.camera.baseline_m = 0;
	assert_int_equal(sx_chain_create(&chain, &sx_backend_cpu, cpu, &c, &why), -EINVAL);
	assert_non_null(strstr(why.text, "needs a camera"));
	c.params.motion.mode = SX_MOTION_MODE_OFF;
	assert_int_equal(sx_chain_create(&chain, &sx_backend_cpu, cpu, &c, &why), 0);
	assert_null(chain);
	sx_backend_cpu.chain_destroy(NULL);
	sx_backend_reference.chain_destroy(NULL);
	sx_backend_cpu.close(cpu);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(sequences), cmocka_unit_test(chains_are_made)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
