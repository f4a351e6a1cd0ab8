/*
 * Draws the stixels of a frame as a small picture of characters, and computes the free distance ahead.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_TOP_SCENE_H
#define SX_TOOLS_CTL_TOP_SCENE_H

#include "recording/messages/scale.h"
#include "stixel.h"
#include "tools/ctl/top/canvas.h"

#define SX_FREE_PARTS 3 /* thirds of the image: left, ahead, right */

/*
 * Computes the distance of the nearest object or drop in each third, m (stixel_free_space()). All but two
 * columns reach beyond this distance, so that a stray stixel does not count. INFINITY: there is no object or
 * drop. NAN: the third is unseen. A third counts as unseen if more than half of its columns were not seen up
 * to that distance, or if fewer than three columns were seen.
 */
bool sx_scene_free(const struct stixel_frame *f, double metres[SX_FREE_PARTS]);

/*
 * Computes the size of the picture in cells within an area of width x height cells. The picture keeps the
 * shape of the image. Both sizes are 0 if there is no room.
 */
void sx_scene_size(const struct stixel_frame *f, int width, int height, int *cells_x, int *cells_y);
/*
 * Draws the picture at (x, y). With colours a cell shows two pixels. Without colours, characters show the
 * distance, and near ones are dark. Unseen cells have a slash in both cases.
 */
void sx_scene_draw(struct sx_canvas *c, const struct stixel_frame *f, const struct sx_scale *scale, int x,
		   int y, int width, int height);
/* Writes the meaning of the colours or characters in one line, up to column end. */
void sx_scene_legend(struct sx_canvas *c, const struct sx_scale *scale, int x, int y, int end);

#endif
