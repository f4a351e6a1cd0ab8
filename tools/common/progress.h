/*
 * How far a long work has come: count, rate and time left as one line on a terminal
 * (status_line.h), nothing anywhere else.
 *
 *	sx_progress_begin("pairs", count);
 *	for (...) {
 *		work();
 *		sx_progress_update(done);
 *	}
 *	sx_progress_end();
 *
 * The line stands on stderr and is drawn five times a second at most. Whoever prints something else meanwhile
 * calls sx_progress_hide() before; the next update draws the line again below it.
 *
 * Thread: one. There is one terminal, so there is one line: a second begin ends the first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_COMMON_PROGRESS_H
#define SX_TOOLS_COMMON_PROGRESS_H

#include <stdint.h>

/*
 * unit: what is counted, plural; kept, not copied. total 0: not known, then there is a
 * count and a rate but no bar.
 */
void sx_progress_begin(const char *unit, uint64_t total);
/* Costs a look at the clock, unless it is time to draw. */
void sx_progress_update(uint64_t done);
void sx_progress_hide(void);
/* The line is gone. Harmless without a begin. */
void sx_progress_end(void);

#endif
