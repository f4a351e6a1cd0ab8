/*
 * ZNCC on the device against stages/: words of windows, the cost volume, by rows and in zigzag, then the
 * whole chain. SX_SEED repeats or extends the random part.
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

#include "base/why.h"
#include "gpu/host/engine.h"
#include "gpu/zncc/zncc_cuda.h"
#include "stages/stereo/cost.h"
#include "stages/stereo/zncc.h"
#include "tests/check.h"
#include "tests/engine_case.h"
#include "tests/gpu/on_device.h"

#define GUARD 0xa5
#define RANDOM_CASES 24

/* A pair and its window words, on the host and on the device. */
struct pair {
	struct on_device d;
	struct check_image grey[2], words[2];
	struct sx_image device_grey[2], device_words[2];
};

static void open_pair(struct pair *p, int width, int height, enum check_fill fill, int shift, int window,
		      uint64_t seed)
{
	struct check_rng r = check_rng_seed(seed);

	on_device_init(&p->d);
	for (int i = 0; i < 2; i++) {
		check_image_init(&p->grey[i], SX_PIXEL_U8, width, height, 0);
		check_image_init(&p->words[i], SX_PIXEL_U64, width, height, 0);
	}
	check_fill_pair(&p->grey[0].image, &p->grey[1].image, fill, shift, 9, &r);
	for (int i = 0; i < 2; i++) {
		sx_zncc_windows(&p->grey[i].image, &p->words[i].image, window);
		p->device_grey[i] = on_device_copy(&p->d, &p->grey[i].image);
		p->device_words[i] = on_device_copy(&p->d, &p->words[i].image);
	}
}

static void close_pair(struct pair *p)
{
	for (int i = 0; i < 2; i++) {
		check_image_finish(&p->grey[i]);
		check_image_finish(&p->words[i]);
	}
	on_device_finish(&p->d);
}

static void check_windows(int width, int height, int window, enum check_fill fill, uint64_t seed)
{
	struct pair p;

	open_pair(&p, width, height, fill, 3, window, seed);

	const struct sx_image got[2] = {on_device_image(&p.d, SX_PIXEL_U64, width, height),
					on_device_image(&p.d, SX_PIXEL_U64, width, height)};

	ON_DEVICE(sx_zncc_windows_cuda_run(p.device_grey, got, window, p.d.stream));
	for (int side = 0; side < 2; side++) {
		struct check_image host;
		char what[128];

		snprintf(what, sizeof(what), "words %dx%d window %d %s side %d", width, height, window,
			 check_fill_name(fill), side);
		check_image_init(&host, SX_PIXEL_U64, width, height, 0);
		on_device_fetch(&p.d, &got[side], &host.image);
		assert_true(check_same(what, seed, &p.words[side].image, &host.image, 0));
		check_image_finish(&host);
	}
	close_pair(&p);
}

/* Sizes around blocks of 128 x 32 pixels, and smaller than the window's border. */
static void test_windows(void **state)
{
	static const int sizes[][2] = {{1, 1}, {5, 40}, {32, 32}, {33, 5}, {127, 31}, {129, 33}, {131, 66}};

	for (int window = 3; window <= 15; window += 2)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			check_windows(sizes[i][0], sizes[i][1], window,
				      (enum check_fill)(i % CHECK_FILL_COUNT), i);
	for (int fill = 0; fill < CHECK_FILL_COUNT; fill++)
		check_windows(70, 40, 15, (enum check_fill)fill, 9);
}

/* Windows of even size or outside the allowed range are refused. */
static void test_wrong_windows(void **state)
{
	static const int windows[] = {-3, 0, 1, 4, 16, 17};
	const struct sx_image none[2] = {{.width = 32, .height = 32}, {.width = 32, .height = 32}};

	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		const struct sx_stereo_params p = {
			.cost = SX_COST_ZNCC, .disparities = 32, .zncc_window = windows[i]};

		assert_int_equal(sx_zncc_windows_cuda_run(none, none, windows[i], NULL),
				 cudaErrorInvalidValue);
		assert_int_equal(sx_zncc_cost_cuda_run(none, none, &p, NULL, NULL), cudaErrorInvalidValue);
	}
}

/* Returns the byte of a pixel that holds disparity d in the layout of gpu/stereo/volume.cuh. */
static size_t byte_of(int d, int disparities)
{
	const int word = d % (disparities / 2) / 2, high = d >= disparities / 2;

	return (size_t)(4 * word + 2 * high + d % 2);
}

