/*
 * Unmeasured parts: removes from stixels what was not measured: a long stretch of ground without a disparity,
 * and parts of any stixel for which a camera shows nothing (stages/stereo/flat.h). A segmenter chooses the
 * cheapest solution for rows without a disparity as well, and filled cells (evidence.h) have a disparity that
 * was measured elsewhere. Both only continue a surface. That is right beside an edge, where only one camera
 * sees the surface.
 *
 * An object stands on the road. Rows below its foot that were not measured show the road before it, or something
 * that stands there: on a plain floor the segmenter extends objects down to the image's lowest row.
 *
 * Ground is free space, so it needs more evidence than an object. A cell is no evidence of ground if its
 * disparity is far below the line of the ground: the segmenter counts such a cell as wrong, and continues the
 * line through it. Nor is a cell that was matched by chance (stages/stereo/chance.h). Nor is a row in which one
 * image shows much more contrast than the other: both cameras see the same ground with the same contrast, but a
 * tape on one lens with none. Ground of which hardly a cell was measured is unknown, however short it is.
 *
 * A step down far before a low camera shows only a few rows of the lower floor. The segmenter continues the floor
 * through them, so they end it. Before a car, verges and meadows that lie as much lower are no drops.
 *
 * Works on one column at a time, for stages/, cpu/ and gpu/; integers alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STIXELS_UNMEASURED_H
#define SX_STAGES_STIXELS_UNMEASURED_H

#include <stdbool.h>

#include "base/image.h"
#include "stages/road/road_ground.h"
#include "stages/stereo/flat.h"
#include "stages/stixels/segment.h"

/*
 * Shortest stretch without a measured cell that a stixel does not cross. A low obstacle could hide in a
 * stretch of ground. White doors and bonnets are part of a car, and an area beside an object that only one
 * camera sees belongs to the object. But darkness is no wall.
 */
#define SX_UNMEASURED_GROUND_PX 32   /* ground ends at a stretch of this number of image rows */
#define SX_UNMEASURED_FLAT_PX 16     /* or of flat image rows */
#define SX_UNMEASURED_BEYOND_PX 16   /* or of image rows beyond the reach of the frame (reach.h) */
#define SX_UNMEASURED_DARK_PX 8	     /* an object ends at this number of flat and dark image rows */
#define SX_UNMEASURED_OBJECT_SHARE 3 /* or at a third of the image rows, if they are flat */
#define SX_UNMEASURED_FOOT_PX 24 /* or at this number of image rows at its foot that see the road before it */
#define SX_UNMEASURED_FOOT_SHARE 16 /* before it: nearer by 1 px and a sixteenth */
#define SX_UNMEASURED_CELLS 8	    /* a segment needs a measured cell in this number: sx_unmeasured_few() */
#define SX_UNMEASURED_LOW_SHARE 4   /* ground is not measured by cells below its line by a quarter of it */
#define SX_UNMEASURED_LOW_Q7 128    /* and by 1 px more */
#define SX_UNMEASURED_DROP_PX 8	    /* a floor ends at this number of image rows that lie below its line */
#define SX_UNMEASURED_DROP_SHARE 7  /* the rows lie below it by a seventh of it */
#define SX_UNMEASURED_DROP_Q7 64    /* and by half a px more */

/*
 * A column: its cells (sx_reduce_cells()), bottom to top, the tiles of both images (sx_flat()), and the road of
 * the frame.
 */
struct sx_unmeasured_column {
	const struct sx_road *road;
	const uint16_t *cells;
	const uint8_t *flat[2];
	size_t flat_pitch[2];
	int x;		  /* image column in the middle of this column */
	int height;	  /* height of the images, px */
	int cell_height;  /* height of a cell, px */
	int32_t reach_q7; /* reach of the frame, 1/128 px (reach.h) */
	bool drops;	  /* the floor of a low camera: what lies below it is a drop */
};

/* State of a row of a column. */
enum sx_unmeasured_row {
	SX_ROW_HOLE,	 /* row without a measurement */
	SX_ROW_MEASURED, /* has a disparity */
	SX_ROW_FLAT,	 /* row without a measurement where an image is flat */
	SX_ROW_DARK,	 /* row without a measurement where an image is flat and dark */
	SX_ROW_DROP	 /* row of ground that shows something far below it */
};

#define SX_UNMEASURED_ROWS 2160 /* most rows of a column */
#define SX_UNMEASURED_WORDS ((SX_UNMEASURED_ROWS + 31) / 32)

/* The rows of a column as bits: 32 rows. */
struct sx_unmeasured_word {
	uint32_t measured;
	uint32_t flat;	 /* rows without a measurement: flat, dark or drop */
	uint32_t dark;	 /* rows without a measurement: dark */
	uint32_t drop;	 /* rows without a measurement: drop */
	uint32_t beyond; /* rows whose disparity by their segment is less than the reach of the frame */
};

