/*
 * Rules of the image diagnostics: positions of the grid's places, votes and flat areas. All engines use them,
 * so the file is in the common subset of C and CUDA.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_DIAGNOSTICS_DIAGNOSTICS_VOTE_H
#define SX_STAGES_DIAGNOSTICS_DIAGNOSTICS_VOTE_H

#include <stdbool.h>

#include "stages/diagnostics/diagnostics.h"

#ifdef __CUDACC__
#define SX_DIAGNOSTICS_INLINE static __host__ __device__ inline
#else
#define SX_DIAGNOSTICS_INLINE static inline
#endif

/* Returns the number of rows with samples. */
SX_DIAGNOSTICS_INLINE int sx_diagnostics_sample_rows(int height)
{
	return (height - 2 - SX_DIAGNOSTICS_SAMPLE_ROWS / 2) / SX_DIAGNOSTICS_SAMPLE_ROWS + 1;
}

/*
 * Returns the number of areas in a row of samples, including those that do not count; 0 in images less than
 * 34 px wide.
 */
SX_DIAGNOSTICS_INLINE int sx_diagnostics_areas(int width)
{
	return (width - 2) / SX_DIAGNOSTICS_FLAT_COLUMNS;
}

/* Returns true if an area counts. first, last: sums of grey levels of its first and last column. */
SX_DIAGNOSTICS_INLINE bool sx_diagnostics_is_area(int32_t first, int32_t last)
{
	return (first > 0) == (last > 0);
}

/*
 * Returns true if an area is flat. left, right: sums of grey levels of its halves. laplacian: sum over its
 * samples.
 */
SX_DIAGNOSTICS_INLINE bool sx_diagnostics_is_flat(int32_t left, int32_t right, int32_t laplacian)
{
	const int32_t step = left - right;

	return step <= SX_DIAGNOSTICS_FLAT_STEP && step >= -SX_DIAGNOSTICS_FLAT_STEP &&
	       laplacian <= SX_DIAGNOSTICS_FLAT_LAPLACIAN;
}

/*
 * The weight of a sample in the checksum is a hash of its place, so that moving things change the sum. One
 * addition leads from a place to the next column.
 */
#define SX_DIAGNOSTICS_NEXT_PLACE UINT32_C(2654435761)
SX_DIAGNOSTICS_INLINE uint32_t sx_diagnostics_place(int x, int y)
{
	return ((uint32_t)y << 16 | (uint32_t)x) * SX_DIAGNOSTICS_NEXT_PLACE;
}
SX_DIAGNOSTICS_INLINE uint32_t sx_diagnostics_weight(uint32_t place)
{
	return place ^ place >> 15;
}

/*
 * Returns the pixel of a place of the grid. The image contains its window, all windows that it is compared
 * with, and one more pixel around them.
 */
SX_DIAGNOSTICS_INLINE int sx_diagnostics_x(int column, int width)
{
	return SX_DIAGNOSTICS_LEFT + 1 +
	       (2 * column + 1) * (width - SX_DIAGNOSTICS_WIDTH - 1) / (2 * SX_DIAGNOSTICS_COLUMNS);
}
SX_DIAGNOSTICS_INLINE int sx_diagnostics_y(int row, int height)
{
	const int margin = SX_DIAGNOSTICS_UP + SX_DIAGNOSTICS_REACH;

	return margin + (2 * row + 1) * (height - 2 * margin) / (2 * SX_DIAGNOSTICS_ROWS);
}

/*
 * Returns true if a column of the grid is used. In images less than 768 px wide the windows of all columns
 * would overlap, so only some columns are used.
 */
SX_DIAGNOSTICS_INLINE bool sx_diagnostics_asks(int column, int width)
{
	const int step = (SX_DIAGNOSTICS_COLUMNS * SX_DIAGNOSTICS_WIDTH + width - 1) / width;

	return column % step == step / 2;
}

/*
 * Returns true if the right image contains all windows that a place at x with disparity d_q4 is compared
 * with.
 */
SX_DIAGNOSTICS_INLINE bool sx_diagnostics_sees(int x, int d_q4, int width)
{
	const int first = x - ((d_q4 + 8) >> 4) - SX_DIAGNOSTICS_SLACK - SX_DIAGNOSTICS_LEFT;

	return d_q4 != SX_DISPARITY_INVALID && first >= 0 &&
	       first + 2 * SX_DIAGNOSTICS_SLACK + SX_DIAGNOSTICS_WIDTH <= width;
}

/*
 * Returns true if a window is a corner. xx, yy, xy: sums of gx gx, gy gy, gx gy over it, gx = g(x+1, y) -
 * g(x-1, y), gy = g(x, y+1) - g(x, y-1). A straight edge has xy^2 = xx yy.
 */
SX_DIAGNOSTICS_INLINE bool sx_diagnostics_is_corner(int32_t xx, int32_t yy, int32_t xy)
{
	return xx >= SX_DIAGNOSTICS_STRUCTURE && yy >= SX_DIAGNOSTICS_STRUCTURE &&
	       4 * (int64_t)xy * xy <= (int64_t)xx * yy;
}

/*
 * Returns the vote of a corner. cost[k + 8], k = -8 .. 8: the lowest sum of absolute differences between the
 * left window and the windows of the right image k rows lower, at columns x - round(d) - s, s = -3 .. 3.
 *
 * The best k has the lowest cost; ties: the smaller |k|, then the negative one. With a, b: the differences of
 * cost from the best k to k - 1, k + 1, the vote is 16 k + floor(8 (a - b) / (a + b) + 1/2), the vertex of a
 * parabola.
 *
 * There is no vote if the best k is -8 or 8, or if a + b < SX_DIAGNOSTICS_CURVATURE. There is none if a + b
 * is less than a quarter of the best cost, as for windows that show different things. There is none if the
 * cost of any k that is not a neighbour is higher than the best by less than a quarter of a + b: then another
 * row fits as well.
 */
SX_DIAGNOSTICS_INLINE int sx_diagnostics_vote(const int32_t cost[SX_DIAGNOSTICS_TRIED])
{
	int best = SX_DIAGNOSTICS_REACH;
	int32_t a, curvature;

	for (int i = 1; i <= SX_DIAGNOSTICS_REACH; i++) {
		if (cost[SX_DIAGNOSTICS_REACH - i] < cost[best])
			best = SX_DIAGNOSTICS_REACH - i;
		if (cost[SX_DIAGNOSTICS_REACH + i] < cost[best])
			best = SX_DIAGNOSTICS_REACH + i;
	}
	if (best == 0 || best == SX_DIAGNOSTICS_TRIED - 1)
		return SX_DIAGNOSTICS_NO_VOTE;
	a = cost[best - 1] - cost[best];
	curvature = a + cost[best + 1] - cost[best];
	if (curvature < SX_DIAGNOSTICS_CURVATURE || 4 * curvature < cost[best])
		return SX_DIAGNOSTICS_NO_VOTE;
	for (int i = 0; i < SX_DIAGNOSTICS_TRIED; i++)
		if ((i < best - 1 || i > best + 1) && 4 * (cost[i] - cost[best]) < curvature)
			return SX_DIAGNOSTICS_NO_VOTE;
	/* 8 (a - b) = 16 a - 8 (a + b): this form divides no negative number */
	return 16 * (best - SX_DIAGNOSTICS_REACH) + (32 * a + curvature) / (2 * curvature) - 8;
}

#endif
