/*
 * Reads calibration files, and checks that their values for rectified images describe a stereo camera.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/advice.h"
#include "config/calibration/calibration.h"
#include "config/calibration/calibration_priv.h"
#include "config/text/file.h"

#define FILE_BYTES_MAX (64 * 1024)

static int check_size(const struct sx_calibration_raw *raw, struct sx_why *why)
{
	if (!(raw->width >= 0 && raw->width <= 65535 && raw->height >= 0 && raw->height <= 65535) ||
	    raw->width != floor(raw->width) || raw->height != floor(raw->height))
		return sx_calibration_refuse(why, "%s: image size %gx%g", raw->format, raw->width,
					     raw->height);
	return 0;
}

static int tell_missing_baseline(const struct sx_calibration_raw *raw, struct sx_why *why)
{
	if (raw->have_left && raw->have_right)
		sx_calibration_refuse(why, "%s: %s and %s have no baseline between them ([0][3] are equal)",
				      raw->format, raw->left_name, raw->right_name);
	else if (raw->have_q)
		sx_calibration_refuse(why, "%s: Q has no baseline (Q[3][2] is 0)", raw->format);
	else if (raw->have_left || raw->have_right)
		sx_calibration_refuse(
			why,
			"%s: no baseline in %s ([0][3] is 0, the left camera): name the right camera's file, "
			"or both as LEFT,RIGHT",
			raw->format, raw->have_left ? raw->left_name : raw->right_name);
	else
		sx_calibration_refuse(why, "%s: 'baseline_m' is missing", raw->format);
	return 1;
}

/* Scales T to the baseline of the configuration. The baseline of raw cameras is computed from T. */
static void override_baseline(struct sx_calibration *c, struct sx_calibration_raw *raw, double baseline_m)
{
	const double length = sqrt(raw->t[0] * raw->t[0] + raw->t[1] * raw->t[1] + raw->t[2] * raw->t[2]);

	if (!raw->have_t || !(length > 0))
		return;
	if (!(c->file_baseline_m > 0))
		c->file_baseline_m = length;
	for (int i = 0; i < 3; i++)
		raw->t[i] *= baseline_m / length;
}

static int calibration_finish(struct sx_calibration *ret, struct sx_calibration_raw *raw,
			      const struct sx_calibration_wish *wish, struct sx_why *why)
{
	struct sx_calibration c = {.format = raw->format, .pair = raw->pair, .other_pair = raw->other_pair};
	int r = sx_calibration_project(&c, raw, wish, why);

	if (r >= 0 && wish->baseline_overrides)
		override_baseline(&c, raw, wish->baseline_m);
	if (r < 0 || check_size(raw, why) < 0 || sx_calibration_rectify(&c, raw, r > 0, wish, why) < 0 ||
	    sx_calibration_check_camera(&c, why) < 0)
		return -EINVAL;
	c.width = c.rectify ? c.rig.raw_width : (int)raw->width;
	c.height = c.rectify ? c.rig.raw_height : (int)raw->height;
	*ret = c;
	return c.baseline_m > 0 ? 0 : tell_missing_baseline(raw, why);
}

/* Skips the byte order mark that Windows editors put before the text. */
static const char *behind_mark(const char *text)
{
	return strncmp(text, "\xef\xbb\xbf", 3) ? text : text + 3;
}

static bool has_wide_mark(const char *text, size_t size)
{
	return size >= 2 && (!memcmp(text, "\xff\xfe", 2) || !memcmp(text, "\xfe\xff", 2));
}

static int read_text(struct sx_calibration_raw *raw, const char *text, const struct sx_calibration_wish *wish,
		     struct sx_why *why)
{
	const char *foreign = sx_calibration_foreign_text(text);
	int r;

	if (foreign)
		return sx_calibration_refuse(why, "%s", foreign);
	if (text[strspn(text, " \t\r\n")] == '<')
		return sx_calibration_xml(raw, text, why);
	if (sx_calibration_is_yaml(text))
		return sx_calibration_yaml(raw, text, why);
	r = sx_calibration_text(raw, text, wish, why);
	if (r == 0)
		return sx_calibration_refuse(
			why,
			"no calibration found: neither YAML, JSON or XML of OpenCV, nor YAML of ROS, Kalibr "
			"or EuRoC, nor KITTI (P2:, P3:), ZED's SN*.conf or Middlebury's calib.txt, nor text "
			"with fx, fy, cx, cy, baseline_m");
	return r < 0 ? r : 0;
}

