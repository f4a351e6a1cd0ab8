/*
 * Fills a man page in scdoc's language with what the table of a command line has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "config/cli/usage_priv.h"
#include "config/man_text.h"

/* As a sentence: capital first, full stop last; line ends stay. */
static void sentence(const char *text, FILE *to)
{
	size_t n = strlen(text);
	char part[2] = {0};

	for (size_t i = 0; i < n; i++) {
		if (text[i] == '\n') {
			fputs(text[i + 1] == '\n' ? "\n" : i && text[i - 1] == '\n' ? "\n\t" : "++\n\t", to);
			continue;
		}
		part[0] = i == 0 ? (char)toupper((unsigned char)text[i]) : text[i];
		sx_man_text(part, to);
	}
	if (n && text[n - 1] != '.')
		fputc('.', to);
}

static void bold(const char *text, FILE *to)
{
	fputc('*', to);
	sx_man_text(text, to);
	fputc('*', to);
}

/* Names of arguments and operands are underlined, the points and brackets around them are not. */
static void operands(const char *text, FILE *to)
{
	while (*text) {
		size_t n = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefghijklmnopqrstuvwxyz_=");
		char word[64];

		/* "..." stands for itself, ".png" is part of a name */
		while (text[n] == '.' && isalpha((unsigned char)text[n + 1]))
			n += 1 +
			     strspn(text + n + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_=");
		snprintf(word, sizeof(word), "%.*s", (int)(n ? n : 1), text);
		if (n)
			fputc('_', to);
		sx_man_text(word, to);
		if (n)
			fputc('_', to);
		text += n ? n : 1;
	}
}

static void man_option(const struct sx_usage_option *o, bool letter_only, FILE *to)
{
	if (o->letter) {
		fprintf(to, "*-%c*", o->letter);
		fputs(letter_only ? "" : ", ", to);
	}
	if (!o->letter || !letter_only) {
		fputs("*--", to);
		sx_man_text(o->name, to);
		fputc('*', to);
	}
	if (o->argument) {
		fputc(' ', to);
		operands(o->argument, to);
	}
}

/* "*status* [*--json*] [*--frames* _N_]" */
static void man_synopsis(const struct sx_usage *u, const struct sx_usage_command *c, FILE *to)
{
	const char *gap = "";

	if (c->name) {
		bold(c->name, to);
		gap = " ";
	}
	for (int i = 0; i < u->option_count; i++) {
		const struct sx_usage_option *o = &u->options[i];

		if (!sx_usage_belongs(u, o, c) || (u->commands && !o->commands))
			continue;
		fprintf(to, "%s\\[", gap);
		man_option(o, true, to);
		fputs(o->many ? "\\]..." : "\\]", to);
		gap = " ";
	}
	if (*c->operands) {
		fputs(gap, to);
		operands(c->operands, to);
	}
}

static void man_program_synopsis(const struct sx_usage *u, FILE *to)
{
	bold(u->program, to);
	fputc(' ', to);
	if (u->commands)
		fputs("\\[*-i* _NAME_\\] _COMMAND_ \\[_OPTIONS_\\] \\[_OPERANDS_\\]", to);
	else
		man_synopsis(u, &u->own, to);
	fputc('\n', to);
}

static void man_commands(const struct sx_usage *u, FILE *to)
{
	for (int i = 0; i < u->command_count; i++) {
		const struct sx_usage_command *c = &u->commands[i];

		fputs(i ? "\n" : "", to);
		man_synopsis(u, c, to);
		fputs("\n\t", to);
		sentence(c->help, to);
		if (c->more) {
			fputs("\n\n\t", to);
			sentence(c->more, to);
		}
		fputc('\n', to);
	}
}

/* "Of *status* and *dump*: " */
static void man_whose(const struct sx_usage *u, const struct sx_usage_option *o, FILE *to)
{
	int left = __builtin_popcount(o->commands), said = 0;

	if (!left)
		return;
	fputs("Of ", to);
	for (int i = 0; i < u->command_count; i++) {
		if (!(o->commands & SX_USAGE_OF(i)))
			continue;
		left--;
		fputs(!said ? "" : left ? ", " : " and ", to);
		bold(u->commands[i].name, to);
		said++;
	}
	fputs(": ", to);
}

static void man_options(const struct sx_usage *u, FILE *to)
{
	const struct sx_usage_option *o;

	for (int i = 0; (o = sx_usage_row(u, i)); i++) {
		fputs(i ? "\n" : "", to);
		man_option(o, false, to);
		fputs("\n\t", to);
		man_whose(u, o, to);
		if (o == &sx_usage_builtins[SX_USAGE_HELP])
			fprintf(to, "Prints help%s, and exits.\n",
				u->commands ? ", after a command that of the command" : "");
		else if (o == &sx_usage_builtins[SX_USAGE_VERSION])
			fputs("Prints the version, and exits.\n", to);
		else if (o == &sx_usage_builtins[SX_USAGE_KEYS])
			fputs("Prints the keys of the configuration with their ranges and defaults, all or "
			      "those of one section, and exits.\n",
			      to);
		else {
			sentence(o->help, to);
			fputc('\n', to);
		}
	}
}

static void man_exits(const struct sx_usage *u, FILE *to)
{
	for (int i = 0; i < u->exit_count; i++) {
		fprintf(to, "*%d*\n\t", u->exits[i].code);
		sentence(u->exits[i].meaning, to);
		fputc('\n', to);
	}
}

/* true: the line was one of the words, and is replaced. */
static bool fill(const struct sx_usage *u, const char *line, FILE *to)
{
	static const struct {
		const char *word;
		void (*write)(const struct sx_usage *u, FILE *to);
	} words[] = {
		{"@SYNOPSIS@\n", man_program_synopsis},
		{"@COMMANDS@\n", man_commands},
		{"@OPTIONS@\n", man_options},
		{"@EXITS@\n", man_exits},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i].word, line) != 0)
			continue;
		words[i].write(u, to);
		return true;
	}
	return false;
}

bool sx_usage_man(const struct sx_usage *u, FILE *from, FILE *to)
{
	char *line = NULL;
	size_t bytes = 0;
	bool ok = true;

	while (ok && getline(&line, &bytes, from) > 0) {
		if (fill(u, line, to))
			continue;
		ok = *line != '@' && fputs(line, to) >= 0;
	}
	free(line);
	return ok && !ferror(from) && !ferror(to);
}
