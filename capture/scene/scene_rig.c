/*
 * Raw cameras of the synthetic scenes, with typical lenses, mounted with typical inaccuracy.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/contract.h"
#include "capture/scene/scene_world.h"
#include "stages/rectify/mat3.h"
#include "stages/rectify/rig.h"

#define DEGREE (3.14159265358979323846 / 180)
#define FY_TO_FX 1.002	    /* pixels of cheap sensors are not exactly square */
#define RIGHT_TO_LEFT 0.985 /* ratio of the focal lengths */
/* least margin of the raw image around the area that becomes the rectified image, px */
#define SPARE 2.0

static const struct {
	const char *name;
	enum sx_lens lens;
	double across_deg; /* largest horizontal angle of the left raw image, degrees; 0: as needed */
	double distortion[2][SX_LENS_COEFFICIENTS];
} names[] = {
	{.name = "ideal"},
	{
		.name = "plain",
		.lens = SX_LENS_PLUMB_BOB,
		.distortion = {{-0.35, 0.13, 0.0008, -0.0006}, {-0.34, 0.12, -0.0005, 0.0009}},
	},
	{
		/* the image radius is close to the angle itself, atan(r) */
		.name = "wide",
		.lens = SX_LENS_RATIONAL,
		.across_deg = 105,
		.distortion = {{0.780, 0.068, 0.0006, -0.0004, 0.0004, 1.110, 0.240, 0.0010},
			       {0.772, 0.066, -0.0004, 0.0007, 0.0003, 1.102, 0.235, 0.0012}},
	},
	{
		.name = "fisheye",
		.lens = SX_LENS_EQUIDISTANT,
		.across_deg = 124,
		.distortion = {{-0.012, 0.004, -0.003, 0.0006}, {-0.010, 0.003, -0.002, 0.0004}},
	},
};

/* Rotation errors of each camera, and offset of its principal point as a share of the image. */
static const struct {
	double pitch_deg, yaw_deg, roll_deg, aside, below;
} mounted[2] = {{0.4, -0.5, 0.6, 0.012, -0.010}, {-0.3, 0.6, -0.5, -0.009, 0.014}};

static int find_lenses(const char *name)
{
	if (!name || !*name)
		return 0;
	for (int i = 0; i < (int)(sizeof(names) / sizeof(names[0])); i++)
		if (!strcmp(name, names[i].name))
			return i;
	return -1;
}

static void set_identity(double r[9])
{
	for (int i = 0; i < 9; i++)
		r[i] = i % 4 == 0;
}

/* Sets the rotation about z, then y, then x. */
static void set_rotation(double pitch_deg, double yaw_deg, double roll_deg, double r[9])
{
	double cx = cos(pitch_deg * DEGREE), sx = sin(pitch_deg * DEGREE);
	double cy = cos(yaw_deg * DEGREE), sy = sin(yaw_deg * DEGREE);
	double cz = cos(roll_deg * DEGREE), sz = sin(roll_deg * DEGREE);

	r[0] = cy * cz;
	r[1] = -cy * sz;
	r[2] = sy;
	r[3] = sx * sy * cz + cx * sz;
	r[4] = -sx * sy * sz + cx * cz;
	r[5] = -sx * cy;
	r[6] = -cx * sy * cz + sx * sz;
	r[7] = cx * sy * sz + sx * cz;
	r[8] = cx * cy;
}

/*
 * Computes the lens coordinates (focal length 1) at which a camera sees the rectified pixel. False: it does
 * not see the pixel.
 */
static bool see(const struct sx_rig *rig, int side, double u, double v, double *x, double *y)
{
	struct sx_rig unit = *rig;

	sx_must_index(side, 2);
	unit.raw[side].fx = 1;
	unit.raw[side].fy = 1;
	unit.raw[side].cx = 0;
	unit.raw[side].cy = 0;
	return sx_rig_project(&unit, side, u, v, x, y);
}

/*
 * Returns the largest focal length with which coordinate x of the lens is within 0..px-1, with a margin of
 * SPARE px.
 */
static double largest_focal(double x, double centre, int px)
{
	double room = x < 0 ? centre - SPARE : px - 1 - SPARE - centre;

	x = fabs(x);
	return x * 1e6 < room ? 1e6 : room / x;
}

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

