/*
 * A frame as one picture: stixels over the left image.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_WEB_DRAW_H
#define SX_TOOLS_WEB_DRAW_H

#include <stddef.h>

#include "base/image.h"
#include "stixel.h"

/*
 * Draws stixels, with the scale of distances, over left (U8; NULL or of another size than the frame's: over a
 * dark ground). rgb: made here, for sx_image_finish(). Negative errno.
 */
int web_draw(struct sx_image *rgb, const struct stixel_frame_header *h, const struct stixel *stixels,
	     const struct sx_image *left);

/* Makes it grey and half as bright: nobody takes it for a live picture. */
void web_draw_stale(struct sx_image *rgb);

#endif
