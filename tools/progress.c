/*
 * How far a long work has come.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "tools/progress.h"

enum { DRAW_NS = 100000000, QUIET_NS = 300000000, BAR_MAX = 40, TEXT_BYTES = 128 };

static struct {
	const char *unit; /* NULL: not begun, or nobody would see it */
	uint64_t total;
	int64_t began_ns, drawn_ns;
	bool shown;
} line;

static bool is_terminal(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

static int terminal_width(void)
{
	struct winsize size;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

void sx_progress_begin(const char *unit, uint64_t total)
{
	sx_progress_end();
	line.unit = is_terminal() ? unit : NULL;
	line.total = total;
	line.began_ns = sx_now_ns();
	/* what is done at once needs no line */
	line.drawn_ns = line.began_ns + QUIET_NS - DRAW_NS;
}

void sx_progress_hide(void)
{
	if (!line.shown)
		return;
	fputs("\r\033[K", stderr);
	line.shown = false;
	line.drawn_ns = 0; /* comes back with the next update */
}

void sx_progress_end(void)
{
	sx_progress_hide();
	line.unit = NULL;
}

/* "1:02:03" or "2:03" */
static void span(char *text, size_t bytes, double seconds)
{
	long t = seconds < 360000.0 ? (long)(seconds + 0.5) : 359999;

	if (t >= 3600)
		snprintf(text, bytes, "%ld:%02ld:%02ld", t / 3600, t / 60 % 60, t % 60);
	else
		snprintf(text, bytes, "%ld:%02ld", t / 60, t % 60);
}

/* The words behind the bar. */
static void describe(char *text, uint64_t done, double seconds)
{
	double rate = seconds > 0.0 ? (double)done / seconds : 0.0;
	char left[32];
	int n;

	if (!line.total) {
		snprintf(text, TEXT_BYTES, "%" PRIu64 " %s, %.*f a second", done, line.unit,
			 rate < 10.0 ? 1 : 0, rate);
		return;
	}
	n = snprintf(text, TEXT_BYTES, "%3d %%  %" PRIu64 " of %" PRIu64 " %s",
		     (int)(100.0 * (double)done / (double)line.total), done, line.total, line.unit);
	if (done == 0 || n >= TEXT_BYTES)
		return;
	span(left, sizeof(left), (double)(line.total - done) / rate);
	snprintf(text + n, TEXT_BYTES - (size_t)n, ", %.*f a second, %s left", rate < 10.0 ? 1 : 0, rate,
		 left);
}

static void draw(uint64_t done, double seconds)
{
	char text[TEXT_BYTES], bar[BAR_MAX + 1] = "";
	/* the last column stays empty: some terminals go to the next line when it is written */
	int width = terminal_width() - 1, room, full;

	describe(text, done, seconds);
	room = width - (int)strlen(text) - 3;
	room = room > BAR_MAX ? BAR_MAX : room;
	if (line.total && room >= 8) {
		full = (int)((double)done / (double)line.total * room);
		for (int i = 0; i < room; i++)
			bar[i] = i < full ? '#' : '.';
		bar[room] = 0;
		fprintf(stderr, "\r[%s] %s\033[K", bar, text);
	} else
		fprintf(stderr, "\r%.*s\033[K", width > 0 ? width : 0, text);
	fflush(stderr);
	line.shown = true;
}

void sx_progress_update(uint64_t done)
{
	int64_t now;

	if (!line.unit)
		return;
	now = sx_now_ns();
	if (now - line.drawn_ns < DRAW_NS)
		return;
	line.drawn_ns = now;
	draw(line.total && done > line.total ? line.total : done, (double)(now - line.began_ns) / 1e9);
}
