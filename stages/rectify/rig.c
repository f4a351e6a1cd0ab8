/*
 * Rigs: checks of their values, and projection of points.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/rectify/rig.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "stages/rectify/lens.h"
#include "stages/rectify/mat3.h"

#define WIDTH_MIN 32
#define WIDTH_MAX 4096
#define HEIGHT_MIN 32
#define HEIGHT_MAX 2160
#define FOCAL_MIN 1 /* px */
#define GRID 33	    /* rectified pixels along a side whose rays are checked */
#define HALVINGS 40 /* steps of a search for an angle */
#define DEGREES (180 / M_PI)

static const char *const sides[2] = {"left", "right"};

static int check_size(const char *what, int width, int height, struct sx_why *why)
{
	if (width < WIDTH_MIN || height < HEIGHT_MIN || width > WIDTH_MAX || height > HEIGHT_MAX)
		return sx_why_fail(-EINVAL, why, "%s images are %dx%d px, not %dx%d to %dx%d", what, width,
				   height, WIDTH_MIN, HEIGHT_MIN, WIDTH_MAX, HEIGHT_MAX);
	return 0;
}

/* Checks a camera matrix. whose: "of the left camera", ... */
static int check_k(const char *whose, double fx, double fy, double cx, double cy, struct sx_why *why)
{
	const double k[4] = {fx, fy, cx, cy};
	static const char *const names[4] = {"fx", "fy", "cx", "cy"};

	for (int i = 0; i < 4; i++) {
		if (!isfinite(k[i]))
			return sx_why_fail(-EINVAL, why, "%s %s is %g, no number of pixels", names[i], whose,
					   k[i]);
		if (i < 2 && !(k[i] >= FOCAL_MIN))
			return sx_why_fail(-EINVAL, why, "%s %s is %g px, below %d", names[i], whose, k[i],
					   FOCAL_MIN);
	}
	return 0;
}

static int check_coefficients(const struct sx_raw_camera *camera, const char *side, struct sx_why *why)
{
	const char *name = sx_lens_name(camera->lens);

	if (!name)
		return sx_why_fail(-EINVAL, why, "the lens of the %s camera has no known model", side);
	for (int i = 0; i < SX_LENS_COEFFICIENTS; i++) {
		double d = camera->distortion[i];

		if (!isfinite(d))
			return sx_why_fail(-EINVAL, why, "distortion coefficient %d of the %s camera is %g",
					   i + 1, side, d);
		if (i >= sx_lens_coefficients(camera->lens) && d != 0)
			return sx_why_fail(-EINVAL, why,
					   "distortion coefficient %d of the %s camera is %g, and %s has %d",
					   i + 1, side, d, name, sx_lens_coefficients(camera->lens));
	}
	return 0;
}

static int check_raw_camera(const struct sx_rig *rig, int side, struct sx_why *why)
{
	const struct sx_raw_camera *c = &rig->raw[side];
	char whose[32];
	int r;

	snprintf(whose, sizeof(whose), "of the %s camera", sides[side]);
	r = check_k(whose, c->fx, c->fy, c->cx, c->cy, why);
	return r < 0 ? r : check_coefficients(c, sides[side], why);
}

static int check_given(const struct sx_rig *rig, struct sx_why *why)
{
	int r = check_size("raw", rig->raw_width, rig->raw_height, why);

	if (r == 0)
		r = check_size("rectified", rig->width, rig->height, why);
	for (int side = 0; r == 0 && side < 2; side++)
		r = check_raw_camera(rig, side, why);
	return r;
}

/* Computes the ray of a pixel of the rectified image, in the frame of the raw camera. */
static void ray_of(const struct sx_rig *rig, int side, double u, double v, double ray[3])
{
	const double ahead[3] = {(u - rig->cx) / rig->fx, (v - rig->cy) / rig->fy, 1};
	double back[9];

	sx_mat3_invert(back, rig->rotation[side]);
	sx_mat3_apply(ray, back, ahead);
}

static bool is_in_raw(const struct sx_rig *rig, double x, double y)
{
	return x >= 0 && x <= rig->raw_width - 1 && y >= 0 && y <= rig->raw_height - 1;
}

/*
 * Finds where the lens model ends in the direction of a ray beyond it. Returns the largest angle from the
 * axis that the model shows, rad, and the pixel at this angle.
 */
static double last_angle(const struct sx_raw_camera *c, double reach, const double ray[3], double *x,
			 double *y)
{
	const double across = hypot(ray[0], ray[1]);
	double low = 0, high = atan2(across, ray[2]);

	*x = c->cx;
	*y = c->cy;
	for (int i = 0; i < HALVINGS && across > 0; i++) {
		const double angle = 0.5 * (low + high), part = sin(angle) / across;
		const double at[3] = {part * ray[0], part * ray[1], cos(angle)};

		if (sx_lens_project(c, reach, at, x, y))
			low = angle;
		else
			high = angle;
	}
	return low;
}

