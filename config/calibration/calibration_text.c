/*
 * Calibration as lines "name: numbers": KITTI's projection matrices, and plain fx .. baseline_m.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "config/calibration/calibration_lines.h"

/* ---- KITTI ---- */

/* Camera pairs of KITTI, colour first: stereo 2012 and 2015, odometry (P0 ..) and raw (P_rect_00 ..). */
static const struct {
	const char *left, *right, *size, *text;
	enum sx_calibration_pair images;
} pairs[] = {
	{"P_rect_02", "P_rect_03", "S_rect_02", "P_rect_02 and P_rect_03, the colour cameras",
	 SX_PAIR_COLOUR},
	{"P2", "P3", NULL, "P2 and P3, the colour cameras", SX_PAIR_COLOUR},
	{"P_rect_00", "P_rect_01", "S_rect_00", "P_rect_00 and P_rect_01, the grey cameras", SX_PAIR_GREY},
	{"P0", "P1", NULL, "P0 and P1, the grey cameras", SX_PAIR_GREY},
};
#define PAIRS (sizeof(pairs) / sizeof(pairs[0]))

/* Reads pair i. Returns 1: both matrices are in raw; 0: the file has neither. */
static int read_pair(struct sx_calibration_raw *raw, const struct sx_lines *l, size_t i)
{
	double size[2] = {0};
	int left = sx_lines_numbers(l, NULL, pairs[i].left, raw->left, 12);
	int right = left < 0 ? left : sx_lines_numbers(l, NULL, pairs[i].right, raw->right, 12);

	if (right < 0 || (pairs[i].size && sx_lines_numbers(l, NULL, pairs[i].size, size, 2) < 0))
		return -EINVAL;
	if (left != right)
		return sx_calibration_refuse(l->why, "KITTI calibration: %s without %s",
					     left ? pairs[i].left : pairs[i].right,
					     left ? pairs[i].right : pairs[i].left);
	if (!left)
		return 0;
	raw->format = "KITTI calibration";
	raw->left_name = pairs[i].left;
	raw->right_name = pairs[i].right;
	raw->pair = pairs[i].text;
	raw->have_left = raw->have_right = true;
	raw->width = size[0];
	raw->height = size[1];
	return 1;
}

/* Reads the pair that the images belong to. If that is unknown, reads the first pair of the file. */
static int read_kitti(struct sx_calibration_raw *raw, const struct sx_lines *l,
		      enum sx_calibration_pair images)
{
	struct sx_calibration_raw other = *raw;
	int found = 0;

	for (size_t i = 0; i < PAIRS; i++) {
		bool wanted = !images || pairs[i].images == images;
		int r = read_pair(wanted ? raw : &other, l, i);

		if (r < 0 || (r > 0 && wanted))
			return r;
		if (r > 0 && !found++)
			*raw = other;
	}
	raw->other_pair = found > 0;
	return found > 0;
}

/* ---- single numbers ---- */

/* Refuses a baseline with another name, because its unit is unknown. */
static int refuse_baseline(const struct sx_lines *l)
{
	static const char *const names[] = {"baseline", "Baseline", "baseline_mm", "baseline_cm"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		double b;

		if (sx_lines_numbers(l, NULL, names[i], &b, 1) <= 0)
			continue;
		return sx_calibration_refuse(
			l->why,
			"line %d: '%s' is not known: write baseline_m, in metres (%g if %g is in "
			"millimetres, %g if in centimetres)",
			sx_lines_number_of(l, names[i]), names[i], b * 0.001, b, b * 0.01);
	}
	return 0;
}

static int read_plain(struct sx_calibration_raw *raw, const struct sx_lines *l, bool baseline_given)
{
	static const char *const names[] = {"fx", "fy", "cx", "cy", "baseline_m"};
	int known = 0, r;

	for (int i = 0; i < 5; i++) {
		r = sx_lines_numbers(l, NULL, names[i], &raw->plain[i], 1);
		if (r < 0)
			return r;
		raw->have_plain[i] = r > 0;
		known += r;
	}
	r = sx_lines_numbers(l, NULL, "cx_right", &raw->cx_right, 1);
	if (r < 0)
		return r;
	raw->have_cx_right = r > 0;
	if (sx_lines_numbers(l, NULL, "width", &raw->width, 1) < 0 ||
	    sx_lines_numbers(l, NULL, "height", &raw->height, 1) < 0)
		return -EINVAL;
	raw->have_lines = known > 0;
	if (known > 0 && !raw->have_plain[4] && !baseline_given && refuse_baseline(l) < 0)
		return -EINVAL;
	return known > 0;
}

/* Refuses sections: they can repeat a name, and the reader of lines would take any one of the values. */
static int refuse_sections(const struct sx_lines *l)
{
	struct sx_line line = {0};

	while (sx_lines_next(l, &line))
		if (line.section && line.section_length)
			return sx_calibration_refuse(
				l->why,
				"an ini file with sections (line %d is in [%.*s]): only ZED's SN*.conf is "
				"read of these; ROS' camera_calibration writes YAML as well, or write fx, "
				"fy, cx, cy and baseline_m of rectified images",
				line.number, (int)(line.section_length < 40 ? line.section_length : 40),
				line.section);
	return 0;
}

int sx_calibration_text(struct sx_calibration_raw *raw, const char *text,
			const struct sx_calibration_wish *wish, struct sx_why *why)
{
	const struct sx_lines l = {text, why};
	int r = sx_calibration_zed(raw, &l, wish), plain;

	if (r == 0)
		r = sx_calibration_middlebury(raw, &l);
	if (r == 0)
		r = refuse_sections(&l);
	if (r)
		return r;
	raw->format = "calibration text";
	plain = read_plain(raw, &l, wish->baseline_m > 0);
	if (plain < 0)
		return plain;
	r = read_kitti(raw, &l, wish->images);
	if (r > 0 && plain)
		return sx_calibration_refuse(
			why, "both %s and lines of fx, fy, cx, cy or baseline_m: which are meant?",
			raw->pair);
	return r ? r : plain;
}
