/*
 * Shows a canvas on a terminal, with ncurses.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_TOP_SCREEN_H
#define SX_TOOLS_CTL_TOP_SCREEN_H

#include "tools/ctl/top/canvas.h"

enum sx_screen_key {
	SX_KEY_NONE,
	SX_KEY_QUIT,
	SX_KEY_ESCAPE,
	SX_KEY_PAUSE,
	SX_KEY_WINDOW,
	SX_KEY_NEXT,
	SX_KEY_BEFORE,
	SX_KEY_HELP,
	SX_KEY_RESIZED,
	SX_KEY_OTHER
};

/*
 * Takes over the terminal of standard input and output until sx_screen_close(). Returns false and changes
 * nothing if the terminal cannot place a cursor, or if this program was built without ncurses.
 */
bool sx_screen_open(void);
void sx_screen_close(void);
/* Sets the canvas to the size and the abilities of the terminal. Returns 0 or -ENOMEM. */
int sx_screen_fit(struct sx_canvas *c);
void sx_screen_show(const struct sx_canvas *c);
/* Waits for a key for timeout_ms. A signal also ends the wait. */
enum sx_screen_key sx_screen_key(int timeout_ms);

#endif
