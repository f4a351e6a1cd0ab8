/*
 * Winner-takes-all: the disparity of lowest summed cost, uniqueness, sub-pixel, right map, confidence.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STEREO_WINNER_H
#define SX_STAGES_STEREO_WINNER_H

#include "base/image.h"
#include "stages/params/params.h"

/* Confidence of a winner with one neighbour missing: at the first or last disparity that is searched. */
#define SX_WINNER_CONFIDENCE_END 25
/* Rise of S beside the winner that gives a confidence of 255: for each path of sgm, and for fastdt. */
#define SX_WINNER_RISE_PATH 60
#define SX_WINNER_RISE_FASTDT 4096

static inline int sx_winner_rise(const struct sx_stereo_params *p)
{
	return p->aggregation == SX_AGGREGATION_FASTDT ? SX_WINNER_RISE_FASTDT
						       : SX_WINNER_RISE_PATH * p->paths;
}

/*
 * Finds the winners. sum: S of sx_sgm() or sx_fastdt(), U16, width * disparities wide. All outputs have width
 * x height pixels. D = disparities.
 *
 * left: U16 Q4 in the shifted frame (min_disparity is not added here), 0xffff invalid.
 *   Cells that are not searched (SX_SUM_ABSENT) are no winners, rivals or neighbours.
 *   d0 = the lowest d of minimal S. Invalid if some k with |k - d0| > 1 has 100 * S(d0) >= uniqueness * S(k)
 *   (uniqueness 100 rejects ties alone, as S(k) >= S(d0)): a tie is never unique, also if S is 0, for example
 *   if both images are flat. Otherwise
 *   q4 = 16 d0 + (16 (S(d0-1) - S(d0+1)) + den) / (2 den), den = S(d0-1) - 2 S(d0) + S(d0+1) >= 1,
 *   / rounding towards zero (subpixel trunc) or down (floor); 16 d0 at the ends, beside a cell that is not searched,
 *   and with subpixel off.
 * right: U16 integer disparities, also shifted: right(x) = the lowest d that minimises S(x+d, d) over x + d <
 *   width, 0 if none of these cells is searched; belongs to column x - min_disparity of the right image.
 *   Always valid.
 * confidence: U8, min(255, (max(S(d0-1), S(d0+1)) - S(d0)) * 255 / sx_winner_rise()), 25 for d0 = 0,
 *   d0 = D-1, and beside a cell that is not searched, fastdt: 0 for d0 = 0 if S(0) = S(1), for example if no plane differs from the subtracted one.
 *   Independent of validity: sx_confidence() masks it after the filters.
 */
void sx_winner(const struct sx_image *sum, const struct sx_image *left, const struct sx_image *right,
	       const struct sx_image *confidence, const struct sx_stereo_params *p);

#endif
