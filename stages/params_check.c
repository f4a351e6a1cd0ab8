/*
 * Checks of parameters that depend on each other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/params_check.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include "stages/road/road.h"
#include "stages/stixels/cells.h"

#define COST_LIMIT 255 /* path costs L and the terms of its minimum are 8 bits wide in every engine */

__attribute__((format(printf, 2, 3))) static int params_refuse(struct sx_why *why, const char *format, ...)
{
	va_list args;

	sx_why_clear(why);
	va_start(args, format);
	sx_why_add_list(why, format, args);
	va_end(args);
	return -EINVAL;
}

/*
 * Checks the sums of all FastDT passes: they must fit 16 bits, and 31 bits after multiplication by a weight
 * of 15 bits. One pass multiplies a constant input by 1 / (1 - K).
 */
static int check_fastdt(const struct sx_stereo_params *p, struct sx_why *why)
{
	double gain, sum;

	if (!(p->fastdt_sigma_space > 0 && p->fastdt_sigma_range > 0))
		return params_refuse(why,
				     "model.sigma_space = %g and model.sigma_range = %g: must be positive",
				     p->fastdt_sigma_space, p->fastdt_sigma_range);
	gain = 1 / (1 - exp(-1 / p->fastdt_sigma_space));
	sum = sx_cost_max(p->cost) * gain * gain * gain * gain;
	if (!(sum <= UINT16_MAX))
		return params_refuse(
			why,
			"model.sigma_space = %g: sums of the largest matching cost %d would reach %.0f, "
			"and must not exceed %d",
			p->fastdt_sigma_space, sx_cost_max(p->cost), sum, UINT16_MAX);
	return 0;
}

static int check_aggregation(const struct sx_stereo_params *p, struct sx_why *why)
{
	if (p->cost == SX_COST_ZNCC && (p->zncc_window < 3 || p->zncc_window > 15 || p->zncc_window % 2 == 0))
		return params_refuse(why, "stereo.window = %d: must be odd, from 3 to 15", p->zncc_window);
	if (p->p2_edge < 0 || p->p2_edge > 255)
		return params_refuse(why, "stereo.p2_edge = %d: must be from 0 to 255", p->p2_edge);
	if (p->aggregation == SX_AGGREGATION_FASTDT && p->search == SX_SEARCH_PYRAMID)
		return params_refuse(why, "stereo.search = pyramid: needs stereo.aggregation = sgm; fastdt "
					  "searches all disparities");
	if (p->aggregation == SX_AGGREGATION_FASTDT)
		return check_fastdt(p, why);
	return 0;
}

/* Checks one pair of penalties. which: suffix of p1 and p2 in the names of the two keys. */
static int check_penalties(const struct sx_stereo_params *p, int p1, int p2, const char *which,
			   struct sx_why *why)
{
	int largest = sx_cost_max(p->cost);

	if (p1 < 1 || p2 < p1)
		return params_refuse(
			why,
			"stereo.p1%s = %d and stereo.p2%s = %d: p1%s must be at least 1 and at most p2%s",
			which, p1, which, p2, which, which);
	/* Compare each value alone first: the sum of two large values would overflow. */
	if (p1 > COST_LIMIT || p2 > COST_LIMIT || largest + p1 + p2 > COST_LIMIT)
		return params_refuse(
			why,
			"stereo.p1%s = %d and stereo.p2%s = %d: with the largest matching cost %d their sum "
			"must not exceed %d",
			which, p1, which, p2, largest, COST_LIMIT);
	return 0;
}

static int check_stereo(const struct sx_stereo_params *asked, struct sx_why *why)
{
	struct sx_stereo_params resolved = *asked, *p = &resolved;

	sx_stereo_resolve(p);
	if (p->disparities < 32 || p->disparities > sx_disparities_most(p) || p->disparities % 32)
		return params_refuse(why, "stereo.disparities = %d: must be a multiple of 32 from 32 to %d%s",
				     p->disparities, sx_disparities_most(p),
				     sx_is_pyramid(p) ? "" : "; stereo.search = pyramid allows 512");
	if (p->min_disparity < -128 || p->min_disparity > 128)
		return params_refuse(why, "stereo.min_disparity = %d: must be from -128 to 128",
				     p->min_disparity);
	if (sx_disparity_range(p) > SX_RANGE_MAX)
		return params_refuse(why,
				     "stereo.disparities = %d and stereo.min_disparity = %d: must not reach "
				     "beyond %d px together",
				     p->disparities, p->min_disparity, SX_RANGE_MAX);
	if (p->paths != 2 && p->paths != 4 && p->paths != 8)
		return params_refuse(why, "stereo.paths = %d: must be 2, 4 or 8", p->paths);
	if (check_penalties(p, p->p1, p->p2, "", why) < 0 ||
	    check_penalties(p, p->p1_vertical, p->p2_vertical, "_vertical", why) < 0)
		return -EINVAL;
	if (p->uniqueness < 1 || p->uniqueness > 100)
		return params_refuse(why, "stereo.uniqueness = %d: must be from 1 to 100 percent",
				     p->uniqueness);
	return check_aggregation(p, why);
}