static bool same_volume(const char *what, const struct pair *pair, const uint8_t *got,
			const struct sx_stereo_params *p)
{
	const struct sx_cost_input in = {{pair->grey[0].image, pair->grey[1].image},
					 {pair->words[0].image, pair->words[1].image}};
	const int width = pair->grey[0].image.width, height = pair->grey[0].image.height;
	uint8_t *want = test_malloc((size_t)width * (size_t)p->disparities);
	int wrong = 0;

	for (int y = 0; y < height; y++) {
		sx_cost_row(&in, y, p, want);
		for (int i = 0; i < width * p->disparities; i++) {
			const int x = i / p->disparities, d = i % p->disparities;
			const int m = got[((size_t)y * (size_t)width + (size_t)x) * (size_t)p->disparities +
					  byte_of(d, p->disparities)];

			if (m != sx_cost_max(p->cost) - want[i] && wrong++ == 0)
				fprintf(stderr, "%s: first at (%d,%d,%d): want cost %d, got %d\n", what, x, y,
					d, want[i], sx_cost_max(p->cost) - m);
		}
	}
	test_free(want);
	return wrong == 0;
}

static void check_cost(const struct sx_stereo_params *p, int width, int height, enum check_fill fill,
		       uint64_t seed)
{
	const size_t bytes = (size_t)width * (size_t)height * (size_t)p->disparities, guarded = bytes + 256;
	uint8_t *got = test_malloc(guarded);
	struct pair pair;
	uint8_t *volume;
	char what[160];

	open_pair(&pair, width, height, fill, p->min_disparity + 11, p->zncc_window, seed);
	volume = sx_cuda_take(&pair.d.memory, guarded);
	snprintf(what, sizeof(what), "seed %llu / cost %dx%d window %d D %d min %d view %d %s",
		 (unsigned long long)seed, width, height, p->zncc_window, p->disparities, p->min_disparity,
		 p->out_of_view, check_fill_name(fill));
	memset(got, GUARD, guarded);
	on_device_write(&pair.d, got, volume, guarded);
	ON_DEVICE(sx_zncc_cost_cuda_run(pair.device_grey, pair.device_words, p, volume, pair.d.stream));
	on_device_read(&pair.d, volume, got, guarded);
	assert_true(same_volume(what, &pair, got, p));
	for (size_t k = bytes; k < guarded; k++)
		assert_int_equal(got[k], GUARD);
	test_free(got);
	close_pair(&pair);
}

static struct sx_stereo_params usual(int window, int disparities)
{
	struct sx_stereo_params p = {.cost = SX_COST_ZNCC,
				     .paths = 4,
				     .disparities = disparities,
				     .uniqueness = 95,
				     .subpixel = SX_SUBPIXEL_TRUNC,
				     .zncc_window = window};

	sx_stereo_resolve(&p);
	return p;
}

/*
 * Every window with every range of disparities, both modes for partners out of view, widths around a walk of
 * 32 and 36 pixels.
 */
static void test_cost_variants(void **state)
{
	static const int widths[] = {32, 37, 65, 71}, shifts[] = {0, 1, -7, 128, -128};

	for (int window = 3; window <= 15; window += 2) {
		for (int d = 32; d <= 256; d += 32) {
			const int n = window / 2 + d / 32;
			struct sx_stereo_params p = usual(window, d);

			p.min_disparity = shifts[n % 5];
			p.out_of_view = n % 2 ? SX_OUT_OF_VIEW_MAX : SX_OUT_OF_VIEW_ZERO;
			check_cost(&p, widths[n % 4], 1 + n % 2, (enum check_fill)(n % CHECK_FILL_COUNT),
				   (uint64_t)n);
		}
	}
}

/* More than one block per row, and blocks of rows above each other. */
static void test_cost_sizes(void **state)
{
	for (int window = 3; window <= 15; window += 6) {
		struct sx_stereo_params p = usual(window, 32);

		p.out_of_view = SX_OUT_OF_VIEW_MAX;
		check_cost(&p, window == 3 ? 611 : 290, 2, CHECK_NOISE, 50);
		check_cost(&p, 33, 19, CHECK_NOISE, 51);
	}
}

/* Grey levels at both ends: the largest variances and none; correlations of 1 and -1. */
static void test_cost_levels(void **state)
{
	for (int window = 3; window <= 15; window += 2)
		for (int fill = 0; fill < CHECK_FILL_COUNT; fill++) {
			const struct sx_stereo_params p = usual(window, 32);

			check_cost(&p, 48, 2, (enum check_fill)fill, (uint64_t)fill);
		}
}

static void test_cost_random(void **state)
{
	const char *text = getenv("SX_SEED");
	struct check_rng r = check_rng_seed(text ? strtoull(text, NULL, 10) : 1);

	for (int i = 0; i < RANDOM_CASES; i++) {
		struct sx_stereo_params p = usual(3 + 2 * check_below(&r, 7), 32 * (1 + check_below(&r, 8)));

		p.min_disparity = check_below(&r, 257) - 128;
		p.out_of_view = (enum sx_out_of_view)check_below(&r, 2);
		check_cost(&p, 32 + check_below(&r, 60), 1 + check_below(&r, 3),
			   (enum check_fill)check_below(&r, CHECK_FILL_COUNT), check_random(&r));
	}
}

