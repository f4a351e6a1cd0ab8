/*
 * Evidence: what cells tell every method beyond what was matched in them. Sky (sky.h), into which matching
 * smears its surroundings. Holes, which take over what lies to their left: what hides a surface from the
 * right camera begins at its right. docs/algorithm.md, evidence.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STIXELS_EVIDENCE_H
#define SX_STAGES_STIXELS_EVIDENCE_H

#include "base/image.h"
#include "stages/params/params.h"
#include "stages/road/road.h"
#include "stages/stixels/cells.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SX_FILL_CONFIDENCE 10 /* of a hole's disparity, of 255 */
#define SX_SKY_CONFIDENCE 255

/*
 * Columns to the left that a hole is filled from; 0: not at all, as where confidence counts for nothing: by
 * methods that do not know it, and where slanted stixels weigh everything alike.
 */
static inline int sx_fill_reach(const struct sx_stixel_params *p)
{
	return !sx_is_slanted(p) || p->slanted.confidence == SX_WEIGHT_EQUAL ? 0
									     : p->slanted.fill_px / p->width;
}

/*
 * left: U8, the image. columns: U16 Q4, confidence: U8: cells as sx_reduce_cells() left them. road: of this
 * frame. cells, cells_confidence: the same shapes as those, not the same memory; every cell is written.
 *
 * A cell of the lower half of the rows all of whose pixels are saturated at least becomes a hole, with
 * confidence 0. Any other invalid cell takes the disparity of the nearest valid one to its left, within
 * sx_fill_reach(); without one it stays a hole: the left border is what the right camera does not see. Cells
 * are filled from what was measured alone, be it saturated or sky. What sx_sky_find() finds is sky (disparity
 * 0) then, whatever was matched there, if that is sx_sky_is_above(). Thread: any; allocates nothing.
 */
void sx_evidence(const struct sx_image *left, const struct sx_image *columns,
		 const struct sx_image *confidence, const struct sx_params *p, const struct sx_road *road,
		 struct sx_image *cells, struct sx_image *cells_confidence);

#ifdef __cplusplus
}
#endif

#endif
