/*
 * Lays out the values of an instance on a page.
 *
 *	title
 *	lines: frames, drops, power, ... as many as fit, the important ones first
 *	latency by stage           | picture of the stixels
 *	keys
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "tools/ctl/answer.h"
#include "tools/ctl/top/page_priv.h"
#include "tools/ctl/top/scene.h"

enum {
	TABLE_LEAST = 6, /* rows that the lines leave for the table */
	TABLE_WIDTH = 47,
	TABLE_MOST = 72,
	PICTURE_LEAST = 24, /* columns */
	PICTURE_ROWS = 7,
	PICTURE_GOOD = 11
};

static enum sx_canvas_colour state_colour(const char *state)
{
	if (strcmp(state, "running") == 0)
		return SX_C_GOOD;
	return strcmp(state, "starting") == 0 || strcmp(state, "degraded") == 0 ? SX_C_WARN : SX_C_BAD;
}

/* Draws the clock. Returns the column where it begins. */
static int draw_clock(struct sx_canvas *c, bool paused)
{
	char now[32];
	time_t seconds = time(NULL);
	struct tm tm;
	int x;

	localtime_r(&seconds, &tm);
	strftime(now, sizeof(now), paused ? " paused  %H:%M:%S " : " %H:%M:%S ", &tm);
	x = c->width - (int)strlen(now);
	sx_canvas_text(c, x, 0, c->width, SX_C_PLAIN, "%s", now);
	return x;
}

/* Draws name, state and uptime. */
static void draw_title(struct sx_canvas *c, const struct sx_top *t, bool paused)
{
	const char *state = t->live ? sx_answer_text(t->status, "state") : "not there";
	double uptime = json_number_value(sx_answer_find(t->status, "uptime_s"));
	int end = c->width >= 44 ? draw_clock(c, paused) : c->width;
	int x = sx_canvas_text(c, 0, 0, end, SX_C_PLAIN, " stixeld %s  ", t->instance);

	x = sx_canvas_text(c, x, 0, end, t->live ? state_colour(state) : SX_C_BAD, "%s", state);
	if (t->live)
		sx_canvas_text(c, x, 0, end, SX_C_PLAIN, "  up %s  %s  pid %s", sx_answer_span(uptime),
			       sx_answer_text(t->status, "version"),
			       sx_answer_number(t->status, "pid", 1, 0));
	sx_canvas_title(c, 0);
}

/* Draws the reason why the daemon is not running, or why its state is unknown. Returns the row below. */
static int draw_reason(struct sx_canvas *c, const struct sx_top *t, int y)
{
	const char *reason = t->live ? json_string_value(sx_answer_find(t->status, "reason")) : t->why;
	int x;

	if (t->live && *t->layout)
		sx_canvas_text(c, 0, y++, c->width, SX_C_BAD, "no picture: %s", t->layout);
	if (!reason || !*reason)
		return y;
	x = sx_canvas_text(c, 0, y, c->width, t->live ? SX_C_WARN : SX_C_BAD, "%s", reason);
	if (!t->live && t->status)
		sx_canvas_text(c, x, y, c->width, SX_C_PLAIN, "; below is what it said %.0f s ago",
			       (double)(sx_now_ns() - t->answered_ns) / 1e9);
	return y + 1;
}

static void draw_keys(struct sx_canvas *c)
{
	static const char *const keys[] = {"q",	     "quit", "p",	 "pause", "w",
					   "window", "Tab",  "instance", "?",	  "help"};
	int x = 1;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i += 2) {
		x = sx_canvas_text(c, x, c->height - 1, c->width, SX_C_LABEL, "%s", keys[i]);
		x = sx_canvas_text(c, x + 1, c->height - 1, c->width, SX_C_DIM, "%s", keys[i + 1]) + 2;
	}
}

/*
 * Returns the number of cells of the picture in an area. Two rows of the area are its legend. 0: the area is
 * too small.
 */
