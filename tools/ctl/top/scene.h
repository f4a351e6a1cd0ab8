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
 * Distance of the nearest object in each third, m: the one that all but two columns reach beyond, so that a
 * stray stixel does not count. INFINITY: no object. Columns that are not seen (STIXEL_FREE_UNSEEN) count
 * for nothing; NAN: too few others. False: no camera model, or too few columns to tell.
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
