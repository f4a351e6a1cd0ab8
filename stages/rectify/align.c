/*
 * Rectified cameras of a calibrated pair (Bouguet), as OpenCV's stereoRectify() chooses them.
 *
 * The view of the rectified cameras is a matter of choice. Every number is the one that OpenCV computes,
 * where OpenCV computes one, so that results of other programs with the same calibration fit. Therefore this
 * file also uses OpenCV's inexact undistortion, except where its steps diverge (strong lenses). Maps use the
 * exact one. The model is OpenCV 4.6, the version of Debian 12 and Ubuntu 24.04. Later versions treat images
 * as 1 px smaller where alpha has an effect.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stages/rectify/lens.h"
#include "stages/rectify/mat3.h"
#include "stages/rectify/rig.h"

#define GRID 9	     /* grid points along a side of the raw image */
#define LOOKS 33     /* rectified pixels along a side that are tested for visibility in both images */
#define STEPS 5	     /* iterations of OpenCV's undistortion */
#define STEPS_GAIN 8 /* factor by which the iterations must reduce the error to be accepted */
#define HALVINGS 40  /* bisections in the search for the last ray of the model */

/*
 * Tangent of 80 degrees. Rays further out, which have no finite place in a plane, are placed at this angle.
 */
#define TANGENT_MAX 5.671281819617709

enum { K1, K2, P1, P2, K3, K4, K5, K6 };

struct box {
	double left, top, right, bottom;
};

static double length(const double v[3])
{
	return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* Computes the rotation around axis (any length) by angle, rad. */
static void turn_around(double ret[9], const double axis[3], double angle)
{
	double l = length(axis), c = cos(angle), s = sin(angle), n[3] = {0, 0, 0};

	for (int i = 0; i < 3 && l > 0; i++)
		n[i] = axis[i] / l;
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++)
			ret[3 * i + k] = (i == k ? c : 0) + (1 - c) * n[i] * n[k];
	ret[1] -= s * n[2];
	ret[2] += s * n[1];
	ret[3] += s * n[2];
	ret[5] -= s * n[0];
	ret[6] -= s * n[1];
	ret[7] += s * n[0];
}

/*
 * Computes the rotation nearest to r, which is one within rounding: repeats m = (m + m^-T) / 2 until it
 * converges.
 */
static void nearest_rotation(double ret[9], const double r[9])
{
	double inverse[9], transposed[9];

	memcpy(ret, r, 9 * sizeof(*ret));
	for (int step = 0; step < 6; step++) {
		sx_mat3_invert(inverse, ret);
		sx_mat3_transpose(transposed, inverse);
		for (int i = 0; i < 9; i++)
			ret[i] = 0.5 * (ret[i] + transposed[i]);
	}
}

/* Computes the inverse of half the rotation r. False: r turns by 90 degrees or more. */
static bool half_back(double ret[9], const double r[9])
{
	double m[9], axis[3], s, c;

	nearest_rotation(m, r);
	axis[0] = m[7] - m[5];
	axis[1] = m[2] - m[6];
	axis[2] = m[3] - m[1];
	s = 0.5 * length(axis);
	c = 0.5 * (m[0] + m[4] + m[8] - 1);
	turn_around(ret, axis, -0.5 * atan2(s, c));
	return c > 0;
}

/* Computes the rotations of both cameras and the baseline. Returns NULL, or the reason why there are none. */
static const char *turn_cameras(struct sx_rig *rig, const double r[9], const double t[3])
{
	double half[9], other[9], along[9], moved[3], axis[3];

	if (!half_back(half, r))
		return "the cameras look 90 degrees or more apart";
	sx_mat3_apply(moved, half, t);
	if (!(length(moved) > 0))
		return "the cameras stand in one place: the translation is 0";
	if (fabs(moved[0]) <= fabs(moved[1]))
		return "the cameras stand above each other, not side by side";
	if (moved[0] > 0)
		return "the cameras are exchanged: the right one stands left of the left one";
	axis[0] = 0;
	axis[1] = -moved[2]; /* cross product of moved and (-1, 0, 0) */
	axis[2] = moved[1];
	turn_around(along, axis, acos(fmin(-moved[0] / length(moved), 1)));
	sx_mat3_transpose(other, half);
	sx_mat3_multiply(rig->rotation[0], along, other);
	sx_mat3_multiply(rig->rotation[1], along, half);
	rig->baseline_m = length(t);
	return NULL;
}

