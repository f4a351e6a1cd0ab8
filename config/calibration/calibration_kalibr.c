/*
 * Calibration in Kalibr's format: a chain of cameras. The first two are the left and the right camera.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config/calibration/calibration_yaml.h"

static const char *const cam_names[2] = {"cam0", "cam1"};

static int missing(const struct sx_yaml *y, int side, const char *key)
{
	return sx_calibration_refuse(y->why, "%s: '%s' is missing", cam_names[side], key);
}

static int other_count(const struct sx_yaml *y, int side, const char *key, int found, int wanted)
{
	return sx_calibration_refuse(y->why, "%s: '%s' has %d numbers instead of %d", cam_names[side], key,
				     found, wanted);
}

/* Reads a list of `count` numbers. */
static int read_numbers(const struct sx_yaml *y, int side, const char *key, double *ret, int count)
{
	int n = sx_yaml_vector(y, sx_yaml_get(y, y->root, cam_names[side]), key, ret, count);

	if (n <= 0)
		return n < 0 ? n : missing(y, side, key);
	return n == 1 + count ? 0 : other_count(y, side, key, n - 1, count);
}

static int read_lens(struct sx_calibration_camera *c, const struct sx_yaml *y, yaml_node_t *cam, int side)
{
	const char *model = NULL;
	double d[16];
	int n = sx_yaml_lens(y, cam, &model) < 0 ? -EINVAL
						 : sx_yaml_vector(y, cam, "distortion_coeffs", d, 16);

	if (!n || !model)
		return n < 0 ? n : missing(y, side, n ? "distortion_model" : "distortion_coeffs");
	return n < 0 ? n : sx_calibration_lens(c, model, d, n - 1, y->why);
}

static int read_camera(struct sx_calibration_raw *raw, const struct sx_yaml *y, int side, double size[2])
{
	static const char *const whose[2] = {"cam0: ", "cam1: "};
	yaml_node_t *cam = sx_yaml_get(y, y->root, cam_names[side]);
	struct sx_calibration_camera *c = &raw->camera[side];
	const char *model = sx_yaml_word(y, cam, "camera_model");
	double k[4];
	int r;

	sx_calibration_name(c->k_name, whose[side], "intrinsics");
	sx_calibration_name(c->d_name, whose[side], "distortion_coeffs");
	if (model && !strcmp(model, "fisheye"))
		model = "pinhole"; /* the word names the lens, which is checked with distortion_model */
	if (!model || strcmp(model, "pinhole"))
		return model ? sx_calibration_refuse(y->why,
						     "%s: camera_model is '%.40s', only pinhole is supported",
						     cam_names[side], model)
			     : missing(y, side, "camera_model");
	if ((r = read_numbers(y, side, "intrinsics", k, 4)) < 0 ||
	    (r = read_numbers(y, side, "resolution", size, 2)) < 0)
		return r;
	memcpy(c->k, (const double[9]){k[0], 0, k[2], 0, k[1], k[3], 0, 0, 1}, sizeof(c->k));
	c->have_k = true;
	return read_lens(c, y, cam, side);
}

/* Reads a pose of a camera, 4x4, row by row. Returns 1; 0: no such key; -EINVAL. */
static int read_pose_of(const struct sx_yaml *y, int side, const char *key, double t[16])
{
	int r = sx_yaml_matrix(y, sx_yaml_get(y, y->root, cam_names[side]), key, 4, 4, t);

	if (r > 0 && (t[12] != 0 || t[13] != 0 || t[14] != 0 || fabs(t[15] - 1) > 1e-9))
		return sx_calibration_refuse(y->why, "%s: the last row of %s is %g %g %g %g, must be 0 0 0 1",
					     cam_names[side], key, t[12], t[13], t[14], t[15]);
	return r;
}

/*
 * Reads the pose of a camera on the IMU: T_imu_cam, which maps points of the camera to the IMU, or its inverse,
 * T_cam_imu. Returns as read_pose_of().
 */
static int read_pose_on_imu(struct sx_calibration_raw *raw, const struct sx_yaml *y, int side, double ret[16])
{
	double t[16];
	int r = read_pose_of(y, side, "T_imu_cam", ret);

	raw->pose_name = r ? "T_imu_cam" : "T_cam_imu";
	if (r)
		return r;
	r = read_pose_of(y, side, "T_cam_imu", t);
	for (int i = 0; i < 3 && r > 0; i++) {
		for (int j = 0; j < 3; j++)
			ret[4 * i + j] = t[4 * j + i];
		ret[4 * i + 3] = -(t[i] * t[3] + t[4 + i] * t[7] + t[8 + i] * t[11]);
	}
	return r;
}

/*
 * Reads T_cn_cnm1 of cam1, which maps points of cam0 to cam1, metres. Other programs' chains have the poses of both
 * cameras on the IMU instead.
 */
static int read_pose(struct sx_calibration_raw *raw, const struct sx_yaml *y)
{
	double t[16];
	int r = read_pose_of(y, 1, "T_cn_cnm1", t);

	if (r < 0)
		return r;
	if (r == 0) {
		for (int i = 0; i < 2; i++)
			if ((r = read_pose_on_imu(raw, y, i, i ? t : raw->t_bs)) <= 0)
				return r < 0 ? r : missing(y, 1, "T_cn_cnm1");
		return sx_calibration_between(raw, t, y->why);
	}
	for (int i = 0; i < 3; i++) {
		memcpy(&raw->r[3 * i], &t[4 * i], 3 * sizeof(t[0]));
		raw->t[i] = t[4 * i + 3];
	}
	raw->have_r = raw->have_t = true;
	return 0;
}

int sx_calibration_kalibr(struct sx_calibration_raw *raw, const struct sx_yaml *y)
{
	double size[2][2];
	int r = 0;

	if (!sx_yaml_get(y, y->root, cam_names[0]))
		return 0;
	raw->format = "Kalibr camchain";
	raw->pose_name = "T_cn_cnm1";
	raw->cameras = 2;
	if (!sx_yaml_get(y, y->root, cam_names[1]))
		return sx_calibration_refuse(y->why, "one camera only: 'cam1' is missing");
	for (int i = 0; i < 2; i++)
		if ((r = read_camera(raw, y, i, size[i])) < 0)
			return r;
	if (size[0][0] != size[1][0] || size[0][1] != size[1][1])
		return sx_calibration_refuse(y->why, "image sizes differ: cam0 %gx%g, cam1 %gx%g", size[0][0],
					     size[0][1], size[1][0], size[1][1]);
	raw->width = size[0][0];
	raw->height = size[0][1];
	r = read_pose(raw, y);
	return r < 0 ? r : 1;
}
