/*
 * Segments: the output of a segmenter (dp, slanted, rdp) for each stixel column, before it is published.
 *
 * Rows count up from the image bottom here (v = height - 1 - y), as in the papers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STIXELS_SEGMENT_H
#define SX_STAGES_STIXELS_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include <stixel.h>

#ifdef __CUDACC__
#define SX_SEGMENT_INLINE static __host__ __device__ inline
#else
#define SX_SEGMENT_INLINE static inline
#endif

/*
 * One segment: rows v_bottom .. v_top, both inclusive. The segments of a column are in order from bottom to
 * top. The first starts at row 0, the last ends at the top row, and there are no gaps. disparity_q7,
 * slope_q14: as published (include/stixel.h): value at v_bottom, change per row upwards.
 */
struct sx_segment {
	uint16_t v_bottom, v_top;
	uint16_t mean_q4; /* object: mean disparity of its valid cells, 0 without any; else 0 */
	uint16_t disparity_q7;
	int16_t slope_q14;
	uint8_t kind;  /* enum stixel_kind */
	uint8_t label; /* class, 255: none; used by the slanted methods only */
};

/*
 * Returns the unknown segment of the lowest `rows` rows, 1 at least, in which the right camera does not see
 * the ground (sx_road_in_view_q4()). An area that cannot be measured is neither free nor a wall.
 */
SX_SEGMENT_INLINE struct sx_segment sx_segment_unseen(int rows)
{
	struct sx_segment s;

	s.v_bottom = 0;
	s.v_top = (uint16_t)(rows - 1);
	s.mean_q4 = 0;
	s.disparity_q7 = STIXEL_DISPARITY_UNKNOWN;
	s.slope_q14 = 0;
	s.kind = STIXEL_UNKNOWN;
	s.label = STIXEL_LABEL_NONE;
	return s;
}

/* Returns the disparity of a segment in row v, 1/128 px. */
SX_SEGMENT_INLINE int32_t sx_segment_q7(const struct sx_segment *s, int v, int cell_height)
{
	const int32_t q7 =
		(int32_t)s->disparity_q7 + s->slope_q14 * ((v - (int)s->v_bottom) * cell_height) / 128;

	return q7 < 0 ? 0 : q7 > 0xfffe ? 0xfffe : q7;
}

/*
 * A segment is filled if less than two of five of its cells were measured. Unmeasured cells continue the
 * surface beside them (evidence.h). That is often right: a white door continues its car. But a plain wall
 * wrongly continues the object in front of it. See tests/lab/lab-accuracy.md, filled stixels.
 */
#define SX_FILLED_CELLS 5
#define SX_FILLED_MEASURED 2

/*
 * Returns STIXEL_FLAG_FILLED for a segment that claims a surface (ground, object) of which too few cells were
 * measured, else 0. support: its measured cells; cells: all of its cells.
 */
SX_SEGMENT_INLINE uint32_t sx_segment_filled(uint32_t kind, uint32_t support, uint32_t cells)
{
	return kind <= STIXEL_OBJECT && SX_FILLED_CELLS * support < SX_FILLED_MEASURED * cells
		       ? STIXEL_FLAG_FILLED
		       : 0;
}

/*
 * Lists of all columns. Row v covers the image rows v * cell_height .. + cell_height - 1 above the lowest of
 * image_height rows. Image rows that remain at the top belong to no cell. Column u: list[u * capacity .. +
 * count[u]). capacity is the number of rows, so no list can overflow. total: the DP's energy of the column in
 * Q12 nats; 0 with rdp.
 */
struct sx_segments {
	struct sx_segment *list;
	uint16_t *count;
	int32_t *total;
	int columns, capacity;
	int image_height, cell_height; /* px; init sets height and 1 */
};

/*
 * Creates the lists. -EINVAL for sizes below 1 or above 65535, -ENOMEM. finish accepts a zeroed struct and
 * zeroes it.
 */
int sx_segments_init(struct sx_segments *s, int columns, int height);
void sx_segments_finish(struct sx_segments *s);
size_t sx_segments_bytes(const struct sx_segments *s); /* memory that init took, bytes */

static inline struct sx_segment *sx_segments_column(const struct sx_segments *s, int u)
{
	return s->list + (size_t)u * (size_t)s->capacity;
}

#endif
