/*
 * One line of a terminal that is kept up to date while long work goes on. Nothing at
 * all when it is no terminal.
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
	int64_t next_ns; /* not before: five times a second are enough */
};

void sx_status_line_begin(struct sx_status_line *l, FILE *f);
/*
 * share: of the work that is done, 0..1, drawn as a bar and a number; negative: unknown.
 * Cut to the terminal's width.
 */
void sx_status_line_show(struct sx_status_line *l, double share, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Takes the line away, so that something else can be printed. */
void sx_status_line_clear(struct sx_status_line *l);

#endif
