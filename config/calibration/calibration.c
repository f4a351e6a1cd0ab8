/*
 * Calibration files: reading, and checking that what they say of rectified images is a stereo camera.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/calibration/calibration.h"
#include "config/calibration/calibration_priv.h"
#include "config/file.h"

#define FILE_BYTES_MAX (64 * 1024)
#define BASELINE_MAX_M 10.0
#define FOCAL_MAX_PX 100000.0
#define PRINCIPAL_MAX_PX 10000.0
#define SAME_PX 0.1 /* printed calibrations are rounded; a disparity step is 0.0625 px */

int sx_calibration_refuse(char *why, size_t why_bytes, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, why_bytes, format, args);
	va_end(args);
	return -EINVAL;
}

/* Two numbers that a rectified pair has in common. */
static bool same(double a, double b)
{
	return fabs(a - b) <= SAME_PX;
}

/* Right projection matrix: (fx 0 cx -fx*baseline; 0 fy cy 0; 0 0 1 0). */
static int from_right(struct sx_calibration *c, const struct sx_calibration_raw *raw, const double *right,
		      double left_offset, char *why, size_t why_bytes)
{
	if (right[7] != 0 && fabs(right[7]) > fabs(right[3]))
		return sx_calibration_refuse(
			why, why_bytes, "%s: cameras one above the other (%s[1][3] = %g) are not supported",
			raw->format, raw->right_name, right[7]);
	c->baseline_m = (left_offset - right[3]) / right[0];
	if (c->baseline_m < 0)
		return sx_calibration_refuse(
			why, why_bytes,
			"%s: the baseline is %g m: left and right are swapped, or the sign of %s[0][3] = %g "
			"is wrong",
			raw->format, c->baseline_m, raw->right_name, right[3]);
	return 0;
}

static int from_matrices(struct sx_calibration *c, const struct sx_calibration_raw *raw, char *why,
			 size_t why_bytes)
{
	const double *m = raw->have_left ? raw->left : raw->right;

	c->fx = m[0];
	c->fy = m[5];
	c->cx = m[2];
	c->cy = m[6];
	if (!raw->have_right)
		return 0;
	if (raw->have_left && (!same(raw->left[0], raw->right[0]) || !same(raw->left[5], raw->right[5]) ||
			       !same(raw->left[2], raw->right[2]) || !same(raw->left[6], raw->right[6])))
		return sx_calibration_refuse(
			why, why_bytes,
			"%s: %s (fx %g, fy %g, cx %g, cy %g) and %s (fx %g, fy %g, cx %g, cy %g) differ: not "
			"rectified to one camera with zero disparity at infinity",
			raw->format, raw->left_name, raw->left[0], raw->left[5], raw->left[2], raw->left[6],
			raw->right_name, raw->right[0], raw->right[5], raw->right[2], raw->right[6]);
	return from_right(c, raw, raw->right, raw->have_left ? raw->left[3] : 0, why, why_bytes);
}

/* Q = (1 0 0 -cx; 0 1 0 -cy; 0 0 0 f; 0 0 1/baseline (cx_right-cx)/baseline), with -1/Tx = 1/baseline. */
static int from_q(struct sx_calibration *c, const struct sx_calibration_raw *raw, char *why, size_t why_bytes)
{
	const double *q = raw->q;

	c->fx = c->fy = q[11];
	c->cx = -q[3];
	c->cy = -q[7];
	if (q[14] == 0)
		return 0;
	c->baseline_m = fabs(1 / q[14]);
	if (!same(q[15] / q[14], 0))
		return sx_calibration_refuse(
			why, why_bytes,
			"%s: Q[3][3] = %g: the principal points differ by %g px, rectify with zero disparity "
			"at infinity",
			raw->format, q[15], q[15] / q[14]);
	return 0;
}

static int from_plain(struct sx_calibration *c, const struct sx_calibration_raw *raw, char *why,
		      size_t why_bytes)
{
	static const char *const names[] = {"fx", "fy", "cx", "cy"};

	for (int i = 0; i < 4; i++)
		if (!raw->have_plain[i])
			return sx_calibration_refuse(why, why_bytes, "%s: '%s' is missing", raw->format,
						     names[i]);
	c->fx = raw->plain[0];
	c->fy = raw->plain[1];
	c->cx = raw->plain[2];
	c->cy = raw->plain[3];
	if (raw->have_plain[4]) {
		c->baseline_m = raw->plain[4];
		if (!(c->baseline_m > 0))
			return sx_calibration_refuse(why, why_bytes, "%s: baseline_m is %g, must be positive",
						     raw->format, c->baseline_m);
	}
	if (raw->have_cx_right && !same(raw->cx_right, c->cx))
		return sx_calibration_refuse(
			why, why_bytes,
			"%s: cx %g and cx_right %g differ: rectify with zero disparity at infinity",
			raw->format, c->cx, raw->cx_right);
	return 0;
}

