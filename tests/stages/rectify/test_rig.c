/*
 * Rigs: lens models and their inverse, refused rigs and the reasons.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "stages/rectify/lens.h"
#include "stages/rectify/rig.h"
#include "tests/check.h"
#include "tests/emulated.h"
#include "tests/stages/rectify/rig_case.h"

#define LENSES 3
#define NEAR 1e-6 /* px */

static void check_near(double want, double got, double tolerance, const char *what)
{
	if (!(fabs(want - got) <= tolerance)) {
		fprintf(stderr, "%s: want %.12g, got %.12g\n", what, want, got);
		fail();
	}
}

static void check_refused(const struct sx_rig *rig, const char *what)
{
	struct sx_why why = {"nothing"};

	if (sx_rig_check(rig, &why) != -EINVAL || !strstr(why.text, what)) {
		fprintf(stderr, "want to hear of \"%s\", heard \"%s\"\n", what, why.text);
		fail();
	}
}

static void check_accepted(const struct sx_rig *rig)
{
	struct sx_why why = {"nothing"};

	if (sx_rig_check(rig, &why) != 0) {
		fprintf(stderr, "refused: %s\n", why.text);
		fail();
	}
}

/*
 * Projects raw pixels to rays and back, and rectified pixels to the raw image and back. Returns the number of
 * pixels.
 */
static int check_there_and_back(const struct sx_rig *rig, int side, struct check_rng *r)
{
	int seen = 0;

	for (int i = 0; i < 400; i++) {
		double x = rig_case_between(r, 0, rig->raw_width - 1),
		       y = rig_case_between(r, 0, rig->raw_height - 1);
		double u, v, x2, y2;

		if (sx_rig_unproject(rig, side, x, y, &u, &v)) {
			seen++;
			assert_true(sx_rig_project(rig, side, u, v, &x2, &y2));
			check_near(x, x2, NEAR, "raw x");
			check_near(y, y2, NEAR, "raw y");
		}
		u = rig_case_between(r, -200, rig->width + 200);
		v = rig_case_between(r, -200, rig->height + 200);
		if (sx_rig_project(rig, side, u, v, &x, &y) && sx_rig_unproject(rig, side, x, y, &x2, &y2)) {
			seen++;
			check_near(u, x2, NEAR, "rectified x");
			check_near(v, y2, NEAR, "rectified y");
		}
	}
	return seen;
}

static void there_and_back_is_the_same_place(void **state)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct check_rng r = check_rng_seed(seed);

		for (int lens = 0; lens < LENSES; lens++) {
			struct sx_rig rig = rig_case_of((enum sx_lens)lens, &r);

			check_accepted(&rig);
			for (int side = 0; side < 2; side++)
				assert_int_equal(check_there_and_back(&rig, side, &r), 800);
		}
	}
}

/* Compares positions with a second implementation of the formulas of OpenCV's documentation. */
static void models_are_those_of_opencv(void **state)
{
	struct check_rng r = check_rng_seed(5);

	for (int lens = 0; lens < LENSES; lens++) {
		struct sx_rig rig = rig_case_of((enum sx_lens)lens, &r);
		const struct sx_raw_camera *c = &rig.raw[0];
		const double *k = c->distortion;

		rig_case_turn(rig.rotation[0], 0, 0, 0);
		for (int i = 0; i < 200; i++) {
			double x = rig_case_between(&r, -0.5, 0.5), y = rig_case_between(&r, -0.4, 0.4);
			double r2 = x * x + y * y, t = atan(sqrt(r2)), g, u, v, bent[2];

			g = (1 + k[0] * r2 + k[1] * pow(r2, 2) + k[4] * pow(r2, 3)) /
			    (1 + k[5] * r2 + k[6] * pow(r2, 2) + k[7] * pow(r2, 3));
			bent[0] = x * g + 2 * k[2] * x * y + k[3] * (r2 + 2 * x * x);
			bent[1] = y * g + k[2] * (r2 + 2 * y * y) + 2 * k[3] * x * y;
			if (lens == SX_LENS_EQUIDISTANT) {
				g = t + k[0] * pow(t, 3) + k[1] * pow(t, 5) + k[2] * pow(t, 7) +
				    k[3] * pow(t, 9);
				bent[0] = x * g / sqrt(r2);
				bent[1] = y * g / sqrt(r2);
			}
			assert_true(
				sx_rig_project(&rig, 0, x * rig.fx + rig.cx, y * rig.fy + rig.cy, &u, &v));
			check_near(c->fx * bent[0] + c->cx, u, 1e-9, "raw x");
			check_near(c->fy * bent[1] + c->cy, v, 1e-9, "raw y");
		}
	}
}