/*
 * Checks the rays that the rectified image needs. If the raw image ends before the end of the model in the
 * direction of a ray, the ray is not needed, because the raw image shows nothing there.
 */
static int check_rays(const struct sx_rig *rig, int side, struct sx_why *why)
{
	const struct sx_raw_camera *c = &rig->raw[side];
	const double reach = sx_lens_reach(c);
	bool shows = false;

	for (int i = 0; i < GRID * GRID; i++) {
		const double u = (rig->width - 1) * (i % GRID) / (GRID - 1.0),
			     v = (rig->height - 1) * (i / GRID) / (GRID - 1.0);
		double ray[3], x, y, angle;

		ray_of(rig, side, u, v, ray);
		if (sx_lens_project(c, reach, ray, &x, &y)) {
			shows = shows || is_in_raw(rig, x, y);
			continue;
		}
		angle = last_angle(c, reach, ray, &x, &y);
		if (is_in_raw(rig, x, y))
			return sx_why_fail(
				-EINVAL, why,
				"the %s lens of the %s camera turns back %.1f degrees from its axis, "
				"%.0f px from its centre, but rectified pixel (%.0f, %.0f) needs %.1f: "
				"calibrate with views in the corners, or show less (rectify_alpha, P1)",
				sx_lens_name(c->lens), sides[side], angle * DEGREES,
				hypot(x - c->cx, y - c->cy), u, v,
				atan2(hypot(ray[0], ray[1]), ray[2]) * DEGREES);
	}
	return shows ? 0
		     : sx_why_fail(-EINVAL, why, "the rectified image shows nothing that the %s camera sees",
				   sides[side]);
}

int sx_rig_check_given(const struct sx_rig *rig, struct sx_why *why)
{
	return check_given(rig, why);
}

int sx_rig_check(const struct sx_rig *rig, struct sx_why *why)
{
	int r = check_given(rig, why);

	if (r < 0)
		return r;
	for (int side = 0; side < 2; side++) {
		const char *fault = sx_mat3_fault(rig->rotation[side]);

		if (fault)
			return sx_why_fail(-EINVAL, why, "the rotation of the %s camera %s", sides[side],
					   fault);
	}
	r = check_k("of the rectified images", rig->fx, rig->fy, rig->cx, rig->cy, why);
	if (r < 0)
		return r;
	if (!(rig->baseline_m > 0 && isfinite(rig->baseline_m)))
		return sx_why_fail(-EINVAL, why, "the baseline is %g m, not above 0", rig->baseline_m);
	for (int side = 0; r == 0 && side < 2; side++)
		r = check_rays(rig, side, why);
	return r;
}

static bool is_near(double a, double b, double tolerance)
{
	return fabs(a - b) <= tolerance;
}

bool sx_rig_is_rectified(const struct sx_rig *rig)
{
	const double px = 1e-6, turn = 1e-9; /* rounding of numbers in a file; it would not change a map */
	bool same = rig->raw_width == rig->width && rig->raw_height == rig->height;

	for (int side = 0; side < 2; side++) {
		const struct sx_raw_camera *c = &rig->raw[side];

		same = same && c->lens != SX_LENS_EQUIDISTANT && is_near(c->fx, rig->fx, px) &&
		       is_near(c->fy, rig->fy, px) && is_near(c->cx, rig->cx, px) &&
		       is_near(c->cy, rig->cy, px);
		for (int i = 0; i < SX_LENS_COEFFICIENTS; i++)
			same = same && c->distortion[i] == 0;
		for (int i = 0; i < 9; i++)
			same = same && is_near(rig->rotation[side][i], i % 4 == 0, turn);
	}
	return same;
}

bool sx_rig_project(const struct sx_rig *rig, int side, double u, double v, double *x, double *y)
{
	double ray[3];

	ray_of(rig, side, u, v, ray);
	return sx_lens_project(&rig->raw[side], sx_lens_reach(&rig->raw[side]), ray, x, y);
}

bool sx_rig_unproject(const struct sx_rig *rig, int side, double x, double y, double *u, double *v)
{
	double ray[3], turned[3];

	if (!sx_lens_unproject(&rig->raw[side], x, y, ray))
		return false;
	sx_mat3_apply(turned, rig->rotation[side], ray);
	if (!(turned[2] > 0))
		return false;
	*u = rig->fx * turned[0] / turned[2] + rig->cx;
	*v = rig->fy * turned[1] / turned[2] + rig->cy;
	return true;
}
