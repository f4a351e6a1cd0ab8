/*
 * What parsing, help, man page and completion share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_CLI_USAGE_PRIV_H
#define SX_CONFIG_CLI_USAGE_PRIV_H

#include "config/cli/usage.h"

/* The options that every program has; kinds do not count, the parser knows them by their place. */
enum { SX_USAGE_HELP, SX_USAGE_VERSION, SX_USAGE_KEYS, SX_USAGE_GENERATE, SX_USAGE_BUILTINS };
extern const struct sx_usage_option sx_usage_builtins[SX_USAGE_BUILTINS];

/*
 * Row i of the program's options and then of those that every program has and users are told of; NULL
 * after the last. --help-keys is there where there are keys.
 */
const struct sx_usage_option *sx_usage_row(const struct sx_usage *u, int i);
/* Its argument may be left out, and follows the long name after "=" only: "[SECTION]". */
bool sx_usage_optional(const struct sx_usage_option *o);

/* "source, camera": the sections that it reads, or (read false) does not. Returns the length. */
size_t sx_usage_list_sections(const struct sx_usage *u, bool read, char *text, size_t bytes);
/*
 * Prints the keys of one section; NULL: of all that the program reads. 0, or 64 after a sentence on stderr.
 */
int sx_usage_keys(const struct sx_usage *u, const char *section);

#endif
