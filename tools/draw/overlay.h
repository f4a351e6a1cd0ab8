/*
 * Draws stixels over an image: objects coloured by distance, ground and sky tinted; what was not seen,
 * which is neither free nor a wall, keeps the picture's grey.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_DRAW_OVERLAY_H
#define SX_TOOLS_DRAW_OVERLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/image.h"
#include "recording/messages/palette.h"

struct stixel;
struct stixel_frame_header;

/*
 * column_width: of a stixel, px. disparities: the largest that may occur, px; sets the colour scale
 * when the camera is unknown. focal_baseline: fx * baseline_m, 0 = unknown; then the scale is in
 * metres. horizon_row: of the road at column horizon_axis, px from the top, drawn as a dotted line;
 * NaN = none; horizon_lean: how many rows it goes down a column to the right: sx_overlay_frame() fills
 * them in, and blind.
 */
struct sx_overlay_params {
	int column_width;
	int disparities;
	double focal_baseline;
	double horizon_row, horizon_axis, horizon_lean;
	bool blind; /* the pictures show nothing (STIXEL_FRAME_BLIND): no stixel is drawn */
	bool legend;
	bool outline; /* only edges of objects: the picture below has colours of its own */
	bool opaque;  /* strong colours: there is no picture below that should show */
};

/*
 * Fills rgb (RGB24) with left (U8, same size) as grey, or with a dark ground where left is NULL.
 * -EINVAL for another format or size.
 */
int sx_overlay_background(struct sx_image *rgb, const struct sx_image *left);

/* The horizon of a frame's road, none where it has no road; and whether the frame is blind. */
void sx_overlay_frame(struct sx_overlay_params *p, const struct stixel_frame_header *h);

/* Draws count stixels; parts outside the image are cut off. Any values are safe. */
void sx_overlay_draw(struct sx_image *rgb, const struct stixel *stixels, uint32_t count,
		     const struct sx_overlay_params *p);

/* A disparity map (U16 Q4) in colours, invalid black. Both of one size, else -EINVAL. */
int sx_overlay_disparity(struct sx_image *rgb, const struct sx_image *disparity,
			 const struct sx_overlay_params *p);

/*
 * Ends of the colour scale, in px of disparity: with a camera 4 m and 60 m, without one the search
 * range and a thirtieth of it.
 */
struct sx_palette_range sx_overlay_range(const struct sx_overlay_params *p);

/*
 * White letters, 7 px high times scale: digits, "m", "p", "x" and space;
 * what is outside the image is cut off.
 */
void sx_legend_text(struct sx_image *rgb, int x, int y, int scale, const char *text);

/*
 * The bar of distances, lower right; nothing if the image is too small for it. Called by sx_overlay_draw().
 */
void sx_legend_draw(struct sx_image *rgb, const struct sx_overlay_params *p);

#endif
