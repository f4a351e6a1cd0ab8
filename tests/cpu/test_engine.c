/*
 * The cpu engine against the reference: all outputs of all stages, byte for byte, over sizes, options, vector
 * widths and numbers of threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/why.h"
#include "cpu/engine/engine.h"
#include "tests/cpu/simd_case.h"
#include "tests/emulated.h"
#include "tests/engine_case.h"

static struct sx_context *context_of(struct run *r, const struct engine_case *t, bool keep_volume)
{
	struct sx_context *x = engine_case_context(r->backend, r->device, t, keep_volume);

	assert_non_null(x);
	return x;
}

static void run_frame_read_by(struct run *r, struct sx_context *x, const struct engine_frame *f,
			      sx_images_read_fn *images_read, void *user)
{
	assert_int_equal(r->backend->submit(x, &f->pair, NULL, images_read, user), 0);
	assert_int_equal(r->backend->wait(x, -1), 1);
}

static void run_frame(struct run *r, struct sx_context *x, const struct engine_frame *f)
{
	run_frame_read_by(r, x, f, NULL, NULL);
}

static void run_close(struct run *r)
{
	r->backend->close(r->device);
}

static bool same_outputs(const struct engine_case *t, const struct sx_backend *of,
			 const struct sx_context *want, const struct sx_context *got, const char *how,
			 bool volume)
{
	return engine_case_same(t, (struct engine_output){of, want},
				(struct engine_output){&sx_backend_cpu, got}, how, volume);
}

/*
 * Returns true if a combination is left out. Threads work in the same way with all vectors and sizes.
 * ThreadSanitizer, which is ten times slower, gets one case in four, each with one vector width in turn.
 * AddressSanitizer gets every case, also with one width in turn, and so does another compiler. An emulator
 * gets one case in four without vectors, because that code is the same C on each machine. turn: number of the
 * case.
 */
static bool is_left_out(int turn, int simd)
{
#if defined(__SANITIZE_THREAD__)
	return turn % 4 || simd != turn / 4 % simd_count;
#elif defined(__SANITIZE_ADDRESS__)
	return simd != turn % simd_count;
#else
	if (IS_FEWER)
		return simd != turn % simd_count;
	return IS_EMULATED && turn % 4 && simd == 0 && simd_count > 1;
#endif
}

/*
 * Returns true for a case that takes as long as a hundred others, in runs that are ten times slower. The next
 * case has enough tasks too.
 */
static bool is_too_large(const struct engine_case *t)
{
	return IS_SLOW && engine_case_cells(t) > 10000000;
}

/*
 * Opens the engine for comparison: the reference. With ThreadSanitizer, which checks threads, it is this
 * engine with one thread, because other builds compare that with the reference. If IS_SLOW, the reference
 * takes four times as long as this engine. It then judges one case in three, and this engine without vectors
 * and with one thread judges the others.
 */
static void open_judge(struct run *r, int turn)
{
#if defined(__SANITIZE_THREAD__)
	assert_true(run_open(r, &sx_backend_cpu, simds[turn / 4 % simd_count], 1));
#else
	if (IS_SLOW && turn % 3)
		assert_true(run_open(r, &sx_backend_cpu, "plain", 1));
	else
		assert_true(run_open(r, &sx_backend_reference, NULL, 1));
#endif
}

