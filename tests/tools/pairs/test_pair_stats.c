/*
 * Tests the statistics of pairs of the synthetic street with faults, and of sound pairs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "capture/scene/scene.h"
#include "capture/scene/scene_fault.h"
#include "tools/pairs/faults.h"
#include "tools/pairs/fit.h"

#define FRAME_MS 50

struct case_of {
	const char *scene, *lenses;
	int width, height, disparities;
};

/* Returns the statistics of a pair with the fault. The frame after it shows what moves. */
static struct sx_pair_stats look(const struct case_of *c, const char *fault)
{
	const struct sx_scene_params params = {
		.name = c->scene, .seed = 3, .width = c->width, .height = c->height, .lenses = c->lenses};
	struct sx_image image[5]; /* left, right, next left, next right, scratch */
	struct sx_pair_stats f;
	struct sx_pairs *pairs;
	struct sx_scene *scene;
	struct sx_fault planted;
	struct sx_why why;

	assert_int_equal(sx_fault_parse(&planted, fault, &why), 0);
	assert_int_equal(sx_scene_create(&scene, &params, &why), 0);
	assert_int_equal(sx_pairs_create(&pairs, c->width, c->height, 0, c->disparities), 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(sx_image_init(&image[i], SX_PIXEL_U8, c->width, c->height), 0);
	sx_fault_render(&planted, scene, 0, &image[0], &image[1], &image[4]);
	sx_fault_render(&planted, scene, 1, &image[2], &image[3], &image[4]);
	assert_int_equal(sx_pairs_add(pairs, &image[0], &image[1], &image[2], FRAME_MS), 0);
	sx_pairs_stats(pairs, &f);
	for (int i = 0; i < 5; i++)
		sx_image_finish(&image[i]);
	sx_pairs_destroy(pairs);
	sx_scene_destroy(scene);
	return f;
}

static const struct case_of street = {"street", "ideal", 256, 192, 24};

/* Half of the pixels are 40, half are 180. One hundredth has other values, half of these darker. */
static void grey_levels_of_most_pixels(void **state)
{
	enum { WIDTH = 200, HEIGHT = 100 };
	struct sx_pair_stats f;
	struct sx_image image[2];
	struct sx_pairs *pairs;

	assert_int_equal(sx_pairs_create(&pairs, WIDTH, HEIGHT, 0, 32), 0);
	for (int side = 0; side < 2; side++) {
		uint8_t *p;

		assert_int_equal(sx_image_init(&image[side], SX_PIXEL_U8, WIDTH, HEIGHT), 0);
		for (int y = 0; y < HEIGHT; y++) {
			p = sx_image_row(&image[side], y);
			for (int x = 0; x < WIDTH; x++)
				p[x] = x == 7 && y % 2 ? 3 : x == 9 && y % 2 ? 250 : y % 2 ? 40 : 180;
		}
	}
	assert_int_equal(sx_pairs_add(pairs, &image[0], &image[1], NULL, 0), 0);
	sx_pairs_stats(pairs, &f);
	assert_float_equal(f.least, 40, 0);
	assert_float_equal(f.most, 180, 0);
	for (int side = 0; side < 2; side++)
		sx_image_finish(&image[side]);
	sx_pairs_destroy(pairs);
}

static void assert_only(const struct sx_pair_stats *f, enum sx_pair_fault fault)
{
	struct sx_pair_finding found[SX_PAIR_FAULTS];
	const int n = sx_pair_faults(f, found);

	if (n != 1 || found[0].fault != fault)
		fail_msg("%d found, the first: %s", n, n ? found[0].text : "");
}

static void nothing_in_sound_pairs(void **state)
{
	/* the last case is scaled down for matching */
	static const struct case_of cases[] = {{"street", "ideal", 256, 192, 24},
					       {"open", "ideal", 320, 240, 32},
					       {"verge", "ideal", 320, 200, 32},
					       {"climb", "ideal", 802, 240, 48}};
	struct sx_pair_finding found[SX_PAIR_FAULTS];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct sx_pair_stats f = look(&cases[i], "none");

		if (sx_pair_faults(&f, found))
			fail_msg("%s: %s", cases[i].scene, found[0].text);
		assert_true(f.matches >= 100);
		assert_true(f.agree > 0.9);
		assert_true(f.late_places >= 30 || i == 1); /* too little moves on the open road */
		assert_false(f.late_px >= 0.3 * f.factor);
		assert_true(f.off < 0.3 * f.factor);
		assert_true(f.sharp[0] > 0.4 && f.sharp[1] > 0.4);
		assert_true(isnan(f.density) && isnan(f.skew_ms));
	}
}

