/*
 * Functions shared by parser, help, man page and completion.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_CLI_USAGE_PRIV_H
#define SX_CONFIG_CLI_USAGE_PRIV_H

#include "config/cli/usage.h"

/* Options of every program. Their kinds are not used: the parser knows them by their index. */
enum { SX_USAGE_HELP, SX_USAGE_VERSION, SX_USAGE_KEYS, SX_USAGE_GENERATE, SX_USAGE_BUILTINS };
extern const struct sx_usage_option sx_usage_builtins[SX_USAGE_BUILTINS];

/*
 * Returns row i of the program's options, followed by the visible options that every program has; NULL after
 * the last. --help-keys is included if the program has a configuration.
 */
const struct sx_usage_option *sx_usage_row(const struct sx_usage *u, int i);
/*
 * Returns true if the argument may be left out, as in "[SECTION]". It may then follow the long name only
 * after "=".
 */
bool sx_usage_optional(const struct sx_usage_option *o);

/*
 * Lists the sections that the program reads (read false: does not read) as "source, camera". Returns the
 * length.
 */
size_t sx_usage_list_sections(const struct sx_usage *u, bool read, char *text, size_t bytes);
/*
 * Prints the keys of one section; NULL: of all sections that the program reads. Returns 0, or 64 after a
 * message on stderr.
 */
int sx_usage_keys(const struct sx_usage *u, const char *section);

#endif
