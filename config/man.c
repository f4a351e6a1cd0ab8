/*
 * Writes the scdoc source of stixeld.conf(5) while building: the option table is the man page.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "config/config.h"

int main(void)
{
	sx_config_man(stdout);
	return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
