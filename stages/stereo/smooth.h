/*
 * Smoothing of the finished map: each valid disparity becomes the median of the valid ones around it, and
 * small holes are closed. A median along columns, then along rows (Narendra: A separable median filter for
 * image noise smoothing, PAMI 1981), of valid disparities alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STEREO_SMOOTH_H
#define SX_STAGES_STEREO_SMOOTH_H

#include "base/image.h"

#define SX_SMOOTH_RADIUS 3 /* px to each side */
#define SX_SMOOTH_CLOSES 4 /* valid pixels that close a hole: most of 2 * SX_SMOOTH_RADIUS + 1 */

/*
 * Smooths a map. src: U16 Q4, 0xffff invalid. dst: U16, same size, not the same memory.
 * Two passes: the first along columns, the second along rows on the result of the first. Of the 7 pixels
 * around (x, y) in its column (row), n are valid; pixels outside the image are not. If the pixel itself is
 * valid, or n is 4 or more, it becomes the valid value of rank n / 2, where the smallest has rank 0. Else it
 * is invalid. Thread: any; allocates nothing.
 */
void sx_smooth(const struct sx_image *src, const struct sx_image *dst);

#endif
