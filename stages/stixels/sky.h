/*
 * Sky: cells that are bright, without texture, and joined to the upper edge of the image; and how high they
 * must be, given where they were matched: a white wall that a vehicle can reach stays a wall.
 * docs/algorithm.md, evidence. For stages/, cpu/ and gpu/, so in the common subset of C and CUDA.
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

#define SX_BLANK_RANGE 8    /* grey levels of a blank cell differ by this at most */
#define SX_SKY_ROUNDS 2	    /* along the rows and down again */
#define SX_SKY_HEIGHT_M 4.0 /* above the road */
#define SX_SKY_HOLE_Q4 128  /* 8 px: where a cell without disparity is taken to be */

/* Are all pixels of the cell in column u and row v `bright` at least, and within `range` levels? */
bool sx_cell_is_bright(const struct sx_image *left, int u, int v, const struct sx_stixel_params *p,
		       int bright, int range);

/*
 * left: U8, the image. sky: U8, a column a row as in columns of stixels: 1 where a cell is joined to the
 * upper edge, 0 elsewhere; every one is written.
 *
 * A cell is blank when all of its pixels are sky_grey at least and differ by SX_BLANK_RANGE at most. From the
 * upper edge down, blank cells are sky until two of a column that are not blank lie on each other. Then
 * SX_SKY_ROUNDS times: blank cells beside each other in a row are all sky if one of them is; and below a cell
 * that is sky, blank ones are sky as they are below the upper edge. So a wire ends sky in some columns, and
 * what lies under it is found from the others. Thread: any; allocates nothing.
 */
void sx_sky_find(const struct sx_image *left, const struct sx_stixel_params *p, struct sx_image *sky);

/* Metres that one row spans at a disparity of 1 px; 0 without a camera model. */
static inline double sx_sky_metres(const struct sx_camera *c)
{
	return c->fy > 0.0 ? c->baseline_m * c->fx / c->fy : 0.0;
}

/*
 * What is at disparity d in a row whose ground has g < 0 is (d - g) / slope rows above its own ground, each
 * metres / d high. It is above SX_SKY_HEIGHT_M when -g >= rise * d; in 1/256, 0 where no road is known.
 */
SX_ROAD_INLINE int32_t sx_sky_rise_q8(double slope, double metres)
{
	const double rise = slope > 0.0 && metres > 0.0 ? SX_SKY_HEIGHT_M * slope / metres - 1.0 : 0.0;

	return (int32_t)rint(rise > 255.0 ? 65280.0 : rise < 0.0 ? 0.0 : 256.0 * rise);
}

/* ground_q4: of the cell's lowest row, in its column. */
SX_ROAD_INLINE bool sx_sky_is_above(int32_t ground_q4, uint32_t disparity_q4, int32_t rise_q8)
{
	const int32_t d = disparity_q4 == SX_DISPARITY_INVALID ? SX_SKY_HOLE_Q4 : (int32_t)disparity_q4;

	return -ground_q4 * 256 >= rise_q8 * d;
}

#ifdef __cplusplus
}
#endif

#endif
