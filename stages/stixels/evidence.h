/*
 * Evidence: information about cells, besides their disparity, that every method uses. Sky (sky.h): matching
 * smears disparities of the surroundings into it. Holes: a hole continues the surface to its left, because
 * the object that hides this surface from the right camera begins at its right. docs/develop/algorithm.md,
 * evidence.
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

#define SX_FILL_CONFIDENCE 10 /* confidence of a hole's disparity, of 255 */
#define SX_SKY_CONFIDENCE 255

/*
 * Returns the number of columns to the left from which a hole is filled. 0: holes stay. They stay if
 * confidence has no effect: with methods that do not use it, and if slanted stixels give everything the same
 * weight.
 */
static inline int sx_fill_reach(const struct sx_stixel_params *p)
{
	return !sx_is_slanted(p) || p->slanted.confidence == SX_WEIGHT_EQUAL ? 0
									     : p->slanted.fill_px / p->width;
}

/*
 * Computes the cells that segmenters read. left: U8, the image. columns: U16 Q4, confidence: U8: cells from
 * sx_reduce_cells(). road: of this frame. cells, cells_confidence: the same shapes as columns and confidence,
 * not the same memory; every cell is written.
 *
 * A cell of the lower half of the rows becomes a hole with confidence 0 if all of its pixels are saturated.
 * Any other invalid cell takes the disparity of the nearest valid cell to its left, within sx_fill_reach().
 * Without such a cell it stays a hole: the left border is the part that the right camera does not see. Cells
 * are filled from measured cells alone, even if these are saturated or sky. After that, cells of
 * sx_sky_find() become sky (disparity 0), with any disparity, if sx_sky_is_above() is true. Thread: any;
 * allocates nothing.
 */
void sx_evidence(const struct sx_image *left, const struct sx_image *columns,
		 const struct sx_image *confidence, const struct sx_params *p, const struct sx_road *road,
		 struct sx_image *cells, struct sx_image *cells_confidence);

#ifdef __cplusplus
}
#endif

#endif
