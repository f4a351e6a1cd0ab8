/*
 * Draws the distance scale as a bar in a corner of an overlay. The file has its own 5x7 letters, so no font
 * is needed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "recording/messages/palette.h"
#include "tools/draw/overlay.h"

enum { GLYPH_WIDTH = 5, GLYPH_HEIGHT = 7, GLYPH_STEP = 6, BAR_WIDTH = 168, BAR_HEIGHT = 8, MARGIN = 6 };

struct glyph {
	char letter;
	uint8_t rows[GLYPH_HEIGHT]; /* bit 4 is the left column */
};

static const struct glyph font[] = {
	{'0', {0x0e, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0e}}, {'1', {0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e}},
	{'2', {0x0e, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1f}}, {'3', {0x1f, 0x02, 0x04, 0x02, 0x01, 0x11, 0x0e}},
	{'4', {0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02}}, {'5', {0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e}},
	{'6', {0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e}}, {'7', {0x1f, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08}},
	{'8', {0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e}}, {'9', {0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c}},
	{'m', {0x00, 0x00, 0x1a, 0x15, 0x15, 0x15, 0x15}}, {'p', {0x00, 0x00, 0x1e, 0x11, 0x1e, 0x10, 0x10}},
	{'x', {0x00, 0x00, 0x11, 0x0a, 0x04, 0x0a, 0x11}},
};

static void fill(struct sx_image *rgb, int x0, int y0, int width, int height, struct sx_rgb colour, int alpha)
{
	for (int y = y0 < 0 ? 0 : y0; y < y0 + height && y < rgb->height; y++) {
		struct sx_rgb *row = sx_image_row(rgb, y);

		for (int x = x0 < 0 ? 0 : x0; x < x0 + width && x < rgb->width; x++)
			row[x] = sx_palette_mix(row[x], colour, alpha);
	}
}

static const struct glyph *glyph_of(char letter)
{
	for (size_t i = 0; i < sizeof(font) / sizeof(font[0]); i++)
		if (font[i].letter == letter)
			return &font[i];
	return NULL;
}

void sx_legend_text(struct sx_image *rgb, int x0, int y0, int scale, const char *text)
{
	for (; *text; text++, x0 += GLYPH_STEP * scale) {
		const struct glyph *g = glyph_of(*text);

		for (int i = 0; g && i < GLYPH_HEIGHT * GLYPH_WIDTH; i++) {
			int x = i % GLYPH_WIDTH, y = i / GLYPH_WIDTH;

			if (g->rows[y] >> (GLYPH_WIDTH - 1 - x) & 1)
				fill(rgb, x0 + x * scale, y0 + y * scale, scale, scale,
				     (struct sx_rgb){255, 255, 255}, 256);
		}
	}
}

struct sx_palette_range sx_overlay_range(const struct sx_overlay_params *p)
{
	double largest = p->disparities > 1 ? p->disparities : 128;

	if (p->focal_baseline > 0.0)
		return sx_palette_metres(p->focal_baseline);
	return (struct sx_palette_range){largest, largest / 30.0};
}

/* Draws one mark of the scale with its number centred below. */
static void draw_mark(struct sx_image *rgb, const struct sx_overlay_params *p, int x0, int y0, int scale,
		      double value)
{
	struct sx_palette_range range = sx_overlay_range(p);
	double disparity = p->focal_baseline > 0.0 ? p->focal_baseline / value : value;
	int length = (BAR_WIDTH * scale) - 1;
	int x = x0 + (int)((1.0 - sx_palette_place(&range, disparity)) * length + 0.5);
	char text[16];

	snprintf(text, sizeof(text), "%d", (int)value);
	fill(rgb, x, y0 + (BAR_HEIGHT - 2) * scale, 1, 4 * scale, (struct sx_rgb){255, 255, 255}, 256);
	sx_legend_text(rgb, x - ((int)strlen(text) * GLYPH_STEP - 1) * scale / 2,
		       y0 + (BAR_HEIGHT + 4) * scale, scale, text);
}

void sx_legend_draw(struct sx_image *rgb, const struct sx_overlay_params *p)
{
	static const double metres[] = {5, 10, 20, 40};
	struct sx_palette_range range = sx_overlay_range(p);
	int scale = rgb->width >= 2400 ? 3 : rgb->width >= 1600 ? 2 : 1;
	int box_width = (BAR_WIDTH + 2 * MARGIN + 3 * GLYPH_STEP) * scale;
	int box_height = (BAR_HEIGHT + 2 * MARGIN + 6 + GLYPH_HEIGHT) * scale;
	int x0 = rgb->width - box_width - MARGIN * scale, y0 = rgb->height - box_height - MARGIN * scale;
	bool in_metres = p->focal_baseline > 0.0;

	if (rgb->width < 3 * box_width / 2 || rgb->height < 4 * box_height)
		return;
	fill(rgb, x0, y0, box_width, box_height, (struct sx_rgb){14, 16, 22}, 208);
	x0 += MARGIN * scale;
	y0 += MARGIN * scale;
	for (int x = 0; x < BAR_WIDTH * scale; x++) {
		double place = 1.0 - (double)x / (BAR_WIDTH * scale - 1);

		fill(rgb, x0 + x, y0, 1, BAR_HEIGHT * scale, sx_palette_turbo(0.10 + 0.80 * place), 256);
	}
	for (size_t i = 0; i < sizeof(metres) / sizeof(metres[0]); i++)
		draw_mark(rgb, p, x0, y0, scale,
			  in_metres ? metres[i] : (int)(range.near_px / (1.5 * (1 << i)) + 0.5));
	sx_legend_text(rgb, x0 + (BAR_WIDTH + MARGIN) * scale, y0, scale, in_metres ? "m" : "px");
}
