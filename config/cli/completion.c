/*
 * Completion for bash, zsh and fish from the table of a command line and the table of keys.
 *
 * What is written stands for itself: no file beside it is needed, and nothing is started while a user waits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "config/cli/completion_priv.h"

const char *sx_completion_name(const struct sx_usage *u)
{
	static char name[64];

	snprintf(name, sizeof(name), "_%s", u->program);
	for (char *c = name; *c; c++)
		if (*c == '-')
			*c = '_';
	return name;
}

bool sx_completion_offers(const struct sx_usage *u, enum sx_usage_offer what)
{
	for (int i = 0; i < u->option_count; i++)
		if (u->options[i].offer == what)
			return true;
	return false;
}

bool sx_completion_first(const struct sx_usage *u, int row, const struct sx_usage_command *command)
{
	const struct sx_usage_option *o = sx_usage_row(u, row);

	for (int i = 0; i < row; i++)
		if (strcmp(sx_usage_row(u, i)->name, o->name) == 0 &&
		    (!command || sx_usage_belongs(u, sx_usage_row(u, i), command)))
			return false;
	return true;
}

void sx_completion_quoted(const char *text, const char *extra, FILE *to)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", to);
		else if (strchr(extra, *text))
			fprintf(to, "\\%c", *text);
		else
			fputc(*text, to);
	}
}

void sx_completion_words(const struct sx_option *o, FILE *to)
{
	if (o->kind == SX_OPTION_BOOL)
		fputs("yes no", to);
	for (int i = 0; o->kind == SX_OPTION_CHOICE && o->words[i]; i++)
		fprintf(to, "%s%s", i ? " " : "", o->words[i]);
}

void sx_completion_sections(FILE *to)
{
	for (int i = 0; i < sx_section_count; i++)
		fprintf(to, "%s%s", i ? " " : "", sx_sections[i].name);
}

bool sx_completion_has_words(const struct sx_option *o)
{
	return o->kind == SX_OPTION_BOOL || o->kind == SX_OPTION_CHOICE;
}

bool sx_usage_completion(const struct sx_usage *u, const char *shell, FILE *to)
{
	if (strcmp(shell, "bash") == 0)
		sx_completion_bash(u, to);
	else if (strcmp(shell, "zsh") == 0)
		sx_completion_zsh(u, to);
	else if (strcmp(shell, "fish") == 0)
		sx_completion_fish(u, to);
	else
		return false;
	return true;
}
