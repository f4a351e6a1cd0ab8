/*
 * Prints --help from the table of a command line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <ctype.h>
#include <string.h>

#include "config/cli/usage_priv.h"
#include "config/wrap.h"

enum { COLUMN_MAX = 24 };

/* Writes "  -i, --instance NAME". */
static int option_words(const struct sx_usage_option *o, char *text, size_t bytes)
{
	char letter[8] = "    ";

	if (o->letter)
		snprintf(letter, sizeof(letter), "-%c, ", o->letter);
	return snprintf(text, bytes, "%s--%s%s%s", letter, o->name, o->argument ? " " : "",
			o->argument ? o->argument : "");
}

static bool help_shows(const struct sx_usage *u, const struct sx_usage_option *o,
		       const struct sx_usage_command *command, bool special)
{
	bool own = o->commands != 0;

	return sx_usage_belongs(u, o, command) && own == special;
}

/* Prints the options of this command alone (special), or the options that all commands have. */
static void print_options(const struct sx_usage *u, const struct sx_usage_command *command, bool special,
			  const char *title, FILE *to)
{
	const struct sx_usage_option *o;
	char words[128];
	int column = 0;

	for (int i = 0; (o = sx_usage_row(u, i)); i++) {
		int n = help_shows(u, o, command, special) ? option_words(o, words, sizeof(words)) + 4 : 0;

		column = n > column && n <= COLUMN_MAX + 4 ? n : column;
	}
	if (!column)
		return;
	fputs(title, to);
	for (int i = 0; (o = sx_usage_row(u, i)); i++) {
		if (!help_shows(u, o, command, special))
			continue;
		option_words(o, words, sizeof(words));
		sx_wrap_row(to, words, o->help, column);
	}
}

static void print_exits(const struct sx_usage *u, FILE *to)
{
	char text[1024];
	size_t n = 0;

	for (int i = 0; i < u->exit_count && n < sizeof(text); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%d %s", i ? "; " : "", u->exits[i].code,
				      u->exits[i].meaning);
	fputs("\nExit: ", to);
	sx_wrap(to, text, 6, 6);
}

/* Prints where to find the keys, which are too many to list here. */
static void print_keys(const struct sx_usage *u, FILE *to)
{
	char names[256], text[512];

	if (!u->settings)
		return;
	sx_usage_list_sections(u, true, names, sizeof(names));
	snprintf(text, sizeof(text), "%s --help-keys [SECTION] prints them, of the sections %s", u->program,
		 names);
	fputs("\nKeys: ", to);
	sx_wrap(to, text, 6, 6);
}

/* Writes the command with its own options: "status [--json] [--watch]". */
static void command_synopsis(const struct sx_usage *u, const struct sx_usage_command *command, char *text,
			     size_t bytes)
{
	size_t n = 0;

	*text = 0;
	if (command->name)
		n = (size_t)snprintf(text, bytes, "%s", command->name);
	for (int i = 0; i < u->option_count && n < bytes; i++) {
		const struct sx_usage_option *o = &u->options[i];

		if (!sx_usage_belongs(u, o, command) || (u->commands && !o->commands))
			continue;
		n += (size_t)snprintf(text + n, bytes - n, "%s[", n ? " " : "");
		if (n < bytes && o->letter)
			n += (size_t)snprintf(text + n, bytes - n, "-%c", o->letter);
		else if (n < bytes)
			n += (size_t)snprintf(text + n, bytes - n, "--%s", o->name);
		if (n < bytes)
			n += (size_t)snprintf(text + n, bytes - n, "%s%s]%s", o->argument ? " " : "",
					      o->argument ? o->argument : "", o->many ? "..." : "");
	}
	if (n < bytes && *command->operands)
		snprintf(text + n, bytes - n, "%s%s", n ? " " : "", command->operands);
}

/* Prints "Usage: ..." without a line break between an option and its argument. */
static void print_usage(const struct sx_usage *u, const struct sx_usage_command *command, FILE *to)
{
	char text[1024];
	const char *c = text;
	int at = fprintf(to, "Usage: %s", u->program);

	command_synopsis(u, command, text, sizeof(text));
	while (*c) {
		int n = (int)(*c == '[' ? strcspn(c, "]") : 0);

		n += (int)strcspn(c + n, " ");
		if (at + 1 + n > SX_WRAP_COLUMNS)
			at = fprintf(to, "\n      ") - 1;
		at += fprintf(to, " %.*s", n, c);
		c += n + (c[n] == ' ');
	}
	fputs("\n\n", to);
}

/* Prints text with a capital letter and a full stop. */
static void print_sentence(FILE *to, const char *text)
{
	char s[512];
	size_t n = (size_t)snprintf(s, sizeof(s) - 1, "%s", text);

	if (!n || n >= sizeof(s) - 1)
		return;
	s[0] = (char)toupper((unsigned char)s[0]);
	if (s[n - 1] != '.')
		memcpy(s + n, ".", 2);
	sx_wrap(to, s, 0, 0);
}

static void help_command(const struct sx_usage *u, const struct sx_usage_command *command, FILE *to)
{
	print_usage(u, command, to);
	if (command->name)
		print_sentence(to, command->help);
	else
		sx_wrap(to, u->about, 0, 0);
	if (command->more) {
		fputc('\n', to);
		sx_wrap(to, command->more, 0, 0);
	}
	print_options(u, command, true, "\nOptions:\n", to);
	print_options(u, command, false, u->commands ? "\nOptions of all commands:\n" : "\nOptions:\n", to);
	print_keys(u, to);
	print_exits(u, to);
}

static void help_program(const struct sx_usage *u, FILE *to)
{
	int column = 0;

	fprintf(to, "Usage: %s [OPTIONS] COMMAND [OPTIONS] [OPERANDS]\n\n", u->program);
	sx_wrap(to, u->about, 0, 0);
	fputs("\nCommands:\n", to);
	for (int i = 0; i < u->command_count; i++) {
		int n = (int)strlen(u->commands[i].name) + (int)strlen(u->commands[i].operands) + 5;

		column = n > column ? n : column;
	}
	for (int i = 0; i < u->command_count; i++) {
		const struct sx_usage_command *c = &u->commands[i];
		char left[128];

		snprintf(left, sizeof(left), "%s%s%s", c->name, *c->operands ? " " : "", c->operands);
		sx_wrap_row(to, left, c->help, column);
	}
	fprintf(to, "\n%s COMMAND --help describes a command and its options.\n", u->program);
	print_options(u, NULL, false, "\nOptions of all commands:\n", to);
	print_exits(u, to);
}

void sx_usage_help(const struct sx_usage *u, const struct sx_usage_command *command, FILE *to)
{
	if (command)
		help_command(u, command, to);
	else
		help_program(u, to);
}
