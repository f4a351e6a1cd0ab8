/*
 * Calibration in Stereolabs' format for ZED cameras: SN*.conf, with one section for each camera and image
 * size.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "config/calibration/calibration_lines.h"

#define MM 0.001
#define BASELINE_LEAST_MM 10 /* a smaller number is in metres: the smallest ZED has 50 mm */

/* Image sizes, px, by the names used in sections. */
static const struct mode {
	const char *name;
	int width, height;
} modes[] = {{"2K", 2208, 1242}, {"FHD", 1920, 1080}, {"FHD1200", 1920, 1200}, {"HD", 1280, 720},
	     {"SVGA", 960, 600}, {"VGA", 672, 376},   {"QHDPLUS", 3800, 1800}, {"QHDPLUS", 3200, 1800},
	     {"4K", 3856, 2180}, {"4K", 3840, 2160}};
#define MODES (sizeof(modes) / sizeof(modes[0]))

static const char *const sides[2] = {"LEFT", "RIGHT"};

static bool has_section(const struct sx_lines *l, const char *section)
{
	struct sx_line line = {0};

	while (sx_lines_next(l, &line))
		if (line.section && line.section_length == strlen(section) &&
		    !strncasecmp(line.section, section, line.section_length))
			return true;
	return false;
}

static bool has_mode(const struct sx_lines *l, const struct mode *m)
{
	char section[32];

	snprintf(section, sizeof(section), "LEFT_CAM_%s", m->name);
	return has_section(l, section);
}

/* Lists the image sizes of the modes in the file. Returns the number of modes. */
static int list_modes(const struct sx_lines *l, char *list, size_t bytes, const struct mode **last)
{
	size_t used = 0;
	int count = 0;

	*list = 0;
	for (size_t i = 0; i < MODES; i++) {
		if (!has_mode(l, &modes[i]))
			continue;
		used += (size_t)snprintf(list + used, bytes - used, "%s%dx%d (%s)", used ? ", " : "",
					 modes[i].width, modes[i].height, modes[i].name);
		count += !i || strcmp(modes[i].name, modes[i - 1].name) != 0;
		*last = &modes[i];
	}
	return count;
}

/*
 * Returns the mode of images of this size. If the size is not known and the file has one mode, returns that
 * mode.
 */
static const struct mode *choose_mode(const struct sx_lines *l, const struct sx_calibration_wish *wish)
{
	const struct mode *last = NULL;
	char list[256];
	int count;

	for (size_t i = 0; i < MODES; i++)
		if (modes[i].width == wish->width && modes[i].height == wish->height &&
		    has_mode(l, &modes[i]))
			return &modes[i];
	count = list_modes(l, list, sizeof(list), &last);
	if (!wish->width && count == 1)
		return last;
	if (!wish->width)
		sx_calibration_refuse(l->why,
				      "ZED calibration: it is for images of %s: give size in [source]", list);
	else
		sx_calibration_refuse(l->why, "ZED calibration: images are %dx%d, but it is for images of %s",
				      wish->width, wish->height, list);
	return NULL;
}

/* Reads a number. Returns 1; 0: missing, and not `needed`; -EINVAL. */
static int number(const struct sx_lines *l, const char *section, const char *name, bool needed, double *ret)
{
	int r = sx_lines_numbers(l, section, name, ret, 1);

	if (r == 0 && needed)
		return sx_calibration_refuse(l->why, "ZED calibration: '%s' of [%s] is missing", name,
					     section);
	return r;
}

/* Reads coefficients by their names. The first `needed` must be there; the others are 0 where they are not. */
static int read_coefficients(const struct sx_lines *l, const char *section, const char *const *names,
			     int count, int needed, double *d)
{
	for (int i = 0; i < count; i++)
		if (number(l, section, names[i], i < needed, &d[i]) < 0)
			return -EINVAL;
	return 0;
}

/*
 * Reads the lens. Newer files have [LEFT_DISTO] for all sizes, beside or instead of five coefficients in the section
 * of the size (older files: two). [LEFT_DISTO] has eight coefficients, or k1 to k4 alone: Stereolabs' calibration
 * program writes those for a fisheye lens.
 */
static int read_zed_lens(struct sx_calibration_camera *c, const struct sx_lines *l, const char *mode_section,
			 int side)
{
	static const char *const names[] = {"k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6"};
	static const char *const fisheye[] = {"k1", "k2", "k3", "k4"};
	double d[8] = {0}, unused;
	char section[32];

	snprintf(section, sizeof(section), "%s_DISTO", sides[side]);
	if (!has_section(l, section)) {
		sx_calibration_name(c->d_name, side ? "right " : "left ", "k1 .. k3");
		return read_coefficients(l, mode_section, names, 5, 2, d) < 0
			       ? -EINVAL
			       : sx_calibration_lens(c, "plumb_bob", d, 5, l->why);
	}
	sx_calibration_name(c->d_name, side ? "right " : "left ", "DISTO");
	if (sx_lines_numbers(l, section, "p1", &unused, 1) == 0 &&
	    sx_lines_numbers(l, section, "k4", &unused, 1))
		return read_coefficients(l, section, fisheye, 4, 4, d) < 0
			       ? -EINVAL
			       : sx_calibration_lens(c, "equidistant", d, 4, l->why);
	if (read_coefficients(l, section, names, 8, 8, d) < 0)
		return -EINVAL;
	if (d[5] != 0 && d[2] == 0 && d[3] == 0 && d[6] == 0 && d[7] == 0)
		return sx_calibration_refuse(
			l->why,
			"ZED calibration: [%s] has k1 to k4 only, as of a fisheye lens, and the file does "
			"not say which it is: calibrate it, or write K1, D1, K2, D2, R, T and fisheye: 1 as "
			"OpenCV's YAML",
			section);
	return sx_calibration_lens(c, "rational_polynomial", d, 8, l->why);
}

