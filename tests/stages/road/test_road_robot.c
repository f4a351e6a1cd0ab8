/*
 * Road estimation for the camera of a small robot, 0.25 m above a floor in a room: flat floors, a step down,
 * a kerb and ramps. Also shows that results for a car's camera do not change.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stages/road/road_ground.h"
#include "stages/road/road_scale.h"
#include "tests/stages/road/road_world.h"

/*
 * Floor, and from z ahead a second floor: higher by `rise` (a kerb), lower (a step), or climbing by `grade`.
 */
struct room {
	double z, rise, grade;
	double side, end; /* distance of the walls: to both sides, and ahead */
};
static const struct room FLAT = {100, 0, 0, 0.9, 3.5};

/*
 * Returns parameters with f and baseline of a 640x480 px camera with 430 px and 6 cm. Only the camera is
 * given.
 */
static struct sx_params robot(double height_m, double pitch_deg)
{
	struct sx_params p = params(height_m, pitch_deg, 0.12);

	p.camera.fx = p.camera.fy = 215;
	p.road.min_height_m = p.road.max_height_m = p.road.max_pitch_deg = 0;
	return p;
}

/* Returns 1 / distance of the surface that a ray with slope `down` meets, h below the camera. Pitch 0. */
static double room_at(const struct room *r, double h, double down, double aside)
{
	const double walls = fmax(1 / r->end, fabs(aside) / r->side);
	double near = down / h;

	if (near < 1 / r->z && r->grade != 0)
		near = (down + r->grade) / (h + r->grade * r->z);
	else if (near < 1 / r->z && r->rise > 0) /* front and top of the kerb */
		near = fmin(1 / r->z, down / (h - r->rise));
	else if (near < 1 / r->z)
		near = down / (h - r->rise);
	return fmax(near, walls);
}

/* Draws the room as a matcher sees it. The last rows, which have no descriptor, repeat the row above. */
static void draw_room(const struct world *w, const struct room *room, struct sx_image *d, struct check_rng *r)
{
	for (int y = 0; y < d->height; y++)
		for (int x = 0; x < d->width; x++) {
			double ray[3];

			ray_of(w, x, y, ray);
			((uint16_t *)sx_image_row(d, y))[x] =
				pixel(w, room_at(room, w->c.height_m, ray[1], ray[0]), r);
		}
	for (int y = d->height - 3; y < d->height; y++)
		memcpy((void *)sx_image_row(d, y), sx_image_row(d, d->height - 4), (size_t)d->width * 2);
}

/* A map as of boards or carpet, one as of tiles with little texture, and one that shows nothing up to 1.2 m. */
struct texture {
	double noise_px;
	int outlier_percent, invalid_percent;
	double plain_m;
};
static const struct texture BOARDS = {0.2, 5, 20, 0}, TILES = {1.0, 10, 40, 0}, PLAIN = {0.3, 5, 20, 1.2};

/*
 * Returns the road that is found in a room. The configuration is p; the true camera height is height_m and
 * the true pitch 0.
 */
static struct sx_road road_on(const struct sx_params *p, double height_m, const struct texture *texture,
			      const struct room *room, uint64_t seed)
{
	struct check_rng r = check_rng_seed(seed);
	struct world w = world_of(&p->camera, 0);
	struct sx_road road;
	struct sx_image d;

	w.c.height_m = height_m;
	w.noise_px = texture->noise_px;
	w.outlier_percent = texture->outlier_percent;
	w.invalid_percent = texture->invalid_percent;
	assert_int_equal(sx_image_init(&d, SX_PIXEL_U16, W, H), 0);
	draw_room(&w, room, &d, &r);
	for (int y = 0; y < H; y++)
		if (y > p->camera.cy + p->camera.fy * height_m / texture->plain_m)
			memset((void *)sx_image_row(&d, y), 0xff, (size_t)W * 2);
	road = find(p, &d, NULL);
	sx_image_finish(&d);
	return road;
}

static struct sx_road road_in(const struct sx_params *p, double height_m, const struct room *room,
			      uint64_t seed)
{
	return road_on(p, height_m, &BOARDS, room, seed);
}

/* Checks a road, measured or taken from the calibration: pitch within most_deg degrees, height within 1 %. */
static void check_floor(const char *what, const struct room *room, const struct sx_road *got, double most_deg,
			double height_m)
{
	if (fabs(got->pitch_rad) > most_deg * RADIANS || fabs(got->height_m / height_m - 1) > 0.01)
		fail_msg("%s, %g m ahead, height %g: origin %d, height %g, pitch %g, roll %g, %u on it", what,
			 room->z, height_m, got->origin, got->height_m, got->pitch_rad / RADIANS,
			 got->roll_rad / RADIANS, got->inliers);
}

/* The feet of walls would pass as floor with a car's tolerance: an error of 0.4 degrees. */
static void test_flat_floors(void **state)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		const double height = 0.2 + 0.05 * (double)(seed % 4);
		const struct sx_params p = robot(height, 0);
		const struct sx_road got = road_in(&p, height, &FLAT, seed);

		assert_int_equal(got.origin, SX_ROAD_MEASURED);
		check_floor("flat", &FLAT, &got, 0.15, height);
		assert_true(got.bend == 0);
	}
}

