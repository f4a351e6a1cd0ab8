/*
 * A disparity map of another process in place of a winner: the step from its numbers to ours.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STEREO_EXTERNAL_H
#define SX_STAGES_STEREO_EXTERNAL_H

#include "base/disparity.h"
#include "base/image.h"
#include "stages/params/params.h"

/*
 * Confidence of a map that comes without: a quarter of the weight that a sure measurement has in slanted
 * stixels (confidence_full). In full, what is wrong in a map becomes obstacles (docs/external.md).
 */
#define SX_EXTERNAL_CONFIDENCE 24

/* What a value v of a map, 1/256 px, becomes. First and last: of the disparities that are searched, Q4. */
struct sx_external_range {
	int shift, last; /* Q4: min_disparity; largest in the shifted frame */
};

static inline struct sx_external_range sx_external_range(const struct sx_stereo_params *p)
{
	struct sx_external_range r = {16 * p->min_disparity, 16 * (p->disparities - 1)};

	return r;
}

/*
 * left: U16 Q4 in the shifted frame, as sx_winner() has it; confidence: U8. Both of the map's size.
 * v: q = (v + 8) / 16, 1/256 px rounded to 1/16, halves up; so 1 to 7 are infinity, 0 px, and 0 stays
 * invalid. Valid is what matching could have found, min_disparity .. min_disparity + disparities - 1 px, ends
 * included; left = q - 16 * min_disparity. All else is invalid.
 * confidence: the map's, or SX_EXTERNAL_CONFIDENCE; independent of validity: sx_confidence() masks it.
 * map: NULL: nothing was measured; all is invalid.
 */
void sx_external(const struct sx_disparity *map, const struct sx_image *left,
		 const struct sx_image *confidence, const struct sx_stereo_params *p);
/* Rows y0 .. y1 - 1 of it. */
void sx_external_rows(const struct sx_disparity *map, const struct sx_image *left,
		      const struct sx_image *confidence, const struct sx_stereo_params *p, int y0, int y1);

#endif
