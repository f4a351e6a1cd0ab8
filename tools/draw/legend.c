/*
 * Draws the legend below an overlay: the colours of distances or of semantic classes, and the looks of ground,
 * sky, filled and unseen. The file has its own letters, so no font is needed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "include/stixel.h"
#include "tools/draw/overlay.h"

/* Sizes in dots; a dot is 1 px in small pictures. */
enum {
	GLYPH_WIDTH = 5,
	GLYPH_HEIGHT = 9,
	GLYPH_STEP = 6,
	MARGIN = 6,
	BAR_HEIGHT = 8,
	BAR_MOST = 260,
	MARK_HEIGHT = 3,
	LINE_HEIGHT = MARGIN + BAR_HEIGHT + MARK_HEIGHT + 1 + GLYPH_HEIGHT,
	SWATCH_WIDTH = 14,
	SWATCH_HEIGHT = 10,
	WIDTH_LEAST = 120,
	TEXT_GAP = 8
};
/* A picture this wide has one dot for each pixel. */
enum { DOT_WIDTH = 560 };

static const struct sx_rgb ink = {230, 235, 242};
static const struct sx_rgb paper = {14, 16, 22};

struct glyph {
	char letter;
	uint8_t rows[GLYPH_HEIGHT]; /* bit 4 is the left column */
};

static const struct glyph font[] = {
	{'-', {0x00, 0x00, 0x00, 0x00, 0x0e, 0x00, 0x00}},
	{'.', {0x00, 0x00, 0x00, 0x00, 0x00, 0x0c, 0x0c}},
	{'0', {0x0e, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0e}},
	{'1', {0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e}},
	{'2', {0x0e, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1f}},
	{'3', {0x0e, 0x11, 0x01, 0x06, 0x01, 0x11, 0x0e}},
	{'4', {0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02}},
	{'5', {0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e}},
	{'6', {0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e}},
	{'7', {0x1f, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08}},
	{'8', {0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e}},
	{'9', {0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c}},
	{'_', {0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1f}},
	{'a', {0x00, 0x00, 0x0e, 0x01, 0x0f, 0x11, 0x0f}},
	{'b', {0x10, 0x10, 0x16, 0x19, 0x11, 0x19, 0x16}},
	{'c', {0x00, 0x00, 0x0e, 0x11, 0x10, 0x11, 0x0e}},
	{'d', {0x01, 0x01, 0x0d, 0x13, 0x11, 0x13, 0x0d}},
	{'e', {0x00, 0x00, 0x0e, 0x11, 0x1f, 0x10, 0x0e}},
	{'f', {0x06, 0x09, 0x08, 0x1c, 0x08, 0x08, 0x08}},
	{'g', {0x00, 0x00, 0x0f, 0x11, 0x11, 0x11, 0x0f, 0x01, 0x0e}},
	{'h', {0x10, 0x10, 0x16, 0x19, 0x11, 0x11, 0x11}},
	{'i', {0x04, 0x00, 0x0c, 0x04, 0x04, 0x04, 0x0e}},
	{'j', {0x02, 0x00, 0x06, 0x02, 0x02, 0x02, 0x02, 0x12, 0x0c}},
	{'k', {0x10, 0x10, 0x12, 0x14, 0x18, 0x14, 0x12}},
	{'l', {0x0c, 0x04, 0x04, 0x04, 0x04, 0x04, 0x0e}},
	{'m', {0x00, 0x00, 0x1a, 0x15, 0x15, 0x15, 0x15}},
	{'n', {0x00, 0x00, 0x16, 0x19, 0x11, 0x11, 0x11}},
	{'o', {0x00, 0x00, 0x0e, 0x11, 0x11, 0x11, 0x0e}},
	{'p', {0x00, 0x00, 0x16, 0x19, 0x11, 0x19, 0x16, 0x10, 0x10}},
	{'q', {0x00, 0x00, 0x0d, 0x13, 0x11, 0x13, 0x0d, 0x01, 0x01}},
	{'r', {0x00, 0x00, 0x16, 0x19, 0x10, 0x10, 0x10}},
	{'s', {0x00, 0x00, 0x0f, 0x10, 0x0e, 0x01, 0x1e}},
	{'t', {0x08, 0x08, 0x1c, 0x08, 0x08, 0x09, 0x06}},
	{'u', {0x00, 0x00, 0x11, 0x11, 0x11, 0x13, 0x0d}},
	{'v', {0x00, 0x00, 0x11, 0x11, 0x11, 0x0a, 0x04}},
	{'w', {0x00, 0x00, 0x11, 0x11, 0x15, 0x15, 0x0a}},
	{'x', {0x00, 0x00, 0x11, 0x0a, 0x04, 0x0a, 0x11}},
	{'y', {0x00, 0x00, 0x11, 0x11, 0x11, 0x13, 0x0d, 0x01, 0x0e}},
	{'z', {0x00, 0x00, 0x1f, 0x02, 0x04, 0x08, 0x1f}},
};

