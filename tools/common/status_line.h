/*
 * Keeps one line of a terminal up to date during long work. Prints nothing if the output is not a terminal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_COMMON_STATUS_LINE_H
#define SX_TOOLS_COMMON_STATUS_LINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct sx_status_line {
	FILE *f;
	bool terminal, shown;
	int64_t next_ns; /* earliest time of the next drawing, at most five times per second */
};

void sx_status_line_begin(struct sx_status_line *l, FILE *f);
/*
 * Shows the line, cut to the terminal's width. share: finished part of the work, 0..1, drawn as a bar and a
 * number; negative: unknown.
 */
void sx_status_line_show(struct sx_status_line *l, double share, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Removes the line, so that other text can be printed. */
void sx_status_line_clear(struct sx_status_line *l);

#endif
