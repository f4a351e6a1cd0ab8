/*
 * Replaces the screen if ncurses is not installed: `stixelctl top` then prints its page once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "tools/ctl/top/screen.h"

bool sx_screen_open(void)
{
	return false;
}

void sx_screen_close(void)
{
}

int sx_screen_fit(struct sx_canvas *c)
{
	return -ENOSYS;
}

void sx_screen_show(const struct sx_canvas *c)
{
}

enum sx_screen_key sx_screen_key(int timeout_ms)
{
	return SX_KEY_QUIT;
}
