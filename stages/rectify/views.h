/*
 * Views: the part of a rectified pair that both cameras really saw. Only this part is matched.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_RECTIFY_VIEWS_H
#define SX_STAGES_RECTIFY_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Columns first .. end - 1 of a row can be matched. first == end: no column can. */
struct sx_row_view {
	uint16_t first, end;
};

/* Returns true if every pixel of an image of this size can be matched. view: one for each row. */
bool sx_views_are_whole(const struct sx_row_view *view, int width, int height);

/*
 * Makes a disparity invalid if one of its two pixels cannot be matched: pixels outside the left view, and
 * pixels whose partner, column x - d - min_disparity with d = winner(x) >> 4, is in the right image but
 * outside its view. The left-right check handles partners outside the image.
 * winner: U16, left map of sx_winner(); rows y0 .. y1 - 1 change. left, right: one view for each row of the
 * image.
 */
void sx_views_hide(const struct sx_image *winner, const struct sx_row_view *left,
		   const struct sx_row_view *right, int min_disparity, int y0, int y1);

#ifdef __cplusplus
}
#endif

#endif
