/*
 * Helpers shared by the tests of the segmenters: parameters, roads, and columns that look like scenes or that
 * provoke mistakes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_STIXEL_CASE_H
#define SX_TESTS_STIXEL_CASE_H

#include "stages/params/params.h"
#include "stages/road/road.h"
#include "tests/check.h"

enum { STIXEL_CASE_WIDTH = 5 }; /* width of a column, px */

/*
 * Returns the parameters of a KITTI-like camera with images of `height` rows and the defaults of
 * docs/develop/algorithm.md.
 */
struct sx_params stixel_case_params(int height);
/* Returns the same parameters with every number of the stixel model drawn at random. */
struct sx_params stixel_case_random_params(int height, struct check_rng *r);

/*
 * Returns a road whose horizon leaves vhor rows below it (any of 0..height) and whose disparity reaches
 * bottom_px in the last row.
 */
struct sx_road stixel_case_road(int height, int vhor, double bottom_px);
/*
 * Adds roll to a road: px more disparity at the right end of the columns than at the left, none in their
 * middle.
 */
void stixel_case_roll(struct sx_road *road, int columns, double px);

/*
 * Draws a random placement of the columns. The road has roll to either side or none. The columns are so
 * narrow that the right camera sees little of the road, or so wide that it sees most.
 */
void stixel_case_place(struct sx_params *p, struct sx_road *road, int columns, struct check_rng *r);

/* Makes the road climb or fall from a random row of `height` on. One road in thirteen stays straight. */
void stixel_case_bend(struct sx_road *road, int height, struct check_rng *r);
/* Returns the same road under columns of another width, px. */
struct sx_road stixel_case_road_of_width(const struct sx_road *road, int width);
/* Returns the road as column u sees it, without roll. */
struct sx_road stixel_case_road_in(const struct sx_road *road, int u);

enum stixel_case {
	CASE_SCENE,   /* road, objects, sky, 0.4 px noise, outliers, invalid cells and a hole */
	CASE_SHARP,   /* the same without noise and holes: many ties */
	CASE_NOISE,   /* any disparity, 5 % of the cells invalid */
	CASE_FLAT,    /* one value in all cells */
	CASE_INVALID, /* all cells invalid */
	CASE_COMB,    /* a scene with every second cell invalid */
	CASE_COARSE,  /* few whole disparities, which give ties of every kind */
	CASE_COUNT
};
const char *stixel_case_name(enum stixel_case how);
/*
 * Fills one column. `d`: `height` values from the bottom up, Q4 below 16 * range or invalid. The road must
 * have no roll.
 */
void stixel_case_column(enum stixel_case how, const struct sx_road *road, int range, int height, uint16_t *d,
			struct check_rng *r);
/* Fills a U16 image that holds one column per row. */
void stixel_case_columns(enum stixel_case how, const struct sx_road *road, int range,
			 const struct sx_image *columns, struct check_rng *r);

#endif