static void fill(struct sx_image *rgb, int x0, int y0, int width, int height, struct sx_rgb colour)
{
	for (int y = y0 < 0 ? 0 : y0; y < y0 + height && y < rgb->height; y++) {
		struct sx_rgb *row = sx_image_row(rgb, y);

		for (int x = x0 < 0 ? 0 : x0; x < x0 + width && x < rgb->width; x++)
			row[x] = colour;
	}
}

static const struct glyph *glyph_of(char letter)
{
	if (letter >= 'A' && letter <= 'Z')
		letter = (char)(letter - 'A' + 'a');
	for (size_t i = 0; i < sizeof(font) / sizeof(font[0]); i++)
		if (font[i].letter == letter)
			return &font[i];
	return NULL;
}

int sx_legend_text(struct sx_image *rgb, int x0, int y0, int scale, const char *text)
{
	for (; *text; text++, x0 += GLYPH_STEP * scale) {
		const struct glyph *g = glyph_of(*text);

		for (int i = 0; g && i < GLYPH_HEIGHT * GLYPH_WIDTH; i++) {
			int x = i % GLYPH_WIDTH, y = i / GLYPH_WIDTH;

			if (g->rows[y] >> (GLYPH_WIDTH - 1 - x) & 1)
				fill(rgb, x0 + x * scale, y0 + y * scale, scale, scale, ink);
		}
	}
	return x0;
}

static int text_width(const char *text)
{
	return (int)strlen(text) * GLYPH_STEP - 1;
}

static void add_entry(struct sx_legend *l, enum sx_legend_look look, const char *name, struct sx_rgb colour)
{
	struct sx_legend_entry *e = &l->entry[l->count++];

	*e = (struct sx_legend_entry){.look = look, .colour = colour};
	snprintf(e->name, sizeof(e->name), "%s", name);
}

static void add_looks(struct sx_legend *l, struct sx_rgb filled)
{
	add_entry(l, SX_LEGEND_FILLED, "filled", filled);
	add_entry(l, SX_LEGEND_UNSEEN, "not seen", sx_palette_class(STIXEL_UNKNOWN));
}

void sx_legend_distances(struct sx_legend *l, const struct sx_scale *scale, bool looks)
{
	*l = (struct sx_legend){.scale = scale};
	if (!looks)
		return;
	add_entry(l, SX_LEGEND_PLAIN, "ground", sx_palette_class(STIXEL_GROUND));
	add_entry(l, SX_LEGEND_PLAIN, "sky", sx_palette_class(STIXEL_SKY));
	add_looks(l, sx_palette_distance_at(0.5));
}