/*
 * Corners of this fisheye look 127 degrees from its axis. A plane straight ahead cannot show them, but a
 * rotated plane can.
 */
static void fisheye_looks_behind(void **state)
{
	struct check_rng r = check_rng_seed(2);
	struct sx_rig rig = rig_case_of(SX_LENS_EQUIDISTANT, &r);
	struct sx_raw_camera *c = &rig.raw[0];
	double u, v, x, y;

	*c = (struct sx_raw_camera){180, 180, 319.5, 239.5, SX_LENS_EQUIDISTANT, {0}};
	check_accepted(&rig);
	rig_case_turn(rig.rotation[0], 0, 0, 0);
	assert_false(sx_rig_unproject(&rig, 0, 0, 0, &u, &v));
	rig_case_turn(rig.rotation[0], 0, 80, 0); /* rotated towards the left edge */
	assert_true(sx_rig_unproject(&rig, 0, 0, 100, &u, &v));
	assert_true(sx_rig_project(&rig, 0, u, v, &x, &y));
	check_near(0, x, NEAR, "x");
	check_near(100, y, NEAR, "y");
	assert_int_equal(check_there_and_back(&rig, 0, &r) > 400, 1);
	/* flat cameras see nothing behind them */
	c->lens = SX_LENS_PLUMB_BOB;
	rig_case_turn(rig.rotation[0], 0, 180, 0);
	assert_false(sx_rig_project(&rig, 0, rig.cx, rig.cy, &x, &y));
}

static void bad_numbers_are_refused(void **state)
{
	const double bad[] = {NAN, INFINITY, -INFINITY};
	struct check_rng r = check_rng_seed(1);

	for (int i = 0; i < 3; i++) {
		struct sx_rig rig = rig_case_of(SX_LENS_RATIONAL, &r), sound = rig;

#define PLANT(field, value, what)          \
	do {                               \
		rig = sound;               \
		rig.field = (value);       \
		check_refused(&rig, what); \
	} while (0)
		check_accepted(&rig);
		PLANT(raw[0].fx, bad[i], "fx of the left camera");
		PLANT(raw[1].fy, bad[i], "fy of the right camera");
		PLANT(raw[1].cx, bad[i], "cx of the right camera");
		PLANT(raw[0].cy, bad[i], "cy of the left camera");
		PLANT(raw[1].distortion[7], bad[i], "coefficient 8 of the right camera");
		PLANT(raw[0].distortion[0], bad[i], "coefficient 1 of the left camera");
		PLANT(rotation[0][4], bad[i], "rotation of the left camera");
		PLANT(rotation[1][8], bad[i], "rotation of the right camera");
		PLANT(fx, bad[i], "fx of the rectified");
		PLANT(fy, bad[i], "fy of the rectified");
		PLANT(cx, bad[i], "cx of the rectified");
		PLANT(cy, bad[i], "cy of the rectified");
		PLANT(baseline_m, bad[i], "baseline");
		PLANT(raw[0].fx, 0, "fx of the left camera is 0");
		PLANT(raw[1].fy, -500, "fy of the right camera is -500");
		PLANT(raw[0].cx, 1e300, "left camera");
		PLANT(raw[0].fx, 1e-300, "left camera");
		PLANT(fx, 0, "fx of the rectified");
		PLANT(baseline_m, 0, "baseline is 0");
		PLANT(baseline_m, -0.1, "baseline is -0.1");
		PLANT(raw_width, 31, "raw images are 31x480");
		PLANT(raw_height, 2161, "raw images are 640x2161");
		PLANT(width, 4097, "rectified images are 4097x440");
		PLANT(height, 0, "rectified images are 600x0");
		PLANT(raw[0].lens, (enum sx_lens)7, "left camera has no known model");
		PLANT(raw[0].lens, SX_LENS_PLUMB_BOB, "coefficient 6 of the left camera");
		PLANT(raw[1].lens, SX_LENS_EQUIDISTANT, "coefficient 5 of the right camera");
	}
}

