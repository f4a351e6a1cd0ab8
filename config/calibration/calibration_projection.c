/*
 * Values of calibration files for rectified images: projection matrices, Q or single numbers. Each is checked
 * for consistency.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config/calibration/calibration_priv.h"

#define BASELINE_MAX_M 10.0
#define FOCAL_MAX_PX 100000.0
#define PRINCIPAL_MAX_PX 10000.0
#define SAME_PX 0.1 /* tolerance, px: printed calibrations are rounded; a disparity step is 0.0625 px */
#define SKEW 1e-4   /* tolerance as a share of fx: rounding error of a 0 */
#define TILT 1e-5   /* tolerance of the third row 0 0 1: an error of 0.01 px in 1000 px */
/*
 * Share of the baseline by which a right camera may be higher or further ahead. KITTI's cameras have 0.6 %.
 */
#define ASIDE 0.02
/* Largest distance ahead, m. KITTI's cameras are 3 to 5 mm ahead of the camera that is the file's origin. */
#define AHEAD_M 0.05

/* Compares two numbers that must be equal in a rectified pair. */
static bool same(double a, double b)
{
	return fabs(a - b) <= SAME_PX;
}

/* ---- projection matrices P ---- */

static int wrong_entry(const struct sx_calibration_raw *raw, const char *name, const double *m, int entry,
		       const char *should, struct sx_why *why)
{
	return sx_calibration_refuse(
		why,
		"%s: %s[%d][%d] is %g, must be %s: not the projection of a rectified camera (fx 0 cx "
		"-fx*baseline; 0 fy cy 0; 0 0 1 0)",
		raw->format, name, entry / 4, entry % 4, m[entry], should);
}

/*
 * Checks a projection matrix and divides it by its [2][2], because any multiple of the matrix is the same
 * projection. An entry that should be 0 but is not turns the camera, or comes from K times a pose, whose
 * [0][3] is no baseline.
 */
static int check_matrix(const struct sx_calibration_raw *raw, const char *name, double *m, struct sx_why *why)
{
	static const int skews[] = {1, 4}, tilts[] = {8, 9};
	const double scale = m[10];

	if (scale == 0 && m[0] == 0)
		return 0; /* the check of the focal length reports entries that are all 0 */
	if (scale == 0)
		return wrong_entry(raw, name, m, 10, "1", why);
	for (int i = 0; i < 2; i++)
		if (!(fabs(m[skews[i]]) <= SKEW * fabs(m[0])))
			return wrong_entry(raw, name, m, skews[i], "0", why);
	for (int i = 0; i < 2; i++)
		if (!(fabs(m[tilts[i]]) <= TILT * fabs(scale)))
			return wrong_entry(raw, name, m, tilts[i], "0", why);
	if (!(fabs(m[11]) <= AHEAD_M * fabs(scale)))
		return wrong_entry(raw, name, m, 11, "0", why);
	for (int i = 0; i < 12; i++)
		m[i] /= scale;
	return 0;
}

/*
 * Computes the position of the right camera relative to the left one. offset: fourth column of the left
 * matrix, or 0.
 */
static int from_right(struct sx_calibration *c, const struct sx_calibration_raw *raw, const double offset[3],
		      struct sx_why *why)
{
	const double *right = raw->right, across = right[3] - offset[0], up = right[7] - offset[1];
	const double ahead = right[11] - offset[2];

	if (right[7] != 0 && fabs(right[7]) > fabs(right[3]))
		return sx_calibration_refuse(
			why, "%s: cameras one above the other (%s[1][3] = %g) are not supported", raw->format,
			raw->right_name, right[7]);
	c->baseline_m = -across / right[0];
	if (c->baseline_m < 0)
		return sx_calibration_refuse(
			why,
			"%s: the baseline is %g m: left and right are swapped, or the sign of %s[0][3] = %g "
			"is wrong",
			raw->format, c->baseline_m, raw->right_name, right[3]);
	if (across != 0 && fabs(up) > ASIDE * fabs(across))
		return wrong_entry(raw, raw->right_name, right, 7, "0, as in the left one: rows differ", why);
	if (across != 0 && fabs(ahead) > ASIDE * c->baseline_m)
		return wrong_entry(raw, raw->right_name, right, 11, "0, as in the left one", why);
	return 0;
}