/* Computes x, y at z = 1 of a raw pixel, with the iterations of OpenCV. False: they diverge. */
static bool undistort_as_opencv(const struct sx_raw_camera *camera, double u, double v, double at[2])
{
	const double *k = camera->distortion;
	double x = u, y = v, first = 0, now = 0;

	for (int i = 0; i <= STEPS; i++) {
		double s = x * x + y * y;
		double g = (1 + s * (k[K1] + s * (k[K2] + s * k[K3]))) /
			   (1 + s * (k[K4] + s * (k[K5] + s * k[K6])));
		double dx = 2 * k[P1] * x * y + k[P2] * (s + 2 * x * x);
		double dy = k[P1] * (s + 2 * y * y) + 2 * k[P2] * x * y;

		now = hypot(x * g + dx - u, y * g + dy - v);
		if (i == 0)
			first = now;
		if (!(g > 0))
			return false;
		at[0] = x;
		at[1] = y;
		x = (u - dx) / g;
		y = (v - dy) / g;
	}
	return now <= first / STEPS_GAIN;
}

/*
 * Computes the ray of raw pixel (x, y). False: the pixel lies beyond the lens model. Then the ray is the last
 * one of the model between the principal point and the pixel.
 */
static bool last_ray(const struct sx_raw_camera *c, double x, double y, double ray[3])
{
	double low = 0, high = 1;

	if (sx_lens_unproject(c, x, y, ray))
		return true;
	ray[0] = ray[1] = 0;
	ray[2] = 1;
	for (int i = 0; i < HALVINGS; i++) {
		const double part = 0.5 * (low + high);
		double at[3];

		if (sx_lens_unproject(c, c->cx + part * (x - c->cx), c->cy + part * (y - c->cy), at)) {
			memcpy(ray, at, sizeof(at));
			low = part;
		} else {
			high = part;
		}
	}
	return false;
}

/*
 * Computes the place of raw pixel (x, y) in a rectified image of focal length f and principal point (0, 0).
 * False: the pixel lies beyond the lens model, see last_ray().
 */
static bool place_of(const struct sx_rig *rig, int side, double x, double y, double f, double place[2])
{
	const struct sx_raw_camera *c = &rig->raw[side];
	double ray[3] = {0, 0, 1}, turned[3], z;
	bool known = true;

	if (c->lens == SX_LENS_EQUIDISTANT ||
	    !undistort_as_opencv(c, (x - c->cx) / c->fx, (y - c->cy) / c->fy, ray))
		known = last_ray(c, x, y, ray);
	ray[2] = c->lens == SX_LENS_EQUIDISTANT ? ray[2] : 1;
	sx_mat3_apply(turned, rig->rotation[side], ray);
	z = fmax(turned[2], hypot(turned[0], turned[1]) / TANGENT_MAX);
	place[0] = z > 0 ? f * turned[0] / z : 0;
	place[1] = z > 0 ? f * turned[1] / z : 0;
	return known;
}

/*
 * Computes the principal point that puts the mean of the corners of both raw images in the middle of an image
 * of the raw size.
 */
static void find_centre(const struct sx_rig *rig, double f, double centre[2])
{
	const double w = rig->raw_width - 1, h = rig->raw_height - 1;

	centre[0] = w / 2;
	centre[1] = h / 2;
	for (int i = 0; i < 8; i++) {
		double p[2];

		place_of(rig, i / 4, i % 2 * w, i / 2 % 2 * h, f, p);
		centre[0] -= p[0] / 8;
		centre[1] -= p[1] / 8;
	}
}

/*
 * Computes the box around all of a raw image (outer) and the box within its borders (inner), relative to the
 * principal point. Border pixels beyond the lens model do not limit inner. It stays infinite on a side that
 * has no other pixels.
 */
