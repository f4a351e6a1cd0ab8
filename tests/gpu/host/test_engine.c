/*
 * The CUDA engine against the reference: every output of every stage, byte for byte, over sizes, options,
 * flows of data, contexts in flight. On the emulator (small cases) or on a GPU:
 *
 *   test_gpu_engine_device [--full] [--repeat N] [LEFT.pgm RIGHT.pgm]...   --full: every size and flow
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

#include "gpu/module.h"
#include "tests/engine_case.h"
#ifdef SX_EMULATE
#include "tests/gpu/emulate/emulate.h"
#endif

#define FLOWS 5
#ifdef SX_EMULATE
#ifdef __SANITIZE_ADDRESS__
#define CELLS_MAX ((size_t)40000)
#else
#define CELLS_MAX ((size_t)300000)
#endif
#define REPEAT 6
#else
#define CELLS_MAX ((size_t)8000000)
#define REPEAT 100
#endif

/* How data flows, see stages/engine.h. */
static const struct flow {
	const char *name;
	enum sx_volume_choice volume;
	enum sx_input_choice input;
} flows[FLOWS] = {
	{"stored, copy", SX_VOLUME_STORED, SX_INPUT_COPY},
	{"checkpoint, copy", SX_VOLUME_CHECKPOINT, SX_INPUT_COPY},
	{"stored, mapped", SX_VOLUME_STORED, SX_INPUT_MAPPED},
	{"checkpoint, mapped", SX_VOLUME_CHECKPOINT, SX_INPUT_MAPPED},
	{"counted, copy", SX_VOLUME_COUNTED, SX_INPUT_COPY},
};

static const struct sx_backend *const cuda = &sx_backend_cuda;
static struct sx_device *reference, *devices[FLOWS];
static bool full;
static int repeat = REPEAT;
static unsigned long checks;
static char **images;
static int image_count;

static int open_flow(int flow, char *why, size_t why_bytes)
{
	struct sx_engine_params p = {
		.contexts = 4, .threads = 1, .volume = flows[flow].volume, .input = flows[flow].input};

	return cuda->open(&devices[flow], &p, why, why_bytes);
}

static int open_devices(void **state)
{
	struct sx_engine_params p = {.threads = 1};
	char why[256] = "";

	if (sx_backend_reference.open(&reference, &p, why, sizeof(why)) < 0)
		fail_msg("reference: %s", why);
	for (int flow = 0; flow < FLOWS; flow++)
		if (!devices[flow] && open_flow(flow, why, sizeof(why)) < 0)
			fail_msg("%s: %s", flows[flow].name, why);
	return 0;
}

/* Nothing of a context may be left when all are gone. */
static int close_devices(void **state)
{
	for (int flow = 0; flow < FLOWS; flow++) {
		cuda->close(devices[flow]);
		devices[flow] = NULL;
	}
	sx_backend_reference.close(reference);
#ifdef SX_EMULATE
	assert_int_equal(sx_emulate_count("device bytes"), 0);
	assert_int_equal(sx_emulate_count("pinned bytes"), 0);
#endif
	return 0;
}

static struct sx_context *context_of(const struct sx_backend *backend, struct sx_device *device,
				     const struct engine_case *t, bool keep_volume)
{
	struct sx_context *x = engine_case_context(backend, device, t, keep_volume);

	assert_non_null(x);
	return x;
}

static void run_frame(const struct sx_backend *backend, struct sx_context *x, const struct engine_frame *f,
		      const struct sx_road *previous)
{
	assert_int_equal(backend->submit(x, &f->pair, previous, NULL, NULL), 0);
	assert_int_equal(backend->wait(x, -1), 1);
}

static bool same(const struct engine_case *t, const struct sx_context *want, const struct sx_context *got,
		 const char *how, bool volume)
{
	checks++;
	return engine_case_same(t, (struct engine_output){&sx_backend_reference, want},
				(struct engine_output){cuda, got}, how, volume);
}

/* Twice, since the second frame finds what the first one left in memory. */
static bool check_flow(const struct engine_case *t, const struct engine_frame *f,
		       const struct sx_context *want, int flow, bool keep_volume)
{
	struct sx_context *got = context_of(cuda, devices[flow], t, keep_volume);
	char how[64];
	bool good = true;

	for (int frame = 1; frame <= 2; frame++) {
		snprintf(how, sizeof(how), "%s, frame %d:", flows[flow].name, frame);
		run_frame(cuda, got, f, NULL);
		good &= same(t, want, got, how, keep_volume);
	}
	cuda->context_destroy(got);
	return good;
}