static void rotations_are_rotations(void **state)
{
	struct check_rng r = check_rng_seed(1);
	struct sx_rig rig = rig_case_of(SX_LENS_PLUMB_BOB, &r), sound = rig;

	for (int i = 0; i < 3; i++) /* a mirrored rotation */
		rig.rotation[1][i] = -rig.rotation[1][i];
	check_refused(&rig, "rotation of the right camera is no rotation: it mirrors");
	rig = sound;
	memset(rig.rotation[0], 0, sizeof(rig.rotation[0]));
	check_refused(&rig, "rotation of the left camera is no rotation");
	rig = sound;
	memcpy(rig.rotation[0] + 3, rig.rotation[0], 3 * sizeof(double)); /* a singular rotation */
	check_refused(&rig, "rotation of the left camera is no rotation");
	rig = sound;
	for (int i = 0; i < 9; i++)
		rig.rotation[0][i] *= 1.0006;
	check_refused(&rig, "rotation of the left camera is no rotation");
	for (int i = 0; i < 9; i++)
		rig.rotation[0][i] *= 1.0004 / 1.0006;
	check_accepted(&rig);
	assert_int_equal(check_there_and_back(&rig, 0, &r), 800);
}

/*
 * Lens, and the expected refusal text of a rectified image that shows much of the view, and of one that shows
 * little. NULL: accepted.
 */
struct lens_case {
	enum sx_lens lens;
	double distortion[SX_LENS_COEFFICIENTS];
	const char *wide, *narrow;
};

static void check_lens(const struct lens_case *c, double f, const char *what, uint64_t seed)
{
	struct sx_rig rig = rig_case_identity(640, 480);
	struct check_rng r = check_rng_seed(seed);

	rig.fx = rig.fy = f;
	rig.raw[0] = (struct sx_raw_camera){480, 480, 319.5, 239.5, c->lens, {0}};
	memcpy(rig.raw[0].distortion, c->distortion, sizeof(c->distortion));
	if (what) {
		check_refused(&rig, what);
		rig.raw[1] = rig.raw[0];
		rig.raw[0] = rig_case_identity(640, 480).raw[0];
		check_refused(&rig, "right camera");
	} else {
		check_accepted(&rig);
		assert_true(check_there_and_back(&rig, 0, &r) >= 300);
	}
}