/* What a row of a column shows. */
struct sx_unmeasured_view {
	uint32_t cell; /* disparity, Q4, or SX_DISPARITY_INVALID */
	uint8_t left,
		right;	/* tiles, bits SX_TILE_...; right: at the place that the segment's disparity gives */
	bool has_right; /* that place is in the image */
};

SX_SEGMENT_INLINE int sx_unmeasured_partner(const struct sx_unmeasured_column *c, int32_t q7)
{
	return c->x - q7 / 128;
}

/* Returns the tile of one image at column x in row v: bits SX_TILE_... */
SX_SEGMENT_INLINE uint8_t sx_unmeasured_bits(const struct sx_unmeasured_column *c, int side, int x, int v)
{
	const int y = (c->height - 1 - v * c->cell_height - c->cell_height / 2) / SX_FLAT_TILE;

	return c->flat[side][(size_t)y * c->flat_pitch[side] + (size_t)(x / SX_FLAT_TILE)];
}

/* Reads what row v shows. q7: disparity of its segment there. */
SX_SEGMENT_INLINE struct sx_unmeasured_view sx_unmeasured_look(const struct sx_unmeasured_column *c,
							       int32_t q7, int v)
{
	const int partner = sx_unmeasured_partner(c, q7);
	struct sx_unmeasured_view r;

	r.cell = c->cells[v];
	r.left = sx_unmeasured_bits(c, 0, c->x, v);
	r.has_right = partner >= 0;
	r.right = sx_unmeasured_bits(c, 1, partner >= 0 ? partner : 0, v);
	return r;
}

/* Returns the state of a row that was not measured, by the tile of one image. */
SX_SEGMENT_INLINE int sx_unmeasured_tile(uint8_t bits)
{
	return bits & SX_TILE_DARK ? SX_ROW_DARK : bits & SX_TILE_FLAT ? SX_ROW_FLAT : SX_ROW_HOLE;
}

/* Returns true if the cell of row v lies below the line of a segment of ground by much. */
SX_SEGMENT_INLINE bool sx_unmeasured_below(const struct sx_unmeasured_column *c, const struct sx_segment *s,
					   int v)
{
	const int32_t line = sx_segment_q7(s, v, c->cell_height);

	return c->cells[v] != SX_DISPARITY_INVALID &&
	       8 * c->cells[v] + SX_UNMEASURED_DROP_Q7 < line - line / SX_UNMEASURED_DROP_SHARE;
}

/*
 * Returns true if row v of a segment of ground is one of several rows in which a low camera sees something far
 * below the floor. The rows may go on above the segment: a wall behind a step begins there.
 */
SX_SEGMENT_INLINE bool sx_unmeasured_drops(const struct sx_unmeasured_column *c, const struct sx_segment *s,
					   int v)
{
	const int least = (SX_UNMEASURED_DROP_PX + c->cell_height - 1) / c->cell_height;
	const int rows = c->height / c->cell_height;
	int n = 0;

	if (!c->drops)
		return false;
	for (int i = v; n < least && i >= (int)s->v_bottom && sx_unmeasured_below(c, s, i); i--)
		n++;
	for (int i = v + 1; n > 0 && n < least && i < rows && sx_unmeasured_below(c, s, i); i++)
		n++;
	return n >= least;
}

/*
 * Returns the state of row v of a segment by its cell and the left image, of ground by both images' contrast. q7:
 * disparity of the segment there.
 */
SX_SEGMENT_INLINE int sx_unmeasured_left(const struct sx_unmeasured_column *c, const struct sx_segment *s,
					 int v, int32_t q7, const struct sx_unmeasured_view *r)
{
	const bool measured = r->cell != SX_DISPARITY_INVALID;
	const int state = measured ? SX_ROW_MEASURED : sx_unmeasured_tile(r->left);

	if (s->kind != STIXEL_GROUND)
		return state;
	if (state <= SX_ROW_MEASURED && r->left & SX_TILE_CHANCE)
		return SX_ROW_FLAT;
	if (sx_unmeasured_drops(c, s, v))
		return SX_ROW_DROP;
	if (state <= SX_ROW_MEASURED && r->has_right && sx_flat_differs(r->left, r->right))
		return SX_ROW_FLAT;
	if (measured && 8 * (int32_t)r->cell + SX_UNMEASURED_LOW_Q7 < q7 - q7 / SX_UNMEASURED_LOW_SHARE)
		return sx_unmeasured_tile(r->left);
	return state;
}

/* Returns true if the kind of a segment can have unmeasured parts. */
SX_SEGMENT_INLINE bool sx_unmeasured_asks(const struct sx_segment *s)
{
	return s->kind == STIXEL_GROUND || s->kind == STIXEL_OBJECT;
}

/* Returns the state of row v of a segment. A hole may be flat in the right image. */
SX_SEGMENT_INLINE int sx_unmeasured_state(const struct sx_unmeasured_column *c, const struct sx_segment *s,
					  int v, int32_t q7, const struct sx_unmeasured_view *r)
{
	const int state = sx_unmeasured_left(c, s, v, q7, r);

	return state == SX_ROW_HOLE && sx_unmeasured_asks(s) && r->has_right ? sx_unmeasured_tile(r->right)
									     : state;
}

