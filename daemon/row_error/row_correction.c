/*
 * Corrections of a rig.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/row_error/row_correction.h"

#include <math.h>
#include <string.h>

#include "base/contract.h"
#include "stages/rectify/mat3.h"

bool sx_row_correction_equal(const struct sx_row_correction *a, const struct sx_row_correction *b)
{
	return a->shift_px == b->shift_px && a->rotation_deg == b->rotation_deg;
}

/* Turns m about z, from x to y, then about x, from y to z; radians. */
static void turn(double m[9], double z, double x)
{
	const double around_z[9] = {cos(z), -sin(z), 0, sin(z), cos(z), 0, 0, 0, 1};
	const double around_x[9] = {1, 0, 0, 0, cos(x), -sin(x), 0, sin(x), cos(x)};
	double turned[9];

	sx_mat3_multiply(turned, around_z, m);
	sx_mat3_multiply(m, around_x, turned);
}

void sx_rig_correct_rows(struct sx_rig *rig, const struct sx_row_correction *c)
{
	const double slope = tan(c->rotation_deg * (M_PI / 180)); /* rows per column */
	/* the turn about z leaves the principal point in place */
	const double shift = c->shift_px + slope * (rig->cx - (rig->width - 1) / 2.0);

	sx_must_be(rig->fx > 0 && rig->fy > 0);
	turn(rig->rotation[1], -atan(slope * rig->fx / rig->fy), atan(shift / rig->fy));
}

struct sx_rig sx_rig_of_rectified(int width, int height, double fx, double fy, double cx, double cy,
				  double baseline_m)
{
	static const double straight[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
	const struct sx_raw_camera camera = {fx, fy, cx, cy, SX_LENS_PLUMB_BOB, {0}};
	struct sx_rig rig = {.raw_width = width,
			     .raw_height = height,
			     .raw = {camera, camera},
			     .width = width,
			     .height = height,
			     .fx = fx,
			     .fy = fy,
			     .cx = cx,
			     .cy = cy,
			     .baseline_m = baseline_m};

	sx_must(height, >, 0);
	sx_must(width, >, 0);
	memcpy(rig.rotation[0], straight, sizeof(straight));
	memcpy(rig.rotation[1], straight, sizeof(straight));
	return rig;
}
