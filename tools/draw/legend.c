/*
 * Draws the legend below an overlay: the colours of distances, and the looks of ground, sky, filled and
 * unseen. The file has its own letters, so no font is needed.
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
	{'.', {0x00, 0x00, 0x00, 0x00, 0x00, 0x0c, 0x0c}},
	{'d', {0x01, 0x01, 0x0d, 0x13, 0x11, 0x13, 0x0d}},
	{'e', {0x00, 0x00, 0x0e, 0x11, 0x1f, 0x10, 0x0e}},
	{'f', {0x06, 0x09, 0x08, 0x1c, 0x08, 0x08, 0x08}},
	{'g', {0x00, 0x00, 0x0f, 0x11, 0x11, 0x11, 0x0f, 0x01, 0x0e}},
	{'i', {0x04, 0x00, 0x0c, 0x04, 0x04, 0x04, 0x0e}},
	{'k', {0x10, 0x10, 0x12, 0x14, 0x18, 0x14, 0x12}},
	{'l', {0x0c, 0x04, 0x04, 0x04, 0x04, 0x04, 0x0e}},
	{'m', {0x00, 0x00, 0x1a, 0x15, 0x15, 0x15, 0x15}},
	{'n', {0x00, 0x00, 0x16, 0x19, 0x11, 0x11, 0x11}},
	{'o', {0x00, 0x00, 0x0e, 0x11, 0x11, 0x11, 0x0e}},
	{'p', {0x00, 0x00, 0x16, 0x19, 0x11, 0x19, 0x16, 0x10, 0x10}},
	{'r', {0x00, 0x00, 0x16, 0x19, 0x10, 0x10, 0x10}},
	{'s', {0x00, 0x00, 0x0f, 0x10, 0x0e, 0x01, 0x1e}},
	{'t', {0x08, 0x08, 0x1c, 0x08, 0x08, 0x09, 0x06}},
	{'u', {0x00, 0x00, 0x11, 0x11, 0x11, 0x13, 0x0d}},
	{'x', {0x00, 0x00, 0x11, 0x0a, 0x04, 0x0a, 0x11}},
	{'y', {0x00, 0x00, 0x11, 0x11, 0x11, 0x13, 0x0d, 0x01, 0x0e}},
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

/* Looks that mean no distance, and their names. STIXEL_OBJECT: a filled object. */
static const struct swatch {
	unsigned kind;
	const char *name;
} swatches[] = {{STIXEL_GROUND, "ground"},
		{STIXEL_SKY, "sky"},
		{STIXEL_OBJECT, "filled"},
		{STIXEL_UNKNOWN, "not seen"}};

enum { SWATCHES = sizeof(swatches) / sizeof(swatches[0]) };

static int swatches_width(void)
{
	int width = 0;

	for (int i = 0; i < SWATCHES; i++)
		width += SWATCH_WIDTH + MARGIN + text_width(swatches[i].name) + 2 * MARGIN;
	return width - 2 * MARGIN;
}

static int dot_of(int width)
{
	return 1 + width / (2 * DOT_WIDTH);
}

/* Returns whether the looks stand beside the bar. Otherwise they get a line of their own. */
static bool is_one_line(int width)
{
	return width / dot_of(width) >= BAR_MOST * 2 / 3 + 5 * MARGIN + swatches_width();
}

int sx_legend_height(int width)
{
	const int dot = dot_of(width);

	if (width < WIDTH_LEAST * dot)
		return 0;
	return (LINE_HEIGHT + MARGIN / 2) * dot + (is_one_line(width) ? 0 : (SWATCH_HEIGHT + MARGIN) * dot);
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

static void draw_swatch(struct sx_image *rgb, int x0, int y0, int dot, unsigned kind)
{
	const struct sx_rgb grey = sx_palette_class(STIXEL_UNKNOWN), middle = sx_palette_distance_at(0.5);
	const int hatch = sx_overlay_hatch_scale(rgb->width);
	const bool hatched = kind == STIXEL_UNKNOWN || kind == STIXEL_OBJECT;

	fill(rgb, x0, y0, SWATCH_WIDTH * dot, SWATCH_HEIGHT * dot, hatched ? grey : sx_palette_class(kind));
	if (!hatched)
		return;
	for (int y = y0; y < y0 + SWATCH_HEIGHT * dot && y < rgb->height; y++) {
		struct sx_rgb *row = sx_image_row(rgb, y);

		for (int x = x0; x < x0 + SWATCH_WIDTH * dot && x < rgb->width; x++)
			row[x] = kind == STIXEL_UNKNOWN
					 ? sx_overlay_unseen(row[x], x, y, hatch)
					 : sx_overlay_filled(row[x], middle, SX_LOOK_OBJECT, x, y, hatch);
	}
}

void sx_legend_draw(struct sx_image *rgb, int y, const struct sx_scale *scale, bool looks)
{
	const int dot = dot_of(rgb->width);
	const bool one_line = is_one_line(rgb->width);
	int bar = rgb->width - 2 * MARGIN * dot, x = MARGIN * dot;

	if (sx_legend_height(rgb->width) == 0)
		return;
	if (one_line)
		bar -= (swatches_width() + 3 * MARGIN) * dot;
	bar = bar < BAR_MOST * dot ? bar : BAR_MOST * dot;
	fill(rgb, 0, y, rgb->width, rgb->height - y, paper);
	draw_bar(rgb, x, y + MARGIN * dot, bar, dot, scale);
	if (one_line)
		x += bar + 3 * MARGIN * dot;
	y += one_line ? MARGIN * dot : LINE_HEIGHT * dot;
	for (int i = 0; looks && i < SWATCHES; i++) {
		draw_swatch(rgb, x, y, dot, swatches[i].kind);
		x += (SWATCH_WIDTH + MARGIN) * dot;
		x = sx_legend_text(rgb, x, y + 2 * dot, dot, swatches[i].name) + 2 * MARGIN * dot;
	}
}
