/*
 * Messages about the camera.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "config/camera.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/contract.h"
#include "capture/dataset.h"
#include "config/config.h"
#include "config/option.h"

#define BASELINE_MOST_M 1.0
#define BASELINE_LEAST_M 0.005
#define MIDDLE 0.25 /* share of the width: least distance of the principal point from either side */
/*
 * Share of the image size. If both coordinates of the principal point are below this share, or both are above
 * 1 minus this share, the values were made for images of another size. This also holds within the middle
 * half.
 */
#define OFF_MIDDLE 0.36
#define FOCAL_LEAST 0.2 /* share of the width: 136 degrees across */
#define FOCAL_MOST 5.0	/* share of the width: 11 degrees across */
#define STRETCH 1.2	/* largest fx / fy: pixels of cameras are square */

/* ---- the size of the images ---- */

/*
 * Returns the likely scale factor between the images of the calibration and images of this size, if the
 * principal point lies near the middle. 0: its two coordinates contradict each other.
 */
static double likely_factor(double cx, double cy, int width, int height)
{
	static const double usual[] = {0.25, 1 / 3.0, 0.5, 2 / 3.0, 1.5, 2, 3, 4};
	const double across = 2 * cx / width, down = 2 * cy / height, factor = sqrt(across * down);

	if (!(across > 0 && down > 0) || fmax(across / down, down / across) > 1.3)
		return 0;
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (fabs(factor / usual[i] - 1) < 0.15)
			return usual[i];
	return factor;
}

static const char *with_factor(double cx, double cy, int width, int height, char text[160])
{
	const double factor = likely_factor(cx, cy, width, height);

	if (factor > 0)
		snprintf(text, 160,
			 "it fits images of about %.3g times their width and height, %.0fx%.0f: binning, or "
			 "calibrated in another size?",
			 factor, factor * width, factor * height);
	else
		snprintf(text, 160, "was it calibrated in another size, or with another part of the sensor?");
	return text;
}

bool sx_camera_fits(const struct sx_camera *c, int width, int height, char *text, size_t bytes)
{
	char why[160];

	if (!(c->fx > 0) || (c->cx >= 0 && c->cx <= width && c->cy >= 0 && c->cy <= height))
		return true;
	snprintf(text, bytes, "the principal point %.6g, %.6g is outside of images of %dx%d: %s", c->cx,
		 c->cy, width, height, with_factor(c->cx, c->cy, width, height, why));
	return false;
}

static bool in_middle(double part)
{
	return part >= MIDDLE && part <= 1 - MIDDLE;
}

/* Compares one camera with its own images. False: no doubt. */
static bool ask_size(const char *whose, double fx, double fy, double cx, double cy, int width, int height,
		     char *text, size_t bytes)
{
	const double across = cx / width, down = cy / height;
	const bool off = (across < OFF_MIDDLE && down < OFF_MIDDLE) ||
			 (across > 1 - OFF_MIDDLE && down > 1 - OFF_MIDDLE);
	char why[160];

	if (!in_middle(across) || !in_middle(down) || off)
		snprintf(text, bytes,
			 "the principal point %.6g, %.6g of %s is far from the middle of images of "
			 "%dx%d: %s",
			 cx, cy, whose, width, height, with_factor(cx, cy, width, height, why));
	else if (fx < FOCAL_LEAST * width || fx > FOCAL_MOST * width)
		snprintf(text, bytes,
			 "fx %.6g px of %s means that images of %dx%d show %.3g degrees across: was it "
			 "calibrated in another size?",
			 fx, whose, width, height,
			 2 * atan(width / (2 * fx)) * (180 / 3.14159265358979323846));
	else if (fx > STRETCH * fy || fy > STRETCH * fx)
		snprintf(text, bytes,
			 "fx %.6g and fy %.6g px of %s differ by a factor of %.3g, but pixels are "
			 "mostly square: binning of rows or columns alone?",
			 fx, fy, whose, fmax(fx / fy, fy / fx));
	else
		return false;
	return true;
}

static bool ask_sizes(const struct sx_settings *s, const struct sx_source_info *info, char *text,
		      size_t bytes)
{
	const struct sx_camera *c = &s->params.camera;
	const struct sx_rig *rig = sx_settings_rig(s, info);

	if (!rig)
		return info->width > 0 && c->fx > 0 &&
		       ask_size("the camera", c->fx, c->fy, c->cx, c->cy, info->width, info->height, text,
				bytes);
	for (int i = 0; i < 2; i++) {
		const struct sx_raw_camera *raw = &rig->raw[i];

		if (ask_size(i ? "the right camera" : "the left camera", raw->fx, raw->fy, raw->cx, raw->cy,
			     rig->raw_width, rig->raw_height, text, bytes))
			return true;
	}
	return false;
}

/* ---- all questions ---- */

/* Returns the origin of the camera values. */
static const char *source_of(const struct sx_settings *s)
{
	return s->calibration ? s->calibration : "[camera]";
}

