/*
 * Reach: how far the ground was measured anywhere in a frame. A plain stretch of road without a measurement is
 * free if other columns see the road beside it. In fog, or where the light of the lamps ends, no column
 * measures the road, and what a column has not measured itself is not free (unmeasured.h).
 *
 * The functions in this header are for stages/, cpu/ and gpu/, so in the common subset of C and CUDA; integers
 * alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STIXELS_REACH_H
#define SX_STAGES_STIXELS_REACH_H

#include "base/image.h"
#include "stages/params/params.h"
#include "stages/road/road_ground.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SX_REACH_BINS 64	 /* number of bins of ground disparities: up to 32 px */
#define SX_REACH_BIN_Q4 8	 /* width of a bin */
#define SX_REACH_TOLERANCE_Q4 32 /* a cell measures the ground if it is at most 2 px off */
#define SX_REACH_SHARE 16	 /* a bin needs measured cells in this share of the columns, in image rows */

/*
 * Returns the bin of a cell that measures far ground, or -1. A road that climbs is off the plane by a pixel.
 * ground_q4: ground of the image row in the middle of the cell, in its column. cell_q4: disparity of the
 * cell, or SX_DISPARITY_INVALID.
 */
SX_ROAD_INLINE int sx_reach_bin(int32_t ground_q4, uint32_t cell_q4)
{
	const int32_t off = (int32_t)cell_q4 - ground_q4;

	if (ground_q4 <= 0 || ground_q4 >= SX_REACH_BINS * SX_REACH_BIN_Q4 ||
	    cell_q4 == SX_DISPARITY_INVALID || off > SX_REACH_TOLERANCE_Q4 || off < -SX_REACH_TOLERANCE_Q4)
		return -1;
	return (int)ground_q4 / SX_REACH_BIN_Q4;
}

/* Returns true if a bin has enough cells for the ground to be seen at its disparity. */
SX_ROAD_INLINE bool sx_reach_is_seen(uint32_t cells, int columns, int cell_height)
{
	return (uint32_t)SX_REACH_SHARE * cells * (uint32_t)cell_height > (uint32_t)columns;
}

/* Returns the least disparity of bin i, 1/128 px. */
SX_ROAD_INLINE int32_t sx_reach_q7(int i)
{
	return i * SX_REACH_BIN_Q4 * 8;
}

/*
 * Counts cells that measure far ground. columns: U16 Q4, one row per stixel column, before holes were filled.
 * u0, u1: counts columns u0 .. u1 - 1. height: height of the image, px. Adds to count[SX_REACH_BINS]. Thread:
 * any; allocates nothing.
 */
void sx_reach_count(const struct sx_image *columns, int u0, int u1, const struct sx_road *road, int height,
		    const struct sx_stixel_params *p, uint32_t *count);

/*
 * Returns the reach of a frame: the least disparity of ground that enough of its columns measured, 1/128 px;
 * sx_reach_q7(SX_REACH_BINS) if there is none. count: counts of all columns.
 */
int32_t sx_reach_of(const uint32_t *count, int columns, const struct sx_stixel_params *p);

#ifdef __cplusplus
}
#endif

#endif
