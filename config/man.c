/*
 * Writes the scdoc source of stixeld.conf(5) at build time from the option table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "config/config.h"

int main(void)
{
	sx_config_man(stdout);
	return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
