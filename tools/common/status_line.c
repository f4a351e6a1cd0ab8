/*
 * Keeps one line of a terminal up to date.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/common/status_line.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"

#define PERIOD_NS (SX_NS_PER_S / 5)
enum { BAR = 20, WIDTH_MAX = 400 };

void sx_status_line_begin(struct sx_status_line *l, FILE *f)
{
	const char *term = getenv("TERM");

	*l = (struct sx_status_line){.f = f,
				     .terminal = isatty(fileno(f)) && term && strcmp(term, "dumb") != 0};
}

static int width(const struct sx_status_line *l)
{
	struct winsize size;

	if (ioctl(fileno(l->f), TIOCGWINSZ, &size) < 0 || size.ws_col < 10)
		return 80;
	return size.ws_col < WIDTH_MAX ? size.ws_col : WIDTH_MAX;
}

/* Writes the share as a number, and as a bar if there is room. */
static int draw_share(char *text, double share, bool wide)
{
	int full, n = 0;

	share = share > 1.0 ? 1.0 : share;
	full = (int)(share * BAR + 0.5);
	if (wide) {
		text[n++] = '[';
		for (int i = 0; i < BAR; i++)
			text[n++] = i < full ? '#' : '.';
		text[n++] = ']';
		text[n++] = ' ';
	}
	return n + snprintf(text + n, 16, "%3.0f %%  ", 100.0 * share);
}

void sx_status_line_show(struct sx_status_line *l, double share, const char *format, ...)
{
	int64_t now_ns = sx_now_ns();
	char text[WIDTH_MAX + 1];
	int n = 0, most;
	va_list args;

	if (!l->terminal || now_ns < l->next_ns)
		return;
	l->next_ns = now_ns + PERIOD_NS;
	most = width(l) - 1; /* writing the last column would wrap the line */
	if (share >= 0.0)
		n = draw_share(text, share, most > 3 * BAR);
	va_start(args, format);
	vsnprintf(text + n, (size_t)(WIDTH_MAX + 1 - n), format, args);
	va_end(args);
	fprintf(l->f, "\r%.*s\033[K", most, text);
	fflush(l->f);
	l->shown = true;
}

void sx_status_line_clear(struct sx_status_line *l)
{
	if (!l->shown)
		return;
	fputs("\r\033[K", l->f);
	fflush(l->f);
	l->shown = false;
	l->next_ns = 0;
}
