/*
 * Draws the latency by stage and the picture of the stixels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "tools/ctl/answer.h"
#include "tools/ctl/top/page_priv.h"
#include "tools/ctl/top/scene.h"

enum { NAME = 15, METRIC = 8, BAR_LEAST = 4 };

static const char *const windows[SX_TOP_WINDOWS] = {"last 1 s", "last 10 s", "since start"};

/* Parts of the total latency in the order of a frame, with shorter names. The stages follow. */
static const char *const parts[][2] = {
	{"capture_to_publish", "end to end"},
	{"capture_to_engine", "until engine"},
	{"engine_to_result", "engine"},
	{"result_to_publish", "to the ring"},
};

#define PARTS (sizeof(parts) / sizeof(parts[0]))

static const char *name_of(const char *key, bool *part)
{
	for (size_t i = 0; i < PARTS; i++) {
		*part = true;
		if (strcmp(parts[i][0], key) == 0)
			return parts[i][1];
	}
	*part = false;
	return key;
}

static double ms(json_t *row, const char *key)
{
	return json_number_value(json_object_get(row, key)) / 1e3;
}

/* Returns true if the duration has a row. A duration that never occurred has none. */
static bool has_row(json_t *row)
{
	return json_is_number(json_object_get(row, "p50"));
}

int sx_page_table_rows(const struct sx_top *t)
{
	const char *key;
	json_t *row;
	int n = 1;

	json_object_foreach(sx_top_latencies(t), key, row) n += has_row(row);
	return n;
}

/* Draws a value with three significant digits: 123 ms, 12.3, 1.23, 0.123. */
static void figure(struct sx_canvas *c, int x, int y, int end, json_t *row, const char *key)
{
	double v = ms(row, key);
	int decimals = v >= 99.95 ? 0 : v >= 9.995 ? 1 : v >= 0.9995 ? 2 : 3;

	sx_canvas_text(c, x, y, end, SX_C_PLAIN, "%*.*f", METRIC - 1, decimals, v);
}

static void draw_row(struct sx_canvas *c, int y, int end, const char *key, json_t *row, double whole)
{
	int x = NAME + 3 * METRIC + 1;
	bool part;
	const char *name = name_of(key, &part);

	sx_canvas_text(c, part ? 0 : 1, y, NAME, part ? SX_C_LABEL : SX_C_PLAIN, "%s", name);
	for (int i = 0; i < 3; i++)
		figure(c, NAME + i * METRIC, y, end, row, i == 0 ? "p50" : i == 1 ? "p99" : "max");
	if (end - x >= BAR_LEAST && whole > 0.0)
		sx_canvas_bar(c, x, y, end - x, ms(row, "p50") / whole, ms(row, "p99") / whole,
			      ms(row, "max") / whole);
}

/* Returns the smallest duration that still has a row if the table has only this many rows. */
static double threshold(json_t *table, int rows)
{
	double least = 0.0;

	for (;;) {
		double next = INFINITY;
		const char *key;
		json_t *row;
		int n = 0;

		json_object_foreach(table, key, row)
		{
			double v = ms(row, "p50");

			n += has_row(row) && v >= least;
			if (has_row(row) && v > least && v < next)
				next = v;
		}
		if (n <= rows || next == INFINITY)
			return least;
		least = next;
	}
}

int sx_page_table(struct sx_canvas *c, const struct sx_top *t, int y, int rows, int end)
{
	json_t *table = sx_top_latencies(t), *row;
	json_t *whole = json_object_get(table, "capture_to_publish");
	/*
	 * All bars have one scale: the p99 of the total latency fills the width. If p99 exceeds three times
	 * p50, three times p50 fills it, so that the other bars stay visible.
	 */
	double full = fmin(ms(whole, "p99"), 3.0 * ms(whole, "p50")), least = threshold(table, rows - 1);
	const char *key;
	int bottom = y + rows;

	if (rows < 2 || !has_row(whole))
		return y;
	sx_canvas_text(c, 0, y, NAME + 1, SX_C_LABEL, "ms, %s", windows[t->window]);
	for (int i = 0; i < 3; i++)
		sx_canvas_text(c, NAME + i * METRIC, y, end, SX_C_LABEL, "%*s", METRIC - 1,
			       i == 0	? "p50"
			       : i == 1 ? "p99"
					: "max");
	y++;
	json_object_foreach(table, key, row)
	{
		if (has_row(row) && ms(row, "p50") >= least && y < bottom)
			draw_row(c, y++, end, key, row, full);
	}
	return y;
}

static int free_part(struct sx_canvas *c, int x, int y, int end, const char *words, double metres)
{
	enum sx_canvas_colour colour = metres < 5.0 ? SX_C_BAD : metres < 15.0 ? SX_C_WARN : SX_C_GOOD;

	x = sx_canvas_text(c, x, y, end, SX_C_LABEL, "%s", words);
	if (isnan(metres))
		return sx_canvas_text(c, x, y, end, SX_C_DIM, "not seen") + 2;
	if (metres > 999.0)
		return sx_canvas_text(c, x, y, end, SX_C_GOOD, "free") + 2;
	return sx_canvas_text(c, x, y, end, colour, "%.1f m", metres) + 2;
}

void sx_page_picture(struct sx_canvas *c, const struct sx_top *t, int x, int y, int width, int height)
{
	double metres[SX_FREE_PARTS];
	int w, h, end = x + width;

	if (!t->frame || t->frame->header->image_width == 0 || height < 4)
		return;
	sx_scene_size(t->frame, width, height - 2, &w, &h);
	if (!w)
		return;
	sx_scene_draw(c, t->frame, &t->scale, x, y, w, h);
	y += h;
	if (sx_scene_free(t->frame, metres)) {
		bool narrow = width < 42;
		int at = free_part(c, x, y, end, narrow ? "free " : "free: left ", metres[0]);

		at = free_part(c, at, y, end, narrow ? "" : "ahead ", metres[1]);
		free_part(c, at, y, end, narrow ? "" : "right ", metres[2]);
		y++;
	}
	sx_scene_legend(c, &t->scale, x, y, end);
}
