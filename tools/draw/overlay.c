/*
 * Draws stixels over an image.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "stixel.h"
#include "tools/draw/overlay.h"

/* Width of the hatch's lines and width of a small picture, px. */
enum { HATCH_LINE_PX = 1, HATCH_PICTURE_PX = 1000 };

static const struct sx_rgb dark = {18, 20, 26};
static const struct sx_rgb light = {255, 255, 255};

/* Content of a column in one row. An empty cell is unseen. */
struct cell {
	uint8_t kind;	       /* enum stixel_kind + 1; 0: unseen */
	uint8_t label;	       /* semantic class */
	uint8_t place;	       /* objects: place on the scale of distances, 0 far .. 255 near */
	uint16_t disparity_q7; /* disparity in this row; STIXEL_DISPARITY_UNKNOWN: not known */
	bool low;	       /* too low for edges */
	bool filled;	       /* hardly measured */
};

/* The cells of a picture, row by row. */
struct grid {
	struct cell *cells;
	int columns, column_width;
	struct sx_rgb label[STIXEL_CLASSES_MAX]; /* colours of the classes, if stixels have them */
};

static bool same_size(const struct sx_image *a, const struct sx_image *b)
{
	return a->width == b->width && a->height == b->height;
}

int sx_overlay_background(struct sx_image *rgb, const struct sx_image *left)
{
	if (rgb->pixel != SX_PIXEL_RGB24 || (left && (left->pixel != SX_PIXEL_U8 || !same_size(rgb, left))))
		return -EINVAL;
	for (int y = 0; y < rgb->height; y++) {
		const uint8_t *grey = left ? sx_image_row(left, y) : NULL;
		struct sx_rgb *to = sx_image_row(rgb, y);

		for (int x = 0; x < rgb->width; x++)
			to[x] = grey ? (struct sx_rgb){grey[x], grey[x], grey[x]} : dark;
	}
	return 0;
}

/* Returns the disparity of a stixel in one of its rows. */
static uint16_t disparity_at(const struct stixel *s, int row)
{
	const int64_t q7 = s->disparity_q7 + (int64_t)s->slope_q14 * (s->row_bottom - row) / 128;

	return q7 < 0 ? 0 : q7 >= STIXEL_DISPARITY_UNKNOWN ? STIXEL_DISPARITY_UNKNOWN - 1 : (uint16_t)q7;
}

/* Writes a stixel into the grid. Rows outside the picture are cut off. */
static void fill_stixel(struct grid *g, int height, const struct stixel *s,
			const struct sx_palette_range *range)
{
	const bool known = s->disparity_q7 != STIXEL_DISPARITY_UNKNOWN;
	struct cell c = {.kind = (uint8_t)(s->kind + 1),
			 .label = s->label,
			 .disparity_q7 = s->disparity_q7,
			 .low = s->row_bottom - s->row_top < SX_LOOK_EDGES_FROM_ROWS - 1,
			 .filled = stixel_is_filled(s)};

	if (s->kind >= STIXEL_UNKNOWN || s->column >= g->columns || (s->kind == STIXEL_OBJECT && !known))
		return;
	for (int y = s->row_top; y <= s->row_bottom && y < height; y++) {
		const uint16_t q7 = known ? disparity_at(s, y) : STIXEL_DISPARITY_UNKNOWN;

		if (s->kind == STIXEL_OBJECT && (y == s->row_top || q7 != c.disparity_q7))
			c.place = (uint8_t)(sx_palette_place(range, q7 / 128.0) * 255.0 + 0.5);
		c.disparity_q7 = q7;
		g->cells[(size_t)y * (size_t)g->columns + s->column] = c;
	}
}

