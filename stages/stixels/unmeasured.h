/*
 * What was not measured is no part of a stixel: a long stretch of ground without a disparity, and of any
 * stixel what a camera shows nothing of (stages/stereo/flat.h). A segmenter chooses what is cheapest for
 * rows without a disparity as well, and filled cells (evidence.h) have one that was measured elsewhere:
 * both say how a surface could go on, which is right beside an edge, where only one camera sees it.
 *
 * One column at a time, for stages/, cpu/ and gpu/; whole numbers alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STIXELS_UNMEASURED_H
#define SX_STAGES_STIXELS_UNMEASURED_H

#include <stdbool.h>

#include "base/image.h"
#include "stages/stereo/flat.h"
#include "stages/stixels/segment.h"

/*
 * How long a stretch without a measured cell must be so that a stixel does not reach over it. A low
 * obstacle could hide in a stretch of ground. White doors and bonnets are part of a car, and what only one
 * camera sees beside an object goes on with it; but darkness is no wall.
 */
#define SX_UNMEASURED_GROUND_PX 32   /* ground: image rows, */
#define SX_UNMEASURED_FLAT_PX 16     /* and fewer if they are flat */
#define SX_UNMEASURED_DARK_PX 8	     /* objects: flat and dark rows, */
#define SX_UNMEASURED_OBJECT_SHARE 3 /* or a third of the image's rows that are flat */
#define SX_UNMEASURED_FOOT 8	     /* see sx_unmeasured_foot() */

/* A column: its cells (sx_reduce_cells()), bottom to top, and tiles of both images (sx_flat()). */
struct sx_unmeasured_column {
	const uint16_t *cells;
	const uint8_t *flat[2];
	size_t flat_pitch[2];
	int x;		 /* image column in its middle */
	int height;	 /* of the images, px */
	int cell_height; /* px */
};

/* What is known of a row of a column: a byte. */
enum sx_unmeasured_row {
	SX_ROW_HOLE,	 /* not measured */
	SX_ROW_MEASURED, /* has a disparity */
	SX_ROW_FLAT,	 /* not measured, and an image is flat there */
	SX_ROW_DARK	 /* and dark */
};

#define SX_UNMEASURED_ROWS 2160 /* of a column at most */

/* Disparity of a segment in row v, 1/128 px. */
SX_SEGMENT_INLINE int32_t sx_unmeasured_q7(const struct sx_segment *s, int v, int cell_height)
{
	const int32_t q7 =
		(int32_t)s->disparity_q7 + s->slope_q14 * ((v - (int)s->v_bottom) * cell_height) / 128;

	return q7 < 0 ? 0 : q7 > 0xfffe ? 0xfffe : q7;
}

/* What the tile of one image at column x in row v says of a row that was not measured. */
SX_SEGMENT_INLINE uint8_t sx_unmeasured_tile(const struct sx_unmeasured_column *c, int side, int x, int v)
{
	const int y = (c->height - 1 - v * c->cell_height - c->cell_height / 2) / SX_FLAT_TILE;
	const uint8_t bits = c->flat[side][(size_t)y * c->flat_pitch[side] + (size_t)(x / SX_FLAT_TILE)];

	return bits & SX_TILE_DARK ? SX_ROW_DARK : bits & SX_TILE_FLAT ? SX_ROW_FLAT : SX_ROW_HOLE;
}

/* Row v as cell and left image have it. */
SX_SEGMENT_INLINE uint8_t sx_unmeasured_left(const struct sx_unmeasured_column *c, int v)
{
	return c->cells[v] != SX_DISPARITY_INVALID ? (uint8_t)SX_ROW_MEASURED
						   : sx_unmeasured_tile(c, 0, c->x, v);
}

/* A hole of a segment is flat, too, where the right image is flat at the place that it would have. */
SX_SEGMENT_INLINE uint8_t sx_unmeasured_right(const struct sx_unmeasured_column *c,
					      const struct sx_segment *s, int v)
{
	const int partner = c->x - sx_unmeasured_q7(s, v, c->cell_height) / 128;

	return partner >= 0 ? sx_unmeasured_tile(c, 1, partner, v) : (uint8_t)SX_ROW_HOLE;
}

/* Whether rows of a segment are asked for at all. */
SX_SEGMENT_INLINE bool sx_unmeasured_asks(const struct sx_segment *s)
{
	return s->kind == STIXEL_GROUND || s->kind == STIXEL_OBJECT;
}

/* Fills row[], an entry a cell. */
SX_SEGMENT_INLINE void sx_unmeasured_look(const struct sx_unmeasured_column *c, const struct sx_segment *list,
					  int n, uint8_t *row)
{
	for (int i = 0; i < n; i++)
		for (int v = list[i].v_bottom; v <= (int)list[i].v_top; v++) {
			row[v] = sx_unmeasured_left(c, v);
			if (row[v] == SX_ROW_HOLE && sx_unmeasured_asks(&list[i]))
				row[v] = sx_unmeasured_right(c, &list[i], v);
		}
}

/* Of a stretch that was not measured: cells in all, and which of them are flat, and dark. */
struct sx_unmeasured_stretch {
	int cells, flat, dark;
};

/* Whether a segment does not reach over a stretch. */
SX_SEGMENT_INLINE bool sx_unmeasured_ends(const struct sx_unmeasured_column *c, const struct sx_segment *s,
					  const struct sx_unmeasured_stretch *t)
{
	if (s->kind == STIXEL_GROUND)
		return t->flat * c->cell_height >= SX_UNMEASURED_FLAT_PX ||
		       t->cells * c->cell_height >= SX_UNMEASURED_GROUND_PX;
	return t->dark * c->cell_height >= SX_UNMEASURED_DARK_PX ||
	       t->flat * c->cell_height >= c->height / SX_UNMEASURED_OBJECT_SHARE;
}

#endif