/* Checks a case. threads: a bit for each number of threads to try. */
static void check_case(const struct engine_case *t, unsigned threads)
{
	static int turn;
	struct run judge, cpu;
	struct sx_context *want;
	struct engine_frame f;
	bool same = true, none = true;

	if (is_too_large(t))
		return;
	turn++;
	for (int simd = 0; simd < simd_count; simd++)
		none = none && is_left_out(turn, simd);
	if (none)
		return;
	engine_frame_init(&f, t);
	open_judge(&judge, turn);
	want = context_of(&judge, t, true);
	run_frame(&judge, want, &f);
	for (int simd = 0; simd < simd_count; simd++) {
		for (int n = 1; n <= 4; n++) {
			struct sx_context *got;
			char how[64];

			if (is_left_out(turn, simd) || !(threads & 1u << n))
				continue;
			assert_true(run_open(&cpu, &sx_backend_cpu, simds[simd], n));
			snprintf(how, sizeof(how), "%s, %d threads:", simds[simd], n);
			got = context_of(&cpu, t, true);
			run_frame(&cpu, got, &f);
			same &= same_outputs(t, judge.backend, want, got, how, true);
			sx_backend_cpu.context_destroy(got);
			run_close(&cpu);
		}
	}
	judge.backend->context_destroy(want);
	run_close(&judge);
	assert_true(engine_frame_finish(&f));
	assert_true(same);
}

static void check_1_thread(const struct engine_case *t)
{
#ifndef __SANITIZE_THREAD__ /* a single thread has no races */
	check_case(t, 1u << 1);
#else
	(void)t;
#endif
}

static void check_2_threads(const struct engine_case *t)
{
	check_case(t, 1u << 2);
}

static void check_3_threads(const struct engine_case *t)
{
	check_case(t, 1u << 3);
}

static void test_sizes(void **state)
{
	engine_cases_sizes(check_2_threads);
}

static void test_fills(void **state)
{
	engine_cases_fills(check_2_threads);
}

static void test_costs(void **state)
{
	engine_cases_costs(check_2_threads);
}

static void test_zncc(void **state)
{
	engine_cases_zncc(check_2_threads);
}

static void test_edges(void **state)
{
	engine_cases_edges(check_2_threads);
}

static void test_paths(void **state)
{
	engine_cases_paths(check_2_threads);
}

/*
 * Path costs as similarities (cpu/kernels/similarity_kernel.h): the largest penalties with which sums of two
 * paths fit a byte, and the next larger ones. Every number of vectors, and widths and heights that leave a
 * remainder.
 */
static void test_similarities(void **state)
{
	static const struct {
		int p1, p2, p1_vertical, p2_vertical, disparities, uniqueness, width, height;
	} cases[] = {
		{1, 1, 1, 1, 128, 95, 67, 33},	    {1, 2, 95, 95, 128, 100, 131, 34},
		{95, 95, 95, 95, 128, 1, 66, 35},   {30, 95, 1, 96, 128, 95, 65, 36},
		{12, 96, 8, 95, 128, 95, 64, 37},   {12, 60, 8, 86, 96, 50, 333, 41},
		{12, 60, 8, 86, 96, 95, 101, 45},   {12, 60, 8, 86, 32, 62, 102, 64},
		{12, 60, 8, 86, 128, 61, 1242, 33}, {60, 60, 86, 86, 64, 95, 259, 99},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct engine_case t = engine_case_small(1500 + i);
		struct sx_stereo_params *p = &t.params.stereo;

		t.width = cases[i].width;
		t.height = cases[i].height;
		t.fill = i % 3 == 0 ? CHECK_NOISE : i % 3 == 1 ? CHECK_STEPS : CHECK_CHECKERBOARD;
		p->p1 = cases[i].p1;
		p->p2 = cases[i].p2;
		p->p1_vertical = cases[i].p1_vertical;
		p->p2_vertical = cases[i].p2_vertical;
		p->disparities = cases[i].disparities;
		p->uniqueness = cases[i].uniqueness;
		check_case(&t, 1u << (1 + i % 4));
	}
}

static void test_extreme_sums(void **state)
{
	engine_cases_extreme_sums(check_2_threads);
}

static void test_min_disparity(void **state)
{
	engine_cases_min_disparity(check_2_threads);
}

static void test_winner_options(void **state)
{
	engine_cases_winner(check_1_thread);
}

static void test_filter_options(void **state)
{
	struct engine_case widest = engine_case_small(1400); /* filters keep rows on the stack */

	engine_cases_filters(check_3_threads);
	widest.width = 4096;
	widest.height = 32;
	widest.params.stereo.disparities = 32;
	widest.params.filters.median = true;
	check_2_threads(&widest);
}

