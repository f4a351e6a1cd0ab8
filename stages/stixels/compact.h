/*
 * Compaction: converts the segment lists of all columns to the published record (include/stixel.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STIXELS_COMPACT_H
#define SX_STAGES_STIXELS_COMPACT_H

#include "base/image.h"
#include "stages/params/params.h"
#include "stages/road/road.h"
#include "stages/stixels/segment.h"

struct stixel; /* see include/stixel.h */

/* Returns the largest possible number of stixels: the capacity to allocate. */
static inline size_t sx_compact_capacity(int columns, int height, int max_per_column)
{
	return (size_t)columns * (size_t)(max_per_column < height ? max_per_column : height);
}

/*
 * Makes the record of a frame. segments: of every column. columns, confidence: output of sx_reduce()
 * (confidence may be NULL: 0). offsets: columns + 1 entries; stixels: sx_compact_capacity() entries. Returns
 * the number of stixels.
 *
 * Support: number of valid cells. Confidence: mean over the valid cells, rounded half up, 0 without any. If a
 * column has more than max_per_column segments, the lowest are kept, and the last of them is extended to the
 * top and flagged CUT. Flags: ROAD_FALLBACK if the road was not measured in this frame (mode calibrated is no
 * fallback, because the configuration selects it), RDP and SLANTED by method, FILLED by support
 * (sx_segment_filled()). Thread: any; allocates nothing.
 */
uint32_t sx_compact(const struct sx_segments *segments, const struct sx_image *columns,
		    const struct sx_image *confidence, const struct sx_road *road, const struct sx_params *p,
		    uint32_t *offsets, struct stixel *stixels);

/*
 * The two halves of sx_compact(), for engines that compute columns separately: first the offsets, then the
 * columns in any order.
 */
uint32_t sx_compact_offsets(const struct sx_segments *segments, int max_per_column, uint32_t *offsets);
uint8_t sx_compact_flags(const struct sx_road *road, const struct sx_params *p);
void sx_compact_column(const struct sx_segments *segments, const struct sx_image *columns,
		       const struct sx_image *confidence, uint8_t flags, int u, const uint32_t *offsets,
		       struct stixel *stixels);

#endif
