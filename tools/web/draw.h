/*
 * Draws a frame as one picture: stixels over the left image.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_WEB_DRAW_H
#define SX_TOOLS_WEB_DRAW_H

#include <stddef.h>

#include "base/image.h"
#include "recording/messages/scale.h"
#include "stixel.h"

/*
 * Draws stixels over left (U8), and the legend below. If left is NULL or has another size than the frame,
 * draws over a dark background. rgb: allocated here; free with sx_image_finish(). Returns 0 or a negative
 * errno.
 */
int web_draw(struct sx_image *rgb, const struct stixel_frame_header *h, const struct stixel *stixels,
	     const struct sx_image *left, const struct sx_scale *scale);

/* Makes the picture grey and half as bright, so that a viewer does not take it for a live picture. */
void web_draw_stale(struct sx_image *rgb);

#endif