static void test_pixel_formats(void **state)
{
	engine_cases_pixels(check_2_threads);
}

static void test_raw_pairs(void **state)
{
	engine_cases_rectify(check_2_threads);
}

static void test_external_maps(void **state)
{
	engine_cases_external(check_2_threads);
}

static void test_stixel_options(void **state)
{
	engine_cases_stixels(check_2_threads);
}

/*
 * Checks slanted stixels. Threads share columns in the same way with all options, so ThreadSanitizer gets
 * a quarter of a third of the cases. The processor of an emulator has no vectors for these kernels. The third
 * shows that the compiler translated the C code correctly.
 */
static void check_slanted(const struct engine_case *t)
{
	static int nth;
#ifdef __SANITIZE_THREAD__
	const bool some = true;
#else
	const bool some = IS_EMULATED;
#endif

	if (some && nth++ % 3)
		return;
	check_2_threads(t);
}

static void test_slanted(void **state)
{
	engine_cases_slanted(check_slanted);
	engine_cases_slanted_exact(check_slanted);
}

static void test_fastdt(void **state)
{
	engine_cases_fastdt(check_2_threads);
}

static void test_threads(void **state)
{
	struct engine_case t = engine_case_small(1000);

	t.width = 331;
	t.height = 179;
	t.params.stereo.disparities = 128;
	check_case(&t, 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4);
	t.params.stereo.aggregation = SX_AGGREGATION_FASTDT;
	check_case(&t, 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4);
}

/* Contexts of different shape on one device, taking turns and all in flight, without keep_volume. */
#define CONTEXTS 4
static void test_contexts(void **state)
{
	struct engine_case cases[CONTEXTS];
	struct sx_context *want[CONTEXTS], *got[CONTEXTS];
	struct run reference, cpu;
	struct engine_frame frames[CONTEXTS];

	for (int i = 0; i < CONTEXTS; i++)
		cases[i] = engine_case_small(1100 + (uint64_t)i);
	cases[1].width = 121;
	cases[1].params.stereo.paths = 8;
	cases[1].params.stereo.disparities = 96;
	cases[1].params.stereo.min_disparity = 5;
	for (int i = 2; i < CONTEXTS; i++)
		cases[i].params.stereo.aggregation = SX_AGGREGATION_FASTDT;
	cases[3].params.stereo.fastdt = SX_FASTDT_INT8;
	assert_true(run_open(&reference, &sx_backend_reference, NULL, 1));
	assert_true(run_open(&cpu, &sx_backend_cpu, NULL, 2));
	for (int i = 0; i < CONTEXTS; i++) {
		engine_frame_init(&frames[i], &cases[i]);
		want[i] = context_of(&reference, &cases[i], true);
		got[i] = context_of(&cpu, &cases[i], false);
		run_frame(&reference, want[i], &frames[i]);
	}
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < CONTEXTS; i++)
			assert_int_equal(sx_backend_cpu.submit(got[i], &frames[i].pair, NULL, NULL, NULL), 0);
		assert_int_equal(sx_backend_cpu.submit(got[0], &frames[0].pair, NULL, NULL, NULL), -EBUSY);
		for (int i = CONTEXTS - 1; i >= 0; i--)
			assert_int_equal(sx_backend_cpu.wait(got[i], -1), 1);
		for (int i = 0; i < CONTEXTS; i++)
			assert_true(same_outputs(&cases[i], reference.backend, want[i], got[i],
						 "in turn:", false));
	}
	for (int i = 0; i < CONTEXTS; i++) {
		struct sx_image view;

		assert_int_equal(sx_backend_cpu.peek(got[i], SX_TAP_SUM, &view), -ENOENT);
		sx_backend_cpu.context_destroy(got[i]);
		reference.backend->context_destroy(want[i]);
		assert_true(engine_frame_finish(&frames[i]));
	}
	run_close(&cpu);
	run_close(&reference);
}

