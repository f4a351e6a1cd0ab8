/*
 * External disparity maps: rounding, range, confidence, and their use by the reference engine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "stages/engine.h"
#include "stages/stereo/external.h"
#include "tests/engine_case.h"

#define NONE SX_DISPARITY_INVALID
#define WIDTH 8

static uint16_t got[WIDTH];
static uint8_t sure[WIDTH];

static void convert(const uint16_t *values, const uint8_t *confidence, int min, int disparities)
{
	const struct sx_stereo_params p = {
		.matcher = SX_MATCH_EXTERNAL, .min_disparity = min, .disparities = disparities};
	const struct sx_disparity map = {values, confidence, sizeof(got), sizeof(sure), WIDTH, 1, 0};
	const struct sx_image left = {got, WIDTH, 1, sizeof(got), SX_PIXEL_U16};
	const struct sx_image weight = {sure, WIDTH, 1, sizeof(sure), SX_PIXEL_U8};

	sx_external(values ? &map : NULL, &left, &weight, &p);
}

static void halves_go_up_and_nothing_stays_nothing(void **state)
{
	convert((const uint16_t[]){0, 1, 7, 8, 23, 24, 256, 263}, NULL, 0, 128);
	assert_memory_equal(got, ((uint16_t[]){NONE, 0, 0, 1, 1, 2, 16, 16}), sizeof(got));
}

/* The search range is 32 px from 4 px on: 4 to 35 px. */
static void what_matching_could_not_have_found_is_invalid(void **state)
{
	convert((const uint16_t[]){4 * 256 - 9, 4 * 256 - 8, 4 * 256, 35 * 256, 35 * 256 + 7, 35 * 256 + 8,
				   65535, 5 * 256},
		NULL, 4, 32);
	assert_memory_equal(got, ((uint16_t[]){NONE, 0, 0, 31 * 16, 31 * 16, NONE, NONE, 16}), sizeof(got));
	convert((const uint16_t[]){1, 256, 27 * 256, 27 * 256 + 8, 28 * 256, 0, 0, 0}, NULL, -4, 32);
	assert_memory_equal(got, ((uint16_t[]){64, 80, 31 * 16, NONE, NONE, NONE, NONE, NONE}), sizeof(got));
	/* 65535 is 256 px (1/256 px units) */
	convert((const uint16_t[]){255 * 256, 65535, 0, 0, 0, 0, 0, 0}, NULL, 0, 256);
	assert_memory_equal(got, ((uint16_t[]){255 * 16, NONE, NONE, NONE, NONE, NONE, NONE, NONE}),
			    sizeof(got));
}

static void confidence_is_given_or_low(void **state)
{
	const uint16_t values[WIDTH] = {256, 0, 256, 256, 256, 256, 256, 256};
	const uint8_t given[WIDTH] = {0, 1, 2, 3, 100, 200, 254, 255};

	convert(values, given, 0, 32);
	assert_memory_equal(sure, given, sizeof(sure));
	convert(values, NULL, 0, 32);
	for (int x = 0; x < WIDTH; x++)
		assert_int_equal(sure[x], SX_EXTERNAL_CONFIDENCE);
	convert(NULL, NULL, 0, 32);
	for (int x = 0; x < WIDTH; x++)
		assert_int_equal(got[x], NONE);
}

/* ---- the engine ---- */

static struct sx_device *device;
static struct sx_context *context;

static struct engine_case plain(void)
{
	struct engine_case t = engine_case_small(1);

	t.external = ENGINE_MAP_PLAIN;
	t.params.stereo.matcher = SX_MATCH_EXTERNAL;
	t.params.filters.smooth = false;
	return t;
}

static void open_engine(const struct engine_case *t)
{
	const struct sx_engine_params p = {.threads = 1};
	struct sx_why why;

	assert_int_equal(sx_backend_reference.open(&device, &p, &why), 0);
	context = engine_case_context(&sx_backend_reference, device, t, true);
	assert_non_null(context);
}

static int submit(const struct sx_pair *pair)
{
	const int r = sx_backend_reference.submit(context, pair, NULL, NULL, NULL);

	return r < 0 ? r : sx_backend_reference.wait(context, -1);
}

static void close_engine(struct engine_frame *f)
{
	sx_backend_reference.context_destroy(context);
	sx_backend_reference.close(device);
	assert_true(engine_frame_finish(f));
}

/* The map is unchanged without any filter, and the images are still available. */
static void the_map_is_what_came(void **state)
{
	struct engine_case t = plain();
	struct sx_image disparity, left, none;
	struct engine_frame f;
	int valid = 0;

	engine_frame_init(&f, &t);
	open_engine(&t);
	assert_int_equal(submit(&f.pair), 1);
	assert_int_equal(sx_backend_reference.peek(context, SX_TAP_DISPARITY, &disparity), 0);
	assert_int_equal(sx_backend_reference.peek(context, SX_TAP_LEFT, &left), 0);
	assert_true(check_same("left", t.seed, &f.left.image, &left, 0));
	for (int y = 0; y < t.height; y++) {
		const uint16_t *want = sx_image_row(&f.map.image, y), *d = sx_image_row(&disparity, y);

		for (int x = 0; x < t.width; x++) {
			const int q = (want[x] + 8) / 16;

			assert_int_equal(d[x], want[x] && q <= 63 * 16 ? q : (int)NONE);
			valid += d[x] != NONE;
		}
	}
	assert_true(valid > t.width * t.height / 2);
	assert_int_equal(sx_backend_reference.peek(context, SX_TAP_LEFT_CENSUS, &none), -ENOENT);
	assert_int_equal(sx_backend_reference.peek(context, SX_TAP_SUM, &none), -ENOENT);
	assert_int_equal(sx_backend_reference.peek(context, SX_TAP_MEDIAN_RIGHT, &none), -ENOENT);
	f.pair.disparity = NULL; /* no measurement: no stixel may report an object */
	assert_int_equal(submit(&f.pair), 1);
	assert_int_equal(sx_backend_reference.result(context)->diagnostics.measured, 0);
	close_engine(&f);
}

static void maps_that_do_not_fit_are_refused(void **state)
{
	struct engine_case t = plain();
	struct sx_disparity bad;
	struct engine_frame f;

	engine_frame_init(&f, &t);
	open_engine(&t);
#define REFUSED(field, value)                               \
	do {                                                \
		bad = f.disparity;                          \
		bad.field = (value);                        \
		f.pair.disparity = &bad;                    \
		assert_int_equal(submit(&f.pair), -EINVAL); \
	} while (0)
	REFUSED(width, t.width + 1);
	REFUSED(height, t.height - 1);
	REFUSED(pitch, (size_t)t.width * 2 - 2);
	REFUSED(pitch, (size_t)t.width * 2 + 1);
	REFUSED(data, NULL);
	f.disparity.confidence = f.map_confidence.image.data;
	REFUSED(confidence_pitch, (size_t)t.width - 1);
	f.pair.disparity = &f.disparity;
	assert_int_equal(submit(&f.pair), 1);
	close_engine(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(halves_go_up_and_nothing_stays_nothing),
		cmocka_unit_test(what_matching_could_not_have_found_is_invalid),
		cmocka_unit_test(confidence_is_given_or_low),
		cmocka_unit_test(the_map_is_what_came),
		cmocka_unit_test(maps_that_do_not_fit_are_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