static void check_case(const struct engine_case *t)
{
	struct sx_context *want;
	struct engine_frame f;
	bool good = true;

	if (!full && engine_case_cells(t) > CELLS_MAX)
		return;
	engine_frame_init(&f, t);
	want = context_of(&sx_backend_reference, reference, t, true);
	run_frame(&sx_backend_reference, want, &f, NULL);
	for (int flow = 0; flow < FLOWS; flow++)
		if (full || flow == (int)(t->seed % FLOWS))
			good &= check_flow(t, &f, want, flow, t->seed / FLOWS % 4 != 3);
	sx_backend_reference.context_destroy(want);
	assert_true(engine_frame_finish(&f));
	assert_true(good);
}

static void test_sizes(void **state)
{
	engine_cases_sizes(check_case);
}

static void test_fills(void **state)
{
	engine_cases_fills(check_case);
}

static void test_costs(void **state)
{
	engine_cases_costs(check_case);
}

/*
 * The reference adds up each window anew, so that few of the large ones are quick; test_zncc_cuda.c has all
 * of them.
 */
static void check_zncc(const struct engine_case *t)
{
	const size_t window = (size_t)t->params.stereo.zncc_window;

	if (full || engine_case_cells(t) * window * window <= 40 * CELLS_MAX)
		check_case(t);
}

static void test_zncc(void **state)
{
	engine_cases_zncc(check_zncc);
}

static void test_edges(void **state)
{
	engine_cases_edges(check_case);
}

static void test_paths(void **state)
{
	engine_cases_paths(check_case);
}

static void test_extreme_sums(void **state)
{
	engine_cases_extreme_sums(check_case);
}

static void test_min_disparity(void **state)
{
	engine_cases_min_disparity(check_case);
}

static void test_winner_options(void **state)
{
	engine_cases_winner(check_case);
}

static void test_filter_options(void **state)
{
	engine_cases_filters(check_case);
}

static void test_pixel_formats(void **state)
{
	engine_cases_pixels(check_case);
}

static void test_stixel_options(void **state)
{
	engine_cases_stixels(check_case);
}

static void test_slanted(void **state)
{
	engine_cases_slanted(check_case);
}

static void check_fastdt(const struct engine_case *t)
{
	const struct sx_stereo_params *p = &t->params.stereo;

	if (full || p->fastdt != SX_FASTDT_AUTO) /* which is one of the others */
		check_case(t);
}

static void test_fastdt(void **state)
{
	engine_cases_fastdt(check_fastdt);
}

static struct engine_case small_one(uint64_t seed)
{
	struct engine_case t = engine_case_small(seed);

	t.params.stereo.disparities = 32;
	return t;
}

/* Planes and rows so far apart that they are copied one by one. */
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

/* Copies that the frame took. */
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

/* Frames with scores, without, with others, of one context; nothing is copied for a pair without. */
static void check_scores_in_turn(int flow)
{
	const bool mapped = flows[flow].input == SX_INPUT_MAPPED;
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
	for (int flow = 0; flow < FLOWS; flow++)
		check_scores_in_turn(flow);
}

/* The same pair again and again: the same bytes again and again. */
static void test_repeat(void **state)
{
	struct engine_case t = small_one(1000);
	struct sx_context *want, *got[FLOWS];
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
	for (int flow = 0; flow < FLOWS; flow++)
		got[flow] = context_of(cuda, devices[flow], &t, false);
	for (int round = 0; round < repeat; round++) {
		for (int flow = 0; flow < FLOWS; flow++) {
			run_frame(cuda, got[flow], &f, NULL);
			good &= same(&t, want, got[flow], flows[flow].name, false);
		}
	}
	for (int flow = 0; flow < FLOWS; flow++)
		cuda->context_destroy(got[flow]);
	sx_backend_reference.context_destroy(want);
	assert_true(engine_frame_finish(&f));
	assert_true(good);
}