static int make_grid(struct grid *g, const struct sx_image *rgb, const struct stixel *stixels, uint32_t count,
		     const struct sx_overlay_params *p)
{
	const bool possible = p->column_width > 0;

	g->column_width = possible && p->column_width < rgb->width ? p->column_width : rgb->width;
	g->columns = (rgb->width + g->column_width - 1) / g->column_width;
	g->cells = calloc((size_t)g->columns * (size_t)rgb->height, sizeof(*g->cells));
	if (!g->cells)
		return -ENOMEM;
	for (unsigned i = 0; p->classes && i < STIXEL_CLASSES_MAX; i++)
		g->label[i] = sx_palette_label(p->classes[i], i);
	for (uint32_t i = 0; possible && i < count && !p->blind; i++)
		fill_stixel(g, rgb->height, &stixels[i], &p->scale.range);
	return 0;
}

/*
 * Returns whether depth steps from a cell to a farther neighbour: by more than 1 px of disparity, the noise
 * of far stixels, and by more than an eighth, the noise of near and leaning ones. Sky is infinitely far.
 */
static bool steps(const struct cell *nearer, const struct cell *farther)
{
	const int a = nearer->disparity_q7, b = farther->kind == STIXEL_SKY + 1 ? 0 : farther->disparity_q7;

	if (nearer->low || farther->low || nearer->kind == 0 || nearer->kind == STIXEL_SKY + 1 ||
	    farther->kind == 0 || a == STIXEL_DISPARITY_UNKNOWN || b == STIXEL_DISPARITY_UNKNOWN)
		return false;
	return a - b > 128 * SX_LOOK_STEP_PX && SX_LOOK_STEP_PARTS * (a - b) > a;
}

/* The four borders of a cell at which depth steps. */
struct border {
	bool above, below, left, right;
};

static struct border border_of(const struct grid *g, int height, int u, int y)
{
	const struct cell *c = &g->cells[(size_t)y * (size_t)g->columns + (size_t)u];
	const bool sides = g->column_width >= SX_LOOK_SIDES_FROM_PX;

	return (struct border){
		.above = y > 0 && steps(c, c - g->columns),
		.below = y < height - 1 && steps(c, c + g->columns),
		.left = sides && u > 0 && steps(c, c - 1),
		.right = sides && u < g->columns - 1 && steps(c, c + 1),
	};
}

/* Returns true if a pixel belongs to the lines of a hatch. The lines of filled stixels lean the other way. */
static bool on_hatch(int x, int y, int scale, bool filled)
{
	const int period = SX_LOOK_HATCH_PX * scale;

	return (filled ? x + period - y % period : x + y) % period < HATCH_LINE_PX * scale;
}

/* Returns a pixel of an unseen place: darker than the picture, with slanted lines. */
struct sx_rgb sx_overlay_unseen(struct sx_rgb under, int x, int y, int scale)
{
	under = sx_palette_mix(under, dark, SX_LOOK_UNSEEN);
	return on_hatch(x, y, scale, false) ? sx_palette_mix(under, light, SX_LOOK_HATCH) : under;
}

int sx_overlay_hatch_scale(int width)
{
	return 1 + width / HATCH_PICTURE_PX;
}

/* Returns the weight of a class's colour. */
static int alpha_of(const struct sx_overlay_params *p, unsigned kind)
{
	if (kind == STIXEL_OBJECT)
		return p->opaque ? SX_LOOK_OPAQUE : SX_LOOK_OBJECT;
	return p->opaque ? SX_LOOK_CLASS_OPAQUE : kind == STIXEL_GROUND ? SX_LOOK_GROUND : SX_LOOK_SKY;
}

static void mix_row(struct sx_rgb *row, int x0, int x1, struct sx_rgb colour, int alpha)
{
	for (int x = x0; x < x1; x++)
		row[x] = sx_palette_mix(row[x], colour, alpha);
}

/* Returns a pixel of a filled stixel: lines in the stixel's colour, over a weak tint of this colour. */
struct sx_rgb sx_overlay_filled(struct sx_rgb under, struct sx_rgb colour, int alpha, int x, int y, int scale)
{
	return sx_palette_mix(under, colour,
			      on_hatch(x, y, scale, true) ? alpha : alpha * SX_LOOK_FILLED / 256);
}

