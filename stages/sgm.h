/*
 * Semi-global matching: sums the matching cost along 2, 4 or 8 paths.
 * Hirschmueller: Stereo processing by semiglobal matching and mutual information, equation 13.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_SGM_H
#define SX_STAGES_SGM_H

#include <stddef.h>

#include "base/image.h"
#include "stages/params.h"

/*
 * For each path direction r, with q = p - r and C the matching cost (cost.h):
 *   L(p,d) = C(p,d)                                                             if q is outside the image
 *   L(p,d) = C(p,d) + min(L(q,d) - m, L(q,d-1) - m + P1, L(q,d+1) - m + P1, P2)  otherwise, m = min_k L(q,k)
 * where the terms d-1 < 0 and d+1 >= disparities are absent. S(p,d) = sum of L(p,d) over the paths:
 *   2: right, left. 4: and down, up. 8: and the four diagonals.
 * Ranges: Cmax + P1 + P2 <= 255 (sx_params_check), so every L and every term of the minimum fits 8 bits;
 * S <= paths * (Cmax + P2) <= 2040.
 *
 * left, right: descriptors of sx_census(). sum: U16, width * disparities wide, S[y][x][d] with d fastest.
 * scratch: sx_sgm_scratch_bytes() bytes, 64-byte aligned, content ignored.
 */
void sx_sgm(const struct sx_image *left, const struct sx_image *right, const struct sx_image *sum,
	    const struct sx_stereo_params *p, void *scratch);
size_t sx_sgm_scratch_bytes(int width, const struct sx_stereo_params *p);

#endif