static void find_boxes(const struct sx_rig *rig, int side, double f, struct box *inner, struct box *outer)
{
	*inner = (struct box){-INFINITY, -INFINITY, INFINITY, INFINITY};
	*outer = (struct box){INFINITY, INFINITY, -INFINITY, -INFINITY};
	for (int i = 0; i < GRID * GRID; i++) {
		const int column = i % GRID, row = i / GRID;
		double p[2];
		const bool known = place_of(rig, side, (double)column * rig->raw_width / (GRID - 1),
					    (double)row * rig->raw_height / (GRID - 1), f, p);

		outer->left = fmin(outer->left, p[0]);
		outer->right = fmax(outer->right, p[0]);
		outer->top = fmin(outer->top, p[1]);
		outer->bottom = fmax(outer->bottom, p[1]);
		if (!known)
			continue;
		if (column == 0)
			inner->left = fmax(inner->left, p[0]);
		if (column == GRID - 1)
			inner->right = fmin(inner->right, p[0]);
		if (row == 0)
			inner->top = fmax(inner->top, p[1]);
		if (row == GRID - 1)
			inner->bottom = fmin(inner->bottom, p[1]);
	}
}

/* Computes the factor by which each side of a box must grow to reach that side of the rectified image. */
static void find_scales(const struct sx_rig *rig, const struct box *b, double scale[4])
{
	scale[0] = -rig->cx / b->left;
	scale[1] = -rig->cy / b->top;
	scale[2] = (rig->width - rig->cx) / b->right;
	scale[3] = (rig->height - rig->cy) / b->bottom;
}

/* Computes the factor by which the focal length is larger than f. */
static double find_scale(const struct sx_rig *rig, double f, double alpha)
{
	double all_seen = -INFINITY, all_shown = INFINITY;

	for (int side = 0; side < 2; side++) {
		struct box inner, outer;
		double s[4];

		find_boxes(rig, side, f, &inner, &outer);
		find_scales(rig, &inner, s);
		all_seen = fmax(all_seen, fmax(fmax(s[0], s[1]), fmax(s[2], s[3])));
		find_scales(rig, &outer, s);
		all_shown = fmin(all_shown, fmin(fmin(s[0], s[1]), fmin(s[2], s[3])));
	}
	return all_seen * (1 - alpha) + all_shown * alpha;
}

/*
 * Chooses focal length and principal point. Keeps the raw scale if a lens model ends before all of the
 * border; sx_rig_check() then refuses the rig.
 */
static void choose_view(struct sx_rig *rig, double alpha)
{
	double f = (rig->raw[0].fy + rig->raw[1].fy) / 2 * rig->height / rig->raw_height, centre[2],
	       scale = 1;

	find_centre(rig, f, centre);
	rig->cx = rig->width * centre[0] / rig->raw_width;
	rig->cy = rig->height * centre[1] / rig->raw_height;
	if (alpha >= 0)
		scale = find_scale(rig, f, alpha);
	rig->fx = rig->fy = scale == 0 ? f : f * scale;
}

static bool is_seen(const struct sx_rig *rig, int side, double u, double v)
{
	double x, y;

	return sx_rig_project(rig, side, u, v, &x, &y) && x >= 0 && x <= rig->raw_width - 1 && y >= 0 &&
	       y <= rig->raw_height - 1;
}

static bool is_anything_seen(const struct sx_rig *rig)
{
	for (int i = 0; i < LOOKS * LOOKS; i++) {
		double u = (rig->width - 1) * (i % LOOKS) / (LOOKS - 1.0);
		double v = (rig->height - 1) * (i / LOOKS) / (LOOKS - 1.0);

		if (is_seen(rig, 0, u, v) && is_seen(rig, 1, u, v))
			return true;
	}
	return false;
}

int sx_rig_align(struct sx_rig *rig, const double r[9], const double t[3], double alpha, struct sx_why *why)
{
	struct sx_rig aligned = *rig;
	const char *fault = sx_mat3_fault(r);
	int e = sx_rig_check_given(rig, why);

	if (e < 0)
		return e;
	if (fault)
		return sx_why_fail(-EINVAL, why, "the rotation between the cameras %s", fault);
	if (!(alpha == -1 || (alpha >= 0 && alpha <= 1)))
		fault = "alpha is neither -1 nor from 0 to 1";
	else if (!isfinite(length(t)))
		fault = "the translation between the cameras holds what is no number";
	else
		fault = turn_cameras(&aligned, r, t);
	if (!fault) {
		choose_view(&aligned, alpha);
		if (!isfinite(aligned.fx) || !(aligned.fx > 0) || !is_anything_seen(&aligned))
			fault = "the rectified images would show nothing that both cameras see";
	}
	if (fault)
		return sx_why_fail(-EINVAL, why, "%s", fault);
	e = sx_rig_check(&aligned, why);
	if (e == 0)
		*rig = aligned;
	return e;
}