/* Returns the index of the lowest bit of a word that is not 0. */
SX_SEGMENT_INLINE int sx_unmeasured_lowest(uint32_t word)
{
#ifdef __CUDA_ARCH__
	return __ffs((int)word) - 1;
#else
	return __builtin_ctz(word);
#endif
}

SX_SEGMENT_INLINE int sx_unmeasured_count(uint32_t word)
{
#ifdef __CUDA_ARCH__
	return __popc(word);
#else
	return __builtin_popcount(word);
#endif
}

/* Returns the bits of word w that stand for rows first .. last. */
SX_SEGMENT_INLINE uint32_t sx_unmeasured_mask(int w, int first, int last)
{
	return (w == first / 32 ? 0xffffffffu << first % 32 : 0xffffffffu) &
	       (w == last / 32 ? 0xffffffffu >> (31 - last % 32) : 0xffffffffu);
}

/* Returns the first of rows first .. last that is measured, or is not; last + 1 if there is none. */
SX_SEGMENT_INLINE int sx_unmeasured_find(const struct sx_unmeasured_word *rows, int first, int last,
					 bool measured)
{
	for (int w = first / 32; w <= last / 32; w++) {
		const uint32_t bits = (measured ? rows[w].measured : ~rows[w].measured) &
				      sx_unmeasured_mask(w, first, last);

		if (bits)
			return 32 * w + sx_unmeasured_lowest(bits);
	}
	return last + 1;
}

/*
 * Returns true if row v sees the road before an object, nearer by 1 px and a sixteenth: an object that stands on the
 * road begins above this row.
 */
SX_SEGMENT_INLINE bool sx_unmeasured_before(const struct sx_unmeasured_column *c, const struct sx_segment *s,
					    int v)
{
	const int y = c->height - 1 - v * c->cell_height - c->cell_height / 2;
	const int32_t road = 8 * (sx_road_row_ground_q4(c->road, y) +
				  sx_road_shift_q4(c->road->cross, c->road->axis, c->x, 1));

	return (int32_t)s->disparity_q7 + SX_UNMEASURED_LOW_Q7 < road - road / SX_UNMEASURED_FOOT_SHARE;
}

/*
 * Returns the number of rows at the foot of an object that were not measured and show the road or something on it
 * before the object: 0 if they are few.
 */
SX_SEGMENT_INLINE int sx_unmeasured_foot(const struct sx_unmeasured_column *c,
					 const struct sx_unmeasured_word *rows, const struct sx_segment *s)
{
	int n, before = 0;

	if (s->kind != STIXEL_OBJECT)
		return 0;
	n = sx_unmeasured_find(rows, s->v_bottom, s->v_top, true) - (int)s->v_bottom;
	if (n * c->cell_height < SX_UNMEASURED_FOOT_PX) /* most objects: their road is not computed */
		return 0;
	while (before < n && sx_unmeasured_before(c, s, s->v_bottom + before))
		before++;
	return before * c->cell_height >= SX_UNMEASURED_FOOT_PX ? before : 0;
}

/*
 * A stretch that was not measured: number of all its cells, of flat ones, of flat and dark ones, of those whose
 * disparity is less than the reach of the frame, and of those below the floor.
 */
struct sx_unmeasured_stretch {
	int cells, flat, dark, beyond, drop;
};

/* Returns the stretch of rows first .. last, none of which was measured. */
SX_SEGMENT_INLINE struct sx_unmeasured_stretch sx_unmeasured_stretch_of(const struct sx_unmeasured_word *rows,
									int first, int last)
{
	struct sx_unmeasured_stretch t = {last - first + 1, 0, 0, 0, 0};

	for (int w = first / 32; w <= last / 32; w++) {
		const uint32_t mask = sx_unmeasured_mask(w, first, last);

		t.flat += sx_unmeasured_count(rows[w].flat & mask);
		t.dark += sx_unmeasured_count(rows[w].dark & mask);
		t.beyond += sx_unmeasured_count(rows[w].beyond & mask);
		t.drop += sx_unmeasured_count(rows[w].drop & mask);
	}
	return t;
}

/* Returns true if a segment does not cross a stretch. */
SX_SEGMENT_INLINE bool sx_unmeasured_ends(const struct sx_unmeasured_column *c, const struct sx_segment *s,
					  const struct sx_unmeasured_stretch *t)
{
	if (s->kind == STIXEL_GROUND)
		return t->flat * c->cell_height >= SX_UNMEASURED_FLAT_PX ||
		       t->beyond * c->cell_height >= SX_UNMEASURED_BEYOND_PX || t->drop > 0 ||
		       t->cells * c->cell_height >= SX_UNMEASURED_GROUND_PX;
	return t->dark * c->cell_height >= SX_UNMEASURED_DARK_PX ||
	       t->flat * c->cell_height >= c->height / SX_UNMEASURED_OBJECT_SHARE;
}

#endif
