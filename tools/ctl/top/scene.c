/*
 * Draws the stixels of a frame as a small picture of characters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/ctl/top/scene.h"

enum { SAMPLES_X = 3, SAMPLES_Y = 2, STRAY = 2, COLUMNS_MAX = 4096, UNSEEN = '/' };

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Computes the free distance of the columns from begin up to end (see sx_scene_free()). */
static double free_of(const struct stixel_free_column *columns, uint32_t begin, uint32_t end)
{
	static double reach[COLUMNS_MAX];
	size_t seen = 0, unseen = 0;
	double m;

	for (uint32_t u = begin; u < end; u++) {
		if (columns[u].end == STIXEL_FREE_GROUND)
			reach[seen++] = (double)INFINITY;
		else if (columns[u].end != STIXEL_FREE_UNSEEN)
			reach[seen++] = (double)columns[u].to_m;
	}
	qsort(reach, seen, sizeof(reach[0]), by_size);
	if (seen <= STRAY)
		return (double)NAN;
	m = reach[STRAY];
	for (uint32_t u = begin; u < end; u++)
		unseen += columns[u].end == STIXEL_FREE_UNSEEN && (double)columns[u].to_m < m;
	return 2 * unseen > end - begin ? (double)NAN : m;
}

bool sx_scene_free(const struct stixel_frame *f, double metres[SX_FREE_PARTS])
{
	static struct stixel_free_column list[COLUMNS_MAX];
	const uint32_t columns = f->header->columns;

	if (f->header->fx <= 0.0 || f->header->baseline_m <= 0.0 || columns < SX_FREE_PARTS * (STRAY + 1) ||
	    columns > COLUMNS_MAX)
		return false;
	stixel_free_space(f, NULL, 0, list, COLUMNS_MAX);
	for (uint32_t part = 0; part < SX_FREE_PARTS; part++)
		metres[part] =
			free_of(list, columns * part / SX_FREE_PARTS, columns * (part + 1) / SX_FREE_PARTS);
	return true;
}

void sx_scene_size(const struct stixel_frame *f, int width, int height, int *cells_x, int *cells_y)
{
	/* the height of a cell is twice its width */
	const bool empty = !f->header->image_width || !f->header->image_height || !f->header->column_width;
	double scale =
		empty ? 0.0
		      : fmin((double)width / f->header->image_width, 2.0 * height / f->header->image_height);

	*cells_x = (int)(f->header->image_width * scale + 0.5);
	*cells_y = (int)(f->header->image_height * scale / 2.0 + 0.5);
	if (*cells_x < 8 || *cells_y < 3)
		*cells_x = *cells_y = 0;
}

static const struct stixel *stixel_at(const struct stixel_frame *f, double x, double y)
{
	const uint32_t width = f->header->column_width;
	uint32_t count;
	const struct stixel *s;

	if (width == 0 || f->header->flags & STIXEL_FRAME_BLIND) /* a frame may have width 0 */
		return NULL;
	s = stixel_column(f, (uint32_t)x / width, &count);
	for (uint32_t i = 0; i < count; i++)
		if (s[i].row_top <= y && y < s[i].row_bottom + 1.0)
			return &s[i];
	return NULL;
}

/*
 * Returns the colour of a rectangle of the image: its most frequent class. The colour of objects shows their
 * mean position between far and near.
 */
static enum sx_canvas_colour look(const struct stixel_frame *f, const struct sx_palette_range *range,
				  double x, double y, double width, double height)
{
	int votes[4] = {0}, best = STIXEL_OBJECT;
	double place = 0.0;

	for (int i = 0; i < SAMPLES_X * SAMPLES_Y; i++) {
		const struct stixel *s = stixel_at(f, x + (i % SAMPLES_X + 0.5) / SAMPLES_X * width,
						   y + ((i / SAMPLES_X) + 0.5) / SAMPLES_Y * height);
		int kind = s && s->kind <= STIXEL_UNKNOWN ? s->kind : STIXEL_UNKNOWN;

		if (kind == STIXEL_OBJECT && s->disparity_q7 == STIXEL_DISPARITY_UNKNOWN)
			kind = STIXEL_UNKNOWN;
		votes[kind]++;
		if (kind == STIXEL_OBJECT)
			place += sx_palette_place(range, stixel_disparity_px(s));
	}
	for (int k = 0; k < 4; k++)
		if (votes[k] > votes[best])
			best = k;
	switch (best) {
	case STIXEL_OBJECT:
		return SX_C_DEPTH + (int)(place / votes[STIXEL_OBJECT] * (SX_CANVAS_DEPTHS - 1) + 0.5);
	case STIXEL_GROUND:
		return SX_C_GROUND;
	case STIXEL_SKY:
		return SX_C_SKY;
	default:
		return SX_C_UNKNOWN;
	}
}