/*
 * Thread that creates contexts, each larger than the previous one, so that the memory that they share has to
 * move.
 */
struct maker {
	struct run *cpu;
	pthread_t thread;
	atomic_bool done;
};

#define MADE 12

static void *make_contexts(void *arg)
{
	struct maker *m = arg;
	struct sx_context *x[MADE];

	for (int i = 0; i < MADE; i++) {
		struct engine_case larger = engine_case_small(1600 + (uint64_t)i);

		larger.width += 20 * (i + 1);
		larger.height += 7 * (i + 1);
		larger.params.stereo.paths = i % 2 ? 8 : 4;
		if (i % 3 == 2)
			larger.params.stereo.aggregation = SX_AGGREGATION_FASTDT;
		x[i] = context_of(m->cpu, &larger, false);
	}
	for (int i = 0; i < MADE; i++)
		sx_backend_cpu.context_destroy(x[i]);
	atomic_store(&m->done, true);
	return NULL;
}

/* Another thread creates contexts while frames are computed. The results must not change. */
static void test_contexts_made_meanwhile(void **state)
{
	struct engine_case t = engine_case_small(1500);
	struct sx_context *want, *got[2];
	struct run reference, cpu;
	struct engine_frame frame;

	engine_frame_init(&frame, &t);
	assert_true(run_open(&reference, &sx_backend_reference, NULL, 1));
	want = context_of(&reference, &t, true);
	run_frame(&reference, want, &frame);
	assert_true(run_open(&cpu, &sx_backend_cpu, NULL, 2));
	for (int i = 0; i < 2; i++)
		got[i] = context_of(&cpu, &t, false);
	for (int round = 0; round < 3; round++) {
		struct maker m = {.cpu = &cpu};

		assert_int_equal(pthread_create(&m.thread, NULL, make_contexts, &m), 0);
		for (int n = 0; n < 10 || !atomic_load(&m.done); n++) {
			for (int i = 0; i < 2; i++)
				assert_int_equal(sx_backend_cpu.submit(got[i], &frame.pair, NULL, NULL, NULL),
						 0);
			for (int i = 0; i < 2; i++) {
				assert_int_equal(sx_backend_cpu.wait(got[i], -1), 1);
				assert_true(same_outputs(&t, reference.backend, want, got[i],
							 "meanwhile:", false));
			}
		}
		pthread_join(m.thread, NULL);
	}
	for (int i = 0; i < 2; i++)
		sx_backend_cpu.context_destroy(got[i]);
	reference.backend->context_destroy(want);
	assert_true(engine_frame_finish(&frame));
	run_close(&cpu);
	run_close(&reference);
}

/* Thread: the engine's, then the test's. */
struct spoilt {
	const struct sx_pair *pair;
	int reads;
};

static void spoil(void *user)
{
	struct spoilt *s = user;

	for (int y = 0; y < s->pair->left.height; y++) {
		memset(sx_image_row(&s->pair->left, y), 0xa5, (size_t)s->pair->left.width);
		memset(sx_image_row(&s->pair->right, y), 0x5a, (size_t)s->pair->right.width);
	}
	for (int y = 0; s->pair->disparity && y < s->pair->disparity->height; y++)
		memset((char *)(uintptr_t)s->pair->disparity->data + (size_t)y * s->pair->disparity->pitch,
		       0x33, 2 * (size_t)s->pair->disparity->width);
	s->reads++;
}

/*
 * After the engine has reported that the images were read, the caller may overwrite them. The engine reports
 * this exactly once.
 */
