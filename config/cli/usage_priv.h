/*
 * What parsing, help, man page and completion share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_CLI_USAGE_PRIV_H
#define SX_CONFIG_CLI_USAGE_PRIV_H

#include "config/cli/usage.h"

/* The options that every program has; kinds do not count, the parser knows them by their place. */
enum { SX_USAGE_HELP, SX_USAGE_VERSION, SX_USAGE_GENERATE, SX_USAGE_BUILTINS };
extern const struct sx_usage_option sx_usage_builtins[SX_USAGE_BUILTINS];

/*
 * Row i of the program's options and then of --help and --version, which are told to
 * users; NULL after the last.
 */
const struct sx_usage_option *sx_usage_row(const struct sx_usage *u, int i);

#endif