/* Returns the colour of a cell: by distance, or by class. */
static struct sx_rgb colour_of(const struct grid *g, const struct cell *c, const struct sx_overlay_params *p)
{
	const unsigned kind = c->kind - 1u;

	if (!c->kind)
		return dark;
	if (p->classes)
		return c->label < STIXEL_CLASSES_MAX ? g->label[c->label] : sx_palette_class(kind);
	return kind == STIXEL_OBJECT ? sx_palette_distance_at(c->place / 255.0) : sx_palette_class(kind);
}

/* Draws the pixels of a cell in row y, from x0 up to x1. */
static void draw_cell(struct sx_rgb *row, int x0, int x1, int y, const struct cell *c, struct sx_rgb colour,
		      const struct sx_overlay_params *p, int hatch)
{
	const unsigned kind = c->kind - 1u;

	for (int x = x0; x < x1; x++)
		row[x] = !c->kind    ? sx_overlay_unseen(row[x], x, y, hatch)
			 : c->filled ? sx_overlay_filled(row[x], colour, alpha_of(p, kind), x, y, hatch)
				     : sx_palette_mix(row[x], colour, alpha_of(p, kind));
}

/* Draws the lines of a cell, one px wide, over its own pixels. */
static void draw_border(struct sx_rgb *row, int x0, int x1, const struct border *b, struct sx_rgb colour)
{
	if (b->above || b->below) {
		mix_row(row, x0, x1, colour, SX_LOOK_EDGE);
		return;
	}
	if (b->left)
		mix_row(row, x0, x0 + 1, colour, SX_LOOK_EDGE);
	if (b->right)
		mix_row(row, x1 - 1, x1, colour, SX_LOOK_EDGE);
}

static void draw_cells(struct sx_image *rgb, const struct grid *g, const struct sx_overlay_params *p)
{
	const int hatch = sx_overlay_hatch_scale(rgb->width);

	for (int y = 0; y < rgb->height; y++) {
		struct sx_rgb *row = sx_image_row(rgb, y);

		for (int u = 0; u < g->columns; u++) {
			const struct cell *c = &g->cells[(size_t)y * (size_t)g->columns + (size_t)u];
			const int x0 = u * g->column_width;
			const int x1 = x0 + g->column_width < rgb->width ? x0 + g->column_width : rgb->width;
			const struct border b = border_of(g, rgb->height, u, y);

			if (!p->outline)
				draw_cell(row, x0, x1, y, c, colour_of(g, c, p), p, hatch);
			draw_border(row, x0, x1, &b, p->outline ? light : dark);
		}
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
		const double row = p->horizon_row + p->horizon_slope * (x + 2.5 - p->horizon_axis);
		struct sx_rgb *to;

		if (!(row >= 0.0 && row < rgb->height))
			continue;
		to = sx_image_row(rgb, (int)row);
		for (int i = x; i < x + 6 && i < rgb->width; i++)
			to[i] = sx_palette_mix(to[i], light, 150);
	}
}

int sx_overlay_draw(struct sx_image *rgb, const struct stixel *stixels, uint32_t count,
		    const struct sx_overlay_params *p)
{
	struct grid g;
	int r = make_grid(&g, rgb, stixels, count, p);

	if (r < 0)
		return r;
	draw_cells(rgb, &g, p);
	draw_horizon(rgb, p);
	free(g.cells);
	return 0;
}

int sx_overlay_disparity(struct sx_image *rgb, const struct sx_image *disparity, const struct sx_scale *scale)
{
	if (rgb->pixel != SX_PIXEL_RGB24 || disparity->pixel != SX_PIXEL_U16 || !same_size(rgb, disparity))
		return -EINVAL;
	for (int y = 0; y < rgb->height; y++) {
		const uint16_t *d = sx_image_row(disparity, y);
		struct sx_rgb *to = sx_image_row(rgb, y);

		for (int x = 0; x < rgb->width; x++)
			to[x] = d[x] == SX_DISPARITY_INVALID
					? (struct sx_rgb){0, 0, 0}
					: sx_palette_distance(&scale->range, d[x] / 16.0);
	}
	return 0;
}
