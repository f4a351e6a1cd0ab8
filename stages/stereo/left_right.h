/*
 * Left-right consistency check, and the step from the shifted frame to real disparities.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STEREO_LEFT_RIGHT_H
#define SX_STAGES_STEREO_LEFT_RIGHT_H

#include "base/image.h"
#include "stages/params/params.h"
#include "stages/stereo/census.h"

/*
 * Returns the number of columns at the right border that have no descriptor: none with zncc, whose windows
 * repeat the border.
 */
static inline int sx_left_right_border(const struct sx_stereo_params *p)
{
	return p->cost == SX_COST_ZNCC ? 0 : SX_CENSUS_RADIUS_X;
}

/*
 * Checks the left map against the right one and adds min_disparity. left, right: maps of sx_winner(), after
 * the median. Only the check reads right. dst: U16, same size; may be the same memory as left.
 *
 * Check (f->left_right >= 0). A valid pixel x with d = left(x) >> 4 has its partner in column x - d -
 * min_disparity of the right image, whose disparity is right(k), k = x - d. The pixel becomes invalid if
 *   k >= 0 and |right(k) - d| > left_right, or
 *   unless left_right_keep: the partner is out of view (column < 0 or >= width), or k < 0, or x is one of the
 *   last sx_left_right_border() columns.
 * For min_disparity = 0 the second condition is just k < 0. Otherwise the shifted frame and the right image
 * differ: with min_disparity > 0 a partner can lie left of the image although k >= 0 (its right(k) is made of
 * out-of-view costs and proves nothing); with min_disparity < 0 a partner can be in view where the shifted
 * map does not reach (k < 0), and the check cannot confirm such a partner either. left_right_keep is
 * libSGM's rule.
 *
 * The last columns: a census window that leaves the image has descriptor 0. At the border of the right image
 * the descriptor at x - d is also 0, so their distance is 0. There disparities about 0 win, in the right map
 * as well.
 *
 * Then, also without the check, 16 * min_disparity is added to every valid pixel; sums below 0 become 0: a
 * point beyond infinity is at infinity.
 */
void sx_left_right(const struct sx_image *left, const struct sx_image *right, const struct sx_image *dst,
		   const struct sx_filter_params *f, const struct sx_stereo_params *p);

/*
 * Makes pixels in flat tiles (stages/stereo/flat.h) invalid after the check, and pixels whose partner lies in
 * a flat tile. Nothing can be matched there. A disparity there was carried in from neighbouring areas.
 *
 * left: as the input of sx_left_right(). flat: tiles of the left and of the right image. dst: the result of
 * sx_left_right(), another image than left. Rows y0 .. y1 - 1 of it change.
 */
void sx_left_right_hide_flat(const struct sx_image *left, const struct sx_image flat[2],
			     const struct sx_image *dst, int min_disparity, int y0, int y1);

#endif