static void rows_and_turns(void **state)
{
	struct sx_pair_stats f = look(&street, "rows:-2");

	(void)state;
	assert_only(&f, SX_PAIR_ROW_ERROR);
	assert_float_equal(f.rows, -2, 0.15);
	assert_float_equal(f.turn, 0, 0.05);
	f = look(&street, "rows:9.5"); /* beyond the search range of the daemon */
	assert_only(&f, SX_PAIR_ROW_ERROR);
	assert_float_equal(f.rows, 9.5, 0.15);
	f = look(&street, "rotated:-0.6");
	assert_only(&f, SX_PAIR_ROW_ERROR);
	assert_float_equal(f.turn, -0.6, 0.05);
	f = look(&street, "rotated:4");
	assert_only(&f, SX_PAIR_ROW_ERROR);
	assert_float_equal(f.turn, 4, 0.1);
	assert_float_equal(f.rows, 0, 0.3);
}

static void images_that_are_no_pair(void **state)
{
	struct sx_pair_stats f = look(&street, "swapped");

	(void)state;
	assert_only(&f, SX_PAIR_EXCHANGED);
	assert_true(f.disparity < -2);
	f = look(&street, "same");
	assert_only(&f, SX_PAIR_SAME);
	assert_true(f.still > 0.99);
	assert_float_equal(f.difference, 0, 0);
	f = look(&street, "dark-right:0");
	assert_only(&f, SX_PAIR_BLACK);
	assert_int_equal(f.matches, 0);
	assert_true(isnan(f.rows));
}

/*
 * Returns the statistics of three pairs of the street. Either the right camera is covered, or the left camera
 * is frozen.
 */
static struct sx_pair_stats look_at_cameras(bool is_covered, bool hangs)
{
	const struct sx_scene_params params = {
		.name = "street", .seed = 3, .width = 256, .height = 192, .lenses = "ideal"};
	uint32_t noise = 4;
	struct sx_image image[3]; /* left, right, unused */
	struct sx_pair_stats f;
	struct sx_pairs *pairs;
	struct sx_scene *scene;
	struct sx_why why;

