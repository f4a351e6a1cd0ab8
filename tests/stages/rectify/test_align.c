/*
 * Aligned rigs: matching rows, the effect of alpha, and refused rigs. test_opencv.py compares the numbers
 * with those of OpenCV.
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
#include "stages/rectify/mat3.h"
#include "stages/rectify/rig.h"
#include "tests/check.h"
#include "tests/stages/rectify/rig_case.h"

#define LENSES 3

/* Pose of the right camera: a point p of the left camera is r p + t in the right one. */
struct stand {
	double r[9], t[3];
};

static struct stand stand_of(struct check_rng *r)
{
	struct stand s = {.t = {-rig_case_between(r, 0.05, 0.5), rig_case_between(r, -0.02, 0.02),
				rig_case_between(r, -0.02, 0.02)}};

	rig_case_turn(s.r, rig_case_between(r, -4, 4), rig_case_between(r, -4, 4),
		      rig_case_between(r, -4, 4));
	return s;
}

static void align(struct sx_rig *rig, const struct stand *s, double alpha)
{
	struct sx_why why = {"nothing"};

	if (sx_rig_align(rig, s->r, s->t, alpha, &why) < 0) {
		fprintf(stderr, "refused: %s\n", why.text);
		fail();
	}
	assert_int_equal(sx_rig_check(rig, &why), 0);
}

/*
 * Checks that a point of the left rectified camera lies baseline_m further left in the right one and is
 * otherwise the same.
 */
static void check_rows(const struct sx_rig *rig, const struct stand *s, struct check_rng *r)
{
	double p[3], back[9], left[3], right[3], seen[3];

	for (int i = 0; i < 3; i++)
		p[i] = rig_case_between(r, -2, 2) + (i == 2 ? 5 : 0);
	sx_mat3_transpose(back, rig->rotation[0]);
	sx_mat3_apply(left, back, p);
	sx_mat3_apply(right, s->r, left);
	for (int i = 0; i < 3; i++)
		right[i] += s->t[i];
	sx_mat3_apply(seen, rig->rotation[1], right);
	for (int i = 0; i < 3; i++)
		assert_true(fabs(seen[i] - (p[i] - (i == 0 ? rig->baseline_m : 0))) < 1e-9);
}

static void rows_fit(void **state)
{
	for (uint64_t seed = 0; seed < 60; seed++) {
		struct check_rng r = check_rng_seed(seed);
		struct sx_rig rig = rig_case_of((enum sx_lens)(seed % LENSES), &r);
		struct stand s = stand_of(&r);

		if (seed % 10 == 0) /* no rotation at all, and one that OpenCV takes for none */
			rig_case_turn(s.r, 0, seed % 20 ? 1e-5 : 0, 0);
		align(&rig, &s, (double[]){-1, 0, 0.5, 1}[seed % 4]);
		for (int i = 0; i < 20; i++)
			check_rows(&rig, &s, &r);
	}
}

static bool is_inside(double x, double y, int width, int height, double slack)
{
	return x >= -slack && x <= width - 1 + slack && y >= -slack && y <= height - 1 + slack;
}

/*
 * Checks along the borders of the rectified images that both cameras see all of them. OpenCV's rectangle is 1
 * px too large.
 */
static void check_all_seen(const struct sx_rig *rig)
{
	for (int i = 0; i < 400; i++) {
		double along = i / 4 / 99.0, x, y;
		double u = i % 4 == 0 ? 0 : i % 4 == 1 ? rig->width - 1 : along * (rig->width - 1);
		double v = i % 4 == 2 ? 0 : i % 4 == 3 ? rig->height - 1 : along * (rig->height - 1);

		for (int side = 0; side < 2; side++) {
			assert_true(sx_rig_project(rig, side, u, v, &x, &y));
			assert_true(is_inside(x, y, rig->raw_width, rig->raw_height, 2));
		}
	}
}

