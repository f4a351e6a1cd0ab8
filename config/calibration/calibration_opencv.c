/*
 * Calibration in the format of programs with OpenCV (cv::FileStorage): a rectified pair, raw cameras, or
 * both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/calibration/calibration_yaml.h"

/* Names of each matrix. Messages use the first one. */
static const char *const k_names[2][8] = {{"K1", "M1", "cameraMatrix1", "camera_matrix1", "camera_matrix_1",
					   "cameraMatrixLeft", "camera_matrix_left", NULL},
					  {"K2", "M2", "cameraMatrix2", "camera_matrix2", "camera_matrix_2",
					   "cameraMatrixRight", "camera_matrix_right", NULL}};
static const char *const d_names[2][8] = {
	{"D1", "distCoeffs1", "dist_coeffs1", "dist_coeffs_1", "distortion_coefficients_1", "distCoeffsLeft",
	 "distortion_coefficients_left", NULL},
	{"D2", "distCoeffs2", "dist_coeffs2", "dist_coeffs_2", "distortion_coefficients_2", "distCoeffsRight",
	 "distortion_coefficients_right", NULL}};
static const char *const r_names[2] = {"R1", "R2"};
static const char *const size_names[] = {"image_size", "imageSize", "ImageSize", NULL};

static void read_lens(struct sx_calibration_camera *c, const struct sx_yaml *y, const char *model)
{
	double d[16];
	int n = sx_yaml_vector(y, y->root, c->d_name, d, 16);

	if (n > 0)
		sx_calibration_lens(c, model, d, n - 1, y->why);
}

/* Reads the raw cameras. Returns true if the file has any part of them. Errors are stored in raw->fault. */
static bool read_cameras(struct sx_calibration_raw *raw, const struct sx_yaml *y)
{
	struct sx_yaml told = sx_yaml_fault(y, raw);
	const char *model = NULL;
	bool any = false;

	(void)sx_yaml_lens(&told, y->root, &model);
	for (int i = 0; i < 2; i++) {
		struct sx_calibration_camera *c = &raw->camera[i];
		const char *k = sx_yaml_first(y, y->root, k_names[i]);
		const char *d = sx_yaml_first(y, y->root, d_names[i]);
		bool has = k || d || sx_yaml_get(y, y->root, r_names[i]);
		struct sx_yaml fault = sx_yaml_fault(y, raw);

		k = k ? k : k_names[i][0];
		d = d ? d : d_names[i][0];
		sx_calibration_name(c->k_name, "", k);
		sx_calibration_name(c->d_name, "", d);
		c->have_k = sx_yaml_matrix(&fault, y->root, k, 3, 3, c->k) > 0;
		fault = sx_yaml_fault(y, raw);
		read_lens(c, &fault, model);
		fault = sx_yaml_fault(y, raw);
		c->have_r = sx_yaml_matrix(&fault, y->root, r_names[i], 3, 3, c->r) > 0;
		any = any || has;
	}
	return any;
}

static bool read_pose(struct sx_calibration_raw *raw, const struct sx_yaml *y)
{
	struct sx_yaml fault = sx_yaml_fault(y, raw);
	double t[3];
	int n;

	raw->pose_name = "R and T (or R1 and R2)";
	raw->have_r = sx_yaml_matrix(&fault, y->root, "R", 3, 3, raw->r) > 0;
	fault = sx_yaml_fault(y, raw);
	n = sx_yaml_vector(&fault, y->root, "T", t, 3);
	if (n == 1 + 3) {
		raw->have_t = true;
		memcpy(raw->t, t, sizeof(t));
	} else if (n > 0) {
		sx_calibration_refuse(fault.why, "'T' has %d numbers instead of 3", n - 1);
	}
	return raw->have_r && n;
}

/* Reads the image size: "imageSize: [ 1280, 720 ]", as cv::Size is written. */
static int read_size(struct sx_calibration_raw *raw, const struct sx_yaml *y)
{
	const char *key = sx_yaml_first(y, y->root, size_names);
	struct sx_yaml fault = sx_yaml_fault(y, raw);
	double size[2];

	if (!key)
		return 0;
	/* earlier releases did not read the size: a fault counts only if the size is needed */
	if (sx_yaml_vector(&fault, y->root, key, size, 2) != 1 + 2) {
		sx_calibration_refuse(fault.why, "'%s' is not a width and a height", key);
		return 0;
	}
	raw->width = size[0];
	raw->height = size[1];
	return 0;
}

/* Refuses a matrix that is given by two names with different numbers. */
static int check_names(const struct sx_yaml *y)
{
	for (int i = 0; i < 2; i++)
		if (sx_yaml_check_names(y, y->root, k_names[i]) < 0 ||
		    sx_yaml_check_names(y, y->root, d_names[i]) < 0)
			return -EINVAL;
	return sx_yaml_check_names(y, y->root, size_names);
}

int sx_calibration_opencv(struct sx_calibration_raw *raw, const struct sx_yaml *y)
{
	int left = check_names(y) < 0 ? -EINVAL : sx_yaml_matrix(y, y->root, "P1", 3, 4, raw->left);
	int right = left < 0 ? left : sx_yaml_matrix(y, y->root, "P2", 3, 4, raw->right);
	int q = right < 0 ? right : sx_yaml_matrix(y, y->root, "Q", 4, 4, raw->q);
	bool cameras, pose;

	if (q < 0)
		return q;
	cameras = read_cameras(raw, y);
	pose = read_pose(raw, y);
	if (!left && !right && !q && !cameras && !pose) {
		memset(raw, 0, sizeof(*raw));
		return 0;
	}
	raw->format = y->format ? y->format : "OpenCV YAML";
	raw->left_name = "P1";
	raw->right_name = "P2";
	raw->projections = "P1 and P2 (or Q)";
	raw->have_left = left > 0;
	raw->have_right = right > 0;
	raw->have_q = q > 0;
	raw->cameras = 2;
	return read_size(raw, y) < 0 ? -EINVAL : 1;
}