	assert_int_equal(sx_scene_create(&scene, &params, &why), 0);
	assert_int_equal(sx_pairs_create(&pairs, 256, 192, 0, 24), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(sx_image_init(&image[i], SX_PIXEL_U8, 256, 192), 0);
	for (uint32_t n = 0; n < 3; n++) {
		sx_scene_render(scene, n, &image[hangs && n > 0 ? 2 : 0], &image[1]);
		for (int y = 0; is_covered && y < 192; y++)
			for (int x = 0; x < 256; x++) {
				noise = noise * 1664525u + 1013904223u;
				((uint8_t *)sx_image_row(&image[1], y))[x] =
					(uint8_t)(60 + (noise >> 16) % 6);
			}
		assert_int_equal(sx_pairs_add(pairs, &image[0], &image[1], NULL, 0), 0);
	}
	sx_pairs_stats(pairs, &f);
	for (int i = 0; i < 3; i++)
		sx_image_finish(&image[i]);
	sx_pairs_destroy(pairs);
	sx_scene_destroy(scene);
	return f;
}

static void covers_and_cameras_that_hang(void **state)
{
	struct sx_pair_stats f = look_at_cameras(true, false);

	(void)state;
	assert_only(&f, SX_PAIR_COVERED);
	assert_true(f.flat[1] > 0.99 && f.flat[0] < 0.9);
	f = look_at_cameras(false, true);
	assert_only(&f, SX_PAIR_FROZEN);
	assert_float_equal(f.frozen[0], 1, 0);
	assert_float_equal(f.frozen[1], 0, 0);
	f = look_at_cameras(false, false);
	assert_float_equal(f.frozen[0] + f.frozen[1] + f.saturated[0], 0, 0.1);
}

static void lenses_and_light(void **state)
{
	struct sx_pair_stats f = look(&street, "blurred:2.5");

	(void)state;
	assert_only(&f, SX_PAIR_FOCUS);
	assert_true(f.sharp[0] < SX_FOCUS_LEAST && f.sharp[1] < SX_FOCUS_LEAST);
	f = look(&street, "blurred-right:1.2");
	assert_only(&f, SX_PAIR_FOCUS);
	assert_true(f.sharp[0] > 0.4);
	f = look(&street, "dark-right:0.4"); /* the same places are still found */
	assert_only(&f, SX_PAIR_EXPOSURE);
	assert_true(f.agree > 0.9);
}

static void another_moment(void **state)
{
	static const struct case_of larger = {"street", "ideal", 320, 240, 32};
	const struct sx_pair_stats f = look(&larger, "late-right:1");

	(void)state;
	assert_only(&f, SX_PAIR_LATE);
	assert_float_equal(f.late_ms, FRAME_MS, 0.1 * FRAME_MS);
	assert_true(f.late_miss < 0.4);
}

static void raw_images(void **state)
{
	static const struct case_of raw = {"street", "wide", 560, 320, 64};
	const struct sx_pair_stats f = look(&raw, "none");

	(void)state;
	assert_only(&f, SX_PAIR_ROW_ERROR);
	assert_true(f.agree < 0.9);
	assert_true(f.bent > 0.8);
}

static void sizes_and_formats(void **state)
{
	struct sx_image small, other;
	struct sx_pair_stats f;
	struct sx_pairs *pairs;

	(void)state;
	assert_int_equal(sx_pairs_create(&pairs, 63, 64, 0, 64), -EINVAL);
	assert_int_equal(sx_pairs_create(&pairs, 64, 64, 0, 64), 0);
	assert_int_equal(sx_image_init(&small, SX_PIXEL_U8, 64, 64), 0);
	assert_int_equal(sx_image_init(&other, SX_PIXEL_U8, 80, 64), 0);
	assert_int_equal(sx_pairs_add(pairs, &small, &other, NULL, 0), -EINVAL);
	sx_pairs_stats(pairs, &f);
	assert_int_equal(f.pairs, 0);
	assert_int_equal(sx_pairs_add(pairs, &small, &small, &small, FRAME_MS),
			 0); /* without any structure */
	sx_pairs_stats(pairs, &f);
	assert_int_equal(f.pairs, 1);
	assert_int_equal(f.matches, 0);
	assert_true(isnan(f.rows) && isnan(f.still) && isnan(f.sharp[0]) && isnan(f.late_ms));
	assert_float_equal(f.dark[1], 1, 0);
	sx_pairs_destroy(pairs);
	sx_pairs_destroy(NULL);
	sx_image_finish(&small);
	sx_image_finish(&other);
}

/* Fits 2 + 3 x, although a third of the points has other values. */
static void a_fit_in_spite_of_outliers(void **state)
{
	struct sx_fit_point p[90];
	struct sx_fit f;

	(void)state;
	for (int i = 0; i < 90; i++) {
		p[i] = (struct sx_fit_point){{1, i / 90.0}, 2 + 3 * (i / 90.0)};
		if (i % 3 == 0)
			p[i].value = (i * 37) % 50 - 40;
	}
	assert_true(sx_fit(&f, p, 90, 2, 0, 0.1));
	assert_true(f.inliers >= 60);
	assert_float_equal(f.c[0], 2, 0.02);
	assert_float_equal(f.c[1], 3, 0.02);
	assert_float_equal(sx_fit_residual(&f, &(struct sx_fit_point){{1, 2}, 10}, 2), 2, 0.05);
	assert_false(sx_fit(&f, p, 3, 2, 0, 0.1)); /* too few points */
	for (int i = 0; i < 90; i++)
		p[i].term[1] = 1;
	assert_false(sx_fit(&f, p, 90, 2, 0, 0.1)); /* the points cannot separate the two terms */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grey_levels_of_most_pixels),
		cmocka_unit_test(nothing_in_sound_pairs),
		cmocka_unit_test(rows_and_turns),
		cmocka_unit_test(covers_and_cameras_that_hang),
		cmocka_unit_test(images_that_are_no_pair),
		cmocka_unit_test(lenses_and_light),
		cmocka_unit_test(another_moment),
		cmocka_unit_test(raw_images),
		cmocka_unit_test(sizes_and_formats),
		cmocka_unit_test(a_fit_in_spite_of_outliers),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