static void check_all_shown(const struct sx_rig *rig)
{
	for (int i = 0; i < 33 * 33; i++) {
		double x = i % 33 / 32.0 * (rig->raw_width - 1), y = i / 33 / 32.0 * (rig->raw_height - 1), u,
		       v;

		for (int side = 0; side < 2; side++) {
			assert_true(sx_rig_unproject(rig, side, x, y, &u, &v));
			assert_true(is_inside(u, v, rig->width, rig->height, 2));
		}
	}
}

static void alpha_chooses_the_view(void **state)
{
	for (uint64_t seed = 0; seed < 30; seed++) {
		struct check_rng r = check_rng_seed(100 + seed);
		struct sx_rig rig = rig_case_of((enum sx_lens)(seed % LENSES), &r), seen = rig, shown = rig,
			      half = rig;
		struct stand s = stand_of(&r);

		align(&seen, &s, 0);
		check_all_seen(&seen);
		align(&shown, &s, 1);
		check_all_shown(&shown);
		align(&half, &s, 0.5);
		assert_true(fabs(half.fx - (seen.fx + shown.fx) / 2) < 1e-9);
		align(&rig, &s, -1);
		assert_true(fabs(rig.fx - (rig.raw[0].fy + rig.raw[1].fy) / 2 * rig.height / rig.raw_height) <
			    1e-9);
	}
}

/* Some corners cannot be projected onto a plane. The view is computed from the remaining corners. */
static void wide_fisheyes_are_aligned(void **state)
{
	struct check_rng r = check_rng_seed(3);
	struct sx_rig rig = rig_case_of(SX_LENS_EQUIDISTANT, &r), seen;
	struct stand s = stand_of(&r);

	for (int side = 0; side < 2; side++)
		rig.raw[side] =
			(struct sx_raw_camera){200, 200, 319.5, 239.5, SX_LENS_EQUIDISTANT, {-0.01, 0.001}};
	seen = rig;
	align(&seen, &s, 0);
	check_rows(&seen, &s, &r);
	align(&rig, &s, 1);
	assert_true(rig.fx < seen.fx && rig.fx > 20);
}

/* OpenCV's iterative undistortion diverges at such corners, where the model itself is valid. */
static void strong_lenses_are_aligned(void **state)
{
	struct check_rng r = check_rng_seed(4);
	struct sx_rig rig = rig_case_of(SX_LENS_PLUMB_BOB, &r);
	struct stand s = stand_of(&r);

	for (int side = 0; side < 2; side++)
		rig.raw[side] = (struct sx_raw_camera){480, 480, 319.5, 239.5, SX_LENS_PLUMB_BOB, {8}};
	align(&rig, &s, 0);
	check_all_seen(&rig);
	align(&rig, &s, 1);
	check_all_shown(&rig);
}

static void check_refused(const struct sx_rig *rig, const struct stand *s, double alpha, const char *what)
{
	struct sx_rig got = *rig;
	struct sx_why why = {"nothing"};

	if (sx_rig_align(&got, s->r, s->t, alpha, &why) != -EINVAL || !strstr(why.text, what)) {
		fprintf(stderr, "want to hear of \"%s\", heard \"%s\"\n", what, why.text);
		fail();
	}
	assert_memory_equal(&got, rig, sizeof(got));
}

/*
 * These models turn back before the raw corners. OpenCV rectifies such pairs: a view without the area beyond
 * does not need it. Stronger models turn back within the view.
 */