static void check_images_read(enum engine_map map)
{
	const struct sx_backend *backends[] = {&sx_backend_reference, &sx_backend_cpu};
	struct engine_case t = {.width = 160, .height = 90, .params = engine_case_params(), .external = map};
	struct sx_context *want;
	struct engine_frame f;
	struct run plain, r;

	t.params.stereo.matcher = map ? SX_MATCH_EXTERNAL : SX_MATCH_INTERNAL;
	engine_frame_init(&f, &t);
	assert_true(run_open(&plain, &sx_backend_cpu, NULL, 2));
	want = context_of(&plain, &t, true);
	run_frame(&plain, want, &f);
	for (int i = 0; i < 2; i++) {
		struct engine_frame g;
		struct spoilt spoilt = {.pair = &g.pair};
		struct sx_context *got;

		engine_frame_init(&g, &t);
		assert_true(run_open(&r, backends[i], NULL, 2));
		got = context_of(&r, &t, true);
		run_frame_read_by(&r, got, &g, spoil, &spoilt);
		assert_int_equal(spoilt.reads, 1);
		assert_true(engine_case_same(&t, (struct engine_output){plain.backend, want},
					     (struct engine_output){r.backend, got}, "images spoilt:", true));
		r.backend->context_destroy(got);
		run_close(&r);
		assert_true(engine_frame_finish(&g));
	}
	plain.backend->context_destroy(want);
	run_close(&plain);
	assert_true(engine_frame_finish(&f));
}

static void test_images_read(void **state)
{
	check_images_read(ENGINE_MAP_NONE);
	check_images_read(ENGINE_MAP_PLAIN);
}

/* The event becomes readable once per frame. A context may be destroyed with a frame in flight. */
static void test_waiting(void **state)
{
	struct engine_case t = engine_case_small(1200);
	struct sx_road previous = {.slope = 0.3, .offset = -50, .origin = SX_ROAD_MEASURED, .age = 3};
	struct sx_context *x;
	struct pollfd pfd = {.events = POLLIN};
	struct engine_frame f;
	struct run cpu;

	engine_frame_init(&f, &t);
	assert_true(run_open(&cpu, &sx_backend_cpu, NULL, 2));
	x = context_of(&cpu, &t, false);
	pfd.fd = sx_backend_cpu.event_fd(x);
	assert_int_equal(sx_backend_cpu.wait(x, 0), -ENODATA);
	assert_int_equal(poll(&pfd, 1, 0), 0);
	assert_int_equal(sx_backend_cpu.submit(x, &f.pair, &previous, NULL, NULL), 0);
	assert_int_equal(poll(&pfd, 1, 10000), 1);
	assert_int_equal(sx_backend_cpu.wait(x, 0), 1);
	assert_int_equal(poll(&pfd, 1, 0), 0);
	assert_int_equal(sx_backend_cpu.result(x)->road.origin, SX_ROAD_PREVIOUS);
	assert_int_equal(sx_backend_cpu.result(x)->road.age, 4);
	assert_true(sx_backend_cpu.result(x)->finished_ns >= sx_backend_cpu.result(x)->started_ns);
	assert_int_equal(sx_backend_cpu.submit(x, &f.pair, NULL, NULL, NULL), 0);
	sx_backend_cpu.context_destroy(x);
	run_close(&cpu);
	assert_true(engine_frame_finish(&f));
}

