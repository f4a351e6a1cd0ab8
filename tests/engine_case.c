/*
 * Helpers shared by the tests of engines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/engine_case.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <stixel.h>

#include "base/why.h"
#include "stages/taps.h"
#include "tests/slanted_case.h"

static const char *const tap_names[SX_TAP_COUNT] = {
	"left",	      "right",	 "left-flat", "right-flat",   "left-census", "right-census",
	"tiles",      "sum",	 "winner",    "winner-right", "median",	     "median-right",
	"left-right", "speckle", "disparity", "confidence",   "columns",     "columns-confidence",
	"features",   "flows",
};

struct sx_params engine_case_params(void)
{
	return (struct sx_params){
		.camera = {.fx = 721, .fy = 721, .cx = 609, .cy = 172, .baseline_m = 0.54, .height_m = 1.65},
		.stereo = {.cost = SX_COST_CSCT,
			   .paths = 4,
			   .disparities = 64,
			   .p1 = 10,
			   .p2 = 86, /* sums of two paths fit a byte, sums of four are narrow (gpu/stereo) */
			   .uniqueness = 95,
			   .subpixel = SX_SUBPIXEL_TRUNC,
			   .zncc_window = 5},
		.filters = {.left_right = 1, .speckle_range = 1, .smooth = true},
		.road = {.top = 33,
			 .min_height_m = 0.5,
			 .max_height_m = 3,
			 .max_pitch_deg = 50,
			 .max_roll_deg = 6,
			 .max_age = 30},
		.stixels = {.width = 5,
			    .max_per_column = 128,
			    .sigma_object_px = 1,
			    .sigma_ground_px = 1,
			    .sigma_sky_px = 0.4,
			    .p_outlier = 0.15,
			    .p_outlier_sky = 0.4,
			    .p_order = 0.2,
			    .p_gravity = 0.1,
			    .p_below_ground = 0.04,
			    .epsilon_px = 2,
			    .depth_noise_m = 0.3,
			    .depth_order_m = 0.3,
			    .sigma_height_m = 0.05,
			    .sigma_pitch_rad = 0.005,
			    .p_invalid = 0.25,
			    .p_invalid_ground = 0.28,
			    .p_invalid_object = 0.44,
			    .p_invalid_sky = 0.28,
			    .rdp_epsilon_px = 2,
			    .rdp_sky_px = 1,
			    .rdp_ground_px = 1.5,
			    EVIDENCE_CASE,
			    .slanted = SLANTED_CASE},
	};
}

size_t engine_case_cells(const struct engine_case *t)
{
	/* an external map needs no matching */
	const int deep = t->external ? 16 : t->params.stereo.disparities;

	return (size_t)t->width * (size_t)t->height * (size_t)deep;
}

/*
 * Fills class scores with planes that have a few rows between them: smooth enough that stixels have classes,
 * noise, or one value everywhere.
 */
static void scores_init(struct engine_frame *f, const struct engine_case *t, struct check_rng *r)
{
	const int n = t->params.semantics.classes, w = (t->width + t->score_scale - 1) / t->score_scale,
		  h = (t->height + t->score_scale - 1) / t->score_scale;

	check_image_init(&f->planes, SX_PIXEL_U8, w, (h + 2) * n, t->padding);
	check_fill(&f->planes.image, t->fill, r);
	for (int y = 0; y < (h + 2) * n && t->seed % 3; y++)
		for (int x = 0; x < w; x++)
			((uint8_t *)sx_image_row(&f->planes.image, y))[x] =
				(uint8_t)(y % (h + 2) * n / (h + 2) == y / (h + 2) ? 150 + check_below(r, 106)
										   : check_below(r, 20));
	f->scores = (struct sx_scores){.data = f->planes.image.data,
				       .pitch = f->planes.image.pitch,
				       .plane_bytes = f->planes.image.pitch * (size_t)(h + 2),
				       .classes = n,
				       .width = w,
				       .height = h,
				       .scale = t->score_scale};
	f->pair.scores = &f->scores;
}

static void fill_images(struct engine_frame *f, const struct engine_case *t, struct check_rng *r)
{
	if (t->pixel == SX_PIXEL_U8) {
		check_fill_pair(&f->left.image, &f->right.image, t->fill, t->shift, 9, r);
	} else if (t->pixel == SX_PIXEL_Y16 && t->y16_levels) {
		check_fill_y16(&f->left.image, t->y16_levels, 0, r);
		check_fill_y16(&f->right.image, t->y16_levels, t->shift, r);
	} else {
		check_fill(&f->left.image, t->fill, r);
		check_fill(&f->right.image, t->fill, r);
	}
}

void engine_frame_init(struct engine_frame *f, const struct engine_case *t)
{
	const int width = t->rectify ? t->rig.raw_width : t->width,
		  height = t->rectify ? t->rig.raw_height : t->height;
	struct check_rng r = check_rng_seed(t->seed);

	check_image_init(&f->left, t->pixel, width, height, t->padding);
	check_image_init(&f->right, t->pixel, width, height, t->padding);
	fill_images(f, t, &r);
	f->pair = (struct sx_pair){.left = f->left.image, .right = f->right.image, .number = 1};
	if (t->interleaved) {
		f->pair.right = f->pair.left;
		f->pair.right.data = (uint8_t *)f->pair.left.data + 1;
	}
	f->planes = f->map = f->map_confidence = (struct check_image){0};
	if (t->external)
		engine_frame_external(f, t, &r);
	if (t->score_scale)
		scores_init(f, t, &r);
}

