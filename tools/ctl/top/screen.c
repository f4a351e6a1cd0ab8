/*
 * Shows a canvas on a terminal, with ncurses.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <langinfo.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* before ncurses, whose macros have the names of fields */
#include "stixel.h"

#define NCURSES_WIDECHAR 1
#include <ncurses.h>
#include <term.h>

#include "recording/messages/palette.h"
#include "tools/ctl/top/screen.h"

/* ncurses defines macros with lower-case names, two of which this file uses */
#undef lines
#undef columns

static struct {
	SCREEN *screen;
	int colours;		 /* number of colours; 0: none */
	int numbers[SX_C_COUNT]; /* colour numbers of the terminal; -1: its default */
} term;

/* Returns the nearest of xterm's 256 colours: a cube of 6x6x6 from number 16 on. */
static int nearest_256(struct sx_rgb rgb)
{
	static const int steps[6] = {0, 95, 135, 175, 215, 255};
	const int want[3] = {rgb.r, rgb.g, rgb.b};
	int number = 0;

	for (int i = 0; i < 3; i++) {
		int best = 0;

		for (int s = 1; s < 6; s++)
			if (abs(steps[s] - want[i]) < abs(steps[best] - want[i]))
				best = s;
		number = number * 6 + best;
	}
	return 16 + number;
}

/* Returns one of the eight colours that every colour terminal has. */
static int nearest_8(int depth)
{
	static const int scale[4] = {COLOR_BLUE, COLOR_MAGENTA, COLOR_RED, COLOR_YELLOW};

	return scale[depth * 4 / SX_CANVAS_DEPTHS];
}

/* Returns the colour that pictures without an image below have. */
static struct sx_rgb scene_colour(enum sx_canvas_colour i)
{
	if (i >= SX_C_DEPTH)
		return sx_palette_distance_at((i - SX_C_DEPTH) / (SX_CANVAS_DEPTHS - 1.0));
	return sx_palette_mix((struct sx_rgb){0, 0, 0},
			      sx_palette_class(i == SX_C_GROUND ? STIXEL_GROUND : STIXEL_SKY), 128);
}

static void choose_colours(void)
{
	static const struct {
		int basic;
		struct sx_rgb rgb;
	} named[SX_C_DEPTH] = {
		[SX_C_PLAIN] = {-1, {0, 0, 0}},
		[SX_C_DIM] = {-1, {135, 135, 135}},
		[SX_C_TITLE] = {COLOR_BLUE, {0, 0, 95}},
		[SX_C_LABEL] = {COLOR_CYAN, {95, 175, 215}},
		[SX_C_GOOD] = {COLOR_GREEN, {95, 215, 95}},
		[SX_C_WARN] = {COLOR_YELLOW, {255, 215, 0}},
		[SX_C_BAD] = {COLOR_RED, {255, 95, 95}},
		[SX_C_BAR] = {COLOR_GREEN, {95, 175, 135}},
		[SX_C_BAR_TAIL] = {COLOR_YELLOW, {175, 135, 95}},
		[SX_C_GROUND] = {COLOR_GREEN, {0, 0, 0}},
		[SX_C_SKY] = {COLOR_CYAN, {0, 0, 0}},
		[SX_C_UNKNOWN] = {-1, {0, 0, 0}},
	};

	for (int i = 0; i < SX_C_COUNT; i++) {
		const bool scene = i == SX_C_GROUND || i == SX_C_SKY || i >= SX_C_DEPTH;
		const struct sx_rgb rgb = scene ? scene_colour((enum sx_canvas_colour)i) : named[i].rgb;

		if (i == SX_C_PLAIN)
			term.numbers[i] = -1;
		else if (term.colours >= 1 << 24)
			term.numbers[i] = rgb.r << 16 | rgb.g << 8 | rgb.b;
		else if (term.colours >= 256)
			term.numbers[i] = nearest_256(rgb);
		else
			term.numbers[i] = i < SX_C_DEPTH ? named[i].basic : nearest_8(i - SX_C_DEPTH);
	}
}

