/*
 * A page of character cells: what `stixelctl top` shows, before it is known whether a
 * terminal or a file shows it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_TOP_CANVAS_H
#define SX_TOOLS_CTL_TOP_CANVAS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define SX_CANVAS_DEPTHS 16

/* By meaning; the terminal decides what they look like. */
enum sx_canvas_colour {
	SX_C_PLAIN, /* the terminal's own, as foreground and as background */
	SX_C_DIM,
	SX_C_TITLE,
	SX_C_LABEL,
	SX_C_GOOD,
	SX_C_WARN,
	SX_C_BAD,
	SX_C_BAR,
	SX_C_BAR_TAIL,
	SX_C_GROUND,
	SX_C_SKY,
	SX_C_UNKNOWN,
	SX_C_DEPTH, /* far; SX_C_DEPTH + SX_CANVAS_DEPTHS - 1 is near */
	SX_C_COUNT = SX_C_DEPTH + SX_CANVAS_DEPTHS
};

struct sx_canvas_cell {
	uint32_t c; /* Unicode, of one column */
	uint8_t fg, bg;
	bool bold;
};

/* Zeroed: empty. Whatever is written outside is cut off. */
struct sx_canvas {
	int width, height;
	bool utf8;    /* else only ASCII is written */
	bool colours; /* else the scene is drawn by characters */
	struct sx_canvas_cell *cells;
};

/* Blank, in that size. -ENOMEM: it is as it was. */
int sx_canvas_resize(struct sx_canvas *c, int width, int height);
void sx_canvas_finish(struct sx_canvas *c);
void sx_canvas_clear(struct sx_canvas *c);

void sx_canvas_put(struct sx_canvas *c, int x, int y, uint32_t ch, enum sx_canvas_colour fg,
		   enum sx_canvas_colour bg);
/*
 * Text from column x on, up to column end (exclusive), where too much is cut with a mark. Control characters
 * and whatever has not the width of one column become "?". Returns the column behind the text.
 */
int sx_canvas_text(struct sx_canvas *c, int x, int y, int end, enum sx_canvas_colour colour,
		   const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Everything in the row from x to end gets this background; bold. */
void sx_canvas_title(struct sx_canvas *c, int y);
/* Everything loses its colour: what is shown is not of now. */
void sx_canvas_fade(struct sx_canvas *c);

/* full: up to there a solid bar, up to tail a light one, and a mark at mark; all of width cells, 0..1. */
void sx_canvas_bar(struct sx_canvas *c, int x, int y, int width, double full, double tail, double mark);
/* The last values, one a cell, the newest right; top: the value of a full cell. NaN is a gap. */
void sx_canvas_spark(struct sx_canvas *c, int x, int y, int width, const double *values, int count,
		     double top);

/* As text without trailing blanks and lines. */
void sx_canvas_print(const struct sx_canvas *c, FILE *to);

#endif