/* Returns the largest fx with which all of the rectified image is seen. It suffices to check the rim. */
static double fitting_focal(const struct sx_rig *rig, int side)
{
	const struct sx_raw_camera *c = &rig->raw[side];
	double f = 1e6, x, y;

	sx_must_be(rig->width > 1 && rig->height > 1);
	for (int i = 0; i < 2 * (rig->width + rig->height); i++) {
		int along = i / 2;
		bool flat = along < rig->width; /* upper and lower rim, then the sides */
		double u = flat ? along : i % 2 * (rig->width - 1),
		       v = flat ? i % 2 * (rig->height - 1) : along - rig->width;

		if (!see(rig, side, u, v, &x, &y))
			continue;
		f = smaller(f, largest_focal(x, c->cx, rig->raw_width));
		f = smaller(f, largest_focal(y * FY_TO_FX, c->cy, rig->raw_height));
	}
	return f;
}

/*
 * Returns the fx with which a straight camera would show across_deg degrees of the lens, half to each side.
 */
static double focal_across(const struct sx_rig *rig, double across_deg)
{
	struct sx_rig straight = *rig;
	double x, y;

	if (across_deg <= 0)
		return 1e6;
	set_identity(straight.rotation[0]);
	if (!see(&straight, 0, rig->cx + rig->fx * tan(across_deg / 2 * DEGREE), rig->cy, &x, &y))
		return 1e6;
	return 0.5 * rig->raw_width / x;
}

static void set_raw(struct sx_rig *rig, int name)
{
	sx_must_index(name, sizeof(names) / sizeof(names[0]));
	double fx;

	for (int side = 0; side < 2; side++) {
		rig->raw[side] = (struct sx_raw_camera){
			.fx = 1,
			.fy = 1,
			.cx = 0.5 * (rig->raw_width - 1) + mounted[side].aside * rig->raw_width,
			.cy = 0.5 * (rig->raw_height - 1) + mounted[side].below * rig->raw_height,
			.lens = names[name].lens,
		};
		memcpy(rig->raw[side].distortion, names[name].distortion[side],
		       sizeof(names[name].distortion[side]));
		set_rotation(mounted[side].pitch_deg, mounted[side].yaw_deg, mounted[side].roll_deg,
			     rig->rotation[side]);
	}
	fx = smaller(fitting_focal(rig, 0), fitting_focal(rig, 1) / RIGHT_TO_LEFT);
	fx = smaller(fx, focal_across(rig, names[name].across_deg));
	for (int side = 0; side < 2; side++) {
		rig->raw[side].fx = fx * (side ? RIGHT_TO_LEFT : 1);
		rig->raw[side].fy = rig->raw[side].fx * FY_TO_FX;
	}
}

int sx_scene_rig(const struct sx_scene_params *p, struct sx_rig *ret, struct sx_why *why)
{
	int name = find_lenses(p->lenses);
	struct sx_camera c;

	if (name < 0)
		return sx_why_fail(-EINVAL, why, "unknown lenses '%s', allowed ideal, plain, wide, fisheye",
				   p->lenses);
	sx_scene_camera(p, &c);
	*ret = (struct sx_rig){
		.raw_width = name && p->raw_width ? p->raw_width : p->width,
		.raw_height = name && p->raw_height ? p->raw_height : p->height,
		.width = p->width,
		.height = p->height,
		.fx = c.fx,
		.fy = c.fy,
		.cx = c.cx,
		.cy = c.cy,
		.baseline_m = c.baseline_m,
	};
	for (int side = 0; side < 2; side++) {
		ret->raw[side] = (struct sx_raw_camera){.fx = c.fx, .fy = c.fy, .cx = c.cx, .cy = c.cy};
		set_identity(ret->rotation[side]);
	}
	if (name > 0)
		set_raw(ret, name);
	return 0;
}

void sx_scene_misplace(const struct sx_scene_error *e, struct sx_rig *rig)
{
	double by[9], r[9];

	rig->raw[1].cx += e->shift_px * rig->raw[1].fx / rig->fx;
	if (e->pitch_deg == 0 && e->yaw_deg == 0 && e->roll_deg == 0)
		return;
	set_rotation(e->pitch_deg, e->yaw_deg, e->roll_deg, by);
	sx_mat3_multiply(r, rig->rotation[1], by);
	memcpy(rig->rotation[1], r, sizeof(r));
}
