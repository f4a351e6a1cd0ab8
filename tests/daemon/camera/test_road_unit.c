/*
 * Tests the check of the baseline's unit by the road. It uses planes as cameras with a baseline in metres see
 * them, and checks the reported ratio if the configuration has another unit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/camera/road_unit.h"

#define W 640
#define H 360

static uint16_t map[H][W];
static const struct sx_image image = {
	.data = map, .width = W, .height = H, .pitch = sizeof(map[0]), .pixel = SX_PIXEL_U16};

/* Returns a camera 1.65 m above a road with a baseline of 0.2 m. `factor` scales the configured values. */
static struct sx_params params(double factor)
{
	struct sx_params p = {.road = {.mode = SX_ROAD_PLANE, .top = 33, .max_roll_deg = 6, .max_age = 30},
			      .stereo = {.disparities = 128}};

	p.camera = (struct sx_camera){
		.fx = 400, .fy = 400, .cx = 320, .cy = 150, .baseline_m = 0.2 * factor, .height_m = 1.65};
	return p;
}

/* Draws the disparities of the road alone, without objects. */
static void draw_road(void)
{
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			map[y][x] =
				y > 160 ? (uint16_t)lrint(16 * 0.2 / 1.65 * (y - 150)) : SX_DISPARITY_INVALID;
}

static void draw_nothing(void)
{
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			map[y][x] = SX_DISPARITY_INVALID;
}

/*
 * Returns the ratio after many frames of one picture. The road model is the engine's own. Where the engine
 * finds no road, it comes from the calibration.
 */
static double ratio_after(int frames, double factor)
{
	const struct sx_params p = params(factor);
	struct sx_road_unit u;
	struct sx_road_finder *f;
	struct sx_road road;
	double ratio;

	assert_int_equal(sx_road_unit_init(&u, &p, W, H), 0);
	assert_int_equal(sx_road_finder_create(&f, &p, W, H, 128), 0);
	for (int i = 0; i < frames; i++) {
		sx_road_find(f, &image, NULL, &road);
		if (sx_road_unit_see(&u, &road))
			sx_road_unit_try(&u, &image);
	}
	ratio = u.ratio;
	sx_road_finder_destroy(f);
	sx_road_unit_finish(&u);
	assert_true(u.ratio == 0 && !u.finder[0]);
	return ratio;
}

static void metres(void **state)
{
	static const double factors[] = {10, 25.4, 39.37, 100, 1000, 0.1, 0.01};
	char text[256];

	draw_road();
	assert_true(ratio_after(240, 1) == 0);
	for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++) {
		const double ratio = ratio_after(240, factors[i]);

		if (fabs(ratio / factors[i] - 1) > 0.05)
			fail_msg("%g is told as %g", factors[i], ratio);
		/* a single picture is not enough */
		assert_true(ratio_after(4 * 2 * SX_ROAD_UNITS, factors[i]) == 0);
	}
	sx_road_unit_tell(100, &(struct sx_camera){.height_m = 1.65, .baseline_m = 7.5}, text, sizeof(text));
	assert_string_equal(
		text, "the road lies 165 m below the camera, 100 times camera.height_m (1.65 m): is the "
		      "baseline of 7.5 m in centimetres? Distances are wrong then; else correct height_m");
}

static void no_road(void **state)
{
	draw_nothing();
	assert_true(ratio_after(1200, 1) == 0);
	/* a wall has no slope */
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			map[y][x] = 16 * 20;
	assert_true(ratio_after(1200, 1) == 0);
}

/*
 * A road that is found later withdraws the question. A road at an odd height, found within configured limits,
 * raises it.
 */
static void found_later(void **state)
{
	const struct sx_params p = params(100);
	struct sx_road road = {.origin = SX_ROAD_FROM_CALIBRATION};
	struct sx_road_unit u;

	assert_int_equal(sx_road_unit_init(&u, &p, W, H), 0);
	draw_road();
	for (int i = 0; i < 240; i++)
		if (sx_road_unit_see(&u, &road))
			sx_road_unit_try(&u, &image);
	assert_true(u.ratio > 90);
	road = (struct sx_road){.origin = SX_ROAD_MEASURED, .height_m = 1.7};
	assert_false(sx_road_unit_see(&u, &road));
	assert_true(u.ratio == 0);
	road.height_m = 16.5;
	assert_false(sx_road_unit_see(&u, &road));
	assert_true(u.ratio == 10);
	sx_road_unit_finish(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metres),
		cmocka_unit_test(no_road),
		cmocka_unit_test(found_later),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
