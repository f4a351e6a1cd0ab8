/*
 * Pairs and maps for tests of what a pair says about its cameras (stages/monitor/monitor.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_MONITOR_CASE_H
#define SX_TESTS_MONITOR_CASE_H

#include "stages/monitor/monitor.h"
#include "tests/check.h"

struct monitor_case {
	struct check_image grey[2], checked, finished, columns;
	struct sx_image pair[2];
	struct sx_monitor_input in; /* points into this struct */
};

/* Stixel columns 5 pixels wide, of cells one pixel high. Aborts without memory. */
void monitor_case_init(struct monitor_case *c, int width, int height, int padding);
/* False when something was written beside the pixels. */
bool monitor_case_finish(struct monitor_case *c);
/*
 * The right image: parts of the left one, moved by a few columns and up to 10 rows. Maps that say so, with
 * holes and with disparities that lead anywhere. Stixel columns with all, one or no cell.
 */
void monitor_case_fill(struct monitor_case *c, enum check_fill how, struct check_rng *r);

#endif