/* A road that was found before, passed on while none is found. */
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
		const struct sx_road *told = i & 1 ? &previous : NULL;

		run_frame(&sx_backend_reference, want, &f, told);
		run_frame(cuda, got, &f, told);
		assert_true(same(&t, want, got, "previous road:", false));
	}
	cuda->context_destroy(got);
	sx_backend_reference.context_destroy(want);
	assert_true(engine_frame_finish(&f));
}

#define CONTEXTS 4

/* n contexts of different shape on one device, all in flight, waited for in changing order. */
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
			snprintf(how, sizeof(how), "%d contexts, %s:", n, flows[flow].name);
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
		for (int flow = 0; flow < FLOWS; flow++)
			if (full || flow == n % FLOWS)
				check_contexts(n, flow);
}

/* The event becomes readable once a frame; a context may be destroyed with a frame in flight. */
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

/* Pairs in pinned memory: read where they lie, or copied at most once each; others are staged. */
static void check_transfers(int flow, bool pinned)
{
	const uint64_t frames = 5;
	struct engine_case t = small_one(1300);
	struct sx_transfers before, after;
	struct sx_context *x = context_of(cuda, devices[flow], &t, false);
	struct engine_frame f;

	engine_frame_init(&f, &t);
	if (pinned) {
		assert_int_equal(cuda->pin(devices[flow], f.left.memory, f.left.bytes), 0);
		assert_int_equal(cuda->pin(devices[flow], f.right.memory, f.right.bytes), 0);
	}
	run_frame(cuda, x, &f, NULL); /* the first one also counts what warmed the context up */
	cuda->transfers(devices[flow], &before);
	for (uint64_t i = 0; i < frames; i++)
		run_frame(cuda, x, &f, NULL);
	cuda->transfers(devices[flow], &after);
	assert_int_equal(after.frames - before.frames, frames);
	if (flows[flow].input == SX_INPUT_MAPPED) {
		assert_string_equal(after.path, "mapped");
		assert_int_equal(after.copies_in - before.copies_in, 0);
	} else {
		assert_string_equal(after.path, "copy");
		/* one copy serves both images where they lie side by side */
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
	for (int flow = 0; flow < FLOWS; flow++) {
		check_transfers(flow, true);
		check_transfers(flow, false);
	}
}

/*
 * At most 5 bytes a cell and 64 MB, also with what the filters need. On a device these sizes are only made:
 * the emulator computes the frame that warms a context up at its pace, and test_faults.c asks there what
 * would be taken.
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
		for (int flow = 0; flow < FLOWS; flow++) {
			const size_t before = cuda->memory(devices[flow]);
			struct sx_context *x = context_of(cuda, devices[flow], &t, false);

			assert_in_range(cuda->memory(devices[flow]) - before, 1,
					5 * engine_case_cells(&t) + 64000000);
			cuda->context_destroy(x);
			assert_int_equal(cuda->memory(devices[flow]), before);
		}
	}
}

#ifdef SX_EMULATE
/*
 * All that the runtime was asked for: a graph, an event, copies of the pair. Nothing is taken, made or given
 * back, no stream or device is waited for, nothing uses the default stream.
 */
static void check_steady(int flow)
{
	static const char *const of_a_frame[] = {
		"cudaSetDevice",
		"cudaGraphLaunch",
		"cudaEventRecord",
		"cudaEventRecordWithFlags",
		"cudaEventSynchronize",
		"kernel",
		"copy",
		"cudaMemcpyAsync",
		NULL,
	};
	const bool copies = flows[flow].input == SX_INPUT_COPY;
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
	if (sx_emulate_other_than(of_a_frame))
		fail_msg("%s: frames need %s", flows[flow].name, sx_emulate_other_than(of_a_frame));
	assert_int_equal(sx_emulate_count("cudaGraphLaunch"), 3);
	assert_int_equal(sx_emulate_count("cudaEventSynchronize"), 3);
	assert_int_equal(sx_emulate_count("copy"), sx_emulate_count("cudaMemcpyAsync"));
	assert_in_range(sx_emulate_count("copy"), copies ? 3 : 0, copies ? 6 : 0);
	cuda->unpin(devices[flow], f.left.memory);
	cuda->unpin(devices[flow], f.right.memory);
	cuda->context_destroy(x);
	assert_true(engine_frame_finish(&f));
}
#endif

#ifdef SX_EMULATE /* which counts what is called */
static void test_steady_state(void **state)
{
	for (int flow = 0; flow < FLOWS; flow++)
		check_steady(flow);
}
#endif

/* A binary PGM of 8 bits, comments not supported: what this test is given. */
static void read_pgm(struct check_image *ret, const char *path)
{
	FILE *file = fopen(path, "rb");
	int width = 0, height = 0, most = 0;

	if (!file || fscanf(file, "P5 %d %d %d", &width, &height, &most) != 3 || most != 255 || width < 1 ||
	    height < 1 || width > 8192 || height > 8192 || fgetc(file) == EOF)
		fail_msg("%s is no PGM file", path);
	check_image_init(ret, SX_PIXEL_U8, width, height, 5);
	for (int y = 0; y < height; y++)
		if (fread(sx_image_row(&ret->image, y), 1, (size_t)width, file) != (size_t)width)
			fail_msg("%s ends early", path);
	fclose(file);
}

static void check_images(const char *left, const char *right, int setting)
{
	struct engine_case t = engine_case_small(1600 + (uint64_t)setting);
	struct sx_context *want;
	struct engine_frame f;
	bool good = true;

	read_pgm(&f.left, left);
	read_pgm(&f.right, right);
	f.pair = (struct sx_pair){.left = f.left.image, .right = f.right.image, .number = 1};
	t.width = f.left.image.width;
	t.height = f.left.image.height;
	t.padding = 5;
	t.params.camera.cx = 0.5 * t.width;
	t.params.camera.cy = 0.46 * t.height;
	t.params.stereo.disparities = 128;
	t.params.stereo.paths = setting & 1 ? 8 : 4;
	t.params.filters.speckle_size = setting & 1 ? 100 : 0;
	t.params.stixels.method = setting & 1 ? SX_STIXEL_RDP : SX_STIXEL_DP;
	want = context_of(&sx_backend_reference, reference, &t, true);
	run_frame(&sx_backend_reference, want, &f, NULL);
	for (int flow = 0; flow < FLOWS; flow++)
		good &= check_flow(&t, &f, want, flow, flow < 2);
	sx_backend_reference.context_destroy(want);
	assert_true(engine_frame_finish(&f));
	if (!good)
		fail_msg("%s", left);
}

static void test_images(void **state)
{
	for (int i = 0; i + 1 < image_count; i += 2)
		for (int setting = 0; setting < 2; setting++)
			check_images(images[i], images[i + 1], setting);
}

static void read_arguments(int argc, char **argv)
{
	int i = 1;

	for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
		if (strcmp(argv[i], "--full") == 0)
			full = true;
		else if (strcmp(argv[i], "--repeat") == 0 && i + 1 < argc)
			repeat = (int)strtol(argv[++i], NULL, 10);
		else
			exit(64);
	}
	images = argv + i;
	image_count = argc - i;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),	       cmocka_unit_test(test_fills),
		cmocka_unit_test(test_costs),	       cmocka_unit_test(test_paths),
		cmocka_unit_test(test_zncc),	       cmocka_unit_test(test_edges),
		cmocka_unit_test(test_extreme_sums),   cmocka_unit_test(test_min_disparity),
		cmocka_unit_test(test_winner_options), cmocka_unit_test(test_filter_options),
		cmocka_unit_test(test_fastdt),	       cmocka_unit_test(test_pixel_formats),
		cmocka_unit_test(test_stixel_options), cmocka_unit_test(test_slanted),
		cmocka_unit_test(test_scores_in_turn), cmocka_unit_test(test_repeat),
		cmocka_unit_test(test_previous_road),  cmocka_unit_test(test_contexts),
		cmocka_unit_test(test_waiting),	       cmocka_unit_test(test_transfers),
		cmocka_unit_test(test_memory),
#ifdef SX_EMULATE
		cmocka_unit_test(test_steady_state),
#endif
	};
	const struct CMUnitTest on_images[] = {cmocka_unit_test(test_images)};
	int r;

	read_arguments(argc, argv);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	r = cmocka_run_group_tests(tests, open_devices, close_devices);
	if (image_count >= 2)
		r += cmocka_run_group_tests(on_images, open_devices, close_devices);
	fprintf(stderr, "# %lu comparisons with the reference\n", checks);
	return r;
}
