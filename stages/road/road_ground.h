/*
 * Properties of a road: ground of rows and of columns of stixels, how long an earlier road may replace a
 * missing one, and its standard deviations. For stages/, cpu/, gpu/ and daemon/, so in the common subset of C
 * and CUDA.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_ROAD_ROAD_GROUND_H
#define SX_STAGES_ROAD_ROAD_GROUND_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "stages/road/road.h"

#ifdef __CUDACC__
#define SX_ROAD_INLINE static __host__ __device__ inline
#else
#define SX_ROAD_INLINE static inline
#endif

/* Returns true if the road of an earlier frame may replace that of one more frame. */
SX_ROAD_INLINE bool sx_road_lasts(const struct sx_road *previous, int max_age)
{
	return (previous->origin == SX_ROAD_MEASURED || previous->origin == SX_ROAD_PREVIOUS) &&
	       (int64_t)previous->age + 1 <= max_age;
}

/*
 * Random walk from one frame to the next: of pitch and roll, rad, and of the height, as a share of the
 * height.
 */
#define SX_ROAD_WALK_RAD 0.00087
#define SX_ROAD_WALK_HEIGHT 0.002

/*
 * Returns the standard deviation of a road of this age: the measured one, and the random walk since then. 0:
 * not known.
 */
SX_ROAD_INLINE double sx_road_sigma_at(double measured, double walk, uint32_t age)
{
	return measured > 0.0 ? sqrt(measured * measured + walk * walk * (double)age) : 0.0;
}

/* Returns the ground of an image row (or of a position between two rows) at the axis, in Q4, not rounded. */
SX_ROAD_INLINE double sx_road_row_q4(const struct sx_road *road, double y)
{
	const double above = y < road->bend_row ? road->bend_row - y : 0.0;

	return 16.0 * ((road->slope * y + road->offset) + road->bend * above);
}

SX_ROAD_INLINE int32_t sx_road_clamp_q4(double q4)
{
	return (int32_t)rint(q4 > SX_GROUND_MAX_Q4    ? SX_GROUND_MAX_Q4
			     : q4 < -SX_GROUND_MAX_Q4 ? -SX_GROUND_MAX_Q4
						      : q4);
}

/* Returns the ground of a row as sx_road_ground() computes it. */
SX_ROAD_INLINE int32_t sx_road_row_ground_q4(const struct sx_road *road, int y)
{
	return sx_road_clamp_q4(sx_road_row_q4(road, (double)y));
}

/*
 * Returns how much more disparity the ground has in a column of stixels than at the axis, Q4. It is the same
 * in each row. Column u of width px has its centre at u * width + (width - 1) / 2.
 */
SX_ROAD_INLINE int32_t sx_road_shift_q4(double cross, double axis, int u, int width)
{
	const double x = (double)(u * width) + 0.5 * (double)(width - 1);
	const double q4 = 16.0 * (cross * (x - axis));

	return (int32_t)rint(q4 > SX_ROAD_SHIFT_MAX_Q4	  ? SX_ROAD_SHIFT_MAX_Q4
			     : q4 < -SX_ROAD_SHIFT_MAX_Q4 ? -SX_ROAD_SHIFT_MAX_Q4
							  : q4);
}

/* Lowest usable limit of disparity, Q4: points with less disparity are too far away to measure. */
#define SX_VIEW_LEAST_Q4 64
/* Value below any ground. */
#define SX_VIEW_NONE_Q4 (-(SX_GROUND_MAX_Q4 + SX_ROAD_SHIFT_MAX_Q4 + 1))

/*
 * Returns the largest disparity at which column u of width px can be matched, less half a window of the
 * descriptors. Nearer points lie outside the view of the right camera. Q4; SX_VIEW_NONE_Q4 if that is less
 * than SX_VIEW_LEAST_Q4: such a column could only measure points that are out of the range of stereo, so
 * nothing in it is seen.
 */
SX_ROAD_INLINE int32_t sx_road_in_view_q4(int u, int width)
{
	const int32_t q4 = 16 * (u * width + width / 2 - 4);

	return q4 >= SX_VIEW_LEAST_Q4 ? q4 : SX_VIEW_NONE_Q4;
}

#endif
