/*
 * Pyramid search in the cpu engine against the reference: every tap, byte for byte, over drawn settings, sizes,
 * vector widths and numbers of threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/engine/engine.h"
#include "tests/cpu/simd_case.h"
#include "tests/emulated.h"
#include "tests/engine_case.h"

#define DRAWN 120
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define DRAWN_MOST (DRAWN / 6)
#else
#define DRAWN_MOST (IS_EMULATED ? DRAWN / 6 : IS_FEWER ? DRAWN / 3 : DRAWN)
#endif

static void run_frame(struct run *r, const struct engine_case *t, const struct engine_frame *f)
{
	r->context = engine_case_context(r->backend, r->device, t, true);
	assert_non_null(r->context);
	for (int i = 0; i < 2; i++) { /* the second frame finds what the first one left */
		assert_int_equal(r->backend->submit(r->context, &f->pair, NULL, NULL, NULL), 0);
		assert_int_equal(r->backend->wait(r->context, -1), 1);
	}
}

static void run_close(struct run *r)
{
	r->backend->context_destroy(r->context);
	r->backend->close(r->device);
}

/*
 * Opens the engine for comparison: the reference. If IS_SLOW, it judges one case in three, and the cpu engine without
 * vectors and with one thread judges the others, as in test_engine.c.
 */
static void open_judge(struct run *r)
{
	static int turn;

	if (IS_SLOW && turn++ % 3)
		assert_true(run_open(r, &sx_backend_cpu, "plain", 1));
	else
		assert_true(run_open(r, &sx_backend_reference, NULL, 1));
}

/* Checks a case with all vectors, or with one kind in turn. */
static void check_case(const struct engine_case *t, int threads, int only)
{
	struct run want;
	struct engine_frame f;
	bool same = true;

	engine_frame_init(&f, t);
	open_judge(&want);
	run_frame(&want, t, &f);
	for (int i = 0; i < simd_count; i++) {
		struct run got;
		char how[80];

		if (only >= 0 && i != only % simd_count)
			continue;
		assert_true(run_open(&got, &sx_backend_cpu, simds[i], threads));
		run_frame(&got, t, &f);
		snprintf(how, sizeof(how), "%s, %d threads, seed %d:", simds[i], threads, (int)t->seed);
		same &= engine_case_same(t, (struct engine_output){want.backend, want.context},
					 (struct engine_output){got.backend, got.context}, how, true);
		run_close(&got);
	}
	run_close(&want);
	assert_true(engine_frame_finish(&f));
	assert_true(same);
}

static struct engine_case pyramid_case(uint64_t seed)
{
	struct engine_case t = engine_case_small(seed);

	t.params.stereo.search = SX_SEARCH_PYRAMID;
	return t;
}

/*
 * The vectors of a case, by turns. In an emulator most cases have vectors, because the code without them is the
 * same C on each machine.
 */
static int vectors_of(int i)
{
	return IS_EMULATED && simd_count > 1 && i % 4 ? 1 + i % (simd_count - 1) : i;
}

static void test_drawn(void **state)
{
	for (int i = 0; i < DRAWN_MOST; i++) {
		const struct engine_case t = engine_case_pyramid(5000 + (uint64_t)i, true);

		check_case(&t, 1 + i % 4, vectors_of(i));
	}
}

static void check_in_turn(const struct engine_case *t)
{
	const int blocks = t->params.stereo.disparities / 32;

	check_case(t, 1 + blocks % 3, blocks);
}

static void test_group(void **state)
{
	engine_cases_pyramid(check_in_turn);
}

/* A pair large enough for many tiles and bands, with all vectors. */
static void test_large(void **state)
{
	struct engine_case t = pyramid_case(7000);

	t.width = 437;
	t.height = 203;
	t.params.stereo.disparities = 128;
	t.shift = 30;
	for (int threads = 1; threads <= 3; threads += 2)
		check_case(&t, threads, -1);
}

/* Contexts of both searches and two sizes take turns on one device. */
static void test_turns(void **state)
{
	struct engine_case cases[3] = {pyramid_case(7100), engine_case_small(7101), pyramid_case(7102)};
	struct run want, got;
	struct sx_context *x[3];

	cases[2].width = 133;
	cases[2].params.stereo.disparities = 128;
	run_open(&want, &sx_backend_reference, NULL, 1);
	run_open(&got, &sx_backend_cpu, NULL, 2);
	for (int i = 0; i < 3; i++) {
		x[i] = engine_case_context(got.backend, got.device, &cases[i], true);
		assert_non_null(x[i]);
	}
	for (int i = 0; i < 9; i++) {
		const struct engine_case *t = &cases[i % 3];
		struct engine_frame f;

		engine_frame_init(&f, t);
		run_frame(&want, t, &f);
		assert_int_equal(got.backend->submit(x[i % 3], &f.pair, NULL, NULL, NULL), 0);
		assert_int_equal(got.backend->wait(x[i % 3], -1), 1);
		assert_true(engine_case_same(t, (struct engine_output){want.backend, want.context},
					     (struct engine_output){got.backend, x[i % 3]}, "turns:", true));
		want.backend->context_destroy(want.context);
		assert_true(engine_frame_finish(&f));
	}
	for (int i = 0; i < 3; i++)
		got.backend->context_destroy(x[i]);
	got.backend->close(got.device);
	want.backend->close(want.device);
}

/* The memory of cells does not grow with the number of disparities. */
static void test_memory(void **state)
{
	size_t bytes[2];

	for (int i = 0; i < 2; i++) {
		struct engine_case t = pyramid_case(7200);
		struct run cpu;

		t.width = 640;
		t.height = 320;
		t.params.stereo.disparities = 128 << i;
		run_open(&cpu, &sx_backend_cpu, NULL, 1);
		cpu.context = engine_case_context(cpu.backend, cpu.device, &t, false);
		assert_non_null(cpu.context);
		bytes[i] = cpu.backend->memory(cpu.device);
		run_close(&cpu);
	}
	assert_in_range(bytes[1], bytes[0], bytes[0] + bytes[0] / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drawn), cmocka_unit_test(test_group),  cmocka_unit_test(test_large),
		cmocka_unit_test(test_turns), cmocka_unit_test(test_memory),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, find_simds, NULL);
}
