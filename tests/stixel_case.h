/*
 * What tests of the segmenters share: parameters, roads and columns that look like scenes or like trouble.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_STIXEL_CASE_H
#define SX_TESTS_STIXEL_CASE_H

#include "stages/params/params.h"
#include "stages/road/road.h"
#include "tests/check.h"

enum { STIXEL_CASE_WIDTH = 5 }; /* of a column, px */

/* A KITTI-like camera over an image of height rows and the defaults of docs/algorithm.md. */
struct sx_params stixel_case_params(int height);
/* The same with every number of the stixel model drawn anew. */
struct sx_params stixel_case_random_params(int height, struct check_rng *r);

/* A road whose horizon leaves vhor rows below it (any of 0..height) and reaches bottom_px in the last row. */
struct sx_road stixel_case_road(int height, int vhor, double bottom_px);
/* Lets it lean: px more disparity at the right end of the columns than at the left, none in their middle. */
void stixel_case_lean(struct sx_road *road, int columns, double px);

/*
 * Where columns may lie: the road leans to either side or not, and columns are so narrow that the right
 * camera sees little of it, or so wide that it sees most.
 */
void stixel_case_place(struct sx_params *p, struct sx_road *road, int columns, struct check_rng *r);

/* It climbs or falls from a row of height on; one in thirteen goes straight on. */
void stixel_case_bend(struct sx_road *road, int height, struct check_rng *r);
/* The same road under columns of another width, px. */
struct sx_road stixel_case_road_of_width(const struct sx_road *road, int width);
/* The road as column u sees it, without a lean. */
struct sx_road stixel_case_road_in(const struct sx_road *road, int u);

enum stixel_case {
	CASE_SCENE,   /* road, objects, sky, 0.4 px noise, outliers, invalid cells and a hole */
	CASE_SHARP,   /* the same without noise and holes: many ties */
	CASE_NOISE,   /* any disparity, 5 % invalid */
	CASE_FLAT,    /* one value */
	CASE_INVALID, /* nothing valid */
	CASE_COMB,    /* a scene with every second cell invalid */
	CASE_COARSE,  /* few whole disparities: ties of every kind */
	CASE_COUNT
};
const char *stixel_case_name(enum stixel_case how);
/* d[height], v up, Q4 below 16 * range or invalid; of a road without a lean. */
void stixel_case_column(enum stixel_case how, const struct sx_road *road, int range, int height, uint16_t *d,
			struct check_rng *r);
/* A U16 image, one column per row. */
void stixel_case_columns(enum stixel_case how, const struct sx_road *road, int range,
			 const struct sx_image *columns, struct check_rng *r);

#endif
