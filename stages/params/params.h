/*
 * Parameters of every stage, with units and ranges. Filled from the configuration (config/options.c has
 * one row for each field, with its default; sx_stereo_resolve() has the values of those left open), read by all
 * engines, never changed while a context lives.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_PARAMS_PARAMS_H
#define SX_STAGES_PARAMS_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/camera.h"
#include "base/scores.h"
#include "stages/params/slanted_params.h"
#include "stages/params/vehicle_params.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Matching cost. Largest cost Cmax: 31, 62, 48, 62 (the 63rd bit is always 0), 42. */
enum sx_cost { SX_COST_CSCT, SX_COST_CENSUS, SX_COST_CENSUS48, SX_COST_CENSUS63, SX_COST_ZNCC };
/* internal: from the pair; external: pairs bring a map of another process, costs to paths mean nothing. */
enum sx_match { SX_MATCH_INTERNAL, SX_MATCH_EXTERNAL };
enum sx_aggregation { SX_AGGREGATION_SGM, SX_AGGREGATION_FASTDT };
/* FastDT's arithmetic; auto: see sx_stereo_resolve(). */
enum sx_fastdt { SX_FASTDT_AUTO, SX_FASTDT_FLOAT, SX_FASTDT_INT32, SX_FASTDT_INT16, SX_FASTDT_INT8 };
/* Cost where the right pixel lies outside the image: descriptor taken as 0 (as libSGM), or Cmax. */
enum sx_out_of_view { SX_OUT_OF_VIEW_ZERO, SX_OUT_OF_VIEW_MAX };
/* Rounding of the parabola: C division (as libSGM), floor, or none. */
enum sx_subpixel { SX_SUBPIXEL_OFF, SX_SUBPIXEL_TRUNC, SX_SUBPIXEL_FLOOR };
enum sx_median_border { SX_MEDIAN_BORDER_COPY, SX_MEDIAN_BORDER_ZERO };
enum sx_road_mode { SX_ROAD_PLANE, SX_ROAD_CALIBRATED };
/* slanted: planes, energies of whole stixels in closed form; slanted-exact: outliers, cell by cell (slow). */
enum sx_stixel_method { SX_STIXEL_DP, SX_STIXEL_SLANTED, SX_STIXEL_RDP, SX_STIXEL_SLANTED_EXACT };
enum sx_reduction { SX_REDUCTION_MEDIAN, SX_REDUCTION_MEAN };

struct sx_stereo_params {
	enum sx_cost cost;
	enum sx_aggregation aggregation;
	int paths;	   /* 2, 4, 8 */
	int disparities;   /* 32..256, multiple of 32, px */
	int min_disparity; /* -128..128 px: candidates are min_disparity .. min_disparity+disparities-1 */
	/*
	 * Penalties of horizontal paths, and of vertical and diagonal ones (sgm.h): 0 < p1 <= p2,
	 * Cmax + p1 + p2 <= 255; 0: see sx_stereo_resolve()
	 */
	int p1, p2, p1_vertical, p2_vertical;
	enum sx_out_of_view out_of_view;
	int uniqueness; /* percent, 1..100; best must be below this share of any rival; 100 = off */
	enum sx_subpixel subpixel;
	int zncc_window; /* l of zncc: 3, 5 .. 15 px */
	/*
	 * sgm: difference of grey levels between neighbours along a path at which p2 has fallen to half,
	 * 1..255; 0: p2 is the same everywhere. Falls to p1 + 1 at least (sgm.h).
	 */
	int p2_edge;
	enum sx_fastdt fastdt;
	double fastdt_sigma_space; /* px, > 0: reach where grey levels are constant */
	double fastdt_sigma_range; /* grey levels, > 0 */
	enum sx_match matcher;
};

struct sx_filter_params {
	bool median; /* 3x3 of both maps, before the others */
	enum sx_median_border median_border;
	int left_right;	      /* tolerance, px; -1 = no check */
	bool left_right_keep; /* pixels whose partner is out of view stay valid */
	int speckle_size;     /* px; components up to this size go; 0 = off */
	int speckle_range;    /* px of disparity between neighbours of one component */
	bool smooth;	      /* sx_smooth() after all others */
};

struct sx_road_params {
	enum sx_road_mode mode;
	int top; /* percent of the height: rows above are not looked at, 0..90 */
	double min_height_m, max_height_m, max_pitch_deg; /* 0: as camera.height_m has it, road_scale.h */
	double max_roll_deg;
	int max_age; /* frames that an older road may stand in, 0..1000 */
};

/* sigma_*_px in px of disparity; p_*: probabilities in (0,1). algorithms: docs/algorithm.md, stixel DP. */
struct sx_stixel_params {
	enum sx_stixel_method method;
	int width; /* px, 1..32 */
	/* px, 0..32: rows of a cell of the slanted methods, 0: as width; others have cells of one row */
	int cell_height;
	enum sx_reduction reduction;
	int max_per_column; /* published stixels of a column, 1..2160 */
	double sigma_object_px, sigma_ground_px, sigma_sky_px;
	double p_outlier, p_outlier_sky;
	double p_order, p_gravity, p_below_ground;
	double epsilon_px;    /* tolerance of gravity; 2 epsilon <= disparities */
	double depth_noise_m; /* object noise: depth extent */
	double depth_order_m; /* objects closer in depth than this are one object */
	double sigma_height_m, sigma_pitch_rad;
	double p_invalid; /* share of pixels without disparity, 0..0.9 */
	double p_invalid_ground, p_invalid_object, p_invalid_sky; /* class given invalid; sum 1 */
	/* evidence.h */
	int sky_grey;  /* least grey level of blank sky, 0..256; 256: there is none */
	int saturated; /* grey level from which a cell of the lower half tells nothing, 0..256; 256: none */
	double rdp_epsilon_px; /* largest vertical distance of a sample from its segment */
	double rdp_sky_px;     /* RDP: mean below this above the horizon is sky */
	double rdp_ground_px;  /* RDP: tolerance of ground residuals, plus 5 % of the ground */
	struct sx_slanted_params slanted;
};

/* What class scores of a pair are of. kind: that stixels of a class may have, ground, object or sky. */
struct sx_semantic_params {
	int classes; /* 0..SX_CLASSES_MAX; 0: pairs have no scores */
	uint8_t kind[SX_CLASSES_MAX];
};

struct sx_params {
	struct sx_camera camera;
	struct sx_vehicle_params vehicle;
	struct sx_stereo_params stereo;
	struct sx_filter_params filters;
	struct sx_road_params road;
	struct sx_stixel_params stixels;
	struct sx_semantic_params semantics;
};

/* Largest value of one matching cost: Cmax above. */
int sx_cost_max(enum sx_cost cost);

/*
 * Replaces p1, p2, fastdt_sigma_* of 0 and fastdt auto, each on its own, by what was measured best for this
 * cost, aggregation and number of paths (docs/lab-accuracy.md); p1_vertical of 0 likewise, or by p1 where
 * that is given; p2_vertical the same. Engines do so when they make a context; sx_params_check() comes after.
 */
void sx_stereo_resolve(struct sx_stereo_params *p);

/* Disparities that a finished map can hold: 0 .. range-1 px (disparities + max(min_disparity, 0)). */
int sx_disparity_range(const struct sx_stereo_params *p);

#ifdef __cplusplus
}
#endif

#endif
