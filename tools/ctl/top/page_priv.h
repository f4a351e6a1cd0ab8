/*
 * Declares the parts of a page.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_TOP_PAGE_PRIV_H
#define SX_TOOLS_CTL_TOP_PAGE_PRIV_H

#include "tools/ctl/top/page.h"

/* Draws as many lines as fit into `room` rows from y on, the important lines first. Returns the row below. */
int sx_page_lines(struct sx_canvas *c, const struct sx_top *t, int y, int room);
/* Draws the latency by stage in rows from y on, in columns up to end. Returns the row below. */
int sx_page_table(struct sx_canvas *c, const struct sx_top *t, int y, int rows, int end);
/* Returns the number of rows of the complete table. */
int sx_page_table_rows(const struct sx_top *t);
/* Draws the stixels in this area. If there is room, adds the legend and the free distances. */
void sx_page_picture(struct sx_canvas *c, const struct sx_top *t, int x, int y, int width, int height);

#endif
