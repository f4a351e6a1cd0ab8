/*
 * Calibration in the format of VINS: settings with the poses of both cameras on the body, and a file of camodocal for
 * each camera.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/calibration/calibration_yaml.h"

static int read_numbers(const struct sx_yaml *y, const char *map, const char *const names[4], double ret[4])
{
	yaml_node_t *node = sx_yaml_get(y, y->root, map);

	for (int i = 0; i < 4; i++) {
		int r = sx_yaml_number(y, node, names[i], &ret[i]);

		if (r < 0)
			return r;
		if (r == 0)
			return sx_calibration_refuse(y->why, "camera of camodocal: '%s' of %s is missing",
						     names[i], map);
	}
	return 0;
}

int sx_calibration_camodocal(struct sx_calibration_raw *raw, const struct sx_yaml *y)
{
	static const char *const focal[] = {"fx", "fy", "cx", "cy"}, *const lens[] = {"k1", "k2", "p1", "p2"};
	static const char *const fisheye_focal[] = {"mu", "mv", "u0", "v0"};
	static const char *const fisheye_lens[] = {"k2", "k3", "k4", "k5"};
	const char *model = sx_yaml_word(y, y->root, "model_type");
	const bool fisheye = model && !strcmp(model, "KANNALA_BRANDT");
	struct sx_calibration_camera *c = &raw->camera[0];
	double k[4], d[4];

	if (!fisheye && (!model || strcmp(model, "PINHOLE") != 0))
		return 0;
	raw->format = "camera of camodocal";
	raw->projections = "projection matrices";
	raw->pose_name = "their poses (name the settings of VINS that have body_T_cam0 and name both files)";
	raw->cameras = 1;
	sx_calibration_name(c->k_name, "", "projection_parameters");
	sx_calibration_name(c->d_name, "", fisheye ? "projection_parameters" : "distortion_parameters");
	if (read_numbers(y, "projection_parameters", fisheye ? fisheye_focal : focal, k) < 0 ||
	    read_numbers(y, fisheye ? "projection_parameters" : "distortion_parameters",
			 fisheye ? fisheye_lens : lens, d) < 0)
		return -EINVAL;
	memcpy(c->k, (const double[9]){k[0], 0, k[2], 0, k[1], k[3], 0, 0, 1}, sizeof(c->k));
	c->have_k = true;
	return sx_calibration_lens(c, fisheye ? "equidistant" : "plumb_bob", d, 4, y->why) < 0 ? -EINVAL : 1;
}

int sx_calibration_vins(struct sx_calibration_raw *raw, const struct sx_yaml *y)
{
	static const char *const names[2] = {"cam0_calib", "cam1_calib"};
	double right[16];
	int l = sx_yaml_matrix(y, y->root, "body_T_cam0", 4, 4, raw->t_bs);
	int r = l <= 0 ? l : sx_yaml_matrix(y, y->root, "body_T_cam1", 4, 4, right);

	if (r <= 0 || !sx_yaml_get(y, y->root, names[0]) || !sx_yaml_get(y, y->root, names[1]))
		return r < 0 ? r : 0;
	raw->format = "VINS settings";
	raw->projections = "projection matrices";
	raw->pose_name = "body_T_cam0";
	raw->cameras = 2;
	for (int i = 0; i < 2; i++) {
		const char *file = sx_yaml_word(y, y->root, names[i]);

		if (snprintf(raw->file[i], sizeof(raw->file[i]), "%s", file) >= (int)sizeof(raw->file[i]) ||
		    !*file)
			return sx_calibration_refuse(y->why, "VINS settings: %s is not the name of a file",
						     names[i]);
	}
	return sx_calibration_between(raw, right, y->why) < 0 ? -EINVAL : 1;
}
