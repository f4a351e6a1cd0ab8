/*
 * Places of one image that are found again in another, in any row: what tells rigs apart whose rows do not
 * agree, where matching along rows finds nothing.
 *
 * Images are looked at in their contrast: each pixel less the mean around it, by the deviation around it, so
 * that light and exposure do not matter. Corners on a grid, one a cell, are looked for by the sum of absolute
 * differences of windows. A place counts whose best window is clearly better than all that are not beside it.
 * Images wider than SX_MATCH_WIDTH are made smaller by a whole factor first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_PAIRS_MATCH_H
#define SX_TOOLS_PAIRS_MATCH_H

#include "base/image.h"

#define SX_MATCH_WIDTH 800
#define SX_MATCH_COLUMNS 32 /* cells */
#define SX_MATCH_ROWS 20
#define SX_MATCH_MOST (SX_MATCH_COLUMNS * SX_MATCH_ROWS)

/* The contrast of an image, U8, smaller by a factor. finish accepts a zeroed one. */
struct sx_match_view {
	struct sx_image contrast;
	int factor;
};
/* By how much views of images this wide are smaller. */
int sx_match_factor(int width);
/* grey: U8, 64 px wide and 64 times the factor high at least. 0, -EINVAL, -ENOMEM; *ret only on success. */
int sx_match_view_init(struct sx_match_view *ret, const struct sx_image *grey);
void sx_match_view_finish(struct sx_match_view *v);

/* Where a place x, y of one image is in the other: x + dx, y + dy; px of the images, not of the views. */
struct sx_match {
	float x, y, dx, dy;
};

/* How far is looked, px: columns from .. to, and so many rows up and down. */
struct sx_match_reach {
	int from, to, rows;
};

/*
 * Matches of both views, which are of images of one size, into ret. Returns their number, or -ENOMEM.
 * Matches are in order of cells, row by row.
 */
int sx_match(const struct sx_match_view *from, const struct sx_match_view *to,
	     const struct sx_match_reach *reach, struct sx_match ret[SX_MATCH_MOST]);

#endif