static void lenses_that_turn_back_are_refused(void **state)
{
	/* raw: f 480 px, corners at 0.83 of it; the rectified corners need 53.1 or 37.9 degrees */
	static const struct lens_case cases[] = {
		{SX_LENS_PLUMB_BOB, {0}, NULL, NULL},
		{SX_LENS_PLUMB_BOB, {-0.2}, NULL, NULL}, /* turns back at 52.2 degrees, radius 0.86 */
		{SX_LENS_PLUMB_BOB, {-0.22}, "plumb_bob lens of the left camera turns back 50.9", NULL},
		{SX_LENS_PLUMB_BOB,
		 {-1}, /* 1 - 3 r^2 */
		 "turns back 30.0 degrees from its axis, 185 px from its centre, but rectified pixel (0, 0)",
		 "turns back 30.0 degrees"},
		/* turns back, then increases again */
		{SX_LENS_PLUMB_BOB, {-2.2, 2}, "turns back", "turns back"},
		{SX_LENS_PLUMB_BOB, {0.2, -0.4, 0, 0, -0.3}, "turns back 38.7", NULL},
		/* turns back by tangential distortion */
		{SX_LENS_PLUMB_BOB, {0, 0, 0.6}, "turns back", "turns back"},
		{SX_LENS_PLUMB_BOB, {0, 0, 0, -5}, "turns back", "turns back"},
		{SX_LENS_PLUMB_BOB, {1e9}, "shows nothing that the left", "shows nothing that the left"},
		{SX_LENS_PLUMB_BOB, {1e300}, "turns back 0.0 degrees", "turns back 0.0 degrees"},
		{SX_LENS_PLUMB_BOB, {-1e300}, "turns back 0.0 degrees", "turns back 0.0 degrees"},
		{SX_LENS_RATIONAL, {0.6, 0.1, 0, 0, 0, 0.7, 0.15, 0.01}, NULL, NULL},
		/* infinite at 0.5, and behind all of the image */
		{SX_LENS_RATIONAL, {0, 0, 0, 0, 0, -4}, NULL, NULL},
		{SX_LENS_RATIONAL,
		 {0, 0, 0, 0, 0, 1},
		 "rational_polynomial lens of the left camera turns back 45.0",
		 NULL},
		{SX_LENS_RATIONAL, {0, 0, 0, 0, 0, 0, 0, 2}, "turns back", "turns back 34"},
		{SX_LENS_EQUIDISTANT, {0}, NULL, NULL},
		{SX_LENS_EQUIDISTANT, {-0.25}, NULL, NULL},
		{SX_LENS_EQUIDISTANT, {-0.5}, "equidistant lens of the left camera turns back 46.8", NULL},
		{SX_LENS_EQUIDISTANT, {0.1, -0.5}, "turns back 47", NULL},
		{SX_LENS_EQUIDISTANT, {0, 0, 0, -0.1}, NULL, NULL},
		{SX_LENS_EQUIDISTANT, {0, 0, 0, -1}, "turns back 43", NULL},
		{SX_LENS_EQUIDISTANT, {-1}, "turns back 33", "turns back 33"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		check_lens(&cases[i], 300, cases[i].wide, i);
		check_lens(&cases[i], 514, cases[i].narrow, i);
	}
}

/*
 * Draws random coefficients. An accepted rig shows each raw point only once, however extreme the coefficients
 * are.
 */
static void what_is_accepted_has_an_inverse(void **state)
{
	int accepted = 0, all = ENOUGH_OF(900);
	struct check_rng r = check_rng_seed(11);

	for (int i = 0; i < all; i++) {
		struct sx_rig rig = rig_case_of((enum sx_lens)(i % LENSES), &r);
		const int n = (int[]){5, 8, 4}[i % LENSES];
		struct sx_why why;

		for (int k = 0; k < n; k++)
			rig.raw[0].distortion[k] =
				rig_case_between(&r, -1.5, 0.8) * (k == 2 || k == 3 ? 0.005 : 1);
		if (sx_rig_check(&rig, &why) < 0)
			continue;
		accepted++;
		for (int p = 0; p < 200; p++) {
			const double u = rig_case_between(&r, 0, rig.width - 1),
				     v = rig_case_between(&r, 0, rig.height - 1);
			double x, y, u2, v2;

			if (!sx_rig_project(&rig, 0, u, v, &x, &y) ||
			    !(x >= 0 && x <= 639 && y >= 0 && y <= 479))
				continue;
			assert_true(sx_rig_unproject(&rig, 0, x, y, &u2, &v2));
			check_near(u, u2, NEAR, "u");
			check_near(v, v2, NEAR, "v");
		}
	}
	assert_true(accepted > all / 10 && accepted < all * 9 / 10);
}

static void rectified_rigs_are_known(void **state)
{
	struct sx_rig rig = rig_case_identity(640, 480), sound = rig;

#define UNLIKE(change)                                   \
	do {                                             \
		rig = sound;                             \
		change;                                  \
		assert_false(sx_rig_is_rectified(&rig)); \
	} while (0)
	assert_true(sx_rig_is_rectified(&rig));
	rig.raw[0].lens = SX_LENS_RATIONAL;
	assert_true(sx_rig_is_rectified(&rig));
	UNLIKE(rig.raw[1].lens = SX_LENS_EQUIDISTANT);
	UNLIKE(rig.raw[1].distortion[3] = 1e-12);
	UNLIKE(rig.raw[0].fx += 0.01);
	UNLIKE(rig.raw[1].cy -= 0.01);
	UNLIKE(rig.width--);
	UNLIKE(rig.raw_height++);
	UNLIKE(rig_case_turn(rig.rotation[0], 0, 0, 0.01));
	UNLIKE(rig_case_turn(rig.rotation[1], 0.01, 0, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back_is_the_same_place),
		cmocka_unit_test(models_are_those_of_opencv),
		cmocka_unit_test(fisheye_looks_behind),
		cmocka_unit_test(bad_numbers_are_refused),
		cmocka_unit_test(rotations_are_rotations),
		cmocka_unit_test(lenses_that_turn_back_are_refused),
		cmocka_unit_test(what_is_accepted_has_an_inverse),
		cmocka_unit_test(rectified_rigs_are_known),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