static int read_camera(struct sx_calibration_raw *raw, const struct sx_lines *l, const struct mode *m,
		       int side)
{
	static const char *const names[] = {"fx", "fy", "cx", "cy"};
	struct sx_calibration_camera *c = &raw->camera[side];
	char section[32];
	double k[4];

	snprintf(section, sizeof(section), "%s_CAM_%s", sides[side], m->name);
	sx_calibration_name(c->k_name, "", section);
	for (int i = 0; i < 4; i++)
		if (number(l, section, names[i], true, &k[i]) < 0)
			return -EINVAL;
	memcpy(c->k, (const double[9]){k[0], 0, k[2], 0, k[1], k[3], 0, 0, 1}, sizeof(c->k));
	c->have_k = true;
	return read_zed_lens(c, l, section, side);
}

/* Computes a rotation matrix by Rodrigues' formula. */
static void rotation_of(const double v[3], double r[9])
{
	const double angle = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
	const double s = angle > 0 ? sin(angle) / angle : 1;
	const double c = angle > 0 ? (1 - cos(angle)) / (angle * angle) : 0.5;
	const double cross[9] = {0, -v[2], v[1], v[2], 0, -v[0], -v[1], v[0], 0};

	for (int i = 0; i < 9; i++)
		r[i] = (i % 4 == 0) * cos(angle) + s * cross[i] + c * v[i / 3] * v[i % 3];
}

/*
 * Reads a number of the mode, such as "RX_HD"; if of_all and it is missing, the number of all modes, such as
 * "TY". Returns 1: read; 0: missing; -EINVAL.
 */
static int read_of_mode(const struct sx_lines *l, const char *name, const struct mode *m, bool of_all,
			double *ret)
{
	char full[32];
	int r;

	snprintf(full, sizeof(full), "%s_%s", name, m->name);
	r = number(l, "STEREO", full, false, ret);
	return r == 0 && of_all ? number(l, "STEREO", name, false, ret) : r;
}

/*
 * Reads the pose of the cameras. RX, CV (convergence) and RZ are the components of the mode's rotation.
 * Stereolabs' own programs pass Baseline, TY and TZ to OpenCV as T. The negated T gives the same
 * rectification, with the right camera on the right.
 */
static int read_pose(struct sx_calibration_raw *raw, const struct sx_lines *l, const struct mode *m)
{
	static const char *const turns[] = {"RX", "CV", "RZ"}, *const moves[] = {"TY", "TZ"};
	double v[3] = {0}, at[3] = {0};
	int found = 0;

	if (number(l, "STEREO", "Baseline", true, &at[0]) < 0)
		return -EINVAL;
	for (int i = 0; i < 2; i++)
		if (read_of_mode(l, moves[i], m, true, &at[1 + i]) < 0)
			return -EINVAL;
	for (int i = 0; i < 3; i++) {
		const int r = read_of_mode(l, turns[i], m, false, &v[i]);

		if (r < 0)
			return -EINVAL;
		found += r;
	}
	if (!found)
		return sx_calibration_refuse(
			l->why, "ZED calibration: RX_%s, CV_%s and RZ_%s of [STEREO] are missing", m->name,
			m->name, m->name);
	if (!(fabs(at[0]) >= BASELINE_LEAST_MM))
		return sx_calibration_refuse(
			l->why, "ZED calibration: Baseline is %g mm, must be %d or more: is it in metres?",
			at[0], BASELINE_LEAST_MM);
	for (int i = 0; i < 3; i++)
		raw->t[i] = -MM * at[i];
	rotation_of(v, raw->r);
	raw->have_r = raw->have_t = true;
	return 0;
}

int sx_calibration_zed(struct sx_calibration_raw *raw, const struct sx_lines *l,
		       const struct sx_calibration_wish *wish)
{
	const struct mode *m = NULL;
	bool any = false;

	for (size_t i = 0; i < MODES; i++)
		any = any || has_mode(l, &modes[i]);
	if (!any)
		return 0;
	raw->format = "ZED calibration";
	raw->pose_name = "RX, CV and RZ";
	raw->projections = "projections";
	raw->cameras = 2;
	m = choose_mode(l, wish);
	if (!m || read_camera(raw, l, m, 0) < 0 || read_camera(raw, l, m, 1) < 0 || read_pose(raw, l, m) < 0)
		return -EINVAL;
	/*
	 * missing rotations are 0, as in Stereolabs' own programs; refuse a file that was cut short before
	 * them
	 */
	if (l->text[strlen(l->text) - 1] != '\n')
		return sx_calibration_refuse(
			l->why, "ZED calibration: the last line has no end: was the file cut short?");
	raw->width = m->width;
	raw->height = m->height;
	return 1;
}
