/*
 * What a pair and its disparity map say about the cameras: how dense the map is, how dark, bright, flat and
 * sharp the images are, whether an image is the one before again, and by how many rows they are out of line.
 *
 * Flat. A cover shows noise, so single pixels are not alike. Means of a few dozen of them are, where nothing
 * is seen; in a street at night, in fog and before a white wall they differ somewhere. So areas are compared,
 * and of their halves the left with the right one: matching looks along the rows.
 *
 * Rows. In a rectified pair a point lies in the same row of both images. Places on a fixed grid say by how
 * much it does not: where the checked map has a disparity and the left image has structure in both
 * directions, a window of it is looked for in the right image some rows above and below, and a few columns
 * beside, the place where it was matched. A straight edge, however it leans, would be found in any row, at
 * another column: matching has put it into its own row, and it would vote for 0. So only corners vote.
 *
 * All in integers, and the sums of any parts of the work add up to those of the whole.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STEREO_MONITOR_H
#define SX_STAGES_STEREO_MONITOR_H

#include <stdint.h>

#include "base/image.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SX_MONITOR_DARK 8     /* grey level up to which a pixel counts as dark */
#define SX_MONITOR_BRIGHT 250 /* and from which on as saturated */
#define SX_MONITOR_NEAR 16    /* Q4: disparities below are of points at infinity, or of no pair at all */
#define SX_MONITOR_SAMPLE_ROWS 16

/*
 * An area: 32 columns of samples, from column 1 on, with the rows above and below. It is flat when the means
 * of its left and its right half differ by at most 2 grey levels, and its mean Laplacian is at most 16, which
 * noise with a sigma of 3 grey levels stays below. One that is 0 in its first or its last column, in all
 * three rows, and not in the other, is none: there an image ends that was rectified, of a covered camera as
 * well.
 */
#define SX_MONITOR_FLAT_COLUMNS 32
#define SX_MONITOR_FLAT_STEP (2 * 3 * SX_MONITOR_FLAT_COLUMNS / 2)
#define SX_MONITOR_FLAT_LAPLACIAN (16 * SX_MONITOR_FLAT_COLUMNS)

#define SX_MONITOR_ROWS 16 /* places of the grid */
#define SX_MONITOR_COLUMNS 48
#define SX_MONITOR_REACH 8 /* rows */
#define SX_MONITOR_SLACK 3 /* columns */
#define SX_MONITOR_TRIED (2 * SX_MONITOR_REACH + 1)
#define SX_MONITOR_NO_VOTE INT16_MIN

/* The window of a place: columns x - 8 .. x + 7, rows y - 3 .. y + 3. */
#define SX_MONITOR_LEFT 8
#define SX_MONITOR_WIDTH 16
#define SX_MONITOR_UP 3
#define SX_MONITOR_AREA (SX_MONITOR_WIDTH * (2 * SX_MONITOR_UP + 1))

/* Least sum of squares of a window's differences, each way, and curvature of its costs: a pixel 36, 2. */
#define SX_MONITOR_STRUCTURE (36 * SX_MONITOR_AREA)
#define SX_MONITOR_CURVATURE (2 * SX_MONITOR_AREA)

/* Of one image, over its samples. */
struct sx_monitor_image {
	uint32_t dark, bright;
	uint32_t laplacian;   /* sum of |4 g(x, y) - g(x-1, y) - g(x+1, y) - g(x, y-1) - g(x, y+1)| */
	uint32_t areas, flat; /* how many there are, how many of them are flat */
	uint32_t checksum;    /* sum of g(x, y) times its weight (monitor_vote.h), modulo 2^32 */
};

/*
 * samples: pixels that were looked at, the same in both images: columns 1 .. width - 2 of every 16th row,
 *   beginning with 8, up to height - 2.
 * measured, near: pixels of the finished map that are valid; and of these, whose disparity is below 1 px.
 * blind: stixel columns without any valid cell.
 * vote: of a place that is asked, by how many rows, in 1/16, what the left image has at a place is lower in
 *   the right one; from -120 to 120, or SX_MONITOR_NO_VOTE.
 */
struct sx_monitor {
	uint32_t samples, measured, near, blind;
	struct sx_monitor_image image[2];
	int16_t vote[SX_MONITOR_ROWS][SX_MONITOR_COLUMNS];
};

/*
 * Of a frame: the grey images, U8, left and right; the checked map (sx_left_right()) and the finished one,
 * U16 Q4 with min_disparity added; cells of stixel columns (sx_reduce_cells()), a column a row. 32x32 and
 * larger.
 */
struct sx_monitor_input {
	const struct sx_image *grey, *left_right, *disparity, *columns;
};

void sx_monitor(const struct sx_monitor_input *in, struct sx_monitor *ret);

/*
 * Part i of SX_MONITOR_ROWS: row i of the grid, and about as large a share of all else. Parts may be computed
 * at the same time.
 */
struct sx_monitor_part {
	uint32_t samples, measured, near, blind;
	struct sx_monitor_image image[2];
};
void sx_monitor_part(const struct sx_monitor_input *in, int i, struct sx_monitor_part *ret,
		     int16_t vote[SX_MONITOR_COLUMNS]);
/* Sums of all parts. Votes stay as they are. */
void sx_monitor_join(const struct sx_monitor_part part[SX_MONITOR_ROWS], struct sx_monitor *ret);

/* What needs no map: samples and image of a pair; nothing else of *ret is written. */
void sx_monitor_images(const struct sx_image grey[2], struct sx_monitor *ret);

#ifdef __cplusplus
}
#endif

#endif