bool engine_frame_finish(struct engine_frame *f)
{
	const bool left = check_guards(&f->left, "left image"),
		   right = check_guards(&f->right, "right image");

	check_image_finish(&f->left);
	check_image_finish(&f->right);
	check_image_finish(&f->planes);
	check_image_finish(&f->map);
	check_image_finish(&f->map_confidence);
	return left && right;
}

struct sx_context *engine_case_context(const struct sx_backend *backend, struct sx_device *device,
				       const struct engine_case *t, bool keep_volume)
{
	struct sx_context_config c = {.width = t->width,
				      .height = t->height,
				      .pixel = t->pixel,
				      .params = t->params,
				      .rectify = t->rectify,
				      .rig = t->rig,
				      .keep_volume = keep_volume};
	struct sx_context *x = NULL;
	struct sx_why why = {""};

	if (backend->context_create(&x, device, &c, &why) < 0)
		fprintf(stderr, "%dx%d: %s\n", t->width, t->height, why.text);
	return x;
}

static void describe_case(char *text, size_t bytes, const struct engine_case *t, const char *tap,
			  const char *how)
{
	const struct sx_stereo_params *p = &t->params.stereo;

	snprintf(text, bytes,
		 "%s %s, %s %dx%d+%d D %d min %d paths %d cost %d p2 %d %d window %d edge %d fastdt %d", how,
		 tap, check_fill_name(t->fill), t->width, t->height, t->padding, p->disparities,
		 p->min_disparity, p->paths, p->cost, p->p2, p->p2_vertical, p->zncc_window, p->p2_edge,
		 p->aggregation == SX_AGGREGATION_FASTDT ? (int)p->fastdt : -1);
}

static bool same_road(const struct sx_road *a, const struct sx_road *b)
{
	return a->slope == b->slope && a->offset == b->offset && a->cross == b->cross && a->axis == b->axis &&
	       a->bend == b->bend && a->bend_row == b->bend_row && a->horizon_row == b->horizon_row &&
	       a->pitch_rad == b->pitch_rad && a->roll_rad == b->roll_rad && a->height_m == b->height_m &&
	       a->pitch_sigma_rad == b->pitch_sigma_rad && a->roll_sigma_rad == b->roll_sigma_rad &&
	       a->height_sigma_m == b->height_sigma_m && a->inliers == b->inliers && a->age == b->age &&
	       a->origin == b->origin;
}

static bool same_result(const char *what, const struct sx_result *want, const struct sx_result *got)
{
	if (want->columns != got->columns || want->count != got->count ||
	    memcmp(want->offsets, got->offsets, (want->columns + 1) * sizeof(*want->offsets)) != 0 ||
	    memcmp(want->stixels, got->stixels, want->count * sizeof(*want->stixels)) != 0) {
		fprintf(stderr, "%s: stixels differ: want %u, got %u\n", what, want->count, got->count);
		return false;
	}
	if (!same_road(&want->road, &got->road)) {
		fprintf(stderr, "%s: road differs\n", what);
		return false;
	}
	if (want->stretch.min != got->stretch.min || want->stretch.max != got->stretch.max) {
		fprintf(stderr, "%s: range of raw values differs: want %u to %u, got %u to %u\n", what,
			want->stretch.min, want->stretch.max, got->stretch.min, got->stretch.max);
		return false;
	}
	if (memcmp(&want->diagnostics, &got->diagnostics, sizeof(want->diagnostics)) != 0) {
		fprintf(stderr, "%s: what the pair says about the cameras differs\n", what);
		return false;
	}
	return true;
}

bool engine_case_same(const struct engine_case *t, struct engine_output want, struct engine_output got,
		      const char *how, bool volume)
{
	char text[256];
	bool same = true;

	for (int tap = 0; tap < SX_TAP_COUNT; tap++) {
		struct sx_image a, b;
		int r;

		/* these contexts have no chain of motion: tests/chain_case.h */
		if ((tap == SX_TAP_SUM && !volume) || sx_tap_is_motion((enum sx_tap)tap))
			continue;
		describe_case(text, sizeof(text), t, tap_names[tap], how);
		r = want.backend->peek(want.context, (enum sx_tap)tap, &a);
		if (r == -ENOENT && (t->external || tap == SX_TAP_TILES) &&
		    got.backend->peek(got.context, (enum sx_tap)tap, &b) == -ENOENT)
			continue; /* neither engine computes this tap */
		if (r < 0 || (r = got.backend->peek(got.context, (enum sx_tap)tap, &b)) < 0) {
			fprintf(stderr, "%s: not there (error %d)\n", text, -r);
			return false;
		}
		same &= check_same(text, t->seed, &a, &b,
				   tap == SX_TAP_SUM ? t->params.stereo.disparities : 0);
	}
	describe_case(text, sizeof(text), t, "result", how);
	return same & same_result(text, want.backend->result(want.context), got.backend->result(got.context));
}

struct engine_case engine_case_small(uint64_t seed)
{
	return (struct engine_case){.width = 70,
				    .height = 43,
				    .params = engine_case_params(),
				    .pixel = SX_PIXEL_U8,
				    .fill = CHECK_NOISE,
				    .shift = 7,
				    .padding = 3,
				    .seed = seed};
}