void sx_legend_classes(struct sx_legend *l, const char *const *names, const struct stixel *stixels,
		       uint32_t count)
{
	static const char *const kinds[] = {
		[STIXEL_GROUND] = "ground", [STIXEL_OBJECT] = "object", [STIXEL_SKY] = "sky"};
	bool label[STIXEL_CLASSES_MAX] = {false}, kind[STIXEL_UNKNOWN] = {false};

	*l = (struct sx_legend){0};
	for (uint32_t i = 0; i < count; i++) {
		if (stixels[i].kind >= STIXEL_UNKNOWN)
			continue;
		if (stixels[i].label < STIXEL_CLASSES_MAX)
			label[stixels[i].label] = true;
		else
			kind[stixels[i].kind] = true;
	}
	for (unsigned i = 0; i < STIXEL_CLASSES_MAX; i++) {
		char number[16];

		snprintf(number, sizeof(number), "class %u", i);
		if (label[i])
			add_entry(l, SX_LEGEND_PLAIN, names[i] && *names[i] ? names[i] : number,
				  sx_palette_label(names[i], i));
	}
	for (unsigned i = 0; i < STIXEL_UNKNOWN; i++)
		if (kind[i])
			add_entry(l, SX_LEGEND_PLAIN, kinds[i], sx_palette_class(i));
	add_looks(l, sx_palette_class(STIXEL_OBJECT));
}

static int entry_width(const struct sx_legend_entry *e)
{
	return SWATCH_WIDTH + MARGIN + text_width(e->name) + 2 * MARGIN;
}

/* Width of all entries in one line, in dots. */
static int entries_width(const struct sx_legend *l)
{
	int width = 0;

	for (int i = 0; i < l->count; i++)
		width += entry_width(&l->entry[i]);
	return width - 2 * MARGIN;
}

static int dot_of(int width)
{
	return 1 + width / (2 * DOT_WIDTH);
}

/* Returns whether the looks stand beside the bar. Otherwise they get a line of their own. */
static bool is_one_line(const struct sx_legend *l, int width)
{
	return l->scale && width / dot_of(width) >= BAR_MOST * 2 / 3 + 5 * MARGIN + entries_width(l);
}

/* Returns whether an entry begins a new line of classes. *x: where it begins, and where the next may, dots. */
static bool wraps(const struct sx_legend_entry *e, int width, int *x)
{
	const int end = *x + entry_width(e) - 2 * MARGIN;
	const bool wrap = *x > MARGIN && end > width / dot_of(width) - MARGIN;

	*x = (wrap ? MARGIN : *x) + entry_width(e);
	return wrap;
}

static int class_lines(const struct sx_legend *l, int width)
{
	int lines = 1, x = MARGIN;

	for (int i = 0; i < l->count; i++)
		lines += wraps(&l->entry[i], width, &x);
	return lines;
}

int sx_legend_height(const struct sx_legend *l, int width)
{
	const int dot = dot_of(width), line = (SWATCH_HEIGHT + MARGIN) * dot;

	if (width < WIDTH_LEAST * dot)
		return 0;
	if (!l->scale)
		return class_lines(l, width) * line + MARGIN * dot;
	return (LINE_HEIGHT + MARGIN / 2) * dot + (is_one_line(l, width) ? 0 : line);
}

/* Draws the marks of the scale with their numbers, as many as fit. The last number has the unit. */
static void draw_marks(struct sx_image *rgb, int x0, int y0, int width, int dot, const struct sx_scale *scale)
{
	struct sx_scale_tick ticks[SX_SCALE_TICKS];
	const int count = sx_scale_ticks(scale, ticks);
	char last[sizeof(ticks[0].text) + 4];
	int free_from = x0, last_from;

	snprintf(last, sizeof(last), "%s %s", ticks[count - 1].text, sx_scale_unit(scale));
	last_from = x0 + width - text_width(last) * dot;
	for (int i = 0; i < count; i++) {
		const bool is_last = i == count - 1;
		const int x = x0 + (int)((1.0 - ticks[i].place) * (width - dot) + 0.5);
		const char *text = is_last ? last : ticks[i].text;
		const int wide = text_width(text) * dot;
		const int from = i == 0 ? x0 : is_last ? last_from : x - wide / 2;

		if (i > 0 && !is_last && (from < free_from || from + wide + TEXT_GAP * dot > last_from))
			continue;
		fill(rgb, x, y0 + (BAR_HEIGHT - 2) * dot, dot, (2 + MARK_HEIGHT) * dot, ink);
		sx_legend_text(rgb, from, y0 + (BAR_HEIGHT + MARK_HEIGHT + 1) * dot, dot, text);
		free_from = from + wide + TEXT_GAP * dot;
	}
}

