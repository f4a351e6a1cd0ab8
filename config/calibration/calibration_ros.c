/*
 * Calibration in ROS' format: one camera_info file, or a printed CameraInfo message, for each camera.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>

#include "config/calibration/calibration_yaml.h"

/* Names in files, in messages of ROS 1 and in messages of ROS 2. */
static const char *const p_names[] = {"projection_matrix", "P", "p", NULL};
static const char *const k_names[] = {"camera_matrix", "K", "k", NULL};
static const char *const d_names[] = {"distortion_coefficients", "D", "d", NULL};
static const char *const r_names[] = {"rectification_matrix", "R", "r", NULL};

static const char *name_of(const struct sx_yaml *y, const char *const *names)
{
	const char *name = sx_yaml_first(y, y->root, names);

	return name ? name : names[0];
}

/*
 * Returns true if there is no distortion: no coefficients, or five or more that are all 0. Four that are all
 * 0 belong to a fisheye, which distorts even then.
 */
static bool is_none(const double *d, int count)
{
	for (int i = 0; i < count; i++)
		if (d[i] != 0)
			return false;
	return count != 4;
}

static void read_lens(struct sx_calibration_camera *c, const struct sx_yaml *y)
{
	const char *model = NULL;
	double d[16];
	int n = sx_yaml_vector(y, y->root, c->d_name, d, 16);

	if (n <= 0 || sx_yaml_lens(y, y->root, &model) < 0)
		return;
	if (!model && !is_none(d, n - 1))
		sx_calibration_refuse(
			y->why, "distortion_model is missing: is the lens plumb_bob, rational_polynomial or "
				"equidistant (fisheye)?");
	else
		sx_calibration_lens(c, model, d, n - 1, y->why);
}

static int check_names(const struct sx_yaml *y)
{
	const char *const *const all[] = {p_names, k_names, d_names, r_names};

	for (int i = 0; i < 4; i++)
		if (sx_yaml_check_names(y, y->root, all[i]) < 0)
			return -EINVAL;
	return 0;
}

int sx_calibration_ros(struct sx_calibration_raw *raw, const struct sx_yaml *y)
{
	struct sx_calibration_camera *c = &raw->camera[0];
	struct sx_yaml fault;
	int r;

	if (check_names(y) < 0)
		return -EINVAL;
	raw->left_name = name_of(y, p_names);
	r = sx_yaml_matrix(y, y->root, raw->left_name, 3, 4, raw->left);
	if (r < 0 || (!r && !sx_yaml_first(y, y->root, k_names)))
		return r;
	raw->have_left = r > 0;
	raw->format = "ROS camera_info";
	raw->projections = "projection_matrix of both cameras";
	raw->pose_name = "rectification_matrix of both cameras";
	raw->cameras = 1;
	sx_calibration_name(c->k_name, "", name_of(y, k_names));
	sx_calibration_name(c->d_name, "", name_of(y, d_names));
	fault = sx_yaml_fault(y, raw);
	c->have_k = sx_yaml_matrix(&fault, y->root, name_of(y, k_names), 3, 3, c->k) > 0;
	fault = sx_yaml_fault(y, raw);
	read_lens(c, &fault);
	fault = sx_yaml_fault(y, raw);
	c->have_r = sx_yaml_matrix(&fault, y->root, name_of(y, r_names), 3, 3, c->r) > 0;
	return 1;
}
