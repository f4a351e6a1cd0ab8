/*
 * The free space of a frame from above.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_DRAW_BIRD_H
#define SX_TOOLS_DRAW_BIRD_H

#include "base/image.h"

struct stixel_frame;

/* Columns of a view that is so high: it shows as much to the sides as fits. */
int sx_bird_width(int height);
/*
 * Draws into rgb (RGB24): the camera stands at the lower edge and looks up the page, SX_BIRD_FAR_M
 * reach to the upper edge, both scales are the same. What stixel_free_space() says of each stixel
 * column: free space in the road's colour, from where its ground was first seen; the object that ends
 * it by its distance, what lies behind that dark; a drop in stripes. Darkest is what was not seen:
 * beside the image, the blind zone before the first ground, and what lies behind unseen places and
 * drops but for the next object. Lines every 10 m. -EINVAL: no camera model, or another pixel format;
 * -ENOMEM.
 */
#define SX_BIRD_FAR_M 60.0
int sx_bird_draw(struct sx_image *rgb, const struct stixel_frame *f);

#endif