static void draw_bar(struct sx_image *rgb, int x0, int y0, int width, int dot, const struct sx_scale *scale)
{
	for (int x = 0; x < width; x++)
		fill(rgb, x0 + x, y0, 1, BAR_HEIGHT * dot,
		     sx_palette_distance_at(1.0 - (double)x / (width - 1)));
	draw_marks(rgb, x0, y0, width, dot, scale);
}

static void draw_swatch(struct sx_image *rgb, int x0, int y0, int dot, const struct sx_legend_entry *e)
{
	const int hatch = sx_overlay_hatch_scale(rgb->width);
	const bool plain = e->look == SX_LEGEND_PLAIN;

	fill(rgb, x0, y0, SWATCH_WIDTH * dot, SWATCH_HEIGHT * dot,
	     plain ? e->colour : sx_palette_class(STIXEL_UNKNOWN));
	if (plain)
		return;
	for (int y = y0; y < y0 + SWATCH_HEIGHT * dot && y < rgb->height; y++) {
		struct sx_rgb *row = sx_image_row(rgb, y);

		for (int x = x0; x < x0 + SWATCH_WIDTH * dot && x < rgb->width; x++)
			row[x] = e->look == SX_LEGEND_UNSEEN
					 ? sx_overlay_unseen(row[x], x, y, hatch)
					 : sx_overlay_filled(row[x], e->colour, SX_LOOK_OBJECT, x, y, hatch);
	}
}

/* Draws a swatch with its name at (x, y). */
static void draw_entry(struct sx_image *rgb, int x, int y, int dot, const struct sx_legend_entry *e)
{
	draw_swatch(rgb, x, y, dot, e);
	sx_legend_text(rgb, x + (SWATCH_WIDTH + MARGIN) * dot, y + 2 * dot, dot, e->name);
}

static void draw_classes(struct sx_image *rgb, int y, int dot, const struct sx_legend *l)
{
	int x = MARGIN;

	y += MARGIN * dot;
	for (int i = 0; i < l->count; i++) {
		const struct sx_legend_entry *e = &l->entry[i];

		y += wraps(e, rgb->width, &x) ? (SWATCH_HEIGHT + MARGIN) * dot : 0;
		draw_entry(rgb, (x - entry_width(e)) * dot, y, dot, e);
	}
}

static void draw_distances(struct sx_image *rgb, int y, int dot, const struct sx_legend *l)
{
	const bool one_line = is_one_line(l, rgb->width);
	int bar = rgb->width - 2 * MARGIN * dot, x = MARGIN * dot;

	if (one_line)
		bar -= (entries_width(l) + 3 * MARGIN) * dot;
	bar = bar < BAR_MOST * dot ? bar : BAR_MOST * dot;
	draw_bar(rgb, x, y + MARGIN * dot, bar, dot, l->scale);
	if (one_line)
		x += bar + 3 * MARGIN * dot;
	y += one_line ? MARGIN * dot : LINE_HEIGHT * dot;
	for (int i = 0; i < l->count; i++) {
		draw_entry(rgb, x, y, dot, &l->entry[i]);
		x += entry_width(&l->entry[i]) * dot;
	}
}

void sx_legend_draw(struct sx_image *rgb, int y, const struct sx_legend *l)
{
	const int dot = dot_of(rgb->width);

	if (sx_legend_height(l, rgb->width) == 0)
		return;
	fill(rgb, 0, y, rgb->width, rgb->height - y, paper);
	if (l->scale)
		draw_distances(rgb, y, dot, l);
	else
		draw_classes(rgb, y, dot, l);
}
