/*
 * A page of character cells.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "tools/ctl/top/canvas.h"

enum { TEXT_BYTES = 512 };

int sx_canvas_resize(struct sx_canvas *c, int width, int height)
{
	struct sx_canvas_cell *cells = calloc((size_t)width * (size_t)height, sizeof(*cells));

	if (!cells)
		return -ENOMEM;
	free(c->cells);
	c->cells = cells;
	c->width = width;
	c->height = height;
	sx_canvas_clear(c);
	return 0;
}

void sx_canvas_finish(struct sx_canvas *c)
{
	free(c->cells);
	memset(c, 0, sizeof(*c));
}

void sx_canvas_clear(struct sx_canvas *c)
{
	for (int i = 0; i < c->width * c->height; i++)
		c->cells[i] = (struct sx_canvas_cell){.c = ' '};
}

static struct sx_canvas_cell *cell(struct sx_canvas *c, int x, int y)
{
	return x >= 0 && y >= 0 && x < c->width && y < c->height ? &c->cells[y * c->width + x] : NULL;
}

void sx_canvas_put(struct sx_canvas *c, int x, int y, uint32_t ch, enum sx_canvas_colour fg,
		   enum sx_canvas_colour bg)
{
	struct sx_canvas_cell *to = cell(c, x, y);

	if (to)
		*to = (struct sx_canvas_cell){.c = ch, .fg = (uint8_t)fg, .bg = (uint8_t)bg};
}

/* Returns the next character of UTF-8 text. Each invalid byte becomes "?". */
static uint32_t canvas_decode(const char **text)
{
	const unsigned char *s = (const unsigned char *)*text;
	int more = *s < 0x80		     ? 0
		   : *s >= 0xf0 && *s < 0xf5 ? 3
		   : *s >= 0xe0 && *s < 0xf0 ? 2
		   : *s >= 0xc2 && *s < 0xe0 ? 1
					     : -1;
	uint32_t ch = more == 0 ? *s : more > 0 ? *s & (0x3fu >> more) : '?';

	for (int i = 1; i <= more; i++) {
		if ((s[i] & 0xc0) != 0x80) {
			++*text;
			return '?';
		}
		ch = ch << 6 | (s[i] & 0x3f);
	}
	*text += more > 0 ? more + 1 : 1;
	return ch;
}

/* Returns the character that a cell can show, or "?". */
static uint32_t shown(const struct sx_canvas *c, uint32_t ch)
{
	if (ch < 0x80)
		return ch >= ' ' && ch < 0x7f ? ch : '?';
	return c->utf8 && wcwidth((wchar_t)ch) == 1 ? ch : '?';
}

int sx_canvas_text(struct sx_canvas *c, int x, int y, int end, enum sx_canvas_colour colour,
		   const char *format, ...)
{
	char text[TEXT_BYTES];
	const char *s = text;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (; *s && x < end; x++)
		sx_canvas_put(c, x, y, shown(c, canvas_decode(&s)), colour, SX_C_PLAIN);
	if (*s && x == end && x > 0)
		sx_canvas_put(c, x - 1, y, c->utf8 ? 0x2026 : '~', colour, SX_C_PLAIN);
	return x;
}

void sx_canvas_title(struct sx_canvas *c, int y)
{
	for (int x = 0; x < c->width; x++) {
		struct sx_canvas_cell *to = cell(c, x, y);

		if (!to)
			return;
		to->bg = SX_C_TITLE;
		to->bold = true;
	}
}

void sx_canvas_fade(struct sx_canvas *c)
{
	for (int i = 0; i < c->width * c->height; i++) {
		struct sx_canvas_cell *to = &c->cells[i];

		/* a half block of two colours has no meaning without colours */
		if (to->bg != SX_C_PLAIN)
			to->c = to->bg >= SX_C_DEPTH ? (c->utf8 ? 0x2591 : ':') : ' ';
		to->fg = SX_C_DIM;
		to->bg = SX_C_PLAIN;
	}
}

void sx_canvas_bar(struct sx_canvas *c, int x, int y, int width, double full, double tail, double mark)
{
	/* left eighths of a cell, filled 0/8 to 7/8 */
	static const uint32_t eighths[8] = {' ', 0x258f, 0x258e, 0x258d, 0x258c, 0x258b, 0x258a, 0x2589};
	int solid = (int)(full * width * 8.0 + 0.5), light = (int)(tail * width + 0.5),
	    at = (int)(mark * width);

	for (int i = 0; i < width; i++) {
		int part = solid - 8 * i;

		if (part >= 8 || (!c->utf8 && part >= 4))
			sx_canvas_put(c, x + i, y, c->utf8 ? 0x2588 : '=', SX_C_BAR, SX_C_PLAIN);
		else if (part > 0 && c->utf8)
			sx_canvas_put(c, x + i, y, eighths[part], SX_C_BAR, SX_C_PLAIN);
		else if (i < light)
			sx_canvas_put(c, x + i, y, c->utf8 ? 0x2500 : '-', SX_C_BAR_TAIL, SX_C_PLAIN);
		else if (i == at || (i == width - 1 && at >= width))
			sx_canvas_put(c, x + i, y, c->utf8 ? 0x2502 : '|', SX_C_BAR_TAIL, SX_C_PLAIN);
	}
}

void sx_canvas_spark(struct sx_canvas *c, int x, int y, int width, const double *values, int count,
		     double top)
{
	static const char ascii[] = "_.-=*#@@";

	for (int i = 0; i < width && i < count; i++) {
		double v = values[count - 1 - i];
		int step = top > 0.0 && v > 0.0 ? (int)(v / top * 7.999) : 0;

		if (isnan(v))
			continue;
		step = step > 7 ? 7 : step;
		sx_canvas_put(c, x + width - 1 - i, y,
			      c->utf8 ? 0x2581u + (uint32_t)step : (uint32_t)ascii[step], SX_C_BAR,
			      SX_C_PLAIN);
	}
}

static void print_utf8(uint32_t ch, FILE *to)
{
	if (ch < 0x80) {
		fputc((int)ch, to);
	} else if (ch < 0x800) {
		fprintf(to, "%c%c", (int)(0xc0 | ch >> 6), (int)(0x80 | (ch & 0x3f)));
	} else if (ch < 0x10000) {
		fprintf(to, "%c%c%c", (int)(0xe0 | ch >> 12), (int)(0x80 | (ch >> 6 & 0x3f)),
			(int)(0x80 | (ch & 0x3f)));
	} else {
		fprintf(to, "%c%c%c%c", (int)(0xf0 | ch >> 18), (int)(0x80 | (ch >> 12 & 0x3f)),
			(int)(0x80 | (ch >> 6 & 0x3f)), (int)(0x80 | (ch & 0x3f)));
	}
}

void sx_canvas_print(const struct sx_canvas *c, FILE *to)
{
	int blank = 0; /* blank lines that are printed only if another line follows */

	for (int y = 0; y < c->height; y++) {
		const struct sx_canvas_cell *row = &c->cells[y * c->width];
		int end = c->width;

		while (end > 0 && row[end - 1].c == ' ')
			end--;
		if (!end) {
			blank++;
			continue;
		}
		for (; blank; blank--)
			fputc('\n', to);
		for (int x = 0; x < end; x++)
			print_utf8(row[x].c, to);
		fputc('\n', to);
	}
}
