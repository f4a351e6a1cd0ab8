/*
 * The parts of a page.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_TOP_PAGE_PRIV_H
#define SX_TOOLS_CTL_TOP_PAGE_PRIV_H

#include "tools/ctl/top/page.h"

/* As many lines as fit into room rows from y on, the important ones first. Returns the row below. */
int sx_page_lines(struct sx_canvas *c, const struct sx_top *t, int y, int room);
/* Latency by stage, in rows from y on and columns up to end. Returns the row below. */
int sx_page_table(struct sx_canvas *c, const struct sx_top *t, int y, int rows, int end);
/* Rows that the whole table would take. */
int sx_page_table_rows(const struct sx_top *t);
/* The stixels in that place, with legend and free distances where there is room. */
void sx_page_picture(struct sx_canvas *c, const struct sx_top *t, int x, int y, int width, int height);

#endif
