/*
 * Draws stixels over an image: objects coloured by distance, ground and sky tinted. Unseen pixels are neither
 * free nor an obstacle and keep the picture's grey.
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
 * Parameters of drawing. column_width: of a stixel, px. disparities: largest possible disparity, px; it sets
 * the colour scale if the camera is unknown. focal_baseline: fx * baseline_m, px m; 0: unknown. If it is
 * known, the scale is in metres. horizon_row: row of the road's horizon at column horizon_axis, px from the
 * top, drawn as a dotted line; NaN: none. horizon_slope: rows that the horizon goes down per column to the
 * right. sx_overlay_frame() fills the three horizon members and blind.
 */
struct sx_overlay_params {
	int column_width;
	int disparities;
	double focal_baseline;
	double horizon_row, horizon_axis, horizon_slope;
	bool blind; /* the images show nothing (STIXEL_FRAME_BLIND): no stixel is drawn */
	bool legend;
	bool outline; /* draw only edges of objects, because the picture below has its own colours */
	bool opaque;  /* strong colours, because no picture below should show through */
};

/*
 * Fills rgb (RGB24) with left (U8, same size) as grey, or with a dark background if left is NULL. -EINVAL:
 * another format or size.
 */
int sx_overlay_background(struct sx_image *rgb, const struct sx_image *left);

/* Sets the horizon of a frame's road, if it has one, and whether the frame is blind. */
void sx_overlay_frame(struct sx_overlay_params *p, const struct stixel_frame_header *h);

/* Draws count stixels; parts outside the image are cut off. Any values are safe. */
void sx_overlay_draw(struct sx_image *rgb, const struct stixel *stixels, uint32_t count,
		     const struct sx_overlay_params *p);

/*
 * Draws a disparity map (U16 Q4) in colours; invalid pixels are black. Both images must have the same size,
 * else -EINVAL.
 */
int sx_overlay_disparity(struct sx_image *rgb, const struct sx_image *disparity,
			 const struct sx_overlay_params *p);

/*
 * Returns the ends of the colour scale, px of disparity. With a camera they are 4 m and 60 m, without one the
 * search range and 1/30 of it.
 */
struct sx_palette_range sx_overlay_range(const struct sx_overlay_params *p);

/*
 * Writes white letters, 7 px times scale high: digits, "m", "p", "x" and space. Parts outside the image are
 * cut off.
 */
void sx_legend_text(struct sx_image *rgb, int x, int y, int scale, const char *text);

/*
 * Draws the distance bar at the lower right, or nothing if the image is too small. sx_overlay_draw() calls
 * it.
 */
void sx_legend_draw(struct sx_image *rgb, const struct sx_overlay_params *p);

#endif