static int check_size(const struct sx_calibration_raw *raw, char *why, size_t why_bytes)
{
	if (!(raw->width >= 0 && raw->width <= 65535 && raw->height >= 0 && raw->height <= 65535) ||
	    raw->width != floor(raw->width) || raw->height != floor(raw->height))
		return sx_calibration_refuse(why, why_bytes, "%s: image size %gx%g", raw->format, raw->width,
					     raw->height);
	return 0;
}

static int check_camera(const struct sx_calibration *c, char *why, size_t why_bytes)
{
	/* written so that a NaN fails */
	if (!(c->fx > 0 && c->fx <= FOCAL_MAX_PX && c->fy > 0 && c->fy <= FOCAL_MAX_PX))
		return sx_calibration_refuse(why, why_bytes,
					     "%s: focal lengths %g and %g px, must be above 0 and at most %g",
					     c->format, c->fx, c->fy, FOCAL_MAX_PX);
	if (!(fabs(c->cx) <= PRINCIPAL_MAX_PX && fabs(c->cy) <= PRINCIPAL_MAX_PX))
		return sx_calibration_refuse(why, why_bytes,
					     "%s: principal point %g, %g, must be within %g px", c->format,
					     c->cx, c->cy, PRINCIPAL_MAX_PX);
	if (!(c->baseline_m >= 0 && c->baseline_m <= BASELINE_MAX_M))
		return sx_calibration_refuse(
			why, why_bytes,
			"%s: baseline %g m, must be at most %g m: was it calibrated in millimetres?",
			c->format, c->baseline_m, BASELINE_MAX_M);
	return 0;
}

static int tell_missing_baseline(const struct sx_calibration_raw *raw, char *why, size_t why_bytes)
{
	if (raw->have_left && raw->have_right)
		sx_calibration_refuse(why, why_bytes,
				      "%s: %s and %s have no baseline between them ([0][3] are equal)",
				      raw->format, raw->left_name, raw->right_name);
	else if (raw->have_q)
		sx_calibration_refuse(why, why_bytes, "%s: Q has no baseline (Q[3][2] is 0)", raw->format);
	else if (raw->have_left || raw->have_right)
		sx_calibration_refuse(
			why, why_bytes,
			"%s: no baseline in %s ([0][3] is 0, the left camera): name the right camera's file, "
			"or both as LEFT,RIGHT",
			raw->format, raw->have_left ? raw->left_name : raw->right_name);
	else
		sx_calibration_refuse(why, why_bytes, "%s: 'baseline_m' is missing", raw->format);
	return 1;
}

/* 1: fx .. baseline_m are those of rectified images, 0: the file says nothing of such. */
static int from_projection(struct sx_calibration *c, const struct sx_calibration_raw *raw, char *why,
			   size_t why_bytes)
{
	bool pair = raw->have_left && raw->have_right;
	int r;

	if (raw->cameras == 2 && raw->have_left != raw->have_right && !raw->have_q)
		return sx_calibration_refuse(why, why_bytes, "%s: %s and %s are both needed, '%s' is missing",
					     raw->format, raw->left_name, raw->right_name,
					     raw->have_left ? raw->right_name : raw->left_name);
	if (pair || (raw->cameras == 1 && (raw->have_left || raw->have_right)))
		r = from_matrices(c, raw, why, why_bytes);
	else if (raw->have_q)
		r = from_q(c, raw, why, why_bytes);
	else if (raw->have_lines)
		r = from_plain(c, raw, why, why_bytes);
	else
		return 0;
	if (r == 0)
		r = check_camera(c, why, why_bytes);
	return r < 0 ? r : 1;
}

static int calibration_finish(struct sx_calibration *ret, const struct sx_calibration_raw *raw,
			      const struct sx_calibration_wish *wish, char *why, size_t why_bytes)
{
	struct sx_calibration c = {.format = raw->format};
	int r = from_projection(&c, raw, why, why_bytes);

	if (r < 0 || check_size(raw, why, why_bytes) < 0 ||
	    sx_calibration_rectify(&c, raw, r > 0, wish, why, why_bytes) < 0 ||
	    check_camera(&c, why, why_bytes) < 0)
		return -EINVAL;
	c.width = c.rectify ? c.rig.raw_width : (int)raw->width;
	c.height = c.rectify ? c.rig.raw_height : (int)raw->height;
	*ret = c;
	return c.baseline_m > 0 ? 0 : tell_missing_baseline(raw, why, why_bytes);
}

static int read_raw(struct sx_calibration_raw *raw, const char *path, char *why, size_t why_bytes)
{
	size_t size;
	char *text, reason[200];
	int r = sx_file_read(path, FILE_BYTES_MAX, &text, &size, reason, sizeof(reason));

	if (r < 0) {
		snprintf(why, why_bytes, "%s: %s", path, reason);
		return r;
	}
	memset(raw, 0, sizeof(*raw));
	if (strlen(text) != size)
		r = sx_calibration_refuse(reason, sizeof(reason), "not a text file (NUL byte)");
	else if (sx_calibration_is_yaml(text))
		r = sx_calibration_yaml(raw, text, size, reason, sizeof(reason));
	else
		r = sx_calibration_text(raw, text, reason, sizeof(reason));
	free(text);
	if (r < 0)
		snprintf(why, why_bytes, "%s: %s", path, reason);
	return r;
}

