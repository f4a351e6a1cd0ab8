/*
 * Road estimation: the camera pose that the road gives, its roll, and its uncertainty.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stages/road/road_sigma.h"
#include "tests/stages/road/road_world.h"

/* ---- roll ---- */

/* Checks that the calibrated road is the world's own plane and gives back the camera pose. */
static void check_calibrated(const struct sx_camera *c)
{
	const struct world w = world_of(c, c->roll_deg);
	struct sx_road road;

	sx_road_calibrated(c, &road);
	assert_true(fabs(road.pitch_rad - c->pitch_deg * RADIANS) < 1e-12);
	assert_true(fabs(road.roll_rad - c->roll_deg * RADIANS) < 1e-12);
	assert_true(fabs(road.height_m - c->height_m) < 1e-12);
	assert_true(road.pitch_sigma_rad == 0 && road.roll_sigma_rad == 0 && road.height_sigma_m == 0);
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

/* A camera that was mounted with roll: the road is searched around this roll, and not on the other side. */
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

/* ---- uncertainty of a road ---- */

/* Mean and variance of many values. */
struct spread {
	double sum, square;
	int n;
};

static void add(struct spread *s, double x)
{
	s->sum += x;
	s->square += x * x;
	s->n++;
}

static void check_spread(const char *what, const struct spread *got, double said)
{
	const double mean = got->sum / got->n, variance = got->square / got->n - mean * mean;

	if (!(variance > 0.6 * said && variance < 1.6 * said))
		fail_msg("%s: spread %g, sigma %g", what, sqrt(variance), sqrt(said));
}

/*
 * Draws noise with the variance that sx_road_add() assumes for the weight of a sample, independent for each
 * sample. No sample falls outside the tolerance.
 */
static void draw_noisy(struct world *w, struct sx_image *d, struct check_rng *r)
{
	for (int y = 0; y < d->height; y++)
		for (int x = 0; x < d->width; x++) {
			double ray[3], near;

			ray_of(w, x, y, ray);
			near = plane_at(w, ray);
			w->noise_px = 0.028 * hypot(w->c.fx * w->c.baseline_m * near, 10);
			((uint16_t *)sx_image_row(d, y))[x] = pixel(w, near, r);
		}
}

/* Roads spread as the formula predicts, without its two factors for correlated samples of a matcher. */
static void test_sigmas_of_independent_noise(void **state)
{
	const struct sx_params p = params(1.5, 4, 0.5);
	struct world w = world_of(&p.camera, 2);
	struct spread pitch = {0}, roll = {0}, height = {0};
	double said[3] = {0};
	struct check_rng r = check_rng_seed(11);
	struct sx_image d;

	w.outlier_percent = 0;
	assert_int_equal(sx_image_init(&d, SX_PIXEL_U16, W, H), 0);
	for (int i = 0; i < 200; i++) {
		double t, u, far, far_height;
		struct sx_road got;

		draw_noisy(&w, &d, &r);
		got = find(&p, &d, NULL);
		t = tan(got.pitch_rad);
		u = tan(got.roll_rad);
		far = SX_ROAD_FAR_PX / (got.slope * 300);
		far_height = SX_ROAD_FAR_PX / (got.slope * H + got.offset) - t * far / (1 + t * t + u * u);
		assert_int_equal(got.origin, SX_ROAD_MEASURED);
		add(&pitch, got.pitch_rad);
		add(&roll, got.roll_rad);
		add(&height, got.height_m);
		said[0] += (pow(got.pitch_sigma_rad, 2) - pow(far / (1 + t * t), 2)) / (SX_ROAD_ALIKE * 200);
		said[1] += pow(got.roll_sigma_rad, 2) / (SX_ROAD_ALIKE * 200);
		said[2] += (pow(got.height_sigma_m, 2) - pow(far_height * got.height_m, 2)) /
			   (SX_ROAD_ALIKE * 200);
	}
	check_spread("pitch", &pitch, said[0]);
	check_spread("roll", &roll, said[1]);
	check_spread("height", &height, said[2]);
	sx_image_finish(&d);
}

/* An unknown sigma stays unknown. A known sigma grows, slowly at first. */
static void test_sigma_grows_with_age(void **state)
{
	assert_true(sx_road_sigma_at(0, 1, 9) == 0);
	assert_true(sx_road_sigma_at(0.25, 1, 0) == 0.25);
	assert_true(sx_road_sigma_at(3, 1, 16) == 5);
	assert_true(sx_road_sigma_at(1e-9, SX_ROAD_WALK_RAD, UINT32_MAX) < 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calibrated_roll),
		cmocka_unit_test(test_measured_about_calibrated_roll),
		cmocka_unit_test(test_sigmas_of_independent_noise),
		cmocka_unit_test(test_sigma_grows_with_age),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
