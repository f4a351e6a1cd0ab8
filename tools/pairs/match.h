/*
 * Finds places of one image in another, in any row. It works for rigs whose rows are out of line, where
 * matching along rows fails.
 *
 * Images are compared by their contrast: each pixel minus the mean around it, divided by the deviation around
 * it, so that light and exposure do not matter. One corner in each cell of a grid is searched for by the sum
 * of absolute differences of windows. A place counts if its best window is clearly better than all windows
 * that are not beside it. Images wider than SX_MATCH_WIDTH are first reduced by an integer factor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_PAIRS_MATCH_H
#define SX_TOOLS_PAIRS_MATCH_H

#include "base/image.h"

#define SX_MATCH_WIDTH 800
#define SX_MATCH_COLUMNS 32 /* columns of cells */
#define SX_MATCH_ROWS 20
#define SX_MATCH_MOST (SX_MATCH_COLUMNS * SX_MATCH_ROWS)

/* Contrast of a U8 image, reduced by a factor. finish accepts a zeroed view. */
struct sx_match_view {
	struct sx_image contrast;
	int factor;
};
/* Returns the factor by which views of images of this width are reduced. */
int sx_match_factor(int width);
/*
 * Makes a view. grey: a U8 image, at least 64 px wide and 64 times the factor high. Returns 0, -EINVAL or
 * -ENOMEM. Sets *ret only on success.
 */
int sx_match_view_init(struct sx_match_view *ret, const struct sx_image *grey);
void sx_match_view_finish(struct sx_match_view *v);

/* A place x, y of one image that is at x + dx, y + dy in the other. In px of the images, not of the views. */
struct sx_match {
	float x, y, dx, dy;
};

/* Search range, px: columns from .. to, and `rows` rows up and down. */
struct sx_match_reach {
	int from, to, rows;
};

/*
 * Finds matches between two views of images of one size. Writes them to ret in order of cells, row by row.
 * Returns their number, or -ENOMEM.
 */
int sx_match(const struct sx_match_view *from, const struct sx_match_view *to,
	     const struct sx_match_reach *reach, struct sx_match ret[SX_MATCH_MOST]);

#endif
