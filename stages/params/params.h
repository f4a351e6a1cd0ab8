/*
 * Parameters of every stage, with units and ranges. The configuration fills them: config/options.c has one
 * row for each field, with its default. sx_stereo_resolve() replaces the values that are left open. All
 * engines read the parameters. They never change while a context lives.
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

/* Matching cost. Largest cost Cmax, in this order: 31, 62, 48, 62 (of 63 bits one is always 0), 42. */
enum sx_cost { SX_COST_CSCT, SX_COST_CENSUS, SX_COST_CENSUS48, SX_COST_CENSUS63, SX_COST_ZNCC };
/*
 * internal: the engine matches the pair. external: each pair brings the disparity map of another process, and
 * the parameters from cost to paths have no effect.
 */
enum sx_match { SX_MATCH_INTERNAL, SX_MATCH_EXTERNAL };
enum sx_aggregation { SX_AGGREGATION_SGM, SX_AGGREGATION_FASTDT };
/*
 * Cells that SGM searches: all (full), or those that stages/pyramid/pyramid.h selects (pyramid). auto is pyramid
 * from SX_PYRAMID_DISPARITIES_AUTO disparities on, but full with zncc and FastDT. sx_stereo_resolve() replaces
 * auto.
 */
#define SX_DISPARITIES_MAX 256 /* full search, or the map of another process */
#define SX_PYRAMID_DISPARITIES_AUTO 256
#define SX_PYRAMID_DISPARITIES_MAX 512 /* pyramid search; the published record ends at 512 px, too */
enum sx_search { SX_SEARCH_FULL, SX_SEARCH_PYRAMID, SX_SEARCH_AUTO };
/* Arithmetic of FastDT. sx_stereo_resolve() replaces auto. */
enum sx_fastdt { SX_FASTDT_AUTO, SX_FASTDT_FLOAT, SX_FASTDT_INT32, SX_FASTDT_INT16, SX_FASTDT_INT8 };
/* Cost where the right pixel lies outside the image: with descriptor 0 (as libSGM), or Cmax. */
enum sx_out_of_view { SX_OUT_OF_VIEW_ZERO, SX_OUT_OF_VIEW_MAX };
/* Rounding of the vertex of the sub-pixel parabola: C division (as libSGM), floor, or no parabola at all. */
enum sx_subpixel { SX_SUBPIXEL_OFF, SX_SUBPIXEL_TRUNC, SX_SUBPIXEL_FLOOR };
enum sx_median_border { SX_MEDIAN_BORDER_COPY, SX_MEDIAN_BORDER_ZERO };
enum sx_road_mode { SX_ROAD_PLANE, SX_ROAD_CALIBRATED };
/*
 * slanted: ground planes, with the energy of a whole stixel in closed form. slanted-exact: limits outliers,
 * cell by cell (slow).
 */
enum sx_stixel_method { SX_STIXEL_DP, SX_STIXEL_SLANTED, SX_STIXEL_RDP, SX_STIXEL_SLANTED_EXACT };
enum sx_reduction { SX_REDUCTION_MEDIAN, SX_REDUCTION_MEAN };

struct sx_stereo_params {
	enum sx_cost cost;
	enum sx_aggregation aggregation;
	enum sx_search search;
	int paths;	   /* 2, 4, 8 */
	int disparities;   /* multiple of 32, 32..sx_disparities_most(), px */
	int min_disparity; /* -128..128 px: candidates are min_disparity .. min_disparity + disparities - 1 */
	/*
	 * Penalties of horizontal paths, and of vertical and diagonal paths (sgm.h). 0 < p1 <= p2 and Cmax +
	 * p1 + p2 <= 255. sx_stereo_resolve() replaces 0.
	 */
	int p1, p2, p1_vertical, p2_vertical;
	enum sx_out_of_view out_of_view;
	/*
	 * percent, 1..100: S of the winner must be below this share of any rival's; 100: ties alone are
	 * rejected
	 */
	int uniqueness;
	enum sx_subpixel subpixel;
	int zncc_window; /* window size l of zncc: 3, 5 .. 15 px */
	/*
	 * sgm: p2 falls to half where neighbours along a path differ by this number of grey levels, 1..255.
	 * 0: p2 is the same everywhere. The lower limit of P2 is p1 + 1 (sgm.h).
	 */
	int p2_edge;
	enum sx_fastdt fastdt;
	double fastdt_sigma_space; /* px, > 0: range of the filter in an area of constant grey level */
	/* grey levels, > 0: difference of neighbours at which weights fall by the factor e */
	double fastdt_sigma_range;
	enum sx_match matcher;
};

struct sx_filter_params {
	bool median; /* 3x3, on the left and the right map, before the other filters */
	enum sx_median_border median_border;
	int left_right;	      /* tolerance of the left-right check, px; -1 = no check */
	bool left_right_keep; /* keep pixels whose partner is out of view */
	int speckle_size;     /* px; removes components of up to this size; 0 = off */
	int speckle_range;    /* greatest difference between neighbours of one component, px of disparity */
	bool smooth;	      /* sx_smooth(), after all other filters */
};

