/*
 * Calibration in the format of the EuRoC data set, also used by others: sensor.yaml of one camera, with T_BS.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config/calibration/calibration_yaml.h"

static int euroc_missing(const struct sx_yaml *y, const char *key)
{
	return sx_calibration_refuse(y->why, "EuRoC sensor.yaml: '%s' is missing", key);
}

/* Reads a list of `count` numbers, or reports why not. */
static int read_numbers(const struct sx_yaml *y, const char *key, double *ret, int count)
{
	int n = sx_yaml_vector(y, y->root, key, ret, count);

	if (n == 0)
		return euroc_missing(y, key);
	if (n > 0 && n != 1 + count)
		return sx_calibration_refuse(y->why, "EuRoC sensor.yaml: '%s' has %d numbers instead of %d",
					     key, n - 1, count);
	return n < 0 ? n : 0;
}

static int read_euroc_lens(struct sx_calibration_camera *c, const struct sx_yaml *y)
{
	const char *model;
	double d[16];
	int n;

	if (sx_yaml_lens(y, y->root, &model) < 0)
		return -EINVAL;
	n = sx_yaml_vector(y, y->root, c->d_name, d, 16);
	if (n < 0)
		return n;
	if (!n || !model)
		return euroc_missing(y, n ? "distortion_model" : c->d_name);
	return sx_calibration_lens(c, model, d, n - 1, y->why);
}

int sx_calibration_euroc(struct sx_calibration_raw *raw, const struct sx_yaml *y)
{
	struct sx_calibration_camera *c = &raw->camera[0];
	int r = sx_yaml_matrix(y, y->root, "T_BS", 4, 4, raw->t_bs);
	double k[4], size[2];
	const double *t = raw->t_bs;

	if (r <= 0)
		return r;
	raw->format = "EuRoC sensor.yaml";
	raw->projections = "projection matrices";
	raw->pose_name = "T_BS";
	raw->left_name = "projection_matrix";
	raw->cameras = 1;
	raw->pose = true;
	sx_calibration_name(c->k_name, "", "intrinsics");
	sx_calibration_name(c->d_name, "",
			    sx_yaml_get(y, y->root, "distortion_coeffs") ? "distortion_coeffs"
									 : "distortion_coefficients");
	if (t[12] != 0 || t[13] != 0 || t[14] != 0 || fabs(t[15] - 1) > 1e-9)
		return sx_calibration_refuse(
			y->why, "EuRoC sensor.yaml: the last row of T_BS is %g %g %g %g, must be 0 0 0 1",
			t[12], t[13], t[14], t[15]);
	if (read_numbers(y, "intrinsics", k, 4) < 0 || read_numbers(y, "resolution", size, 2) < 0)
		return -EINVAL;
	memcpy(c->k, (const double[9]){k[0], 0, k[2], 0, k[1], k[3], 0, 0, 1}, sizeof(c->k));
	c->have_k = true;
	raw->width = size[0];
	raw->height = size[1];
	return read_euroc_lens(c, y) < 0 ? -EINVAL : 1;
}

/*
 * A point p' of a camera is R p' + t on the body. So the left camera's p is Rr' (Rl p + tl - tr) in the right
 * one.
 */
int sx_calibration_between(struct sx_calibration_raw *raw, const double right[16], struct sx_why *why)
{
	const double *left = raw->t_bs;
	double moved[3];

	for (int i = 0; i < 3; i++)
		moved[i] = left[4 * i + 3] - right[4 * i + 3];
	for (int i = 0; i < 3; i++) {
		raw->t[i] = 0;
		for (int k = 0; k < 3; k++)
			raw->t[i] += right[4 * k + i] * moved[k];
		for (int j = 0; j < 3; j++) {
			raw->r[3 * i + j] = 0;
			for (int k = 0; k < 3; k++)
				raw->r[3 * i + j] += right[4 * k + i] * left[4 * k + j];
		}
	}
	if (raw->t[0] == 0 && raw->t[1] == 0 && raw->t[2] == 0)
		return sx_calibration_refuse(
			why, "both cameras stand in one place by T_BS: is one file given twice?");
	raw->have_r = raw->have_t = true;
	return 0;
}
