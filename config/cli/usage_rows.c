/*
 * Rows of a command line's table, and the error message of a wrong command line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stdio.h>
#include <sysexits.h>

#include "config/cli/usage_priv.h"

const struct sx_usage_option sx_usage_builtins[SX_USAGE_BUILTINS] = {
	{"help", 'h', .help = "this text"},
	{"version", 'V', .help = "the version"},
	{"help-keys", .argument = "[SECTION]", .offer = SX_OFFER_SECTION,
	 .help = "the keys of the configuration, all or of one section: ranges and defaults"},
	{"generate", .argument = "WHAT"},
};

const struct sx_usage_option *sx_usage_row(const struct sx_usage *u, int i)
{
	if (i < u->option_count)
		return &u->options[i];
	i -= u->option_count;
	return i < (u->settings ? SX_USAGE_GENERATE : SX_USAGE_KEYS) ? &sx_usage_builtins[i] : NULL;
}

bool sx_usage_optional(const struct sx_usage_option *o)
{
	return o->argument && o->argument[0] == '[';
}

bool sx_usage_belongs(const struct sx_usage *u, const struct sx_usage_option *o,
		      const struct sx_usage_command *command)
{
	if (!o->commands)
		return true;
	return command && command != &u->own && (o->commands & SX_USAGE_OF(command - u->commands)) != 0;
}

int sx_usage_fail(const struct sx_usage *u, const struct sx_usage_command *command, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", u->program);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "; try %s%s%s --help\n", u->program, command && command->name ? " " : "",
		command && command->name ? command->name : "");
	return EX_USAGE;
}
