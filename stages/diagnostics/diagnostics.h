/*
 * Image diagnostics: what a pair and its disparity map show about the cameras. They measure the density of
 * the map, how dark, bright, flat and sharp the images are, whether an image is the same as the one before,
 * and the row error of the images.
 *
 * Flat. A covered camera shows noise, so single pixels differ. But means over a few dozen pixels are equal.
 * In a street at night, in fog and before a white wall such means differ somewhere. So the left and the right
 * half of an area are compared, because matching works along the rows.
 *
 * Rows. In a rectified pair a point lies in the same row of both images. Places on a fixed grid measure the
 * difference of rows. A place votes if the checked map has a disparity there and the left image has structure
 * in both directions. A window of the left image is searched for in the right image some rows above and below
 * the matched position, and a few columns beside it. A straight edge in any direction would be found in any
 * row, at another column: matching has put it into its own row, and it would vote for 0. So only corners
 * vote.
 *
 * All in integers. The sums of any parts of the work add up to those of the whole.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_DIAGNOSTICS_DIAGNOSTICS_H
#define SX_STAGES_DIAGNOSTICS_DIAGNOSTICS_H

#include <stdint.h>

#include "base/image.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SX_DIAGNOSTICS_DARK 8	  /* grey level up to which a pixel counts as dark */
#define SX_DIAGNOSTICS_BRIGHT 250 /* lowest grey level of a saturated pixel */
/* Q4: disparities below this belong to points at infinity, or to unrelated images */
#define SX_DIAGNOSTICS_NEAR 16
#define SX_DIAGNOSTICS_SAMPLE_ROWS 16

/*
 * Area: 32 columns of samples, from column 1 on, with the rows above and below. It is flat if the means of
 * its left and its right half differ by at most 2 grey levels and its mean Laplacian is at most 16. Noise
 * with a sigma of 3 grey levels stays below this limit. An area does not count if one of its first and last
 * columns is 0 in all three rows and the other column is not: there a rectified image ends, also that of a
 * covered camera.
 */
#define SX_DIAGNOSTICS_FLAT_COLUMNS 32
#define SX_DIAGNOSTICS_FLAT_STEP (2 * 3 * SX_DIAGNOSTICS_FLAT_COLUMNS / 2)
#define SX_DIAGNOSTICS_FLAT_LAPLACIAN (16 * SX_DIAGNOSTICS_FLAT_COLUMNS)

#define SX_DIAGNOSTICS_ROWS 16 /* rows of the grid */
#define SX_DIAGNOSTICS_COLUMNS 48
#define SX_DIAGNOSTICS_REACH 8 /* rows searched above and below */
#define SX_DIAGNOSTICS_SLACK 3 /* columns searched to each side */
#define SX_DIAGNOSTICS_TRIED (2 * SX_DIAGNOSTICS_REACH + 1)
#define SX_DIAGNOSTICS_NO_VOTE INT16_MIN

/* Window of a place: columns x - 8 .. x + 7, rows y - 3 .. y + 3. */
#define SX_DIAGNOSTICS_LEFT 8
#define SX_DIAGNOSTICS_WIDTH 16
#define SX_DIAGNOSTICS_UP 3
#define SX_DIAGNOSTICS_AREA (SX_DIAGNOSTICS_WIDTH * (2 * SX_DIAGNOSTICS_UP + 1))

/*
 * Lowest sum of squares of a window's differences in each direction, and lowest curvature of its costs: 36
 * and 2 per pixel.
 */
#define SX_DIAGNOSTICS_STRUCTURE (36 * SX_DIAGNOSTICS_AREA)
#define SX_DIAGNOSTICS_CURVATURE (2 * SX_DIAGNOSTICS_AREA)

/* Sums over the samples of one image. */
struct sx_diagnostics_image {
	uint32_t dark, bright;
	uint32_t laplacian;   /* sum of |4 g(x, y) - g(x-1, y) - g(x+1, y) - g(x, y-1) - g(x, y+1)| */
	uint32_t areas, flat; /* number of areas; number of flat areas */
	uint32_t checksum;    /* sum of g(x, y) times its weight (diagnostics_vote.h), modulo 2^32 */
};

/*
 * samples: number of samples, the same in both images: columns 1 .. width - 2 of every 16th row, beginning
 * with row 8, up to row height - 2.
 * measured, near: valid pixels of the finished map; valid pixels with a disparity below 1 px.
 * blind: stixel columns without any valid cell.
 * vote: row error at a place that votes, in 1/16 row, -120 to 120: how much lower the content of the left
 * image appears in the right one. SX_DIAGNOSTICS_NO_VOTE at other places.
 */
struct sx_diagnostics {
	uint32_t samples, measured, near, blind;
	struct sx_diagnostics_image image[2];
	int16_t vote[SX_DIAGNOSTICS_ROWS][SX_DIAGNOSTICS_COLUMNS];
};

/*
 * Input of the diagnostics of a frame: the grey images, U8, left and right; the checked map (sx_left_right())
 * and the finished map, U16 Q4 with min_disparity added; cells of stixel columns (sx_reduce_cells()), one row
 * per column. Images are at least 32x32.
 */
struct sx_diagnostics_input {
	const struct sx_image *grey, *left_right, *disparity, *columns;
};

void sx_diagnostics(const struct sx_diagnostics_input *in, struct sx_diagnostics *ret);

/*
 * Computes part i of SX_DIAGNOSTICS_ROWS: row i of the grid, and about the same share of all other sums.
 * Parts may be computed at the same time.
 */
struct sx_diagnostics_part {
	uint32_t samples, measured, near, blind;
	struct sx_diagnostics_image image[2];
};
void sx_diagnostics_part(const struct sx_diagnostics_input *in, int i, struct sx_diagnostics_part *ret,
			 int16_t vote[SX_DIAGNOSTICS_COLUMNS]);
/* Adds up all parts. Votes stay as they are. */
void sx_diagnostics_join(const struct sx_diagnostics_part part[SX_DIAGNOSTICS_ROWS],
			 struct sx_diagnostics *ret);

/* Computes what needs no map: samples and image of a pair. Writes nothing else of *ret. */
void sx_diagnostics_images(const struct sx_image grey[2], struct sx_diagnostics *ret);

#ifdef __cplusplus
}
#endif

#endif