static int read_raw(struct sx_calibration_raw *raw, const char *path, const struct sx_calibration_wish *wish,
		    struct sx_why *why)
{
	size_t size;
	char *text;
	struct sx_why reason;
	const char *foreign;
	int r = sx_file_read(path, FILE_BYTES_MAX, &text, &size, &reason);

	if (r < 0) {
		foreign = r == -EFBIG ? sx_calibration_foreign_binary(path, NULL, 0) : NULL;
		if (foreign || !sx_missing(path, why))
			sx_why_set(why, "%s: %s", path, foreign ? foreign : reason.text);
		return r;
	}
	memset(raw, 0, sizeof(*raw));
	if (has_wide_mark(text, size))
		r = sx_calibration_refuse(&reason, "the text is in UTF-16, must be in UTF-8: save it again");
	else if (strlen(text) != size && (foreign = sx_calibration_foreign_binary(path, text, size)))
		r = sx_calibration_refuse(&reason, "%s", foreign);
	else if (strlen(text) != size)
		r = sx_calibration_refuse(&reason, "not a text file (NUL byte)");
	else
		r = read_text(raw, behind_mark(text), wish, &reason);
	free(text);
	if (r < 0)
		sx_why_set(why, "%s: %s", path, reason.text);
	return r;
}

/* Reads the cameras of VINS' settings from the files that they name. */
static int read_cameras(struct sx_calibration_raw *raw, const char *path,
			const struct sx_calibration_wish *wish, struct sx_why *why)
{
	const char *slash = strrchr(path, '/');
	struct sx_calibration_raw one;
	double size[2][2];

	for (int i = 0; i < 2; i++) {
		char name[1100];
		int r;

		snprintf(name, sizeof(name), "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path,
			 raw->file[i]);
		r = read_raw(&one, name, wish, why);
		if (r < 0)
			return r;
		if (one.cameras != 1 || !one.camera[0].have_k || !one.camera[0].have_d)
			return sx_calibration_refuse(
				why,
				"%s: %s, must be a camera of camodocal, of model PINHOLE or KANNALA_BRANDT",
				name, one.format);
		raw->camera[i] = one.camera[0];
		sx_calibration_name(raw->camera[i].k_name, i ? "right " : "left ", one.camera[0].k_name);
		sx_calibration_name(raw->camera[i].d_name, i ? "right " : "left ", one.camera[0].d_name);
		size[i][0] = one.width;
		size[i][1] = one.height;
	}
	if (size[0][0] != size[1][0] || size[0][1] != size[1][1])
		return sx_calibration_refuse(why, "%s: image sizes differ: left %gx%g, right %gx%g", path,
					     size[0][0], size[0][1], size[1][0], size[1][1]);
	raw->width = size[0][0];
	raw->height = size[0][1];
	return 0;
}

/* Joins two files of one camera each: the camera of the second file becomes the right camera of the first. */
static int join_cameras(struct sx_calibration_raw *left, const struct sx_calibration_raw *right,
			struct sx_why *why)
{
	struct sx_calibration_raw both = *left;

	if (left->width != right->width || left->height != right->height)
		return sx_calibration_refuse(why, "image sizes differ: left %gx%g, right %gx%g", left->width,
					     left->height, right->width, right->height);
	if (left->have_left != right->have_left)
		return sx_calibration_refuse(why, "no %s of the %s camera", left->left_name,
					     left->have_left ? "right" : "left");
	if (left->pose && !right->pose)
		return sx_calibration_refuse(why, "no %s of the right camera", left->pose_name);
	if (left->pose && sx_calibration_between(&both, right->t_bs, why) < 0)
		return -EINVAL;
	both.have_right = right->have_left;
	both.left_name = "left projection_matrix";
	both.right_name = "right projection_matrix";
	memcpy(both.right, right->left, sizeof(both.right));
	both.cameras = 2;
	both.camera[1] = right->camera[0];
	for (int i = 0; i < 2; i++) {
		const struct sx_calibration_camera *from = i ? &right->camera[0] : &left->camera[0];

		sx_calibration_name(both.camera[i].k_name, i ? "right " : "left ", from->k_name);
		sx_calibration_name(both.camera[i].d_name, i ? "right " : "left ", from->d_name);
	}
	if (!sx_why_is_empty(&left->fault))
		sx_why_set(&both.fault, "left: %s", left->fault.text);
	else if (!sx_why_is_empty(&right->fault))
		sx_why_set(&both.fault, "right: %s", right->fault.text);
	*left = both;
	return 0;
}

/*
 * Takes a value from the second of two files if the first one does not have it. False: both files have it,
 * with different numbers.
 */
