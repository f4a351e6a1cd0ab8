/*
 * What the completions of the shells share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_CLI_COMPLETION_PRIV_H
#define SX_CONFIG_CLI_COMPLETION_PRIV_H

#include "base/places.h"
#include "config/cli/usage_priv.h"
#include "config/option.h"

/* "_stixel_bench": a shell's function may not have a "-" in its name. */
const char *sx_completion_name(const struct sx_usage *u);
/* Some option wants words of that sort. */
bool sx_completion_offers(const struct sx_usage *u, enum sx_usage_offer what);
/* Row is the first of its name among those of the command (NULL: of all): a shell wants each name once. */
bool sx_completion_first(const struct sx_usage *u, int row, const struct sx_usage_command *command);
/* Text between single quotes, as bash and zsh read it; extra: characters that get a backslash in front. */
void sx_completion_quoted(const char *text, const char *extra, FILE *to);
/* The key has few values; they are printed with a space between. */
bool sx_completion_has_words(const struct sx_option *o);
void sx_completion_words(const struct sx_option *o, FILE *to);
/* Names of all sections, a space between. */
void sx_completion_sections(FILE *to);

void sx_completion_bash(const struct sx_usage *u, FILE *to);
void sx_completion_zsh(const struct sx_usage *u, FILE *to);
void sx_completion_fish(const struct sx_usage *u, FILE *to);

#endif
