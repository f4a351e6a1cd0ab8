/*
 * Calibration in the format of programs with OpenCV (cv::FileStorage): a rectified pair, raw cameras, or
 * both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "config/calibration/calibration_yaml.h"

/* Side of a name; NO_SIDE: it belongs to both cameras. */
enum side { LEFT, RIGHT, NO_SIDE };

/*
 * Names of each matrix without side, case and the characters "_", "-" and ".", except that single letters keep their
 * case. Names with a side are such as K1, Kl, LEFT.K, mtx_left, cameraMatrixL, camera_matrix_1.
 */
static const char *const k_bases[] = {"K",   "M",	   "cameramatrix",    "cameramat",
				      "mtx", "intrinsics", "intrinsicmatrix", NULL};
static const char *const d_bases[] = {"D",
				      "dist",
				      "distcoeffs",
				      "distcoeff",
				      "distortion",
				      "distortioncoeffs",
				      "distortioncoefficients",
				      "cameradistcoeff",
				      "cameradistcoeffs",
				      NULL};
static const char *const r_bases[] = {"R", "rectificationmatrix", "rectificationtransform", NULL};
static const char *const p_bases[] = {"P", "projectionmatrix", NULL};
static const char *const q_bases[] = {"Q", "disparitytodepthmatrix", NULL};
static const char *const omni_bases[] = {"xi", NULL};
static const char *const turn_bases[] = {"R", "rotation", "rotationmatrix", NULL};
static const char *const move_bases[] = {"T", "translation", "translationvector", NULL};
static const char *const size_names[] = {"image_size", "imageSize", "ImageSize", NULL};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define NAMES_MAX 8 /* most names of one matrix in a file */
#define LETTERS_MAX 40

/* Names of one matrix that a file has, NULL at the end. name[0]: the one to read; absent: its usual name. */
struct names {
	const char *name[NAMES_MAX + 1];
	bool have;
};

/* Removes a side from a name: left or right anywhere, or l, r, 1, 2 as its last character. */
static void remove_side(char *name, enum side side)
{
	const char *word = side == LEFT ? "left" : "right";
	const size_t n = strlen(name);

	for (char *at = name; *at; at++)
		if (!strncasecmp(at, word, strlen(word))) {
			memmove(at, at + strlen(word), strlen(at + strlen(word)) + 1);
			return;
		}
	if (n > 1 && strchr(side == LEFT ? "lL1" : "rR2", name[n - 1]))
		name[n - 1] = 0;
	else
		*name = 0;
}

static bool is_name(const char *key, const char *const *bases, enum side side)
{
	char name[LETTERS_MAX];
	size_t n = 0;

	for (; *key && n + 1 < sizeof(name); key++)
		if (!strchr("_-.", *key))
			name[n++] = *key;
	name[n] = 0;
	if (*key)
		return false;
	if (side != NO_SIDE)
		remove_side(name, side);
	for (; *bases; bases++)
		if (bases[0][1] ? !strcasecmp(name, *bases) : !strcmp(name, *bases))
			return true;
	return false;
}

/* Finds the names of a matrix in the document. usual: its name in messages if there is none. */
static struct names find(const struct sx_yaml *y, const char *const *bases, enum side side, const char *usual)
{
	struct names ret = {{usual}, false};
	int n = 0;

