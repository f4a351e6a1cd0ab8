/*
 * A page of character cells for `stixelctl top`. It serves a terminal and a file alike.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_TOP_CANVAS_H
#define SX_TOOLS_CTL_TOP_CANVAS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define SX_CANVAS_DEPTHS 16

/* Colours by meaning. The terminal chooses their look. */
enum sx_canvas_colour {
	SX_C_PLAIN, /* the terminal's default, as foreground and as background */
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
	SX_C_DEPTH, /* far; near is SX_C_DEPTH + SX_CANVAS_DEPTHS - 1 */
	SX_C_COUNT = SX_C_DEPTH + SX_CANVAS_DEPTHS
};

struct sx_canvas_cell {
	uint32_t c; /* Unicode character that is one column wide */
	uint8_t fg, bg;
	bool bold;
};

/* Page of cells. All zero: an empty page. Output outside the page is cut off. */
struct sx_canvas {
	int width, height;
	bool utf8;    /* else only ASCII is written */
	bool colours; /* else characters draw the scene */
	struct sx_canvas_cell *cells;
};

/* Makes the canvas blank with this size. -ENOMEM: the canvas is unchanged. */
int sx_canvas_resize(struct sx_canvas *c, int width, int height);
void sx_canvas_finish(struct sx_canvas *c);
void sx_canvas_clear(struct sx_canvas *c);

void sx_canvas_put(struct sx_canvas *c, int x, int y, uint32_t ch, enum sx_canvas_colour fg,
		   enum sx_canvas_colour bg);
/*
 * Writes text from column x up to column end (exclusive). A mark replaces the cut end of a long text. Control
 * characters and characters that are not one column wide become "?". Returns the column after the text.
 */
int sx_canvas_text(struct sx_canvas *c, int x, int y, int end, enum sx_canvas_colour colour,
		   const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Gives row y the title's background and bold characters. */
void sx_canvas_title(struct sx_canvas *c, int y);
/* Removes all colours, because the values shown are old. */
void sx_canvas_fade(struct sx_canvas *c);

/*
 * Draws a bar of `width` cells: solid up to `full`, light up to `tail`, and a mark at `mark`. All three are
 * fractions of the width, 0..1.
 */
void sx_canvas_bar(struct sx_canvas *c, int x, int y, int width, double full, double tail, double mark);
/*
 * Draws the last values, one per cell, the newest at the right. `top`: value of a full cell. NaN leaves a
 * gap.
 */
void sx_canvas_spark(struct sx_canvas *c, int x, int y, int width, const double *values, int count,
		     double top);

/* Prints the page as text without trailing blanks and lines. */
void sx_canvas_print(const struct sx_canvas *c, FILE *to);

#endif
