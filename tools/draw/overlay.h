/*
 * Draws stixels over an image: objects coloured by distance, ground and sky tinted, or all by class. Unseen
 * pixels are neither free nor an obstacle: they are darker and hatched. Filled stixels (STIXEL_FLAG_FILLED)
 * are pale, with lines in their colour.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_DRAW_OVERLAY_H
#define SX_TOOLS_DRAW_OVERLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/image.h"
#include "include/stixel.h"
#include "recording/messages/palette.h"
#include "recording/messages/scale.h"

/*
 * Numbers of the look, which the page of stixel-web has, too. Weights of a colour over the picture, of 256:
 * strong enough to read, weak enough to see the car below. OPAQUE, CLASS_OPAQUE: without a picture.
 */
enum sx_look {
	SX_LOOK_OBJECT = 160,
	SX_LOOK_GROUND = 88,
	SX_LOOK_SKY = 104,
	SX_LOOK_OPAQUE = 240,
	SX_LOOK_CLASS_OPAQUE = 128,
	SX_LOOK_UNSEEN = 88,
	SX_LOOK_HATCH = 80,
	SX_LOOK_EDGE = 112,
	SX_LOOK_FILLED = 72, /* share of a class's weight that remains between the lines of a filled stixel */
	SX_LOOK_HATCH_PX = 8, /* distance of the lines of the hatch, px of a small picture */
	/* Depth steps by more than SX_LOOK_STEP_PX and 1/SX_LOOK_STEP_PARTS of the nearer disparity. */
	SX_LOOK_STEP_PX = 1,
	SX_LOOK_STEP_PARTS = 8,
	/* Narrower columns have no edges at their sides, which would be a comb. */
	SX_LOOK_SIDES_FROM_PX = 6,
	/* Lower stixels have no edges, nor have their neighbours towards them: these would be dashes. */
	SX_LOOK_EDGES_FROM_ROWS = 5
};

/*
 * Parameters of drawing. column_width: of a stixel, px. scale: colours of distances, set by
 * sx_scale_follow(). horizon_row: row of the road's horizon at column horizon_axis, px from the top, drawn
 * as a dotted line; NaN: none. horizon_slope: rows that the horizon goes down per column to the right.
 * sx_overlay_frame() fills the three horizon members and blind.
 */
struct sx_overlay_params {
	int column_width;
	struct sx_scale scale;
	double horizon_row, horizon_axis, horizon_slope;
	/*
	 * Objects, ground and sky have the colours of their classes, with these names: STIXEL_CLASSES_MAX of
	 * them, by label, NULL or "" for one that is not known. NULL: colours of distances.
	 */
	const char *const *classes;
	bool blind;   /* the images show nothing (STIXEL_FRAME_BLIND): all of the picture is unseen */
	bool outline; /* draw only edges, because the picture below has its own colours */
	bool opaque;  /* strong colours, because no picture below should show through */
};

/*
 * Fills rgb (RGB24) with left (U8, same size) as grey, or with a dark background if left is NULL. -EINVAL:
 * another format or size.
 */
int sx_overlay_background(struct sx_image *rgb, const struct sx_image *left);

/* Sets the horizon of a frame's road, if it has one, and whether the frame is blind. */
void sx_overlay_frame(struct sx_overlay_params *p, const struct stixel_frame_header *h);

/*
 * Draws count stixels; parts outside the image are cut off. A dark line marks the border between a nearer
 * and a farther place where depth steps by more than an eighth and by more than 1 px of disparity; it
 * belongs to the nearer place. Columns narrower than 6 px have no such lines at their sides, and stixels
 * below 5 rows and their neighbours have none towards each other. Any values are safe. 0; -ENOMEM.
 */
int sx_overlay_draw(struct sx_image *rgb, const struct stixel *stixels, uint32_t count,
		    const struct sx_overlay_params *p);

/*
 * Draws a disparity map (U16 Q4) in the colours of the scale; invalid pixels are black. Both images must have
 * the same size, else -EINVAL.
 */
int sx_overlay_disparity(struct sx_image *rgb, const struct sx_image *disparity,
			 const struct sx_scale *scale);

/* Returns the look of an unseen pixel. scale: sx_overlay_hatch_scale() of the picture's width. */
struct sx_rgb sx_overlay_unseen(struct sx_rgb under, int x, int y, int scale);
/*
 * Returns the look of a pixel of a filled stixel. colour, alpha: colour of the class and its weight, of 256.
 */
struct sx_rgb sx_overlay_filled(struct sx_rgb under, struct sx_rgb colour, int alpha, int x, int y,
				int scale);
int sx_overlay_hatch_scale(int width);

/*
 * Writes letters, scale px a dot, 7 dots high and 2 below the line: digits, letters, "-", "_" and ".";
 * capital letters are drawn small. Other characters are blank. Parts outside the image are cut off. Returns
 * the column after the text.
 */
int sx_legend_text(struct sx_image *rgb, int x, int y, int scale, const char *text);

enum sx_legend_look { SX_LEGEND_PLAIN, SX_LEGEND_FILLED, SX_LEGEND_UNSEEN };

struct sx_legend_entry {
	enum sx_legend_look look;
	struct sx_rgb colour;
	char name[32];
};

/* The legend below a picture. scale: a bar with the colours of distances; NULL: none. */
struct sx_legend {
	const struct sx_scale *scale;
	struct sx_legend_entry entry[STIXEL_CLASSES_MAX + STIXEL_UNKNOWN + 2];
	int count;
};

/* Fills the legend of distances, with the looks of ground, sky, filled and unseen if looks is true. */
void sx_legend_distances(struct sx_legend *l, const struct sx_scale *scale, bool looks);
/*
 * Fills the legend of the classes that these stixels have; names as of sx_overlay_params. Stixels without a
 * class stand for their kind. A class without a name gets its number.
 */
void sx_legend_classes(struct sx_legend *l, const char *const *names, const struct stixel *stixels,
		       uint32_t count);
/* Returns the height of the legend below a picture of this width, px; 0: the picture is too small for one. */
int sx_legend_height(const struct sx_legend *l, int width);
/* Draws the legend over the rows from y to the end. */
void sx_legend_draw(struct sx_image *rgb, int y, const struct sx_legend *l);

#endif
