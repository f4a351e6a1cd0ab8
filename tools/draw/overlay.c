/*
 * Draws stixels over an image.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>

#include "recording/messages/palette.h"
#include "stixel.h"
#include "tools/draw/overlay.h"

/* Weights of the colour over the picture, of 256: strong enough to read, weak enough to see the car below. */
enum {
	ALPHA_OBJECT = 150,
	ALPHA_OPAQUE = 232,
	ALPHA_GROUND = 60,
	ALPHA_SKY = 92,
	ALPHA_TOP = 190,
	ALPHA_SIDE = 72
};

static const struct sx_rgb dark = {18, 20, 26};
static const struct sx_rgb horizon_colour = {255, 255, 255};

static bool same_size(const struct sx_image *a, const struct sx_image *b)
{
	return a->width == b->width && a->height == b->height;
}

static struct sx_rgb *rgb_row(struct sx_image *rgb, int y)
{
	return sx_image_row(rgb, y);
}

int sx_overlay_background(struct sx_image *rgb, const struct sx_image *left)
{
	if (rgb->pixel != SX_PIXEL_RGB24 || (left && (left->pixel != SX_PIXEL_U8 || !same_size(rgb, left))))
		return -EINVAL;
	for (int y = 0; y < rgb->height; y++) {
		const uint8_t *grey = left ? sx_image_row(left, y) : NULL;
		struct sx_rgb *to = rgb_row(rgb, y);

		for (int x = 0; x < rgb->width; x++)
			to[x] = grey ? (struct sx_rgb){grey[x], grey[x], grey[x]} : dark;
	}
	return 0;
}

/* Mixes colour into the rows and columns of the rectangle (both ends inclusive), clipped to the image. */
static void tint(struct sx_image *rgb, int x0, int y0, int x1, int y1, struct sx_rgb colour, int alpha)
{
	x0 = x0 < 0 ? 0 : x0;
	y0 = y0 < 0 ? 0 : y0;
	x1 = x1 >= rgb->width ? rgb->width - 1 : x1;
	y1 = y1 >= rgb->height ? rgb->height - 1 : y1;
	for (int y = y0; y <= y1; y++) {
		struct sx_rgb *row = rgb_row(rgb, y);

		for (int x = x0; x <= x1; x++)
			row[x] = sx_palette_mix(row[x], colour, alpha);
	}
}

/*
 * Returns the image columns of a stixel (both ends inclusive). Any column width is safe: the range is clipped
 * behind the image.
 */
static void columns_of(const struct sx_image *rgb, const struct stixel *s, const struct sx_overlay_params *p,
		       int *x0, int *x1)
{
	const int64_t first = (int64_t)s->column * p->column_width, last = first + p->column_width - 1;

	*x0 = first < 0 ? -1 : first > rgb->width ? rgb->width : (int)first;
	*x1 = last < 0 ? -1 : last > rgb->width ? rgb->width : (int)last;
}

static void draw_object(struct sx_image *rgb, const struct stixel *s, const struct sx_overlay_params *p,
			const struct sx_palette_range *range)
{
	int x0, x1;
	struct sx_rgb colour = sx_palette_distance(range, s->disparity_q7 / 128.0);

	columns_of(rgb, s, p, &x0, &x1);
	if (!p->outline)
		tint(rgb, x0, s->row_top, x1, s->row_bottom, colour, p->opaque ? ALPHA_OPAQUE : ALPHA_OBJECT);
	/*
	 * Edges: the top edge is bright and one side edge is dark, so that neighbouring stixels can be
	 * distinguished.
	 */
	if (s->row_bottom - s->row_top >= 3)
		tint(rgb, x0, s->row_top, x1, s->row_top, (struct sx_rgb){255, 255, 255},
		     p->outline ? ALPHA_TOP : ALPHA_SIDE);
	if (p->column_width >= 4)
		tint(rgb, x1, s->row_top, x1, s->row_bottom, dark, ALPHA_SIDE);
	tint(rgb, x0, s->row_bottom, x1, s->row_bottom, dark, ALPHA_TOP);
}

static void draw_stixel(struct sx_image *rgb, const struct stixel *s, const struct sx_overlay_params *p,
			const struct sx_palette_range *range)
{
	int x0, x1;

	columns_of(rgb, s, p, &x0, &x1);
	switch (s->kind) {
	case STIXEL_OBJECT:
		if (s->disparity_q7 != STIXEL_DISPARITY_UNKNOWN)
			draw_object(rgb, s, p, range);
		break;
	case STIXEL_GROUND:
		if (!p->outline)
			tint(rgb, x0, s->row_top, x1, s->row_bottom, sx_palette_class(s->kind), ALPHA_GROUND);
		break;
	case STIXEL_SKY:
		if (!p->outline)
			tint(rgb, x0, s->row_top, x1, s->row_bottom, sx_palette_class(s->kind), ALPHA_SKY);
		break;
	default:
		break;
	}
}

void sx_overlay_frame(struct sx_overlay_params *p, const struct stixel_frame_header *h)
{
	const struct stixel_ground g = stixel_ground_of(h);

	p->blind = h->flags & STIXEL_FRAME_BLIND;
	p->horizon_row = h->road_origin == STIXEL_ROAD_NONE ? (double)NAN : h->horizon_row;
	p->horizon_axis = g.axis;
	p->horizon_slope = g.slope > 0.0 ? -g.cross / g.slope : 0.0;
}

/* Draws the horizon in dashes. Each dash is level, at the row of its middle. */
static void draw_horizon(struct sx_image *rgb, const struct sx_overlay_params *p)
{
	for (int x = 0; x < rgb->width; x += 12) {
		double row = p->horizon_row + p->horizon_slope * (x + 2.5 - p->horizon_axis);

		if (row >= 0.0 && row < rgb->height)
			tint(rgb, x, (int)row, x + 5, (int)row, horizon_colour, 150);
	}
}

void sx_overlay_draw(struct sx_image *rgb, const struct stixel *stixels, uint32_t count,
		     const struct sx_overlay_params *p)
{
	struct sx_palette_range range = sx_overlay_range(p);

	for (uint32_t i = 0; i < count && !p->blind; i++)
		draw_stixel(rgb, &stixels[i], p, &range);
	draw_horizon(rgb, p);
	if (p->legend)
		sx_legend_draw(rgb, p);
}

int sx_overlay_disparity(struct sx_image *rgb, const struct sx_image *disparity,
			 const struct sx_overlay_params *p)
{
	double full = 16.0 * (p->disparities > 1 ? p->disparities : 128);

	if (rgb->pixel != SX_PIXEL_RGB24 || disparity->pixel != SX_PIXEL_U16 || !same_size(rgb, disparity))
		return -EINVAL;
	for (int y = 0; y < rgb->height; y++) {
		const uint16_t *d = sx_image_row(disparity, y);
		struct sx_rgb *to = rgb_row(rgb, y);

		for (int x = 0; x < rgb->width; x++)
			to[x] = d[x] == SX_DISPARITY_INVALID ? (struct sx_rgb){0, 0, 0}
							     : sx_palette_turbo(d[x] / full);
	}
	return 0;
}
