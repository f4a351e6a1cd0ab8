/*
 * Slanted stixels: constants of the model, and the values of a row that depend on the road of the frame. For
 * stages/, cpu/ and gpu/, so in the common subset of C and CUDA. docs/develop/algorithm.md, slanted stixels,
 * has the formulas.
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

#define SX_SLANTED_MAX_Q4 8191	      /* limit of measured disparities, 1/16 px */
#define SX_SLANTED_GROUND_MAX_Q4 6144 /* limit of expected ground, 1/16 px, both signs */
/* steps of squared residuals of the exact model, 1/128 each; the last step is for all larger ones */
#define SX_SLANTED_OUTLIERS 4096
#define SX_SLANTED_ILLEGAL 3.0e38f /* prior of an illegal option; only used in comparisons */

/* Constants of a context. lambda_*: prior of the plane as a weight; k_*: nats per squared residual. */
struct sx_slanted_model {
	/* lambda_slope: for a plane; lambda_bent: for a road that bends */
	float lambda_offset, lambda_slope, lambda_bent;
	float roughness; /* standard deviations of ground per 1/16 px of expected disparity */
	float k_ground, k_object, k_sky;
	float cut, cut_first_object;
	float gravity;		/* cost per 1/16 px */
	float cut_order, order; /* cut + cost at 0; cost per 1/16 px */
	float cut_gap;
	float hole;	/* cost of a ground cell without a disparity */
	float semantic; /* nats per unit of the scores' energies */
	int feet;	/* largest number of rows by which an object may be shortened from below */
};

/*
 * A row of cells. The surface of a real road lies some centimetres off its plane, a distance that is more
 * pixels of disparity the nearer it is. So three values grow with the expected disparity: the noise of
 * ground, the noise of the prior at its foot, and that of the place where objects stand on it. As a weight:
 * sigma^2 / (sigma^2 + (roughness g)^2).
 */
struct sx_slanted_row {
	/* expected ground at the axis, in the cell's centre, within +-SX_SLANTED_GROUND_MAX_Q4 */
	int32_t ground_q4;
	int32_t share;	     /* weight of a measurement as ground, of 32768: 1 at least */
	float lambda_offset; /* prior of ground that begins in this row */
	float gravity;	     /* cost of an object that begins in this row */
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

/*
 * Returns the expected ground of a row in a column whose ground has `shift` more disparity than the axis,
 * 1/16 px.
 */
SX_SLANTED int32_t sx_slanted_expected(int32_t ground_q4, int32_t shift)
{
	const int32_t g = ground_q4 + shift;

	return g < -SX_SLANTED_GROUND_MAX_Q4  ? -SX_SLANTED_GROUND_MAX_Q4
	       : g > SX_SLANTED_GROUND_MAX_Q4 ? SX_SLANTED_GROUND_MAX_Q4
					      : g;
}

/*
 * Returns the weight of a measurement: 0 if it lies behind the road, farther than the expected ground by more
 * than 1 px and a share. Else w. d, ground: 1/16 px. least: the lowest allowed share of the expected ground;
 * 0: any.
 */
SX_SLANTED int32_t sx_slanted_weight(float least, int32_t w, int32_t d, int32_t ground)
{
	return (float)(d + 16) < least * (float)ground ? 0 : w;
}

/* Returns the weight as ground of a measurement of weight w, in 0..255: 0 only if w is 0. */
SX_SLANTED int32_t sx_slanted_ground_weight(int32_t w, int32_t share)
{
	const int32_t part = (w * share + 16384) >> 15;

	return part > 0 || w == 0 ? part : 1;
}

#endif
