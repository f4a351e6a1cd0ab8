/*
 * Calibration in the format of Middlebury and ETH3D for rectified pairs: calib.txt. The principal points of
 * the two cameras may differ.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config/calibration/calibration_lines.h"

#define MM 0.001
#define SAME_PX 0.1  /* rounding error, px; below it there is no offset */
#define DOFFS_PX 0.5 /* tolerance, px: doffs is printed with three digits, cx with two or three */

static void set_cameras(struct sx_calibration_raw *raw, const double k[2][9], double baseline_m)
{
	static const double straight[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
	const double *c = k[0];
	const bool moved = fabs(k[1][2] - c[2]) > SAME_PX;

	for (int i = 0; i < 2; i++) {
		struct sx_calibration_camera *to = &raw->camera[i];

		sx_calibration_name(to->k_name, "", i ? "cam1" : "cam0");
		sx_calibration_name(to->d_name, "", "distortion");
		memcpy(to->k, k[moved ? i : 0], sizeof(to->k));
		memcpy(to->r, straight, sizeof(to->r));
		to->lens = SX_LENS_PLUMB_BOB;
		to->have_k = to->have_d = to->have_r = true;
	}
	/* projections as of one camera: the right image is shifted by doffs */
	memcpy(raw->left, (const double[12]){c[0], 0, c[2], 0, 0, c[4], c[5], 0, 0, 0, 1, 0},
	       sizeof(raw->left));
	memcpy(raw->right, raw->left, sizeof(raw->right));
	raw->right[3] = -c[0] * baseline_m;
	raw->have_left = raw->have_right = true;
	raw->left_name = "cam0";
	raw->right_name = "cam1";
	raw->cameras = 2;
	raw->offset_px = moved ? k[1][2] - c[2] : 0;
}

int sx_calibration_middlebury(struct sx_calibration_raw *raw, const struct sx_lines *l)
{
	double k[2][9], baseline, doffs;
	int r = sx_lines_matrix(l, "cam0", k[0]), of_doffs;

	if (r <= 0)
		return r;
	raw->format = "Middlebury calibration";
	raw->projections = "cam0 and cam1";
	raw->pose_name = "baseline";
	if ((r = sx_lines_matrix(l, "cam1", k[1])) < 0 ||
	    (of_doffs = sx_lines_numbers(l, NULL, "doffs", &doffs, 1)) < 0 ||
	    sx_lines_numbers(l, NULL, "width", &raw->width, 1) < 0 ||
	    sx_lines_numbers(l, NULL, "height", &raw->height, 1) < 0)
		return -EINVAL;
	if (r == 0)
		return sx_calibration_refuse(l->why, "Middlebury calibration: 'cam1' is missing");
	r = sx_lines_numbers(l, NULL, "baseline", &baseline, 1);
	if (r <= 0)
		return r < 0 ? r
			     : sx_calibration_refuse(l->why,
						     "Middlebury calibration: 'baseline' (mm) is missing");
	if (!(baseline > 0))
		return sx_calibration_refuse(
			l->why, "Middlebury calibration: baseline is %g mm, must be positive", baseline);
	if (of_doffs && fabs(doffs - (k[1][2] - k[0][2])) > DOFFS_PX)
		return sx_calibration_refuse(
			l->why,
			"Middlebury calibration: doffs is %g px, but cx of cam1 and cam0 differ by "
			"%g: which one is meant?",
			doffs, k[1][2] - k[0][2]);
	if (fabs(k[0][0] - k[1][0]) > SAME_PX || fabs(k[0][4] - k[1][4]) > SAME_PX ||
	    fabs(k[0][5] - k[1][5]) > SAME_PX)
		return sx_calibration_refuse(
			l->why,
			"Middlebury calibration: cam0 (fx %g, fy %g, cy %g) and cam1 (fx %g, fy %g, cy "
			"%g) differ: "
			"not rectified",
			k[0][0], k[0][4], k[0][5], k[1][0], k[1][4], k[1][5]);
	set_cameras(raw, (const double(*)[9])k, baseline * MM);
	return 1;
}