static int from_matrices(struct sx_calibration *c, struct sx_calibration_raw *raw, struct sx_why *why)
{
	const double *m = raw->have_left ? raw->left : raw->right;
	double offset[3] = {0};

	if ((raw->have_left && check_matrix(raw, raw->left_name, raw->left, why) < 0) ||
	    (raw->have_right && check_matrix(raw, raw->right_name, raw->right, why) < 0))
		return -EINVAL;
	c->fx = m[0];
	c->fy = m[5];
	c->cx = m[2];
	c->cy = m[6];
	if (!raw->have_right)
		return 0;
	if (raw->have_left && (!same(raw->left[0], raw->right[0]) || !same(raw->left[5], raw->right[5]) ||
			       !same(raw->left[2], raw->right[2]) || !same(raw->left[6], raw->right[6])))
		return sx_calibration_refuse(
			why,
			"%s: %s (fx %g, fy %g, cx %g, cy %g) and %s (fx %g, fy %g, cx %g, cy %g) differ: not "
			"rectified to one camera with zero disparity at infinity",
			raw->format, raw->left_name, raw->left[0], raw->left[5], raw->left[2], raw->left[6],
			raw->right_name, raw->right[0], raw->right[5], raw->right[2], raw->right[6]);
	for (int i = 0; i < 3 && raw->have_left; i++)
		offset[i] = raw->left[4 * i + 3];
	return from_right(c, raw, offset, why);
}

/* ---- reprojection matrix Q ---- */

/*
 * Reads Q = (1 0 0 -cx; 0 fx/fy 0 ..; 0 0 0 fx; 0 0 1/baseline (cx_right-cx)/baseline), or a multiple of it.
 * OpenCV has fx = fy; ROS multiplies by fy Tx.
 */
static int from_q(struct sx_calibration *c, const struct sx_calibration_raw *raw, struct sx_why *why)
{
	static const int zeros[] = {1, 2, 4, 6, 8, 9, 10, 12, 13};
	double q[16];

	if (raw->q[0] == 0 || raw->q[5] == 0)
		return sx_calibration_refuse(why, "%s: Q[%d][%d] is 0, must be 1", raw->format,
					     raw->q[0] != 0, raw->q[0] != 0);
	for (int i = 0; i < 16; i++)
		q[i] = raw->q[i] / raw->q[0];
	for (size_t i = 0; i < sizeof(zeros) / sizeof(zeros[0]); i++)
		if (!(fabs(q[zeros[i]]) <= TILT))
			return sx_calibration_refuse(why,
						     "%s: Q[%d][%d] is %g, must be 0: not the Q of rectified "
						     "images",
						     raw->format, zeros[i] / 4, zeros[i] % 4, q[zeros[i]]);
	c->fx = q[11];
	c->fy = q[11] / q[5];
	c->cx = -q[3];
	c->cy = -q[7] / q[5];
	if (q[14] == 0)
		return 0;
	c->baseline_m = 1 / q[14];
	if (c->baseline_m < 0)
		return sx_calibration_refuse(
			why,
			"%s: the baseline is %g m: left and right are swapped, or the sign of Q[3][2] = %g "
			"is wrong",
			raw->format, c->baseline_m, q[14]);
	if (!same(q[15] / q[14], 0))
		return sx_calibration_refuse(
			why,
			"%s: Q[3][3] = %g: the principal points differ by %g px, rectify with zero disparity "
			"at infinity",
			raw->format, q[15], q[15] / q[14]);
	return 0;
}

/* ---- single numbers ---- */