static void test_refusals(void **state)
{
	struct sx_context_config c = {
		.width = 64, .height = 64, .pixel = SX_PIXEL_U8, .params = engine_case_params()};
	struct sx_engine_params many = {.threads = 65}, one = {.threads = 1};
	struct sx_pair pair = {0};
	struct sx_device *d = NULL;
	struct sx_context *x = NULL;
	struct sx_why why;

	assert_int_equal(sx_backend_cpu.open(&d, &many, &why), -EINVAL);
	assert_non_null(strstr(why.text, "65"));
	setenv("SX_SIMD", "mmx", 1);
	assert_int_equal(sx_backend_cpu.open(&d, &one, &why), -EINVAL);
	assert_non_null(strstr(why.text, "mmx"));
	unsetenv("SX_SIMD");
	assert_int_equal(sx_backend_cpu.open(&d, &one, &why), 0);
	assert_non_null(strstr(sx_backend_cpu.describe(d), "1 thread"));
	c.params.stereo.p2 = 250;
	assert_int_equal(sx_backend_cpu.context_create(&x, d, &c, &why), -EINVAL);
	assert_null(x);
	c.params = engine_case_params();
	c.params.stereo.aggregation = SX_AGGREGATION_FASTDT;
	c.params.stereo.fastdt = SX_FASTDT_INT32;
	assert_int_equal(sx_backend_cpu.context_create(&x, d, &c, &why), -ENOTSUP);
	assert_string_equal(why.text, "stereo.fastdt = int32: only engine.backend = reference computes it");
	assert_null(x);
	c.params = engine_case_params();
	assert_int_equal(sx_backend_cpu.context_create(&x, d, &c, &why), 0);
	assert_int_equal(sx_backend_cpu.submit(x, &pair, NULL, NULL, NULL), -EINVAL);
	sx_backend_cpu.context_destroy(x);
	sx_backend_cpu.context_destroy(NULL);
	sx_backend_cpu.close(d);
	sx_backend_cpu.close(NULL);
}

/* At most 3 bytes per cell, with two contexts, at the sizes for which the engine is made. */
static void test_memory(void **state)
{
	struct engine_case t = engine_case_small(1300);
	struct sx_context *x[2];
	struct run cpu;
	size_t cells, all[2];

	t.width = 640;
	t.height = 360;
	t.params.stereo.disparities = 128;
	t.params.filters.speckle_size = 100;
	for (int paths = 4; paths <= 8; paths += 4) {
		t.params.stereo.paths = paths;
		assert_true(run_open(&cpu, &sx_backend_cpu, NULL, 2));
		for (int i = 0; i < 2; i++) {
			x[i] = context_of(&cpu, &t, false);
			all[i] = sx_backend_cpu.memory(cpu.device);
		}
		/*
		 * the first context, with which the shared volume was allocated, holds no more than the
		 * second
		 */
		for (int i = 0; i < 2; i++)
			assert_int_equal(sx_backend_cpu.context_memory(x[i]), all[1] - all[0]);
		cells = (size_t)t.width * (size_t)t.height * (size_t)t.params.stereo.disparities;
		assert_in_range(sx_backend_cpu.memory(cpu.device), cells, 3 * cells);
		for (int i = 0; i < 2; i++)
			sx_backend_cpu.context_destroy(x[i]);
		run_close(&cpu);
	}
	t.params.stereo.matcher = SX_MATCH_EXTERNAL; /* no cost volume at all */
	assert_true(run_open(&cpu, &sx_backend_cpu, NULL, 2));
	x[0] = context_of(&cpu, &t, false);
	assert_in_range(sx_backend_cpu.memory(cpu.device), 1, cells / 4);
	sx_backend_cpu.context_destroy(x[0]);
	run_close(&cpu);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),	       cmocka_unit_test(test_fills),
		cmocka_unit_test(test_costs),	       cmocka_unit_test(test_paths),
		cmocka_unit_test(test_zncc),	       cmocka_unit_test(test_edges),
		cmocka_unit_test(test_similarities),   cmocka_unit_test(test_extreme_sums),
		cmocka_unit_test(test_min_disparity),  cmocka_unit_test(test_winner_options),
		cmocka_unit_test(test_filter_options), cmocka_unit_test(test_pixel_formats),
		cmocka_unit_test(test_raw_pairs),      cmocka_unit_test(test_external_maps),
		cmocka_unit_test(test_stixel_options), cmocka_unit_test(test_slanted),
		cmocka_unit_test(test_threads),	       cmocka_unit_test(test_contexts),
		cmocka_unit_test(test_waiting),	       cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_images_read),    cmocka_unit_test(test_memory),
		cmocka_unit_test(test_fastdt),	       cmocka_unit_test(test_contexts_made_meanwhile),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, find_simds, NULL);
}