struct sx_road_params {
	enum sx_road_mode mode;
	/* percent of the image height, 0..90: the search for the road ignores these rows at the top */
	int top;
	/* height 0: derived from camera.height_m, road_scale.h */
	double min_height_m, max_height_m, max_pitch_deg;
	double max_roll_deg;
	int max_age; /* greatest age of an earlier road that replaces a missing one, frames, 0..1000 */
};

/*
 * sigma_*_px: px of disparity. p_*: probabilities in (0,1). Algorithms: docs/develop/algorithm.md, stixel DP.
 */
struct sx_stixel_params {
	enum sx_stixel_method method;
	int width; /* width of a stixel column, px, 1..32 */
	/*
	 * height of a cell of the slanted methods, px, 0..32; 0: equal to width. Cells of the other methods
	 * are one row high.
	 */
	int cell_height;
	enum sx_reduction reduction;
	int max_per_column; /* most published stixels of a column, 1..2160 */
	double sigma_object_px, sigma_ground_px, sigma_sky_px;
	double p_outlier, p_outlier_sky;
	double p_order, p_gravity, p_below_ground;
	double epsilon_px;    /* tolerance of gravity, px; 2 epsilon <= disparities */
	double depth_noise_m; /* depth extent of an object, for its noise */
	double depth_order_m; /* objects whose depths differ by less than this are one object */
	double sigma_height_m, sigma_pitch_rad;
	double p_invalid; /* share of pixels without disparity, 0..0.9 */
	/* probability of each class for an invalid pixel; sum 1 */
	double p_invalid_ground, p_invalid_object, p_invalid_sky;
	/* Parameters of evidence.h. */
	int sky_grey; /* lowest grey level of blank sky, 0..256; 256: no sky is found */
	/*
	 * lowest grey level of a saturated cell, 0..256; such cells of the lower half become holes; 256: none
	 */
	int saturated;
	double rdp_epsilon_px; /* RDP: largest vertical distance of a sample from its segment */
	double rdp_sky_px;     /* RDP: a segment above the horizon with a mean below this is sky */
	double rdp_ground_px;  /* RDP: tolerance of ground residuals; 5 % of the ground disparity is added */
	struct sx_slanted_params slanted;
};

/*
 * Classes of the scores that come with a pair. kind: the kind of stixel (ground, object or sky) that may have
 * a class.
 */
struct sx_semantic_params {
	int classes; /* number of classes, 0..SX_CLASSES_MAX; 0: pairs have no scores */
	uint8_t kind[SX_CLASSES_MAX];
};

/*
 * Motion between frames (stages/motion). pair: the step of the camera and a velocity for each stixel, by two frames.
 * filter: velocities over several frames, and the things that move.
 */
enum sx_motion_mode { SX_MOTION_MODE_OFF, SX_MOTION_MODE_PAIR, SX_MOTION_MODE_FILTER };
/* The daemon's use of the offset of the disparities. Engines find this offset in every mode of motion but off. */
enum sx_range_offset { SX_RANGE_OFFSET_OFF, SX_RANGE_OFFSET_REPORT, SX_RANGE_OFFSET_APPLY };
struct sx_motion_params {
	enum sx_motion_mode mode;
	enum sx_range_offset range;
};

struct sx_params {
	struct sx_camera camera;
	struct sx_vehicle_params vehicle;
	struct sx_stereo_params stereo;
	struct sx_filter_params filters;
	struct sx_road_params road;
	struct sx_stixel_params stixels;
	struct sx_semantic_params semantics;
	struct sx_motion_params motion;
};

/* Returns the largest value of a matching cost, Cmax above. */
int sx_cost_max(enum sx_cost cost);

/*
 * Replaces each of p1, p2, fastdt_sigma_* that is 0, fastdt auto and search auto by the value that was
 * measured best for this cost, aggregation and number of paths (tests/lab/lab-accuracy.md). Replaces
 * p1_vertical 0 by p1 if p1 is given, else by the best measured value; p2_vertical follows p2 in the same
 * way. Engines call this when they create a context, before sx_params_check().
 */
void sx_stereo_resolve(struct sx_stereo_params *p);

/* Returns true if the engine matches the pair with pyramid search. */
static inline bool sx_is_pyramid(const struct sx_stereo_params *p)
{
	if (p->matcher != SX_MATCH_INTERNAL || p->search != SX_SEARCH_AUTO)
		return p->matcher == SX_MATCH_INTERNAL && p->search == SX_SEARCH_PYRAMID;
	return p->disparities >= SX_PYRAMID_DISPARITIES_AUTO && p->aggregation == SX_AGGREGATION_SGM &&
	       p->cost != SX_COST_ZNCC;
}

/* Returns the largest number of disparities that may be searched. */
static inline int sx_disparities_most(const struct sx_stereo_params *p)
{
	return sx_is_pyramid(p) ? SX_PYRAMID_DISPARITIES_MAX : SX_DISPARITIES_MAX;
}

#define SX_RANGE_MAX 512 /* largest sx_disparity_range(): a published disparity has 16 bits, 1/128 px */
/*
 * Returns the number of disparities that a finished map can hold: 0 .. range-1 px (disparities +
 * max(min_disparity, 0)).
 */
int sx_disparity_range(const struct sx_stereo_params *p);

#ifdef __cplusplus
}
#endif

#endif
