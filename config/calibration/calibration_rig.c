/*
 * Makes a rig from the raw cameras of a calibration file: lens models, and whether images are rectified.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "config/calibration/calibration_priv.h"
#include "stages/rectify/rig.h"

void sx_calibration_name(char to[SX_CALIBRATION_NAME_BYTES], const char *whose, const char *name)
{
	snprintf(to, SX_CALIBRATION_NAME_BYTES, "%.8s%.38s", whose, name);
}

#define ROLL_MOST 45.0 /* largest roll between two cameras, degrees */

/* ---- lenses ---- */

static const struct {
	const char *name;
	enum sx_lens lens;
} models[] = {
	{"plumb_bob", SX_LENS_PLUMB_BOB},
	{"radtan", SX_LENS_PLUMB_BOB},
	{"none", SX_LENS_PLUMB_BOB},
	{"radial-tangential", SX_LENS_PLUMB_BOB},
	{"equidistant", SX_LENS_EQUIDISTANT},
	{"fisheye", SX_LENS_EQUIDISTANT},
	{"kannala_brandt", SX_LENS_EQUIDISTANT},
	{"rational_polynomial", SX_LENS_RATIONAL},
};

static int find_model(const char *model, int count, enum sx_lens *ret)
{
	if (!model || !*model) {
		*ret = count > 5 ? SX_LENS_RATIONAL : SX_LENS_PLUMB_BOB;
		return 0;
	}
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
		if (!strcasecmp(models[i].name, model)) {
			*ret = models[i].lens;
			return 0;
		}
	return -EINVAL;
}

int sx_calibration_lens(struct sx_calibration_camera *camera, const char *model, const double *d, int count,
			struct sx_why *why)
{
	const char *name = camera->d_name;
	int used;

	if (find_model(model, count, &camera->lens) < 0)
		return sx_calibration_refuse(why,
					     "distortion_model '%.40s' is not supported: plumb_bob (radtan), "
					     "rational_polynomial, equidistant (fisheye)",
					     model);
	if (camera->lens == SX_LENS_EQUIDISTANT && count != 4)
		return sx_calibration_refuse(
			why, "%s has %d coefficients, a fisheye lens (equidistant) has 4", name, count);
	if (count != 0 && count != 4 && count != 5 && count != 8 && count != 12 && count != 14)
		return sx_calibration_refuse(why,
					     "%s has %d coefficients, must be 4 or 5 (plumb_bob) or 8 "
					     "(rational_polynomial)",
					     name, count);
	/* OpenCV writes 12 and 14 coefficients even if no thin prism or tilted sensor was calibrated */
	used = camera->lens == SX_LENS_PLUMB_BOB ? 5 : 8;
	for (int i = used; i < count; i++)
		if (d[i] != 0)
			return sx_calibration_refuse(
				why,
				"%s has %d coefficients%s, must be 4 or 5 (plumb_bob) or 8 "
				"(rational_polynomial)",
				name, count,
				count > 8 ? ", a thin prism or a tilted sensor, which is not supported" : "");
	for (int i = 0; i < count && i < used; i++)
		camera->d[i] = d[i];
	camera->have_d = true;
	return 0;
}

static bool bends_rays(const struct sx_calibration_camera *c)
{
	bool bends = c->have_d && c->lens == SX_LENS_EQUIDISTANT;

	for (int i = 0; c->have_d && i < SX_LENS_COEFFICIENTS; i++)
		bends = bends || c->d[i] != 0;
	return bends;
}

/* Returns true if the camera is turned from its raw image to its rectified one. */
static bool is_turned(const struct sx_calibration_camera *c)
{
	bool turned = false;

	for (int i = 0; c->have_r && i < 9; i++)
		turned = turned || fabs(c->r[i] - (i % 4 == 0)) > 1e-9;
	return turned;
}

/* ---- the rig ---- */

static int raw_camera(struct sx_raw_camera *to, const struct sx_calibration_camera *from, struct sx_why *why)
{
	const double *k = from->k;

	if (k[3] != 0 || k[6] != 0 || k[7] != 0 || fabs(k[8] - 1) > 1e-9 || !(k[0] > 0 && k[4] > 0))
		return sx_calibration_refuse(why,
					     "%s (%g %g %g; %g %g %g; %g %g %g) is no camera matrix (fx 0 "
					     "cx; 0 fy cy; 0 0 1)",
					     from->k_name, k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7],
					     k[8]);
	if (fabs(k[1]) > 1e-6 * k[0])
		return sx_calibration_refuse(why, "%s has a skew of %g, which is not supported", from->k_name,
					     k[1]);
	*to = (struct sx_raw_camera){.fx = k[0], .fy = k[4], .cx = k[2], .cy = k[5], .lens = from->lens};
	memcpy(to->distortion, from->d, sizeof(to->distortion));
	return 0;
}

