/*
 * The stixels of a frame as a small picture of characters, and how far the way is free.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_TOP_SCENE_H
#define SX_TOOLS_CTL_TOP_SCENE_H

#include "stixel.h"
#include "tools/ctl/top/canvas.h"

#define SX_FREE_PARTS 3 /* left, ahead, right: thirds of the image */

/*
 * Distance of the nearest object or drop in each third (stixel_free_space()), m: the one that all but
 * two columns reach beyond, so that a stray stixel does not count. INFINITY: there is none. NAN: the
 * third is not seen, which is said where more than half of its columns were not seen so far, or fewer
 * than three were.
 */
bool sx_scene_free(const struct stixel_frame *f, double metres[SX_FREE_PARTS]);

/*
 * Cells that the picture takes of a place of that size: the image's shape is kept. Both 0: there is no room.
 */
void sx_scene_size(const struct stixel_frame *f, int width, int height, int *cells_x, int *cells_y);
/* Draws it there. Colours: two pixels a cell; without colours by characters, near ones dark. */
void sx_scene_draw(struct sx_canvas *c, const struct stixel_frame *f, int x, int y, int width, int height);
/* What the colours or characters mean, in one line up to column end. */
void sx_scene_legend(struct sx_canvas *c, const struct stixel_frame *f, int x, int y, int end);

#endif
