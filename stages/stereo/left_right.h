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

/* Columns at the right border that have no descriptor: none with zncc, whose windows repeat the border. */
static inline int sx_left_right_border(const struct sx_stereo_params *p)
{
	return p->cost == SX_COST_ZNCC ? 0 : SX_CENSUS_RADIUS_X;
}

/*
 * left, right: maps of sx_winner(), after the median; right is read by the check alone. dst: U16, same size;
 * may be left.
 *
 * Check (f->left_right >= 0). A valid pixel x with d = left(x) >> 4 has its partner in column x - d -
 * min_disparity of the right image, whose disparity is right(k), k = x - d. The pixel becomes invalid if
 *   k >= 0 and |right(k) - d| > left_right, or
 *   unless left_right_keep: the partner is out of view (column < 0 or >= width), or k < 0, or x is one of the
 *   last sx_left_right_border() columns.
 * For min_disparity = 0 the second line is just k < 0. Otherwise the shifted frame and the right image
 * differ: with min_disparity > 0 a partner can lie left of the image although k >= 0 (its right(k) is made of
 * out-of-view costs and proves nothing); with min_disparity < 0 a partner can be in view where the shifted
 * map does not reach (k < 0), and is then as unproven as one out of view. left_right_keep is libSGM's rule.
 *
 * The last columns: a census window that leaves the image has descriptor 0, whose distance to the right
 * image's border at x - d, 0 as well, is 0: there disparities about 0 win, and so they do in the right map.
 *
 * Then, also without the check, 16 * min_disparity is added to every valid pixel; sums below 0 become 0: a
 * point beyond infinity is at infinity.
 */
void sx_left_right(const struct sx_image *left, const struct sx_image *right, const struct sx_image *dst,
		   const struct sx_filter_params *f, const struct sx_stereo_params *p);

/*
 * After the check: a pixel that lies in a flat tile (stages/stereo/flat.h) becomes invalid, and so does one
 * whose partner lies in one. Nothing can be matched there, and what was matched was carried in from beside.
 *
 * left: as sx_left_right() read it. flat: tiles of the left and of the right image. dst: its result, of which
 * rows y0 .. y1 - 1 are looked at; another image than left.
 */
void sx_left_right_hide_flat(const struct sx_image *left, const struct sx_image flat[2],
			     const struct sx_image *dst, int min_disparity, int y0, int y1);

#endif
