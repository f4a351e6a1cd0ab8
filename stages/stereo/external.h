/*
 * Disparity map of another process in place of a winner: converts its values to those of the engine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STEREO_EXTERNAL_H
#define SX_STAGES_STEREO_EXTERNAL_H

#include "base/disparity.h"
#include "base/image.h"
#include "stages/params/params.h"

/*
 * Confidence of a map that comes without one. It gives a quarter of the weight of a sure measurement in
 * slanted stixels (confidence_full). With full weight, errors of a map become obstacles
 * (docs/use/external.md).
 */
#define SX_EXTERNAL_CONFIDENCE 24

/* Range of valid disparities, for the conversion of values v of a map (1/256 px). */
struct sx_external_range {
	int shift, last; /* Q4: min_disparity; largest disparity in the shifted frame */
};

static inline struct sx_external_range sx_external_range(const struct sx_stereo_params *p)
{
	struct sx_external_range r = {16 * p->min_disparity, 16 * (p->disparities - 1)};

	return r;
}

/*
 * Converts a map. left: U16 Q4 in the shifted frame, as the output of sx_winner(). confidence: U8. Both have
 * the map's size.
 * A value v becomes q = (v + 8) / 16: 1/256 px is rounded to 1/16 px, halves up. So values 1 to 7 become
 * infinity, 0 px, and 0 stays invalid. A value is valid if matching could have found it: min_disparity ..
 * min_disparity + disparities - 1 px, ends included. Then left = q - 16 * min_disparity. All other values are
 * invalid.
 * confidence: that of the map, or SX_EXTERNAL_CONFIDENCE, also for invalid pixels: sx_confidence() masks it.
 * map: NULL if nothing was measured; then all pixels are invalid.
 */
void sx_external(const struct sx_disparity *map, const struct sx_image *left,
		 const struct sx_image *confidence, const struct sx_stereo_params *p);
/* Converts rows y0 .. y1 - 1 of a map. */
void sx_external_rows(const struct sx_disparity *map, const struct sx_image *left,
		      const struct sx_image *confidence, const struct sx_stereo_params *p, int y0, int y1);

#endif