static void corners_beyond_the_model_are_left_out(void **state)
{
	const struct stand s = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {-0.12, 0, 0}};
	struct sx_rig wide = {.raw_width = 1280, .raw_height = 720, .width = 1280, .height = 720}, got;
	struct sx_rig fisheye = {.raw_width = 640, .raw_height = 480, .width = 640, .height = 480};
	double ray[3];

	for (int side = 0; side < 2; side++)
		wide.raw[side] = (struct sx_raw_camera){521.6,
							521.1,
							640.2,
							351.4,
							SX_LENS_PLUMB_BOB,
							{-0.0468, 0.0169, 0.0001, -0.0002, -0.0077}};
	assert_false(sx_lens_unproject(&wide.raw[0], 0, 0, ray));
	for (int alpha = -1; alpha <= 0; alpha++) {
		got = wide;
		align(&got, &s, alpha);
		/* the focal length is the same as that of a model in which all corners have rays */
		assert_true(got.fx > 510 && got.fx < 525);
	}
	check_all_seen(&got);
	wide.raw[0].distortion[4] = -0.02;
	check_refused(&wide, &s, 0, "left camera turns back 54.4 degrees");
	check_refused(&wide, &s, -1, "left camera turns back 54.4 degrees");
	fisheye.raw[0] =
		(struct sx_raw_camera){277, 277, 318, 240, SX_LENS_EQUIDISTANT, {-0.02, 0.05, -0.04, 0.01}};
	fisheye.raw[1] = (struct sx_raw_camera){
		277, 277, 316, 248, SX_LENS_EQUIDISTANT, {0.028, -0.028, 0.038, -0.018}};
	assert_false(sx_lens_unproject(&fisheye.raw[1], 0, 0, ray));
	align(&fisheye, &s, 0);
	check_all_seen(&fisheye);
}

static void bad_stands_are_refused(void **state)
{
	struct check_rng r = check_rng_seed(7);
	struct sx_rig rig = rig_case_of(SX_LENS_PLUMB_BOB, &r), bad = rig;
	const struct stand sound = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {-0.2, 0, 0}};
	struct stand s;

#define PLANT(change, alpha, what)                    \
	do {                                          \
		s = sound;                            \
		change;                               \
		check_refused(&rig, &s, alpha, what); \
	} while (0)
	PLANT(s.r[4] = -1, 0, "rotation between the cameras is no rotation: it mirrors");
	PLANT(s.r[4] = 0, 0, "rotation between the cameras is no rotation");
	PLANT(s.r[8] = NAN, 0, "rotation between the cameras holds what is no number");
	PLANT(s.r[1] = INFINITY, 0, "rotation between the cameras holds what is no number");
	PLANT(s.t[0] = NAN, 0, "translation between the cameras holds what is no number");
	PLANT(s.t[2] = INFINITY, 0, "translation between the cameras holds what is no number");
	PLANT(s.t[0] = 0, 0, "translation is 0");
	PLANT(s.t[1] = 0.3, 0, "above each other");
	PLANT(s.t[1] = -0.2, 0, "above each other");
	PLANT(s.t[0] = 0.2, 0, "exchanged");
	PLANT((void)0, NAN, "alpha");
	PLANT((void)0, 1.5, "alpha");
	PLANT((void)0, -0.5, "alpha");
	PLANT(rig_case_turn(s.r, 0, 90.1, 0), 0, "90 degrees");
	PLANT(rig_case_turn(s.r, 0, 180, 0), 0, "90 degrees");
	PLANT(rig_case_turn(s.r, 0, 85, 0), -1, "nothing that both cameras see");
	PLANT(rig_case_turn(s.r, 0, 85, 0), 0, "nothing that both cameras see");
	PLANT(rig_case_turn(s.r, 85, 0, 0), 0, "nothing that both cameras see");
	bad.raw[1].fx = 0;
	check_refused(&bad, &sound, 0, "fx of the right camera is 0");
	bad = rig;
	bad.raw[0].distortion[0] = -2;
	check_refused(&bad, &sound, 0, "left camera turns back");
	bad = rig;
	bad.height = 5000;
	check_refused(&bad, &sound, 0, "rectified images are 600x5000");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_fit),
		cmocka_unit_test(alpha_chooses_the_view),
		cmocka_unit_test(wide_fisheyes_are_aligned),
		cmocka_unit_test(strong_lenses_are_aligned),
		cmocka_unit_test(corners_beyond_the_model_are_left_out),
		cmocka_unit_test(bad_stands_are_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
