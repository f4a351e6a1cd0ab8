/*
 * Lays out the values of an instance on a page of any size.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_TOP_PAGE_H
#define SX_TOOLS_CTL_TOP_PAGE_H

#include "tools/ctl/top/canvas.h"
#include "tools/ctl/top/state.h"

/* Draws the page. keys: the last line shows the keys. paused: the title says so. */
void sx_page_draw(struct sx_canvas *c, const struct sx_top *t, bool keys, bool paused);
/* Draws the help box in the middle, over the page. */
void sx_page_help(struct sx_canvas *c);

#endif