static bool take(bool *have, void *to, bool given, const void *from, size_t bytes)
{
	if (*have && given)
		return memcmp(to, from, bytes) == 0;
	if (given)
		memcpy(to, from, bytes);
	*have = *have || given;
	return true;
}

/* Joins the cameras of two files. Returns the name of a matrix that differs; NULL: none. */
static const char *join_raw(struct sx_calibration_camera *to, const struct sx_calibration_camera *from)
{
	if (from->have_d && !to->have_d)
		to->lens = from->lens;
	if (!take(&to->have_k, to->k, from->have_k, from->k, sizeof(to->k)))
		return to->k_name;
	if (!take(&to->have_d, to->d, from->have_d, from->d, sizeof(to->d)) ||
	    (from->have_d && to->lens != from->lens))
		return to->d_name;
	return take(&to->have_r, to->r, from->have_r, from->r, sizeof(to->r)) ? NULL : "R1 or R2";
}

/* Joins two OpenCV files into one, as written by OpenCV's example of stereo calibration. */
static int join_files(struct sx_calibration_raw *a, const struct sx_calibration_raw *b, struct sx_why *why)
{
	const char *differs = NULL;

	if (!take(&a->have_left, a->left, b->have_left, b->left, sizeof(a->left)))
		differs = a->left_name;
	else if (!take(&a->have_right, a->right, b->have_right, b->right, sizeof(a->right)))
		differs = a->right_name;
	else if (!take(&a->have_q, a->q, b->have_q, b->q, sizeof(a->q)))
		differs = "Q";
	else if (!take(&a->have_r, a->r, b->have_r, b->r, sizeof(a->r)) ||
		 !take(&a->have_t, a->t, b->have_t, b->t, sizeof(a->t)))
		differs = "R or T";
	for (int i = 0; i < 2 && !differs; i++)
		differs = join_raw(&a->camera[i], &b->camera[i]);
	if (differs)
		return sx_calibration_refuse(
			why, "both files have %s, with different numbers: which one is meant?", differs);
	if (a->width == 0 && a->height == 0) {
		a->width = b->width;
		a->height = b->height;
	} else if (b->width != 0 && (a->width != b->width || a->height != b->height)) {
		return sx_calibration_refuse(why, "image sizes differ: %gx%g and %gx%g", a->width, a->height,
					     b->width, b->height);
	}
	if (sx_why_is_empty(&a->fault))
		a->fault = b->fault;
	return 0;
}

static int join(struct sx_calibration_raw *a, const struct sx_calibration_raw *b, struct sx_why *why)
{
	if (a->cameras == 1 && b->cameras == 1 && !strcmp(a->format, b->format))
		return join_cameras(a, b, why);
	if (a->cameras == 2 && !strcmp(a->format, b->format) && a->projections)
		return join_files(a, b, why);
	return sx_calibration_refuse(
		why, "two files must be one camera_info file of each camera (ROS), one sensor.yaml of "
		     "each (EuRoC), or OpenCV's intrinsics and extrinsics");
}

int sx_calibration_read(struct sx_calibration *ret, const char *path, const struct sx_calibration_wish *wish,
			struct sx_why *why)
{
	/* a file name may contain a comma, too */
	const char *comma = access(path, F_OK) == 0 ? NULL : strchr(path, ',');
	struct sx_calibration_raw raw, second;
	char first[1024];
	struct sx_why reason;
	int r;

	if (snprintf(first, sizeof(first), "%.*s", comma ? (int)(comma - path) : (int)strlen(path), path) >=
	    (int)sizeof(first))
		return sx_calibration_refuse(why, "the file's name is too long");
	r = read_raw(&raw, first, wish, why);
	if (r >= 0 && raw.file[0][0])
		r = read_cameras(&raw, first, wish, why);
	if (r == -ENOENT && comma)
		sx_why_add(why, " (a comma parts the names of two files, unless a file has the whole name)");
	if (r < 0)
		return r;
	if (comma) {
		r = read_raw(&second, comma + 1 + strspn(comma + 1, " "), wish, why);
		if (r < 0)
			return r;
		r = join(&raw, &second, &reason);
	} else if (raw.cameras == 1 && raw.have_left && raw.left[3] != 0) {
		/* the file has only the right camera: the left one has the same values, but no shift */
		raw.have_right = true;
		raw.have_left = false;
		raw.right_name = raw.left_name;
		memcpy(raw.right, raw.left, sizeof(raw.right));
	}
	if (r >= 0)
		r = calibration_finish(ret, &raw, wish, &reason);
	if (r)
		sx_why_set(why, "%s: %s", path, reason.text);
	return r;
}
