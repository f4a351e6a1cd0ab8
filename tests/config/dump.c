/*
 * Prints the output of the option table for test_output.py: dump help|man|config|all|json|options
 * [OVERRIDE]...
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "config/config.h"

int main(int argc, char **argv)
{
	struct sx_errors errors = {0};
	struct sx_settings s;

	if (argc < 2 ||
	    sx_settings_load(&s, NULL, (const char *const *)argv + 2, argc - 2, true, &errors) < 0) {
		sx_errors_print(&errors, stderr);
		sx_errors_finish(&errors);
		return 1;
	}
	if (!strcmp(argv[1], "help"))
		sx_config_help(NULL, stdout);
	else if (!strcmp(argv[1], "man"))
		sx_config_man(stdout);
	else if (!strcmp(argv[1], "config") || !strcmp(argv[1], "all"))
		sx_config_print(&s, NULL, !strcmp(argv[1], "all"), stdout);
	else if (!strcmp(argv[1], "options"))
		sx_config_json_options(true, stdout);
	else
		sx_config_json(&s, NULL, stdout);
	sx_settings_finish(&s);
	return 0;
}
