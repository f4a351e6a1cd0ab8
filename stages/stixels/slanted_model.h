/*
 * Slanted stixels: the constants of the model, and what a frame's road makes of them in a row, for stages/,
 * cpu/ and gpu/, so in the common subset of C and CUDA. docs/algorithm.md, slanted stixels, has the formulas.
 *
 * Units: disparity 1/16 px, rows are cells, weights 1/255; energies nats.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STIXELS_SLANTED_MODEL_H
#define SX_STAGES_STIXELS_SLANTED_MODEL_H

#include <stdint.h>

#ifdef __CUDACC__
#define SX_SLANTED static __host__ __device__ inline
#else
#define SX_SLANTED static inline
#endif

#define SX_SLANTED_MAX_Q4 6143 /* larger disparities count as this, expected ground as +- one more */
#define SX_SLANTED_OUTLIERS \
	4096 /* steps of squared residuals of the exact model, of 1/128 each; the last: any more */
#define SX_SLANTED_ILLEGAL 3.0e38f /* prior: an illegal option, only ever compared with */

/* What is constant in a context. lambda_*: prior of the plane as weight; k_*: nats of a squared residual. */
struct sx_slanted_model {
	float lambda_offset, lambda_slope, lambda_bent; /* slope: of a plane, of a road that bends */
	float roughness; /* standard deviations of ground by 1/16 px that is expected */
	float k_ground, k_object, k_sky;
	float cut, cut_first_object;
	float gravity;		/* per 1/16 px */
	float cut_order, order; /* cut + cost at 0, cost per 1/16 px */
	float cut_gap;
	float hole;	/* of a cell of ground */
	float semantic; /* nats of 1/256 */
	int feet;	/* rows by which an object may be shortened from below */
};

/*
 * A row of cells. A real road leaves its plane by so many centimetres, which are the more pixels of disparity
 * the nearer it is: noise of ground, of the prior at its foot and of where things stand on it grows with the
 * disparity that is expected there. As a weight: sigma^2 / (sigma^2 + (roughness g)^2).
 */
struct sx_slanted_row {
	int32_t ground_q4; /* expected at the axis, in the cell's centre, within +-(SX_SLANTED_MAX_Q4 + 1) */
	int32_t share;	   /* what a measurement weighs as ground, of 32768: 1 at least */
	float lambda_offset; /* of ground that begins in this row, */
	float gravity;	     /* and of an object */
};

SX_SLANTED struct sx_slanted_row sx_slanted_row_of(const struct sx_slanted_model *m, int32_t ground_q4)
{
	const float rough = ground_q4 > 0 ? m->roughness * (float)ground_q4 : 0.0f;
	const float share = 1.0f / (1.0f + rough * rough);
	const int32_t parts = (int32_t)(share * 32768.0f + 0.5f);
	struct sx_slanted_row r;

	r.ground_q4 = ground_q4;
	r.share = parts > 0 ? parts : 1;
	r.lambda_offset = m->lambda_offset * share;
	r.gravity = m->gravity * share;
	return r;
}

/* Expected ground of a row in a column whose ground has `shift` more disparity than the axis, 1/16 px. */
SX_SLANTED int32_t sx_slanted_expected(int32_t ground_q4, int32_t shift)
{
	const int32_t g = ground_q4 + shift;

	return g < -(SX_SLANTED_MAX_Q4 + 1) ? -(SX_SLANTED_MAX_Q4 + 1)
	       : g > SX_SLANTED_MAX_Q4 + 1  ? SX_SLANTED_MAX_Q4 + 1
					    : g;
}

/*
 * Weight of a measurement where ground is expected: none of what lies more than 1 px and a share of it
 * farther away, behind the road. d, ground: 1/16 px; least: what is left of the expected, 0: of any.
 */
SX_SLANTED int32_t sx_slanted_weight(float least, int32_t w, int32_t d, int32_t ground)
{
	return (float)(d + 16) < least * (float)ground ? 0 : w;
}

/* Of a measurement of weight w, in 0..255: 0 only if w is. */
SX_SLANTED int32_t sx_slanted_ground_weight(int32_t w, int32_t share)
{
	const int32_t part = (w * share + 16384) >> 15;

	return part > 0 || w == 0 ? part : 1;
}

#endif