/* The calibration is only a starting value: the true camera lies within the tolerance of a mounting. */
static void test_mounted_askew(void **state)
{
	for (int i = 0; i < 12; i++) {
		const struct sx_params p = robot(0.25, i % 2 ? -2.5 : 2.5);
		const double height = i / 2 % 2 ? 0.23 : 0.27;
		const struct sx_road got = road_in(&p, height, &FLAT, (uint64_t)(30 + i));

		assert_int_equal(got.origin, SX_ROAD_MEASURED);
		check_floor("askew", &FLAT, &got, 0.15, height);
	}
}

/* The floor below a step is not part of the road, and neither is the area in between. */
static void test_steps_down(void **state)
{
	const struct sx_params p = robot(0.25, 0);

	for (int i = 0; i < 20; i++) {
		const struct room room = {0.7 + 0.1 * (i % 5), i % 2 ? -0.18 : -0.12, 0, 0.9, 3.5};
		const struct sx_road got = road_in(&p, 0.25, &room, (uint64_t)(50 + i));

		check_floor("step down", &room, &got, 0.15, 0.25);
		assert_true(got.bend == 0);
	}
}

/* The top of a kerb in front of the robot is not floor. */
static void test_kerbs(void **state)
{
	const struct sx_params p = robot(0.25, 0);

	for (int i = 0; i < 20; i++) {
		const struct room room = {0.4 + 0.3 * (i % 3), i % 2 ? 0.1 : 0.06, 0, 0.9, 3.5};
		const struct sx_road got = road_in(&p, 0.25, &room, (uint64_t)(80 + i));

		check_floor("kerb", &room, &got, 0.3, 0.25);
	}
}

/* The floor behind a kerb is no ramp, also if it is higher by little. */
static void test_kerbs_are_no_ramps(void **state)
{
	for (int i = 0; i < 60; i++) {
		const double height = 0.2 + 0.1 * (i % 4);
		const struct sx_params p = robot(height, 0);
		const struct room room = {0.7 + 0.1 * (i % 15), 0.03 + 0.01 * (i % 6), 0, 0.9, 4};
		const struct sx_road got =
			road_on(&p, height, i % 2 ? &TILES : &BOARDS, &room, (uint64_t)(300 + i));

		if (got.bend > 0.03 * got.slope)
			fail_msg("kerb of %g m, %g m ahead, camera %g m: bend %g of %g", room.rise, room.z,
				 height, got.bend, got.slope);
	}
}

/* Given limits replace the default ones. With wide limits the result is the top of the kerb. */
static void test_given_limits(void **state)
{
	const struct room room = {0.4, 0.1, 0, 0.9, 3.5};
	struct sx_params p = robot(0.25, 0);
	struct sx_road got;

	p.road.min_height_m = 0.1;
	got = road_in(&p, 0.25, &room, 5);
	assert_int_equal(got.origin, SX_ROAD_MEASURED);
	assert_true(fabs(got.height_m - 0.15) < 0.005);
	p.road.min_height_m = 0;
	p.camera.pitch_deg = 9;
	p.camera.height_m = 0.25;
	p.road.max_pitch_deg = 2;
	assert_int_equal(road_in(&p, 0.25, &FLAT, 6).origin,
			 SX_ROAD_MEASURED); /* 9 degrees off the calibrated mounting */
	p.road.max_pitch_deg = 0;
	assert_int_equal(road_in(&p, 0.25, &FLAT, 6).origin, SX_ROAD_FROM_CALIBRATION);
}

/* A ramp that begins at the robot's feet is the road. A ramp farther ahead is a bend of the road. */
static void test_ramps(void **state)
{
	const struct sx_params p = robot(0.25, 0);

	for (int i = 0; i < 8; i++) {
		const double degrees = 5 + i % 4;
		const struct room near = {0.42, 0, tan(degrees * RADIANS), 0.9, 6},
				  far = {1.2, 0, near.grade, 0.9, 6};
		const double height = (0.25 + near.z * near.grade) * cos(degrees * RADIANS);
		struct sx_road got = road_in(&p, 0.25, &near, (uint64_t)(110 + i));

		if (got.origin != SX_ROAD_MEASURED || fabs(got.pitch_rad / RADIANS - degrees) > 0.4 ||
		    fabs(got.height_m / height - 1) > 0.03)
			fail_msg("ramp of %g degrees: origin %d, height %g, pitch %g", degrees, got.origin,
				 got.height_m, got.pitch_rad / RADIANS);
		got = road_in(&p, 0.25, &far, (uint64_t)(120 + i));
		check_floor("before a ramp", &far, &got, 0.15, 0.25);
		for (double z = 0.6; z < 2.6; z += 0.4) {
			const double below = 0.25 - fmax(z - far.z, 0) * far.grade;
			const double y = p.camera.cy + 215 * below / z,
				     off = sx_road_row_q4(&got, y) / 16 - 25.8 / z;

			if (fabs(off) > 0.75)
				fail_msg("ramp of %g degrees, %g m ahead: %g px off, bend %g", degrees, z,
					 off, got.bend);
		}
	}
}

