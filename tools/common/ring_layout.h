/*
 * Detects rings of daemons whose layout this program cannot read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_RING_LAYOUT_H
#define SX_TOOLS_RING_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#define SX_RING_LAYOUT_BYTES 160

/*
 * Returns true if the ring of an instance has a layout that this program cannot read. text is then "its ring
 * has layout 7.3, this program reads 1.x: update stixelctl and libstixel", or names the daemon as the one to
 * update. program: name of this program for the text. False: the layout is readable, or there is no ring that
 * this user may read; text is then empty. Any thread.
 */
bool sx_ring_other_layout(const char *instance, const char *program, char text[SX_RING_LAYOUT_BYTES]);

#endif