/*
 * Checks that the principal points lie in the image. This finds most images of a size other than the
 * calibration's.
 */
static int check_centre(const struct sx_rig *rig, const struct sx_calibration_raw *raw, struct sx_why *why)
{
	for (int i = 0; i < 2; i++) {
		const struct sx_raw_camera *c = &rig->raw[i];

		if (!(c->cx >= 0 && c->cx <= rig->raw_width && c->cy >= 0 && c->cy <= rig->raw_height))
			return sx_calibration_refuse(why,
						     "the principal point of %s, %g, %g, is outside of "
						     "images of %dx%d: another size?",
						     raw->camera[i].k_name, c->cx, c->cy, rig->raw_width,
						     rig->raw_height);
	}
	if (!(rig->cx >= 0 && rig->cx <= rig->width && rig->cy >= 0 && rig->cy <= rig->height))
		return sx_calibration_refuse(
			why,
			"the principal point of the rectified images, %.6g, %.6g, is outside "
			"of %dx%d: do the cameras look in different directions, or is the "
			"size another?",
			rig->cx, rig->cy, rig->width, rig->height);
	return 0;
}

/* Computes the rotations from the pose of the cameras; without projection matrices also all other values. */
static int align(struct sx_rig *rig, const struct sx_calibration_raw *raw, bool projected, double alpha,
		 struct sx_why *why)
{
	struct sx_rig aligned = *rig;
	const double roll = atan2(raw->r[3], raw->r[0]) * (180 / 3.14159265358979323846);
	int r;

	/*
	 * A roll of the camera about its optical axis. Without this check it would be reported as cameras one
	 * above the other, or as exchanged cameras.
	 */
	if (raw->r[8] > 0.5 && fabs(roll) > ROLL_MOST)
		return sx_calibration_refuse(
			why,
			"the right camera is rolled by %.0f degrees against the left one%s: turn its "
			"images before they come here, and calibrate again",
			roll, fabs(roll) > 135 ? " (mounted upside down)" : "");
	/* if the projections are given, alpha has no effect on the result */
	r = sx_rig_align(&aligned, raw->r, raw->t, projected ? -1 : alpha, why);

	if (r < 0)
		return r;
	if (!projected)
		*rig = aligned;
	memcpy(rig->rotation, aligned.rotation, sizeof(rig->rotation));
	return 0;
}

static bool have_rotations(const struct sx_calibration_raw *raw, bool projected)
{
	return projected && raw->camera[0].have_r && raw->camera[1].have_r;
}

/* Makes the rig. A size of 0x0 (not given) is accepted: images that are rectified already do not need it. */
static int make_rig(struct sx_rig *rig, const struct sx_calibration *c, const struct sx_calibration_raw *raw,
		    bool projected, const struct sx_calibration_wish *wish, struct sx_why *why)
{
	const struct sx_rectify_params *p = &wish->rectify;
	int r;

	*rig = (struct sx_rig){.raw_width = raw->width > 0 ? (int)raw->width : wish->width,
			       .raw_height = raw->height > 0 ? (int)raw->height : wish->height};
	rig->width = p->width ? p->width : rig->raw_width;
	rig->height = p->height ? p->height : rig->raw_height;
	if (projected) {
		rig->fx = c->fx;
		rig->fy = c->fy;
		rig->cx = c->cx;
		rig->cy = c->cy;
		rig->baseline_m = c->baseline_m > 0 ? c->baseline_m : wish->baseline_m;
	}
	for (int i = 0; i < 2; i++) {
		r = raw_camera(&rig->raw[i], &raw->camera[i], why);
		if (r < 0)
			return r;
		memcpy(rig->rotation[i], raw->camera[i].r, sizeof(rig->rotation[i]));
	}
	if (have_rotations(raw, projected))
		return 0;
	return rig->raw_width ? align(rig, raw, projected, p->alpha, why) : 0;
}

/* ---- raw or rectified images ---- */

/* Returns what a rig needs and the file lacks; NULL: nothing. */
static const char *missing(const struct sx_calibration_raw *raw, bool projected)
{
	if (raw->cameras < 2)
		return raw->cameras ? "the other camera's file (LEFT,RIGHT)" : "K, D and R of both cameras";
	for (int i = 0; i < 2; i++) {
		if (!raw->camera[i].have_k)
			return raw->camera[i].k_name;
		if (!raw->camera[i].have_d)
			return raw->camera[i].d_name;
	}
	if (!have_rotations(raw, projected) && !(raw->have_r && raw->have_t))
		return raw->pose_name;
	return NULL;
}