static int from_plain(struct sx_calibration *c, const struct sx_calibration_raw *raw, struct sx_why *why)
{
	static const char *const names[] = {"fx", "fy", "cx", "cy"};

	for (int i = 0; i < 4; i++)
		if (!raw->have_plain[i])
			return sx_calibration_refuse(why, "%s: '%s' is missing", raw->format, names[i]);
	c->fx = raw->plain[0];
	c->fy = raw->plain[1];
	c->cx = raw->plain[2];
	c->cy = raw->plain[3];
	if (raw->have_plain[4]) {
		c->baseline_m = raw->plain[4];
		if (!(c->baseline_m > 0))
			return sx_calibration_refuse(why, "%s: baseline_m is %g, must be positive",
						     raw->format, c->baseline_m);
	}
	if (raw->have_cx_right && !same(raw->cx_right, c->cx))
		return sx_calibration_refuse(
			why, "%s: cx %g and cx_right %g differ: rectify with zero disparity at infinity",
			raw->format, c->cx, raw->cx_right);
	return 0;
}

/* ---- the rectified camera ---- */

/* Names the units in which a baseline would be 0.02 to 3 m, if it cannot be in metres. */
static void guess_unit(double b, char *text, size_t bytes)
{
	if (b <= 20)
		snprintf(text, bytes, "centimetres (%.4g m), inches, or squares of the board", b * 0.01);
	else if (b <= 300)
		snprintf(text, bytes, "centimetres (%.4g m), millimetres (%.4g m), or squares of the board",
			 b * 0.01, b * 0.001);
	else if (b <= 3000)
		snprintf(text, bytes, "millimetres (%.4g m)", b * 0.001);
	else
		snprintf(text, bytes, "another unit");
}

int sx_calibration_check_camera(const struct sx_calibration *c, struct sx_why *why)
{
	char unit[96];

	/* written so that a NaN fails */
	if (!(c->fx > 0 && c->fx <= FOCAL_MAX_PX && c->fy > 0 && c->fy <= FOCAL_MAX_PX))
		return sx_calibration_refuse(why,
					     "%s: focal lengths %g and %g px, must be above 0 and at most %g",
					     c->format, c->fx, c->fy, FOCAL_MAX_PX);
	if (!(fabs(c->cx) <= PRINCIPAL_MAX_PX && fabs(c->cy) <= PRINCIPAL_MAX_PX))
		return sx_calibration_refuse(why, "%s: principal point %g, %g, must be within %g px",
					     c->format, c->cx, c->cy, PRINCIPAL_MAX_PX);
	if (!(c->baseline_m >= 0 && c->baseline_m <= BASELINE_MAX_M)) {
		guess_unit(c->baseline_m, unit, sizeof(unit));
		return sx_calibration_refuse(why,
					     "%s: baseline %g m, must be at most %g m: was it calibrated in "
					     "%s? baseline_m in [camera] takes its place",
					     c->format, c->baseline_m, BASELINE_MAX_M, unit);
	}
	return 0;
}

int sx_calibration_project(struct sx_calibration *c, struct sx_calibration_raw *raw,
			   const struct sx_calibration_wish *wish, struct sx_why *why)
{
	bool pair = raw->have_left && raw->have_right, matrices;
	int r;

	if (raw->cameras == 2 && raw->have_left != raw->have_right && !raw->have_q)
		return sx_calibration_refuse(why, "%s: %s and %s are both needed, '%s' is missing",
					     raw->format, raw->left_name, raw->right_name,
					     raw->have_left ? raw->right_name : raw->left_name);
	matrices = pair || (raw->cameras == 1 && (raw->have_left || raw->have_right));
	if (matrices)
		r = from_matrices(c, raw, why);
	else if (raw->have_q)
		r = from_q(c, raw, why);
	else if (raw->have_lines)
		r = from_plain(c, raw, why);
	else
		return 0;
	if (r == 0 && matrices && raw->have_q) {
		struct sx_calibration q = {.format = raw->format};

		r = from_q(&q, raw, why);
		if (r == 0)
			r = sx_calibration_agree_q(c, &q, raw, wish, why);
	}
	if (r == 0)
		r = sx_calibration_agree(c, raw, wish, why);
	if (r == 0 && wish->baseline_overrides) {
		c->file_baseline_m = c->baseline_m;
		c->baseline_m = wish->baseline_m;
	}
	if (r == 0)
		r = sx_calibration_check_camera(c, why);
	return r < 0 ? r : 1;
}
