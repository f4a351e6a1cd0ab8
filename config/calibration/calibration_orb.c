/*
 * Calibration in the settings of ORB-SLAM: raw cameras of ORB-SLAM3, and rectified ones. The raw cameras of ORB-SLAM2
 * have OpenCV's matrices.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "config/calibration/calibration_yaml.h"

#define NAME_BYTES 32

/* Reads "CAMERA.name" for each name. The first `needed` must be there; the others are 0 where they are not. */
static int read_numbers(const struct sx_yaml *y, const char *camera, const char *const *names, int count,
			int needed, double *ret)
{
	for (int i = 0; i < count; i++) {
		char key[NAME_BYTES];
		int r;

		ret[i] = 0;
		snprintf(key, sizeof(key), "%s.%s", camera, names[i]);
		r = sx_yaml_number(y, y->root, key, &ret[i]);
		if (r < 0)
			return r;
		if (r == 0 && i < needed)
			return sx_calibration_refuse(y->why, "ORB-SLAM settings: '%s' is missing", key);
	}
	return 0;
}

static const char *const focal_names[] = {"fx", "fy", "cx", "cy"};

/* Takes a rectified camera. `baseline` names the baseline in metres, or times fx in pixels. */
static int read_rectified(struct sx_calibration_raw *raw, const struct sx_yaml *y, const char *camera,
			  const char *baseline, bool times_fx)
{
	int r = read_numbers(y, camera, focal_names, 4, 4, raw->plain);

	if (r == 0)
		r = sx_yaml_number(y, y->root, baseline, &raw->plain[4]);
	if (r < 0)
		return r;
	if (times_fx)
		raw->plain[4] /= raw->plain[0];
	for (int i = 0; i < 5; i++)
		raw->have_plain[i] = i < 4 || r > 0;
	raw->have_lines = true;
	return 1;
}

/* Reads a raw camera, "Camera1", "Camera2", or "Camera" in older files. */
static int read_camera(struct sx_calibration_camera *c, const struct sx_yaml *y, const char *camera,
		       bool fisheye)
{
	static const char *const of_fisheye[] = {"k1", "k2", "k3", "k4"};
	static const char *const of_pinhole[] = {"k1", "k2", "p1", "p2", "k3"};
	double k[4], d[5];

	sx_calibration_name(c->k_name, "", camera);
	sx_calibration_name(c->d_name, camera, ".k1 ..");
	if (read_numbers(y, camera, focal_names, 4, 4, k) < 0 ||
	    read_numbers(y, camera, fisheye ? of_fisheye : of_pinhole, fisheye ? 4 : 5, fisheye ? 4 : 0, d) <
		    0)
		return -EINVAL;
	memcpy(c->k, (const double[9]){k[0], 0, k[2], 0, k[1], k[3], 0, 0, 1}, sizeof(c->k));
	c->have_k = true;
	return sx_calibration_lens(c, fisheye ? "equidistant" : "plumb_bob", d, fisheye ? 4 : 5, y->why);
}

/* Reads two raw cameras. `pose`, of 3 or 4 rows, maps points of the right camera to the left one. */
static int read_raw(struct sx_calibration_raw *raw, const struct sx_yaml *y, const char *left,
		    const char *pose, int rows)
{
	const char *type = sx_yaml_word(y, y->root, "Camera.type");
	const bool fisheye = type && !strcasecmp(type, "KannalaBrandt8");
	double right[16];
	int r;

	for (int i = 0; i < 16; i++)
		raw->t_bs[i] = i % 5 == 0;
	raw->cameras = 2;
	raw->projections = "projection matrices";
	raw->pose_name = pose;
	if (read_camera(&raw->camera[0], y, left, fisheye) < 0 ||
	    read_camera(&raw->camera[1], y, "Camera2", fisheye) < 0)
		return -EINVAL;
	r = sx_yaml_matrix(y, y->root, pose, rows, 4, right);
	if (r <= 0)
		return r < 0 ? r : sx_calibration_refuse(y->why, "ORB-SLAM settings: '%s' is missing", pose);
	return sx_calibration_between(raw, right, y->why) < 0 ? -EINVAL : 1;
}

/* Returns true if the lens of the only camera distorts. */
static bool distorts(const struct sx_yaml *y)
{
	static const char *const names[] = {"Camera.k1", "Camera.k2", "Camera.p1", "Camera.p2"};
	double value;

	for (int i = 0; i < 4; i++)
		if (sx_yaml_number(y, y->root, names[i], &value) < 0 ||
		    (sx_yaml_get(y, y->root, names[i]) && value != 0))
			return true;
	return false;
}

int sx_calibration_orb(struct sx_calibration_raw *raw, const struct sx_yaml *y)
{
	const char *type = sx_yaml_word(y, y->root, "Camera.type");

	raw->format = "ORB-SLAM settings";
	if (sx_yaml_get(y, y->root, "Camera1.fx"))
		return type && !strcasecmp(type, "Rectified")
			       ? read_rectified(raw, y, "Camera1", "Stereo.b", false)
			       : read_raw(raw, y, "Camera1", "Stereo.T_c1_c2", 4);
	if (sx_yaml_get(y, y->root, "Camera2.fx") && (!sx_yaml_get(y, y->root, "Camera.bf") || distorts(y)))
		return read_raw(raw, y, "Camera", "Tlr", 3);
	if (!sx_yaml_get(y, y->root, "Camera.bf"))
		return 0;
	if (sx_yaml_get(y, y->root, "DepthMapFactor"))
		return sx_calibration_refuse(
			y->why, "ORB-SLAM settings of a depth camera: 'DepthMapFactor' says so, and "
				"Camera.bf is no baseline between two cameras");
	if (distorts(y))
		return sx_calibration_refuse(
			y->why, "ORB-SLAM settings: images are raw, as Camera.k1 .. say, and the right "
				"camera is missing: LEFT.K, RIGHT.K or Camera2.fx");
	return read_rectified(raw, y, "Camera", "Camera.bf", true);
}
