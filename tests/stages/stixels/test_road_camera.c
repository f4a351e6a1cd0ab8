/*
 * Road estimation: what the road says of the camera, its roll.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/stages/stixels/road_world.h"

/* ---- roll ---- */

/* The calibrated road is the world's own; what it says of the camera is what it was told. */
static void check_calibrated(const struct sx_camera *c)
{
	const struct world w = world_of(c, c->roll_deg);
	struct sx_road road;

	sx_road_calibrated(c, &road);
	assert_true(fabs(road.pitch_rad - c->pitch_deg * RADIANS) < 1e-12);
	assert_true(fabs(road.roll_rad - c->roll_deg * RADIANS) < 1e-12);
	assert_true(fabs(road.height_m - c->height_m) < 1e-12);
	check_disparities(&w, &road, 1e-9);
}

static void test_calibrated_roll(void **state)
{
	struct sx_params p = params(1.5, 0, 0.5);

	p.camera.fy = 360;
	p.camera.cx = 110;
	for (p.camera.pitch_deg = -20; p.camera.pitch_deg <= 20; p.camera.pitch_deg += 10)
		for (p.camera.roll_deg = -30; p.camera.roll_deg <= 30; p.camera.roll_deg += 5)
			check_calibrated(&p.camera);
}

/* A camera that was put on askew: the road is looked for about its roll, and not on the other side. */
static void test_measured_about_calibrated_roll(void **state)
{
	for (int sign = -1; sign <= 1; sign += 2)
		for (int off = -4; off <= 4; off += 4) {
			struct sx_params p = params(1.5, 3, 0.5);
			const struct world w = world_of(&p.camera, -14 * sign);
			struct check_rng r = check_rng_seed(90);
			struct sx_image d;

			p.camera.roll_deg = 14 * sign;
			check_plane(&p, 14 * sign + off, (uint64_t)(95 + off));
			assert_int_equal(sx_image_init(&d, SX_PIXEL_U16, W, H), 0);
			draw_plane(&w, &d, &r);
			assert_int_equal(find(&p, &d, NULL).origin, SX_ROAD_FROM_CALIBRATION);
			sx_image_finish(&d);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calibrated_roll),
		cmocka_unit_test(test_measured_about_calibrated_roll),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