static int check_filters(const struct sx_filter_params *p, struct sx_why *why)
{
	if (p->left_right < -1)
		return params_refuse(
			why, "filters.left_right = %d: must be -1 (no check) or a tolerance in pixels",
			p->left_right);
	if (p->speckle_size < 0 || p->speckle_range < 0)
		return params_refuse(
			why, "filters.speckle_size = %d and model.speckle_range = %d: must not be negative",
			p->speckle_size, p->speckle_range);
	return 0;
}

/* Accepts all values 0: no camera model. */
static int check_camera(const struct sx_camera *c, struct sx_why *why)
{
	if (!isfinite(c->cx) || !isfinite(c->cy) || !(fabs(c->pitch_deg) < 90) || !(fabs(c->roll_deg) <= 30))
		return params_refuse(
			why,
			"camera.cx = %g, cy = %g, pitch_deg = %g, roll_deg = %g: must be numbers, "
			"pitch below 90, roll -30..30",
			c->cx, c->cy, c->pitch_deg, c->roll_deg);
	if (c->fx == 0 && c->fy == 0 && c->baseline_m == 0)
		return 0;
	if (!(c->fx > 0 && c->fy > 0 && c->baseline_m > 0 && c->height_m > 0))
		return params_refuse(
			why,
			"camera.fx = %g, fy = %g, baseline_m = %g, height_m = %g: must all be positive, "
			"or fx, fy and baseline_m all 0 for no camera model",
			c->fx, c->fy, c->baseline_m, c->height_m);
	return 0;
}

static int check_road(const struct sx_params *p, struct sx_why *why)
{
	const struct sx_road_params *road = &p->road;
	double least, most;

	if (road->mode == SX_ROAD_CALIBRATED && !(p->camera.fx > 0))
		return params_refuse(why, "road.mode = calibrated needs a camera model, and camera.fx is %g",
				     p->camera.fx);
	if (road->top < 0 || road->top > 90 || !(road->max_roll_deg >= 0 && road->max_roll_deg <= 45))
		return params_refuse(
			why, "road.top = %d, road.max_roll_deg = %g: must be 0..90 percent and 0..45 degrees",
			road->top, road->max_roll_deg);
	sx_road_heights(p, &least, &most);
	if (p->camera.fx > 0 && !(least < most))
		return params_refuse(why, "road.min_height_m = %g must be below road.max_height_m = %g",
				     least, most);
	if (p->camera.fx > 0 && !(p->camera.height_m >= least && p->camera.height_m <= most))
		return params_refuse(why,
				     "camera.height_m = %g is outside of road.min_height_m .. max_height_m, "
				     "%g..%g",
				     p->camera.height_m, least, most);
	return 0;
}

static int check_vehicle(const struct sx_params *p, struct sx_why *why)
{
	const struct stixel_vehicle v = sx_vehicle_of(&p->vehicle, p->camera.height_m);

	if (!(v.low_m < v.high_m))
		return params_refuse(why, "vehicle.step_m = %g must be below vehicle.height_m = %g", v.low_m,
				     v.high_m);
	return 0;
}

static int check_probabilities(const struct sx_stixel_params *p, struct sx_why *why)
{
	double sum = p->p_invalid_ground + p->p_invalid_object + p->p_invalid_sky;

	if (!(fabs(sum - 1) <= 1e-6))
		return params_refuse(
			why,
			"model.p_invalid_ground = %g, p_invalid_object = %g, p_invalid_sky = %g: must "
			"sum up to 1, not %g",
			p->p_invalid_ground, p->p_invalid_object, p->p_invalid_sky, sum);
	if (!(p->p_gravity + p->p_below_ground < 1))
		return params_refuse(
			why, "model.p_gravity = %g and p_below_ground = %g: must sum up to less than 1",
			p->p_gravity, p->p_below_ground);
	return 0;
}

/*
 * Checks bounds within which float is precise enough for the fit (docs/develop/algorithm.md, slanted stixels)
 * and every result is finite.
 */
