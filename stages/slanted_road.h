/*
 * Slanted stixels: what the road of a frame says of a row, for stages/, cpu/ and gpu/, as
 * stages/slanted_fit.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_SLANTED_ROAD_H
#define SX_STAGES_SLANTED_ROAD_H

#include "stages/slanted_fit.h"

/*
 * A row of cells. A real road leaves its plane by so many centimetres, which are the more pixels of disparity the nearer it
 * is: noise of ground, of the prior at its foot and of where things stand on it grows with the disparity that is expected
 * there. As a weight: sigma^2 / (sigma^2 + (roughness g)^2).
 */
struct sx_slanted_row {
	int32_t ground_q4;   /* expected ground at the centre, within +-(SX_SLANTED_MAX_Q4 + 1) */
	int32_t share;	     /* what a measurement weighs as ground, of 32768: 1 at least */
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

/* Of a measurement of weight w, in 0..255: 0 only if w is. */
SX_SLANTED int32_t sx_slanted_ground_weight(int32_t w, int32_t share)
{
	const int32_t part = (w * share + 16384) >> 15;

	return part > 0 || w == 0 ? part : 1;
}

#endif
