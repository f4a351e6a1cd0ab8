/*
 * Shows the progress of long work: count, rate and time left as one line on a terminal (status_line.h). It
 * prints nothing if stderr is not a terminal.
 *
 *	sx_progress_begin("pairs", count);
 *	for (...) {
 *		work();
 *		sx_progress_update(done);
 *	}
 *	sx_progress_end();
 *
 * The line is on stderr and is drawn at most five times per second. Before the caller prints other text, it
 * calls sx_progress_hide(). The next update draws the line again below the text.
 *
 * Thread: one. There is one terminal, so there is one line. A second begin ends the first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_COMMON_PROGRESS_H
#define SX_TOOLS_COMMON_PROGRESS_H

#include <stdint.h>

/*
 * Begins a progress line. unit: plural name of the counted things; the pointer is kept, the text is not
 * copied. total 0: unknown, so the line has a count and a rate but no bar.
 */
void sx_progress_begin(const char *unit, uint64_t total);
/* Sets the progress. Costs one reading of the clock, unless the line is due to be drawn. */
void sx_progress_update(uint64_t done);
void sx_progress_hide(void);
/* Removes the line. Harmless without a begin. */
void sx_progress_end(void);

#endif