static void run_frame(const struct sx_backend *backend, struct sx_context *x, const struct engine_frame *f)
{
	assert_non_null(x);
	assert_int_equal(backend->submit(x, &f->pair, NULL, NULL, NULL), 0);
	assert_int_equal(backend->wait(x, -1), 1);
}

/* Compares all outputs of both engines. */
static void check_engine(const struct engine_case *t, enum sx_volume_choice volume,
			 enum sx_input_choice input)
{
	const struct sx_backend *const want = &sx_backend_reference, *const got = &sx_backend_cuda;
	const struct sx_engine_params p = {.contexts = 1, .threads = 1, .volume = volume, .input = input};
	struct sx_device *devices[2] = {NULL, NULL};
	struct sx_context *a, *b;
	struct engine_frame f;
	struct sx_why why = {""};

	if (want->open(&devices[0], &p, &why) < 0 || got->open(&devices[1], &p, &why) < 0)
		fail_msg("%s", why.text);
	a = engine_case_context(want, devices[0], t, true);
	b = engine_case_context(got, devices[1], t, true);
	engine_frame_init(&f, t);
	run_frame(want, a, &f);
	for (int i = 0; i < 2; i++) {
		run_frame(got, b, &f);
		assert_true(
			engine_case_same(t, (struct engine_output){want, a}, (struct engine_output){got, b},
					 volume == SX_VOLUME_CHECKPOINT ? "checkpoint:" : "stored:", true));
	}
	assert_true(got->traffic(b) > 0);
	want->context_destroy(a);
	got->context_destroy(b);
	want->close(devices[0]);
	got->close(devices[1]);
	assert_true(engine_frame_finish(&f));
}

static void test_engine(void **state)
{
	static const enum sx_pixel formats[] = {SX_PIXEL_U8,   SX_PIXEL_Y16,   SX_PIXEL_YUYV,
						SX_PIXEL_NV12, SX_PIXEL_RGB24, SX_PIXEL_UYVY};
	static const int windows[] = {3, 5, 7, 9, 13, 15};

	for (int i = 0; i < 6; i++) {
		struct engine_case t = engine_case_small(2000 + (uint64_t)i);
		struct sx_stereo_params *p = &t.params.stereo;

		t.width = 32 + 11 * i;
		t.height = 32 + 3 * i;
		t.pixel = formats[i];
		p->cost = SX_COST_ZNCC;
		p->zncc_window = windows[i];
		p->disparities = i % 2 ? 64 : 32;
		p->min_disparity = i == 3 ? -20 : 0;
		p->p1 = p->p2 = 0;
		p->p2_edge = i % 2 ? 16 : 0;
		p->paths = i == 2 ? 8 : i == 4 ? 2 : 4;
		check_engine(&t, i % 2 ? SX_VOLUME_CHECKPOINT : SX_VOLUME_STORED,
			     i < 3 ? SX_INPUT_COPY : SX_INPUT_MAPPED);
	}
}

/* Stage times of a frame: windows and volume count as census, and aggregation begins after them. */
static void test_stage_times(void **state)
{
	const struct sx_engine_params p = {.contexts = 1, .volume = SX_VOLUME_STORED, .input = SX_INPUT_COPY};
	struct engine_case t = engine_case_small(2100);
	struct sx_context_config c = {.width = t.width,
				      .height = t.height,
				      .pixel = t.pixel,
				      .params = t.params,
				      .time_stages = true};
	struct sx_device *device = NULL;
	struct sx_context *x = NULL;
	const struct sx_result *r;
	struct engine_frame f;
	struct sx_why why = {""};

	c.params.stereo.cost = SX_COST_ZNCC;
	c.params.stereo.p1 = c.params.stereo.p2 = 0;
	if (sx_backend_cuda.open(&device, &p, &why) < 0 ||
	    sx_backend_cuda.context_create(&x, device, &c, &why) < 0)
		fail_msg("%s", why.text);
	engine_frame_init(&f, &t);
	run_frame(&sx_backend_cuda, x, &f);
	r = sx_backend_cuda.result(x);
	assert_true(r->stage_ns[SX_STAGE_INGEST] > 0);
	assert_true(r->stage_ns[SX_STAGE_CENSUS] > 0);
	assert_true(r->stage_ns[SX_STAGE_AGGREGATE] > 0);
	assert_true(r->stage_ns[SX_STAGE_WINNER] > 0);
	sx_backend_cuda.context_destroy(x);
	sx_backend_cuda.close(device);
	assert_true(engine_frame_finish(&f));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows),	      cmocka_unit_test(test_wrong_windows),
		cmocka_unit_test(test_cost_variants), cmocka_unit_test(test_cost_sizes),
		cmocka_unit_test(test_cost_levels),   cmocka_unit_test(test_cost_random),
		cmocka_unit_test(test_engine),	      cmocka_unit_test(test_stage_times),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