static int picture_cells(const struct sx_top *t, int width, int rows)
{
	int w = 0, h = 0;

	if (t->frame && t->frame->header->image_width && width >= PICTURE_LEAST && rows >= PICTURE_ROWS)
		sx_scene_size(t->frame, width, rows - 2, &w, &h);
	return w * h;
}

/*
 * Draws the rest of the page: the table, and the picture beside or below it, whichever gives the larger
 * picture.
 */
static void draw_panes(struct sx_canvas *c, const struct sx_top *t, int y, int bottom)
{
	int rows = bottom - y, all = sx_page_table_rows(t), width = c->width * 2 / 5, rest;

	width = width < TABLE_WIDTH ? TABLE_WIDTH : width > TABLE_MOST ? TABLE_MOST : width;
	rest = c->width - width - 2;
	if (picture_cells(t, rest, rows) > 0 &&
	    picture_cells(t, rest, rows) >= picture_cells(t, c->width, rows - all - 1)) {
		sx_page_table(c, t, y, rows, width);
		sx_page_picture(c, t, width + 2, y, rest, rows);
		return;
	}
	/* a picture of useful size is worth more than the rows of the shortest stages */
	if (picture_cells(t, c->width, rows - all - 1) == 0 && picture_cells(t, c->width, PICTURE_GOOD) > 0 &&
	    rows >= TABLE_LEAST + 1 + PICTURE_GOOD)
		all = rows - 1 - PICTURE_GOOD;
	/* a wider bar would show no more */
	y = sx_page_table(c, t, y, rows < all ? rows : all, c->width > TABLE_MOST ? TABLE_MOST : c->width) +
	    1;
	if (picture_cells(t, c->width, bottom - y) > 0)
		sx_page_picture(c, t, 0, y, c->width, bottom - y);
}

void sx_page_draw(struct sx_canvas *c, const struct sx_top *t, bool keys, bool paused)
{
	int bottom = c->height - (keys && c->height > 8), y = 1, top;

	sx_canvas_clear(c);
	if (t->status) {
		top = draw_reason(c, t, 1);
		y = sx_page_lines(c, t, top, bottom - top - (bottom > 16 ? TABLE_LEAST : 3));
		draw_panes(c, t, y + (bottom > 20), bottom);
	}
	if (!t->live)
		sx_canvas_fade(c);
	draw_reason(c, t, 1);
	draw_title(c, t, paused);
	if (keys && c->height > 8)
		draw_keys(c);
}

void sx_page_help(struct sx_canvas *c)
{
	static const char *const rows[] = {
		"q, Esc      quit",
		"p, Space    pause",
		"w           window of the latencies: 1 s, 10 s, since start",
		"Tab, arrows next instance",
		"?, h        this help",
		"",
		"until engine  camera, driver, pairing, waiting for the engine",
		"engine        the stages below; several may run at once",
		"to the ring   packing and copying, until readers are woken",
		"bar           p50 solid, p99 light; full: p99 end to end, or 3 times p50",
		"left, ahead, right  nearest object in each third of the image",
	};
	const int count = (int)(sizeof(rows) / sizeof(rows[0])), width = 74;
	int x0 = (c->width - width) / 2, y0 = (c->height - count - 2) / 2;

	x0 = x0 < 0 ? 0 : x0;
	y0 = y0 < 0 ? 0 : y0;
	for (int y = 0; y < count + 2; y++) {
		for (int x = 0; x < width; x++)
			sx_canvas_put(c, x0 + x, y0 + y, ' ', SX_C_PLAIN, SX_C_TITLE);
		if (y < 1 || y > count)
			continue;
		for (int x = 0; rows[y - 1][x] && x0 + 2 + x < c->width; x++)
			sx_canvas_put(c, x0 + 2 + x, y0 + y, (uint32_t)rows[y - 1][x], SX_C_PLAIN,
				      SX_C_TITLE);
	}
}
