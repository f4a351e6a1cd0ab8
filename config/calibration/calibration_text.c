/*
 * Calibration as lines "name: numbers": KITTI's projection matrices and plain fx .. baseline_m.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/calibration/calibration_priv.h"
#include "config/number.h"

/* Numbers after the colon, as many as there are up to n. A word that is no number ends them: -EINVAL. */
static int read_numbers(const char *text, const char *end, double *ret, int n)
{
	int count = 0;

	for (text += strspn(text, " \t\r"); text < end; text += strspn(text, " \t\r")) {
		const char *rest;

		if (count == n || sx_number_real(text, &ret[count], &rest) < 0 || !strchr(" \t\r\n", *rest))
			return -EINVAL;
		count++;
		text = rest;
	}
	return count;
}

/* KITTI's camera pairs, colour first: stereo 2012 and 2015, odometry (P0 ..) and raw (P_rect_00 ..). */
static const struct {
	const char *left, *right, *size;
} pairs[] = {
	{"P_rect_02", "P_rect_03", "S_rect_02"},
	{"P2", "P3", NULL},
	{"P_rect_00", "P_rect_01", "S_rect_00"},
	{"P0", "P1", NULL},
};
#define PAIRS ((int)(sizeof(pairs) / sizeof(pairs[0])))

struct kitti {
	double matrix[PAIRS][2][12], size[PAIRS][2];
	bool have[PAIRS][2];
};

static bool is_name(const char *line, size_t length, const char *name)
{
	return name && strlen(name) == length && !memcmp(line, name, length);
}

/* 1: the line belongs to KITTI, 0: not, -EINVAL: it does and is broken. */
static int kitti_line(struct kitti *k, const char *name, size_t length, const char *numbers, const char *end)
{
	for (int i = 0; i < PAIRS; i++) {
		for (int side = 0; side < 2; side++)
			if (is_name(name, length, side ? pairs[i].right : pairs[i].left)) {
				if (read_numbers(numbers, end, k->matrix[i][side], 12) != 12)
					return -EINVAL;
				k->have[i][side] = true;
				return 1;
			}
		if (is_name(name, length, pairs[i].size))
			return read_numbers(numbers, end, k->size[i], 2) == 2 ? 1 : -EINVAL;
	}
	return 0;
}

static int plain_line(struct sx_calibration_raw *raw, const char *name, size_t length, const char *numbers,
		      const char *end)
{
	static const char *const names[] = {"fx", "fy", "cx", "cy", "baseline_m"};

	for (int i = 0; i < 5; i++)
		if (is_name(name, length, names[i])) {
			raw->have_plain[i] = true;
			return read_numbers(numbers, end, &raw->plain[i], 1) == 1 ? 1 : -EINVAL;
		}
	if (is_name(name, length, "cx_right")) {
		raw->have_cx_right = true;
		return read_numbers(numbers, end, &raw->cx_right, 1) == 1 ? 1 : -EINVAL;
	}
	if (is_name(name, length, "width"))
		return read_numbers(numbers, end, &raw->width, 1) == 1 ? 1 : -EINVAL;
	if (is_name(name, length, "height"))
		return read_numbers(numbers, end, &raw->height, 1) == 1 ? 1 : -EINVAL;
	return 0;
}

static bool take_kitti(struct sx_calibration_raw *raw, const struct kitti *k)
{
	for (int i = 0; i < PAIRS; i++) {
		if (!k->have[i][0] || !k->have[i][1])
			continue;
		raw->format = "KITTI calibration";
		raw->left_name = pairs[i].left;
		raw->right_name = pairs[i].right;
		raw->have_left = raw->have_right = true;
		memcpy(raw->left, k->matrix[i][0], sizeof(raw->left));
		memcpy(raw->right, k->matrix[i][1], sizeof(raw->right));
		raw->width = k->size[i][0];
		raw->height = k->size[i][1];
		return true;
	}
	return false;
}

int sx_calibration_text(struct sx_calibration_raw *raw, const char *text, char *why, size_t why_bytes)
{
	struct kitti k;
	int line = 0, known = 0;

	memset(&k, 0, sizeof(k));
	raw->format = "calibration text";
	for (const char *end, *name; *text; text = *end ? end + 1 : end) {
		size_t length;
		int r;

		end = text + strcspn(text, "\n");
		line++;
		name = text + strspn(text, " \t");
		length = strcspn(name, ":= \t\r\n#");
		text = name + length + strspn(name + length, " \t");
		if (!length || (*text != ':' && *text != '='))
			continue;
		r = kitti_line(&k, name, length, text + 1, end);
		if (!r)
			r = plain_line(raw, name, length, text + 1, end);
		if (r < 0) {
			snprintf(why, why_bytes, "line %d: '%.*s' has too few or too many numbers", line,
				 (int)(end - name < 80 ? end - name : 80), name);
			return r;
		}
		known += r;
	}
	raw->have_lines = known > 0;
	if (take_kitti(raw, &k) || known)
		return 0;
	snprintf(why, why_bytes,
		 "no calibration found: neither OpenCV, ROS or Kalibr YAML, nor KITTI (P2:, P3:), nor text "
		 "with fx, fy, cx, cy, baseline_m");
	return -EINVAL;
}
