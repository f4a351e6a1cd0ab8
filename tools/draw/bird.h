/*
 * Draws the free space of a frame from above.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_DRAW_BIRD_H
#define SX_TOOLS_DRAW_BIRD_H

#include "base/image.h"

struct stixel_frame;
struct sx_scale;

/* Returns the width of a view of this height, px. The view shows as much to the sides as fits. */
int sx_bird_width(int height);
/*
 * Draws into rgb (RGB24). The camera is at the lower edge and looks up the page. The height of the picture
 * is the far end of the scale, at most SX_BIRD_FAR_M, and both directions have the same scale. For each
 * stixel column the picture shows the result of stixel_free_space(): free space in green from its first seen
 * ground on, the object that ends it in the colour of its distance (of its class if classes has
 * names, as of sx_overlay_params), the area behind this object dark, and a
 * drop in stripes. Unseen areas are darkest: beside the image, the blind zone before the first ground, and
 * the area behind unseen places and drops except for the next object. There are up to six lines of equal
 * distance. Returns 0; -EINVAL: no camera model, or another pixel format; -ENOMEM.
 */
#define SX_BIRD_FAR_M 60.0
int sx_bird_draw(struct sx_image *rgb, const struct stixel_frame *f, const struct sx_scale *scale,
		 const char *const *classes);

#endif