	if (!y->root || y->root->type != YAML_MAPPING_NODE)
		return ret;
	for (yaml_node_pair_t *p = y->root->data.mapping.pairs.start; p < y->root->data.mapping.pairs.top;
	     p++) {
		const yaml_node_t *key = yaml_document_get_node(y->doc, p->key);

		if (n < NAMES_MAX && key && key->type == YAML_SCALAR_NODE &&
		    is_name((const char *)key->data.scalar.value, bases, side))
			ret.name[n++] = (const char *)key->data.scalar.value;
	}
	ret.have = n > 0;
	return ret;
}

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
	static const char *const usual[2][3] = {{"K1", "D1", "R1"}, {"K2", "D2", "R2"}};
	struct sx_yaml quiet = sx_yaml_fault(y, raw);
	const char *model = NULL;
	bool any = false;

	(void)sx_yaml_lens(&quiet, y->root, &model);
	for (int i = 0; i < 2; i++) {
		const struct names k = find(y, k_bases, i ? RIGHT : LEFT, usual[i][0]);
		const struct names d = find(y, d_bases, i ? RIGHT : LEFT, usual[i][1]);
		const struct names r = find(y, r_bases, i ? RIGHT : LEFT, usual[i][2]);
		const struct names omni = find(y, omni_bases, i ? RIGHT : LEFT, "");
		struct sx_calibration_camera *c = &raw->camera[i];
		struct sx_yaml fault = sx_yaml_fault(y, raw);

		if (omni.have) {
			sx_calibration_refuse(
				fault.why,
				"'%.40s' is of an omnidirectional camera, which is not supported: calibrate "
				"it as equidistant (fisheye)",
				omni.name[0]);
			fault = sx_yaml_fault(y, raw);
		}
		sx_calibration_name(c->k_name, "", k.name[0]);
		sx_calibration_name(c->d_name, "", d.name[0]);
		c->have_k = sx_yaml_matrix(&fault, y->root, k.name[0], 3, 3, c->k) > 0;
		fault = sx_yaml_fault(y, raw);
		read_lens(c, &fault, model);
		fault = sx_yaml_fault(y, raw);
		c->have_r = sx_yaml_matrix(&fault, y->root, r.name[0], 3, 3, c->r) > 0;
		any = any || k.have || d.have || r.have;
	}
	return any;
}

static bool read_pose(struct sx_calibration_raw *raw, const struct sx_yaml *y)
{
	const struct names r_names = find(y, turn_bases, NO_SIDE, "R"),
			   t_names = find(y, move_bases, NO_SIDE, "T");
	struct sx_yaml fault = sx_yaml_fault(y, raw);
	double t[3];
	int n;

	raw->pose_name = "R and T (or R1 and R2)";
	raw->have_r = sx_yaml_matrix(&fault, y->root, r_names.name[0], 3, 3, raw->r) > 0;
	fault = sx_yaml_fault(y, raw);
	n = sx_yaml_vector(&fault, y->root, t_names.name[0], t, 3);
	if (n == 1 + 3) {
		raw->have_t = true;
		memcpy(raw->t, t, sizeof(t));
	} else if (n > 0) {
		sx_calibration_refuse(fault.why, "'%.40s' has %d numbers instead of 3", t_names.name[0],
				      n - 1);
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
	static const char *const *const of_sides[] = {k_bases, d_bases, r_bases, p_bases};
	static const char *const *const of_both[] = {q_bases, turn_bases, move_bases};

	for (size_t i = 0; i < 2 * COUNT(of_sides); i++)
		if (sx_yaml_check_names(y, y->root, find(y, of_sides[i / 2], i % 2 ? RIGHT : LEFT, "").name) <
		    0)
			return -EINVAL;
	for (size_t i = 0; i < COUNT(of_both); i++)
		if (sx_yaml_check_names(y, y->root, find(y, of_both[i], NO_SIDE, "").name) < 0)
			return -EINVAL;
	return sx_yaml_check_names(y, y->root, size_names);
}

int sx_calibration_opencv(struct sx_calibration_raw *raw, const struct sx_yaml *y)
{
	int left = check_names(y), right, q;
	bool cameras, pose;

	if (left == 0)
		left = sx_yaml_matrix(y, y->root, find(y, p_bases, LEFT, "P1").name[0], 3, 4, raw->left);
	right = left < 0
			? left
			: sx_yaml_matrix(y, y->root, find(y, p_bases, RIGHT, "P2").name[0], 3, 4, raw->right);
	q = right < 0 ? right
		      : sx_yaml_matrix(y, y->root, find(y, q_bases, NO_SIDE, "Q").name[0], 4, 4, raw->q);
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
