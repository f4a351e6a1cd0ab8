/*
 * Compaction: the segment lists of all columns become the published record (include/stixel.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STIXELS_COMPACT_H
#define SX_STAGES_STIXELS_COMPACT_H

#include "base/image.h"
#include "stages/params/params.h"
#include "stages/road/road.h"
#include "stages/stixels/segment.h"

struct stixel; /* include/stixel.h */

/* Stixels that can come out: the capacity to allocate. */
static inline size_t sx_compact_capacity(int columns, int height, int max_per_column)
{
	return (size_t)columns * (size_t)(max_per_column < height ? max_per_column : height);
}

/*
 * segments: of every column. columns, confidence: what sx_reduce() left (confidence may be NULL: 0).
 * offsets: columns + 1 entries; stixels: sx_compact_capacity() entries. Returns the number of stixels.
 *
 * Support: valid cells. Confidence: mean over these, rounded half up, 0 without any. Of a column with more
 * than max_per_column segments the lowest are kept, the last of them extended to the top and flagged CUT.
 * Flags: ROAD_FALLBACK where road was not measured in this frame (mode calibrated is not a fallback: it was
 * asked for), RDP and SLANTED by method. Thread: any; allocates nothing.
 */
uint32_t sx_compact(const struct sx_segments *segments, const struct sx_image *columns,
		    const struct sx_image *confidence, const struct sx_road *road, const struct sx_params *p,
		    uint32_t *offsets, struct stixel *stixels);

/* The two halves, for engines that work on columns at a time: offsets first, then any column. */
uint32_t sx_compact_offsets(const struct sx_segments *segments, int max_per_column, uint32_t *offsets);
uint8_t sx_compact_flags(const struct sx_road *road, const struct sx_params *p);
void sx_compact_column(const struct sx_segments *segments, const struct sx_image *columns,
		       const struct sx_image *confidence, uint8_t flags, int u, const uint32_t *offsets,
		       struct stixel *stixels);

#endif
