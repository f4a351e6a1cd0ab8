/*
 * Arithmetic of RDP labels, for stages/stixels/rdp.c and gpu/stixels/rdp.cu, so in the common subset of C and
 * CUDA.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STIXELS_RDP_LABEL_H
#define SX_STAGES_STIXELS_RDP_LABEL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include <stixel.h>

#include "stages/stixels/segment.h"

#ifdef __CUDACC__
#define SX_RDP_LABEL static __host__ __device__ inline
#else
#define SX_RDP_LABEL static inline
#endif

/* Sums over the valid cells of a segment; x counts from its first row. */
struct sx_rdp_sums {
	int64_t n, x, xx, d, xd;
	int64_t ground, distance; /* sum of max(ground, 0), and of its distance to d */
};

/* Returns the slope of the road per row upwards in Q20 px, saturated. */
SX_RDP_LABEL int32_t sx_rdp_slope_of_road(double slope)
{
	const double s = rint(-1048576.0 * slope);

	return s > 1e9 ? 1000000000 : s < -1e9 ? -1000000000 : (int32_t)s;
}

SX_RDP_LABEL int64_t sx_rdp_div_round(int64_t a, int64_t b) /* rounds half up; b > 0 */
{
	const int64_t x = 2 * a + b, q = x / (2 * b);

	return q - (x % (2 * b) < 0);
}

/* Returns the mean of n cells with sum d, rounded half up; 0 without any. 2160 cells of 16 * 512 fit. */
SX_RDP_LABEL uint32_t sx_rdp_mean_q4(uint32_t n, uint32_t d)
{
	return n ? (2 * d + n) / (2 * n) : 0;
}

/* Returns the least-squares slope in Q20 px per row; |num| < 2^44, so that 2^17 num fits. */
SX_RDP_LABEL int64_t sx_rdp_slope_q20(const struct sx_rdp_sums *s)
{
	const int64_t det = s->n * s->xx - s->x * s->x;

	return det > 0 ? sx_rdp_div_round((s->n * s->xd - s->x * s->d) * 65536, det) : 0;
}

SX_RDP_LABEL bool sx_rdp_on_ground(const struct sx_rdp_sums *s, int rows, int tolerance_q4,
				   int64_t ground_slope)
{
	const int64_t limit = ground_slope < 0 ? -ground_slope : ground_slope;
	const int64_t tolerance = 20 * s->n * tolerance_q4 + s->ground; /* multiplied by 20 n */
	int64_t off;

	if (20 * s->distance > tolerance)
		return false;
	/* if the ground itself changes by less than the tolerance, the slope contains only noise */
	if (rows < 3 || 20 * s->n * rows * limit <= 65536 * tolerance)
		return true;
	off = 2 * (sx_rdp_slope_q20(s) - ground_slope);
	return off <= limit && -off <= limit;
}

/* Computes the published disparity and slope of a segment whose kind and mean are known. */
SX_RDP_LABEL void sx_rdp_publish(const struct sx_rdp_sums *s, struct sx_segment *g)
{
	int64_t slope, bottom;

	g->slope_q14 = 0;
	g->disparity_q7 = g->kind == STIXEL_OBJECT    ? (uint16_t)(8 * g->mean_q4)
			  : g->kind == STIXEL_UNKNOWN ? STIXEL_DISPARITY_UNKNOWN
						      : 0;
	if (g->kind != STIXEL_OBJECT)
		g->mean_q4 = 0;
	if (g->kind != STIXEL_GROUND)
		return;
	slope = sx_rdp_slope_q20(s);
	/* sums are Q4, slope * x is Q20: divide by 2^16 n for Q4, by 2^13 n for Q7 */
	bottom = sx_rdp_div_round(s->d * 65536 - slope * s->x, s->n * 8192);
	slope = sx_rdp_div_round(slope, 64);
	g->disparity_q7 = (uint16_t)(bottom < 0 ? 0 : bottom > 0xfffe ? 0xfffe : bottom);
	g->slope_q14 = (int16_t)(slope > INT16_MAX ? INT16_MAX : slope < INT16_MIN ? INT16_MIN : slope);
}

#endif
