/*
 * Implements stixelctl top: shows an instance live on a terminal, or once as text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "tools/ctl/ctl.h"
#include "tools/ctl/top/page.h"
#include "tools/ctl/top/screen.h"

enum { PICTURE_MS = 200, FRAME_WAIT_MS = 300, ONCE_WIDTH = 80, ONCE_HEIGHT = 60, SIDE_MOST = 1000 };

/* Returns the size of the terminal if standard output is one, else the size of a page of paper. */
static void once_size(int *width, int *height)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;

	*width = ONCE_WIDTH;
	*height = ONCE_HEIGHT;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		*width = size.ws_col;
	else if (columns && strtol(columns, NULL, 10) > 0)
		*width = (int)strtol(columns, NULL, 10);
	*width = *width > SIDE_MOST ? SIDE_MOST : *width;
}

static int once(struct sx_top *t)
{
	struct sx_canvas page = {.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0};
	int width, height;

	sx_top_ask(t);
	if (!t->live)
		return ctl_fail(*t->layout ? EX_DATAERR : CTL_NOTHING, "%s", t->why);
	/* a daemon that has just started may have its first frame soon */
	if (!sx_top_look(t) && t->reader && stixel_wait(t->reader, FRAME_WAIT_MS) > 0)
		sx_top_look(t);
	once_size(&width, &height);
	if (sx_canvas_resize(&page, width, height) < 0)
		return ctl_fail(EX_OSERR, "out of memory");
	sx_page_draw(&page, t, false, false);
	sx_canvas_print(&page, stdout);
	sx_canvas_finish(&page);
	return fflush(stdout) == 0 ? 0 : ctl_fail(EX_CANTCREAT, "cannot print: %s", strerror(errno));
}

struct view {
	struct sx_top *top;
	struct sx_canvas page;
	int interval_ms;
	bool paused, help, ended;
};

static void take_key(struct view *v, enum sx_screen_key key, int64_t *ask_ns)
{
	char name[SX_TOP_NAME_BYTES];

	switch (key) {
	case SX_KEY_QUIT:
		v->ended = true;
		break;
	case SX_KEY_ESCAPE:
		v->ended = !v->help;
		break;
	case SX_KEY_PAUSE:
		v->paused = !v->paused;
		break;
	case SX_KEY_WINDOW:
		v->top->window = (v->top->window + 1) % SX_TOP_WINDOWS;
		break;
	case SX_KEY_NEXT:
	case SX_KEY_BEFORE:
		if (!sx_top_neighbour(v->top, key == SX_KEY_NEXT ? 1 : -1, name))
			break;
		sx_top_choose(v->top, name);
		*ask_ns = 0;
		break;
	case SX_KEY_RESIZED:
		if (sx_screen_fit(&v->page) < 0)
			v->ended = true;
		break;
	default:
		break;
	}
	/* any key closes the help, except a resize */
	if (key != SX_KEY_NONE && key != SX_KEY_RESIZED)
		v->help = key == SX_KEY_HELP && !v->help;
}

static void show(struct view *v)
{
	sx_page_draw(&v->page, v->top, true, v->paused);
	if (v->help)
		sx_page_help(&v->page);
	sx_screen_show(&v->page);
}

/*
 * Runs the display: asks for the status once per interval, draws the picture a few times per second, and
 * handles keys at once.
 */
static void top_run(struct view *v)
{
	int64_t ask_ns = 0;
	int step_ms = v->interval_ms < PICTURE_MS ? v->interval_ms : PICTURE_MS;

	while (!v->ended && !ctl_stopped) {
		int64_t now_ns = sx_now_ns();

		if (!v->paused && now_ns >= ask_ns) {
			sx_top_ask(v->top);
			ask_ns = now_ns + v->interval_ms * INT64_C(1000000);
		}
		if (!v->paused)
			sx_top_look(v->top);
		show(v);
		take_key(v, sx_screen_key(step_ms), &ask_ns);
	}
}

int ctl_top(const struct ctl *c)
{
	static struct sx_top top = {.window = SX_TOP_10S};
	struct view v = {.top = &top, .interval_ms = c->interval_ms};
	int code = 0;

	setlocale(LC_CTYPE, "");
	sx_scale_give(&top.scale, c->near_m, c->far_m);
	sx_top_choose(&top, c->instance);
	if (c->once || !sx_screen_open())
		code = once(&top);
	else {
		if (sx_screen_fit(&v.page) == 0)
			top_run(&v);
		sx_screen_close();
		sx_canvas_finish(&v.page);
	}
	sx_top_finish(&top);
	return code;
}