/* Two ROS files: what the second says becomes the right camera of the first. */
static int join_cameras(struct sx_calibration_raw *left, const struct sx_calibration_raw *right, char *why,
			size_t why_bytes)
{
	struct sx_calibration_raw both = *left;

	if (left->width != right->width || left->height != right->height)
		return sx_calibration_refuse(why, why_bytes, "image sizes differ: left %gx%g, right %gx%g",
					     left->width, left->height, right->width, right->height);
	if (left->have_left != right->have_left)
		return sx_calibration_refuse(why, why_bytes, "no %s of the %s camera", left->left_name,
					     left->have_left ? "right" : "left");
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
	if (left->fault[0])
		snprintf(both.fault, sizeof(both.fault), "left: %.240s", left->fault);
	else if (right->fault[0])
		snprintf(both.fault, sizeof(both.fault), "right: %.240s", right->fault);
	*left = both;
	return 0;
}

/* What one of two files says; false: both do. */
static bool take(bool *have, void *to, bool given, const void *from, size_t bytes)
{
	if (*have && given)
		return false;
	if (given)
		memcpy(to, from, bytes);
	*have = *have || given;
	return true;
}

/* Two files of OpenCV, as its example of stereo calibration writes them: together they are one. */
static int join_files(struct sx_calibration_raw *a, const struct sx_calibration_raw *b, char *why,
		      size_t why_bytes)
{
	bool once = take(&a->have_left, a->left, b->have_left, b->left, sizeof(a->left)) &&
		    take(&a->have_right, a->right, b->have_right, b->right, sizeof(a->right)) &&
		    take(&a->have_q, a->q, b->have_q, b->q, sizeof(a->q)) &&
		    take(&a->have_r, a->r, b->have_r, b->r, sizeof(a->r)) &&
		    take(&a->have_t, a->t, b->have_t, b->t, sizeof(a->t));

	for (int i = 0; i < 2 && once; i++) {
		struct sx_calibration_camera *to = &a->camera[i];
		const struct sx_calibration_camera *from = &b->camera[i];

		if (from->have_d)
			to->lens = from->lens;
		once = take(&to->have_k, to->k, from->have_k, from->k, sizeof(to->k)) &&
		       take(&to->have_d, to->d, from->have_d, from->d, sizeof(to->d)) &&
		       take(&to->have_r, to->r, from->have_r, from->r, sizeof(to->r));
	}
	if (!once)
		return sx_calibration_refuse(why, why_bytes,
					     "two OpenCV files that say the same twice: which one is meant?");
	if (a->width == 0 && a->height == 0) {
		a->width = b->width;
		a->height = b->height;
	} else if (b->width != 0 && (a->width != b->width || a->height != b->height)) {
		return sx_calibration_refuse(why, why_bytes, "image sizes differ: %gx%g and %gx%g", a->width,
					     a->height, b->width, b->height);
	}
	if (!a->fault[0])
		memcpy(a->fault, b->fault, sizeof(a->fault));
	return 0;
}

static int join(struct sx_calibration_raw *a, const struct sx_calibration_raw *b, char *why, size_t why_bytes)
{
	if (a->cameras == 1 && b->cameras == 1)
		return join_cameras(a, b, why, why_bytes);
	if (a->cameras == 2 && !strcmp(a->format, b->format) && a->projections)
		return join_files(a, b, why, why_bytes);
	return sx_calibration_refuse(why, why_bytes,
				     "two files must be one camera_info file of each camera, or OpenCV's "
				     "intrinsics and extrinsics");
}

int sx_calibration_read(struct sx_calibration *ret, const char *path, const struct sx_calibration_wish *wish,
			char *why, size_t why_bytes)
{
	const char *comma = strchr(path, ',');
	struct sx_calibration_raw raw, second;
	char first[1024], reason[512];
	int r;

	if (snprintf(first, sizeof(first), "%.*s", comma ? (int)(comma - path) : (int)strlen(path), path) >=
	    (int)sizeof(first))
		return sx_calibration_refuse(why, why_bytes, "the file's name is too long");
	r = read_raw(&raw, first, why, why_bytes);
	if (r < 0)
		return r;
	if (comma) {
		r = read_raw(&second, comma + 1 + strspn(comma + 1, " "), why, why_bytes);
		if (r < 0)
			return r;
		r = join(&raw, &second, reason, sizeof(reason));
	} else if (raw.cameras == 1 && raw.have_left && raw.left[3] != 0) {
		raw.have_right = true; /* a right camera's file alone: same camera, shifted */
		raw.have_left = false;
		raw.right_name = raw.left_name;
		memcpy(raw.right, raw.left, sizeof(raw.right));
	}
	if (r >= 0)
		r = calibration_finish(ret, &raw, wish, reason, sizeof(reason));
	if (r)
		snprintf(why, why_bytes, "%s: %s", path, reason);
	return r;
}
