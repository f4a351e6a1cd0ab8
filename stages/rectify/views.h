/*
 * What of a rectified pair both cameras really saw: nothing else is matched.
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

/* Columns first .. end - 1 of a row can be matched; first == end: none. */
struct sx_row_view {
	uint16_t first, end;
};

/* Whether every pixel of an image of this size can be matched. view: one for each row. */
bool sx_views_are_whole(const struct sx_row_view *view, int width, int height);

/*
 * Makes disparities invalid that are not of two pixels that can be matched: of pixels outside the left view,
 * and of those whose partner, column x - d - min_disparity with d = winner(x) >> 4, is in the right image but
 * outside its view. Partners outside the image are the left-right check's affair.
 * winner: U16, left map of sx_winner(); rows y0 .. y1 - 1 of it. left, right: one for each row of the image.
 */
void sx_views_hide(const struct sx_image *winner, const struct sx_row_view *left,
		   const struct sx_row_view *right, int min_disparity, int y0, int y1);

#ifdef __cplusplus
}
#endif

#endif