static int check_slanted(const struct sx_params *p, struct sx_why *why)
{
	const struct sx_slanted_params *s = &p->stixels.slanted;
	const double weights[] = {s->cut,  s->gravity,	s->order,     s->gap,
				  s->hole, s->semantic, s->class_cut, s->sky_outlier};

	if (p->stixels.cell_height < 0 || p->stixels.cell_height > 32)
		return params_refuse(
			why, "stixels.cell_height = %d: must be from 1 to 32, or 0 for that of the width",
			p->stixels.cell_height);
	if (!(s->sigma_ground_px >= 0.01 && s->sigma_object_px >= 0.01 && s->sigma_sky_px >= 0.01))
		return params_refuse(why,
				     "model.slanted_sigma_ground_px = %g, slanted_sigma_object_px = %g, "
				     "slanted_sigma_sky_px = %g: must be at least 0.01",
				     s->sigma_ground_px, s->sigma_object_px, s->sigma_sky_px);
	if (!(s->offset_px >= s->sigma_ground_px / 16))
		return params_refuse(why,
				     "model.slanted_offset_px = %g: must be at least a sixteenth of "
				     "slanted_sigma_ground_px = %g",
				     s->offset_px, s->sigma_ground_px);
	if (!(s->confidence_full > 0 && s->confidence_full <= 1))
		return params_refuse(why, "model.slanted_confidence_full = %g: must be above 0 and at most 1",
				     s->confidence_full);
	if (!(s->roughness >= 0 && s->roughness <= 1))
		return params_refuse(why, "model.slanted_roughness = %g: must be from 0 to 1", s->roughness);
	if (!(s->slope_px > 0 && s->bent_px > 0))
		return params_refuse(why,
				     "model.slanted_slope_px = %g, slanted_bent_px = %g: must be positive",
				     s->slope_px, s->bent_px);
	for (size_t i = 0; i < sizeof(weights) / sizeof(*weights); i++)
		if (!(weights[i] >= 0 && weights[i] <= 1000))
			return params_refuse(
				why,
				"model.slanted_cut = %g, slanted_gravity = %g, slanted_order = %g, "
				"slanted_gap = %g, slanted_hole = %g, slanted_semantic = %g, "
				"slanted_class_cut = %g, slanted_sky_outlier = %g: must be from 0 to 1000",
				s->cut, s->gravity, s->order, s->gap, s->hole, s->semantic, s->class_cut,
				s->sky_outlier);
	if (s->above < 0 || s->above > 100)
		return params_refuse(why, "model.slanted_above = %d: must be from 0 to 100 percent",
				     s->above);
	if (!(s->below >= 0 && s->below <= 1))
		return params_refuse(why, "model.slanted_below = %g: must be from 0 to 1", s->below);
	if (s->fill_px < 0 || s->fill_px > 512 || s->feet_px < 0 || s->feet_px > 512)
		return params_refuse(
			why, "model.slanted_fill_px = %d, slanted_feet_px = %d: must be from 0 to 512",
			s->fill_px, s->feet_px);
	return 0;
}

/* Checks class scores. kind: as in stixel.h, 0 ground, 1 object, 2 sky. */
static int check_semantics(const struct sx_semantic_params *s, struct sx_why *why)
{
	if (s->classes < 0 || s->classes > SX_CLASSES_MAX)
		return params_refuse(why, "%d semantic classes: must be at most %d", s->classes,
				     SX_CLASSES_MAX);
	for (int k = 0; k < s->classes; k++)
		if (s->kind[k] > 2)
			return params_refuse(why,
					     "semantic class %d: its kind %d is not ground, object or sky", k,
					     s->kind[k]);
	return 0;
}

static int check_evidence(const struct sx_stixel_params *s, struct sx_why *why)
{
	if (s->sky_grey < 0 || s->sky_grey > 256 || s->saturated < 0 || s->saturated > 256)
		return params_refuse(why,
				     "model.sky_grey = %d, stixels.saturated = %d: must be from 0 to 256",
				     s->sky_grey, s->saturated);
	return 0;
}

static int check_stixels(const struct sx_params *p, int width, struct sx_why *why)
{
	const struct sx_stixel_params *s = &p->stixels;
	int e;

	if (s->width < 1 || s->width > 32 || s->width > width)
		return params_refuse(
			why, "stixels.width = %d: must be from 1 to 32 and at most the image width %d",
			s->width, width);
	if (!(s->sigma_object_px > 0 && s->sigma_ground_px > 0 && s->sigma_sky_px > 0))
		return params_refuse(
			why,
			"model.sigma_object_px = %g, sigma_ground_px = %g, sigma_sky_px = %g: must "
			"be positive",
			s->sigma_object_px, s->sigma_ground_px, s->sigma_sky_px);
	if (!(2 * s->epsilon_px <= p->stereo.disparities))
		return params_refuse(
			why, "model.epsilon_px = %g: twice that must not exceed stereo.disparities = %d",
			s->epsilon_px, p->stereo.disparities);
	if (sx_is_slanted(s) &&
	    ((e = check_slanted(p, why)) < 0 || (e = check_semantics(&p->semantics, why)) < 0))
		return e;
	if ((e = check_evidence(s, why)) < 0)
		return e;
	return check_probabilities(s, why);
}

int sx_params_check(const struct sx_params *p, int width, int height, struct sx_why *why)
{
	int e;

	if (width < 32 || width > 4096 || height < 32 || height > 2160)
		return params_refuse(why, "image size %dx%d: must be from 32x32 to 4096x2160", width, height);
	if ((e = check_stereo(&p->stereo, why)) < 0 || (e = check_filters(&p->filters, why)) < 0 ||
	    (e = check_camera(&p->camera, why)) < 0 || (e = check_road(p, why)) < 0 ||
	    (e = check_vehicle(p, why)) < 0)
		return e;
	return check_stixels(p, width, why);
}