bool sx_screen_open(void)
{
	const char *name = getenv("TERM");
	char *move;

	if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO) || !name || !*name)
		return false;
	term.screen = newterm(NULL, stdout, stdin);
	if (!term.screen)
		return false;
	move = tigetstr((char *)(uintptr_t) "cup");
	if (!move || move == (char *)-1) {
		sx_screen_close();
		return false;
	}
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(50);
	curs_set(0);
	if (has_colors() && !(getenv("NO_COLOR") && *getenv("NO_COLOR"))) {
		start_color();
		use_default_colors();
		term.colours = COLORS;
		choose_colours();
	}
	return true;
}

void sx_screen_close(void)
{
	if (!term.screen)
		return;
	endwin();
	delscreen(term.screen);
	memset(&term, 0, sizeof(term));
}

int sx_screen_fit(struct sx_canvas *c)
{
	c->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	c->colours = term.colours >= 8;
	return sx_canvas_resize(c, COLS, LINES);
}

/* Returns the foreground colour. Strong green on strong blue is hard to read, so it is replaced. */
static int foreground(const struct sx_canvas_cell *cell)
{
	return term.numbers[term.colours < 256 && cell->bg == SX_C_TITLE && cell->fg == SX_C_GOOD ? SX_C_PLAIN
												  : cell->fg];
}

/* Returns the attributes of a cell. Without colours, reverse video distinguishes the title and the help. */
static attr_t attributes(const struct sx_canvas_cell *cell)
{
	attr_t a = cell->bold ? A_BOLD : 0;

	if (term.colours < 8 && cell->bg == SX_C_TITLE)
		return A_REVERSE;
	if (term.colours < 256 && cell->fg == SX_C_DIM)
		a |= A_DIM;
	if (term.colours < 8 && (cell->fg == SX_C_BAD || cell->fg == SX_C_WARN))
		a |= A_BOLD;
	return a;
}

void sx_screen_show(const struct sx_canvas *c)
{
	for (int y = 0; y < c->height; y++) {
		for (int x = 0; x < c->width; x++) {
			const struct sx_canvas_cell *cell = &c->cells[y * c->width + x];
			const wchar_t text[2] = {(wchar_t)cell->c, 0};
			int pair =
				term.colours >= 8 ? alloc_pair(foreground(cell), term.numbers[cell->bg]) : 0;
			cchar_t out;

			/* ncurses returns ERR for the last cell although it writes the cell */
			setcchar(&out, text, attributes(cell), (short)(pair > 0 && pair < 32768 ? pair : 0),
				 NULL);
			mvadd_wch(y, x, &out);
		}
	}
	refresh();
}

enum sx_screen_key sx_screen_key(int timeout_ms)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	bool gone;
	int ch;

	/*
	 * A terminal that has gone stays readable for ever if SIGHUP is ignored. Take its remaining keys
	 * first, then quit.
	 */
	gone = poll(&p, 1, timeout_ms) > 0 && p.revents & (POLLHUP | POLLERR | POLLNVAL);
	if (gone && !(p.revents & POLLIN))
		return SX_KEY_QUIT;
	ch = getch();
	switch (ch) {
	case ERR:
		return gone ? SX_KEY_QUIT : SX_KEY_NONE;
	case 'q':
	case 'Q':
	case 4: /* Ctrl-D */
		return SX_KEY_QUIT;
	case 27:
		return SX_KEY_ESCAPE;
	case 'p':
	case ' ':
		return SX_KEY_PAUSE;
	case 'w':
		return SX_KEY_WINDOW;
	case '\t':
	case KEY_RIGHT:
	case KEY_DOWN:
		return SX_KEY_NEXT;
	case KEY_BTAB:
	case KEY_LEFT:
	case KEY_UP:
		return SX_KEY_BEFORE;
	case '?':
	case 'h':
	case KEY_F(1):
		return SX_KEY_HELP;
	case KEY_RESIZE:
		return SX_KEY_RESIZED;
	default:
		return SX_KEY_OTHER;
	}
}