/*
 * Returns the number of ramps that are found within 0.75 px, of 12 that begin z ahead. origin: of the road; -1: any.
 */
static int ramps_found(const struct texture *texture, double z, double side, int origin)
{
	const struct sx_params p = robot(0.25, 0);
	int found = 0;

	for (int i = 0; i < 12; i++) {
		const struct room room = {z, 0, tan((4 + i % 6) * RADIANS), side, 6};
		const struct sx_road got = road_on(&p, 0.25, texture, &room, (uint64_t)(400 + i));
		bool good = got.bend > 0 && (origin < 0 || (int)got.origin == origin);

		for (double at = z; at < 2.4; at += 0.3) {
			const double y = p.camera.cy + 215 * (0.25 - (at - z) * room.grade) / at;

			good &= fabs(sx_road_row_q4(&got, y) / 16 - 25.8 / at) < 0.75;
		}
		found += good;
	}
	return found;
}

/* Ramps of tiles, whose disparities are few and noisy. */
static void test_ramps_of_tiles(void **state)
{
	assert_in_range(ramps_found(&TILES, 1.6, 0.5, -1), 9, 12);
}

/* A floor that shows nothing gives no plane. The calibrated road has the bend of the ramp behind it. */
static void test_ramps_behind_plain_floors(void **state)
{
	assert_in_range(ramps_found(&PLAIN, 1.2, 0.9, SX_ROAD_FROM_CALIBRATION), 6, 12);
}

/* Errors match the sigmas, even if the floor is short and the calibration is off. */
static void test_sigmas(void **state)
{
	double pitch = 0, height = 0;
	int n = 0;

	for (int i = 0; i < 40; i++) {
		const struct sx_params p = robot(0.25, i % 3 - 1);
		const struct room room = {0.6 + 0.15 * (i % 5), i % 2 ? -0.15 : 0.05, 0, 0.9, 3.5};
		const struct sx_road got = road_in(&p, 0.25, &room, (uint64_t)(150 + i));

		if (got.origin != SX_ROAD_MEASURED)
			continue;
		pitch += pow(got.pitch_rad / got.pitch_sigma_rad, 2);
		height += pow((got.height_m - 0.25) / got.height_sigma_m, 2);
		n++;
	}
	if (n < 20 || sqrt(pitch / n) > 2 || sqrt(height / n) > 2)
		fail_msg("of %d roads: error by sigma of pitch %g, of height %g", n, sqrt(pitch / n),
			 sqrt(height / n));
}

static void check_limits(double height_m, double lowest, double highest)
{
	const struct sx_params p = robot(height_m, 0);
	double least, most;

	sx_road_heights(&p, &least, &most);
	assert_true(fabs(least / height_m - lowest) < 1e-9 && fabs(most / height_m - highest) < 1e-9);
}

/* Roads for cameras of a car's height and above stay bit-identical. */
static void test_cars(void **state)
{
	for (double height = 1.65; height < 4; height += 0.35) {
		const struct sx_road_scale s = sx_road_scale_of(height);

		assert_true(s.length == 1 && s.last_rows == 0 && s.tolerance_m == 0.06 &&
			    s.tolerance_px == 0.5);
		assert_true(s.closer == 0 && s.share == 4 && s.favour == 0 && s.car == 1 && s.ramp_m == 0);
		assert_true(s.bend_first_m == 10 && s.bend_step_m == 3 && s.grades == 100 && s.falls == 6);
		assert_true(s.bend_gain == 44 && s.bend_on == 9 && s.bend_px == s.tolerance_px);
		assert_true(s.lower == 0.55 && s.higher == 3.3 && s.rise_deg == 50 && s.fall_deg == 50);
		check_limits(height, 1 / 3.3, 1 / 0.55);
	}
	check_limits(0.5, 0.85, 1.15);
	check_limits(0.25, 0.85, 1.15);
	for (double height = 0.55; height < 1.65; height += 0.1) {
		const struct sx_road_scale s = sx_road_scale_of(height), t = sx_road_scale_of(height + 0.05);

		assert_true(s.tolerance_m < t.tolerance_m && s.lower > t.lower && s.higher < t.higher);
		assert_true(s.rise_deg < t.rise_deg && s.bend_first_m < t.bend_first_m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flat_floors),
		cmocka_unit_test(test_mounted_askew),
		cmocka_unit_test(test_steps_down),
		cmocka_unit_test(test_kerbs),
		cmocka_unit_test(test_given_limits),
		cmocka_unit_test(test_ramps),
		cmocka_unit_test(test_sigmas),
		cmocka_unit_test(test_cars),
		cmocka_unit_test(test_ramps_behind_plain_floors),
		cmocka_unit_test(test_ramps_of_tiles),
		cmocka_unit_test(test_kerbs_are_no_ramps),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