/* Handles a file without all values for a rig: an error, unless the images can be used as rectified. */
static int incomplete(const struct sx_calibration_raw *raw, bool projected, enum sx_rectify_choice choice,
		      const char *lacks, struct sx_why *why)
{
	if (choice == SX_RECTIFY_YES)
		return sx_calibration_refuse(
			why, "%s: rectify = yes, but without %s raw images cannot be rectified", raw->format,
			lacks);
	if (!projected)
		return sx_calibration_refuse(why,
					     "%s: no %s of rectified images, and without %s raw ones cannot "
					     "be rectified",
					     raw->format, raw->projections, lacks);
	if (raw->offset_px != 0)
		return sx_calibration_refuse(
			why,
			"%s: the principal points differ by %g px, and without %s the images cannot be moved by "
			"it: rectify with zero disparity at infinity",
			raw->format, raw->offset_px, lacks);
	for (int i = 0; i < 2 && raw->cameras == 2; i++) {
		const bool bends = bends_rays(&raw->camera[i]);
		char claim[SX_CALIBRATION_NAME_BYTES + 8];

		snprintf(claim, sizeof(claim), "%s says", raw->camera[i].d_name);
		if (bends || is_turned(&raw->camera[i]))
			return sx_calibration_refuse(why,
						     "%s: images are raw, as %s, but without %s they "
						     "cannot be rectified; where they are rectified already, "
						     "say rectify = no",
						     raw->format,
						     bends ? claim : "the rectifying rotations say", lacks);
	}
	return 0;
}

static int accept(struct sx_calibration *c, const struct sx_rig *rig, const struct sx_calibration_raw *raw,
		  bool projected, bool unneeded, struct sx_why *why)
{
	const bool advise = projected && raw->have_r && raw->have_t;
	struct sx_why reason;

	if (!rig->raw_width)
		return sx_calibration_refuse(
			why,
			"%s: images are raw, but their size (image_width, image_height) is missing: add it, "
			"or give size in [source]%s",
			raw->format, projected ? "; where they are rectified already, say rectify = no" : "");
	/*
	 * skip the check if there is no baseline: the caller knows other sources of the baseline and reports
	 * its absence
	 */
	if (check_centre(rig, raw, &reason) < 0)
		return sx_calibration_refuse(why, "%s: %s", raw->format, reason.text);
	if ((!projected || rig->baseline_m > 0) && sx_rig_check(rig, &reason) < 0)
		return sx_calibration_refuse(why, "%s: %s%s%s%s", raw->format, reason.text,
					     advise ? "; without " : "", advise ? raw->projections : "",
					     advise ? " in the file, rectify_alpha decides what is shown"
						    : "");
	if (!projected) {
		c->fx = rig->fx;
		c->fy = rig->fy;
		c->cx = rig->cx;
		c->cy = rig->cy;
		c->baseline_m = rig->baseline_m;
	}
	c->rectify = !unneeded;
	if (c->rectify)
		c->rig = *rig;
	return 0;
}

int sx_calibration_rectify(struct sx_calibration *c, const struct sx_calibration_raw *raw, bool projected,
			   const struct sx_calibration_wish *wish, struct sx_why *why)
{
	enum sx_rectify_choice choice = wish->rectify.choice;
	const char *lacks = missing(raw, projected);
	struct sx_why reason;
	struct sx_rig rig;
	bool rectified;

	if (choice == SX_RECTIFY_NO && raw->offset_px != 0)
		return sx_calibration_refuse(
			why,
			"%s: rectify = no, but the principal points differ by %g px: disparity "
			"at infinity is 0 only where images are moved by it, rectify = auto",
			raw->format, raw->offset_px);
	if (choice == SX_RECTIFY_NO)
		return projected ? 0
				 : sx_calibration_refuse(
					   why,
					   "%s: rectify = no, but the file says nothing of rectified images: "
					   "add %s, or have raw ones rectified by rectify = auto",
					   raw->format,
					   raw->projections ? raw->projections : "P1 and P2, as OpenCV's");
	if (!sx_why_is_empty(&raw->fault) && raw->cameras == 2)
		return sx_calibration_refuse(why, "%s: %s", raw->format, raw->fault.text);
	if (lacks)
		return incomplete(raw, projected, choice, lacks, why);
	if (make_rig(&rig, c, raw, projected, wish, &reason) < 0)
		return sx_calibration_refuse(why, "%s: %s", raw->format, reason.text);
	rectified = (rig.raw_width || have_rotations(raw, projected)) && sx_rig_is_rectified(&rig);
	if (rectified && projected && choice == SX_RECTIFY_AUTO)
		return 0;
	return accept(c, &rig, raw, projected, rectified && choice == SX_RECTIFY_AUTO, why);
}
