/*
 * Shows the progress of long work on a status line: count, rate and time left.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/common/progress.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "tools/common/status_line.h"

#define QUIET_NS (SX_NS_PER_S * 3 / 10) /* shorter work gets no line */
enum { TEXT_BYTES = 128 };

static struct {
	const char *unit; /* NULL: not begun */
	uint64_t total;
	int64_t began_ns;
	struct sx_status_line line;
} work;

void sx_progress_begin(const char *unit, uint64_t total)
{
	sx_progress_end();
	work.unit = unit;
	work.total = total;
	work.began_ns = sx_now_ns();
	sx_status_line_begin(&work.line, stderr);
	work.line.next_ns = work.began_ns + QUIET_NS;
}

void sx_progress_hide(void)
{
	sx_status_line_clear(&work.line);
}

void sx_progress_end(void)
{
	sx_progress_hide();
	work.unit = NULL;
}

/* Writes "1:02:03" or "2:03". */
static void span(char *text, size_t bytes, double seconds)
{
	long t = seconds < 360000.0 ? (long)(seconds + 0.5) : 359999;

	if (t >= 3600)
		snprintf(text, bytes, "%ld:%02ld:%02ld", t / 3600, t / 60 % 60, t % 60);
	else
		snprintf(text, bytes, "%ld:%02ld", t / 60, t % 60);
}

static void progress_describe(char *text, uint64_t done, double seconds)
{
	double rate = seconds > 0.0 ? (double)done / seconds : 0.0;
	int decimals = rate < 10.0 ? 1 : 0;
	char left[32];

	if (!work.total || !done) {
		snprintf(text, TEXT_BYTES, "%" PRIu64 " %s, %.*f a second", done, work.unit, decimals, rate);
		return;
	}
	span(left, sizeof(left), (double)(work.total - done) / rate);
	snprintf(text, TEXT_BYTES, "%" PRIu64 " of %" PRIu64 " %s, %.*f a second, %s left", done, work.total,
		 work.unit, decimals, rate, left);
}

void sx_progress_update(uint64_t done)
{
	const int64_t now_ns = sx_now_ns();
	char text[TEXT_BYTES];

	if (!work.unit || now_ns < work.line.next_ns)
		return;
	if (work.total && done > work.total)
		done = work.total;
	progress_describe(text, done, (double)(now_ns - work.began_ns) / 1e9);
	sx_status_line_show(&work.line, work.total ? (double)done / (double)work.total : -1.0, "%s", text);
}