static bool ask_baseline(const struct sx_settings *s, char *text, size_t bytes)
{
	const double b = s->params.camera.baseline_m;

	if (!(s->params.camera.fx > 0) || !(b > 0) || (b <= BASELINE_MOST_M && b >= BASELINE_LEAST_M))
		return false;
	snprintf(text, bytes, "baseline %.4g m: is it in metres? %s%s", b,
		 !s->calibration_baseline ? "baseline_m of [camera] says so"
		 : b > BASELINE_MOST_M	  ? "The file may be in centimetres, inches or squares of the board"
					  : "The file may be in another unit",
		 s->calibration_baseline ? "; baseline_m in [camera] takes its place" : "");
	return true;
}

static bool ask_missing(const struct sx_settings *s, char *text, size_t bytes)
{
	char path[SX_OPTION_TEXT_BYTES];
	struct sx_dataset d;
	struct sx_why why;

	if (!s->calibration_said.missing || !sx_dataset_find(s->source.path, &d) || !d.name ||
	    sx_dataset_calibration(s->source.path, &d, path, sizeof(path), &why) == 0)
		return false;
	snprintf(text, bytes,
		 "%.380s: distances are those of [camera], not of these images; camera.calibration "
		 "names a file",
		 why.text);
	return true;
}

int sx_camera_questions(const struct sx_settings *s, const struct sx_source_info *info,
			char ret[SX_CAMERA_QUESTIONS][SX_CAMERA_TEXT_BYTES])
{
	const size_t bytes = SX_CAMERA_TEXT_BYTES;
	int n = 0;

	if (sx_settings_camera_of_source(s, info))
		return 0;
	n += ask_baseline(s, ret[n], bytes);
	n += ask_sizes(s, info, ret[n], bytes);
	if (s->calibration_said.other_pair) {
		snprintf(ret[n], bytes,
			 "the images are of KITTI's other pair of cameras, but %s has %s only: their "
			 "baseline differs by 1 %%",
			 s->calibration, s->calibration_said.pair);
		n++;
	}
	n += ask_missing(s, ret[n], bytes);
	sx_must(n, <=, SX_CAMERA_QUESTIONS);
	return n;
}

static const char *lens_name(enum sx_lens lens)
{
	static const char *const names[] = {
		[SX_LENS_PLUMB_BOB] = "plumb_bob",
		[SX_LENS_RATIONAL] = "rational_polynomial",
		[SX_LENS_EQUIDISTANT] = "equidistant (fisheye)",
	};

	return names[lens];
}

static void tell_lens(const struct sx_rig *rig, char *text, size_t bytes)
{
	if (!rig)
		snprintf(text, bytes, "images are taken as rectified");
	else if (rig->raw[0].lens == rig->raw[1].lens)
		snprintf(text, bytes, "lenses %s", lens_name(rig->raw[0].lens));
	else
		snprintf(text, bytes, "lenses %s and %s", lens_name(rig->raw[0].lens),
			 lens_name(rig->raw[1].lens));
}

static void tell_distances(const struct sx_settings *s, const struct sx_camera *c, char *text, size_t bytes)
{
	const struct sx_stereo_params *p = &s->params.stereo;
	const int most = p->min_disparity + p->disparities - 1,
		  least = p->min_disparity > 1 ? p->min_disparity : 1;
	const double per_px = c->fx * c->baseline_m;

	if (most < least)
		snprintf(text, bytes, "no distance can be measured with disparities up to %d px", most);
	else
		snprintf(text, bytes, "distances from %.3g m (%d px) to %.3g m (%d px)", per_px / most, most,
			 per_px / least, least);
}

void sx_camera_tell(const struct sx_settings *s, const struct sx_source_info *info, char *text, size_t bytes)
{
	const struct sx_camera c = sx_settings_camera(s, info);
	const bool given = !sx_settings_camera_of_source(s, info);
	const struct sx_calibration_said *said = &s->calibration_said;
	char lens[80], distances[96], instead[64] = "", pair[80] = "";

	if (!(c.fx > 0 && c.baseline_m > 0)) {
		snprintf(text, bytes, "no camera model (fx, baseline_m): disparities have no distance");
		return;
	}
	tell_lens(sx_settings_rig(s, info), lens, sizeof(lens));
	tell_distances(s, &c, distances, sizeof(distances));
	if (given && said->baseline_m > 0)
		snprintf(instead, sizeof(instead), " by camera.baseline_m (the file says %.6g m)",
			 said->baseline_m);
	if (given && said->pair)
		snprintf(pair, sizeof(pair), ", %s", said->pair);
	snprintf(text, bytes, "camera: fx %.6g px, baseline %.4g m%s, %s, %s; by %s%s%.200s%s", c.fx,
		 c.baseline_m, instead, lens, distances, given && said->format ? said->format : "",
		 given && said->format ? " " : "",
		 given		       ? source_of(s)
		 : info->camera_yields ? "the writer"
				       : "the source",
		 pair);
}

int sx_camera_questions_before(const struct sx_settings *s,
			       char ret[SX_CAMERA_QUESTIONS][SX_CAMERA_TEXT_BYTES])
{
	const struct sx_source_info info = {
		.width = s->source.width ? s->source.width : s->calibration_width,
		.height = s->source.width ? s->source.height : s->calibration_height,
	};

	/* the synthetic source draws with its own camera */
	return s->source.kind == SX_SOURCE_SYNTHETIC ? 0 : sx_camera_questions(s, &info, ret);
}