/* Returns a character for a colour if the terminal has none. Dark means near. */
static uint32_t character(const struct sx_canvas *c, enum sx_canvas_colour colour)
{
	static const char ascii[] = ":-=+*%#@";
	static const uint32_t shades[4] = {0x2591, 0x2592, 0x2593, 0x2588};

	switch (colour) {
	case SX_C_GROUND:
		return '.';
	case SX_C_SKY:
		return ' ';
	case SX_C_UNKNOWN:
		return UNSEEN;
	default:
		return c->utf8 ? shades[(colour - SX_C_DEPTH) * 4 / SX_CANVAS_DEPTHS]
			       : (uint32_t)ascii[(colour - SX_C_DEPTH) * 8 / SX_CANVAS_DEPTHS];
	}
}

/* Draws a cell with one colour. */
static void put_look(struct sx_canvas *c, int x, int y, enum sx_canvas_colour colour)
{
	if (!c->colours)
		sx_canvas_put(c, x, y, character(c, colour), SX_C_PLAIN, SX_C_PLAIN);
	else
		sx_canvas_put(c, x, y, colour == SX_C_UNKNOWN ? UNSEEN : ' ', SX_C_DIM, colour);
}

void sx_scene_draw(struct sx_canvas *c, const struct stixel_frame *f, const struct sx_scale *scale, int x,
		   int y, int width, int height)
{
	const double step_x = (double)f->header->image_width / width,
		     step_y = (double)f->header->image_height / height;
	/* a block fills half a cell, so that a cell can show two colours */
	const bool halves = c->colours && c->utf8;

	for (int i = 0; i < width * height; i++) {
		const int u = i % width, v = i / width;
		enum sx_canvas_colour upper, lower;

		if (!halves) {
			put_look(c, x + u, y + v,
				 look(f, &scale->range, u * step_x, v * step_y, step_x, step_y));
			continue;
		}
		upper = look(f, &scale->range, u * step_x, v * step_y, step_x, step_y / 2.0);
		lower = look(f, &scale->range, u * step_x, (v + 0.5) * step_y, step_x, step_y / 2.0);
		if (upper == SX_C_UNKNOWN && lower == SX_C_UNKNOWN)
			put_look(c, x + u, y + v, SX_C_UNKNOWN);
		else
			sx_canvas_put(c, x + u, y + v, 0x2580, upper, lower);
	}
}

void sx_scene_legend(struct sx_canvas *c, const struct sx_scale *scale, int x, int y, int end)
{
	static const struct {
		enum sx_canvas_colour look;
		const char *name;
	} looks[] = {{SX_C_UNKNOWN, "not seen"}, {SX_C_GROUND, "ground"}, {SX_C_SKY, "sky"}};
	struct sx_scale_tick ticks[SX_SCALE_TICKS];
	const int count = sx_scale_ticks(scale, ticks);

	x = sx_canvas_text(c, x, y, end, SX_C_DIM, "%s ", ticks[0].text);
	for (int i = SX_CANVAS_DEPTHS - 1; i >= 0 && x < end; i -= 2)
		put_look(c, x++, y, SX_C_DEPTH + i);
	x = sx_canvas_text(c, x, y, end, SX_C_DIM, " %s %s", ticks[count - 1].text, sx_scale_unit(scale));
	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
		if (x + 4 + (int)strlen(looks[i].name) > end)
			return;
		put_look(c, x + 2, y, looks[i].look);
		x = sx_canvas_text(c, x + 4, y, end, SX_C_DIM, "%s", looks[i].name);
	}
}
