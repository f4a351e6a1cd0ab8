/*
 * Sky: cells that are bright, without texture, and joined to the upper edge of the image. They must also be
 * high enough for the disparity that was matched there: a white wall that a vehicle can reach stays a wall.
 * docs/develop/algorithm.md, evidence. For stages/, cpu/ and gpu/, so in the common subset of C and CUDA.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STIXELS_SKY_H
#define SX_STAGES_STIXELS_SKY_H

#include "base/image.h"
#include "stages/params/params.h"
#include "stages/road/road_ground.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SX_BLANK_RANGE 8    /* greatest difference between grey levels of a blank cell */
#define SX_SKY_ROUNDS 2	    /* rounds along the rows and down again */
#define SX_SKY_HEIGHT_M 4.0 /* lowest height of sky above the road */
#define SX_SKY_HOLE_Q4 128  /* 8 px: assumed disparity of a cell without one */

/*
 * Returns true if all pixels of the cell in column u and row v are at least `bright` and differ by at most
 * `range` levels.
 */
bool sx_cell_is_bright(const struct sx_image *left, int u, int v, const struct sx_stixel_params *p,
		       int bright, int range);

/*
 * Finds cells that look like sky. left: U8, the image. sky: U8, one row per stixel column, as in columns of
 * stixels: 1 if a cell is joined to the upper edge, else 0; every cell is written.
 *
 * A cell is blank if all of its pixels are at least sky_grey and differ by at most SX_BLANK_RANGE. In each
 * column, from the upper edge down, blank cells are sky until two cells that are not blank lie on each other.
 * Then two steps are repeated SX_SKY_ROUNDS times. Along a row: in a run of blank cells, all become sky if
 * one is sky. Down: below a sky cell, blank cells are sky by the same rule as below the upper edge. If a wire
 * ends the sky in some columns, these steps find the sky below it from other columns. Thread: any; allocates
 * nothing.
 */
void sx_sky_find(const struct sx_image *left, const struct sx_stixel_params *p, struct sx_image *sky);

/* Returns the metres that one row spans at a disparity of 1 px; 0 without a camera model. */
static inline double sx_sky_metres(const struct sx_camera *c)
{
	return c->fy > 0.0 ? c->baseline_m * c->fx / c->fy : 0.0;
}

/*
 * Returns the factor `rise` of sx_sky_is_above(), in 1/256; 0 if no road is known. A point of disparity d in
 * a row whose ground has g < 0 is (d - g) / slope rows above its own ground. Each row is metres / d high. The
 * point is above SX_SKY_HEIGHT_M if -g >= rise * d.
 */
SX_ROAD_INLINE int32_t sx_sky_rise_q8(double slope, double metres)
{
	const double rise = slope > 0.0 && metres > 0.0 ? SX_SKY_HEIGHT_M * slope / metres - 1.0 : 0.0;

	return (int32_t)rint(rise > 255.0 ? 65280.0 : rise < 0.0 ? 0.0 : 256.0 * rise);
}

/*
 * Returns true if a cell is high enough to be sky. ground_q4: ground of the cell's lowest row, in its column.
 */
SX_ROAD_INLINE bool sx_sky_is_above(int32_t ground_q4, uint32_t disparity_q4, int32_t rise_q8)
{
	const int32_t d = disparity_q4 == SX_DISPARITY_INVALID ? SX_SKY_HOLE_Q4 : (int32_t)disparity_q4;

	return -ground_q4 * 256 >= rise_q8 * d;
}

#ifdef __cplusplus
}
#endif

#endif
