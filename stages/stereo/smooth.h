/*
 * Smoothing of the finished map: what is given becomes the median of what is given around it, small holes are
 * closed. A median along columns, then along rows (Narendra: A separable median filter for image noise
 * smoothing, PAMI 1981), of valid disparities alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STEREO_SMOOTH_H
#define SX_STAGES_STEREO_SMOOTH_H

#include "base/image.h"

#define SX_SMOOTH_RADIUS 3 /* px to each side */
#define SX_SMOOTH_CLOSES 4 /* valid ones that close a hole: most of 2 * SX_SMOOTH_RADIUS + 1 */

/*
 * src: U16 Q4, 0xffff invalid. dst: U16, same size, not the same memory. Two passes, the second of the
 * first's result: of the 7 pixels around (x, y) in its column, then in its row, n are valid (those outside
 * of the image are not). If the pixel is valid itself, or n is 4 or more, it becomes the valid one of rank
 * n / 2, the least having rank 0; else it is invalid. Thread: any; allocates nothing.
 */
void sx_smooth(const struct sx_image *src, const struct sx_image *dst);

#endif
