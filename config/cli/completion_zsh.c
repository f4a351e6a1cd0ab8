/*
 * Completion for zsh, as specifications of _arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "config/cli/completion_priv.h"

static void instances(const char *name, FILE *to)
{
	fprintf(to,
		"%s_instances() {\n"
		"\tlocal -aU names\n"
		"\tnames=(/etc/stixeld/*.conf(N:t:r) " SX_PLACE_SYSTEM_DIR "/*/" SX_STATUS_SOCKET "(N:h:t)\n"
		"\t\t${" SX_PLACE_VARIABLE ":-" SX_PLACE_USER_DIR "/$UID}" SX_PLACE_PROGRAM_DIR
		"/*/" SX_STATUS_SOCKET "(N:h:t)\n"
		"\t\t" SX_PLACE_USER_DIR "/$UID" SX_PLACE_PROGRAM_DIR "/*/" SX_STATUS_SOCKET "(N:h:t))\n"
		"\t_wanted instances expl instance compadd -a names\n"
		"}\n\n",
		name);
}

static void settings(const char *name, FILE *to)
{
	fprintf(to, "%s_settings() {\n\tlocal -a keys\n\tcase $PREFIX in\n", name);
	for (int i = 0; i < sx_option_count; i++) {
		const struct sx_option *o = &sx_options[i];

		if (!sx_completion_has_words(o))
			continue;
		fprintf(to, "\t%s.%s=*) compset -P '*='; compadd ", o->section, o->key);
		sx_completion_words(o, to);
		fputs("; return ;;\n", to);
	}
	fputs("\t*=*) return ;;\n\tesac\n\tkeys=(", to);
	for (int i = 0; i < sx_option_count; i++) {
		fprintf(to, "\n\t\t'%s.%s:", sx_options[i].section, sx_options[i].key);
		sx_completion_quoted(sx_options[i].help, "", to);
		fputc('\'', to);
	}
	fputs("\n\t)\n\t_describe -t keys key keys -S =\n}\n\n", to);
}

/* ":NAME:_files": what follows an option, or stands as an operand. */
static void word(const struct sx_usage *u, const char *shown, enum sx_usage_offer offer,
		 const char *const *words, FILE *to)
{
	fputc(':', to);
	sx_completion_quoted(shown, ":", to);
	fputc(':', to);
	switch (offer) {
	case SX_OFFER_FILE:
		fputs("_files", to);
		break;
	case SX_OFFER_FOLDER:
		fputs("_files -/", to);
		break;
	case SX_OFFER_INSTANCE:
		fprintf(to, "%s_instances", sx_completion_name(u));
		break;
	case SX_OFFER_SETTING:
		fprintf(to, "%s_settings", sx_completion_name(u));
		break;
	case SX_OFFER_SECTION:
		fputc('(', to);
		sx_completion_sections(to);
		fputc(')', to);
		break;
	case SX_OFFER_NOTHING:
		if (!words) {
			fputc(' ', to);
			break;
		}
		for (int i = 0; words[i]; i++)
			fprintf(to, "%s%s", i ? " " : "(", words[i]);
		fputc(')', to);
	}
}

static void option(const struct sx_usage *u, const struct sx_usage_option *o, FILE *to)
{
	const char *equals = o->argument && o->kind != SX_USAGE_TWO && !sx_usage_optional(o) ? "=" : "";

	fputs(" \\\n\t\t", to);
	if (o->letter && !o->many)
		fprintf(to, "'(-%c --%s)'", o->letter, o->name);
	if (o->many)
		fputs("'*'", to);
	if (o->letter)
		fprintf(to, "{-%c%s,--%s%s}", o->letter, *equals ? "+" : "", o->name, equals);
	else
		fprintf(to, "--%s%s", o->name, equals);
	fputs("'[", to);
	sx_completion_quoted(o->help, "[]:", to);
	fputc(']', to);
	if (sx_usage_optional(o))
		fputc(':', to); /* a second one: the word may be left out */
	if (o->argument)
		word(u, o->argument, o->offer, o->words, to);
	if (o->kind == SX_USAGE_TWO)
		word(u, o->argument, o->offer, o->words, to);
	fputc('\'', to);
}

static void options(const struct sx_usage *u, const struct sx_usage_command *command, FILE *to)
{
	const struct sx_usage_option *o;

	for (int i = 0; (o = sx_usage_row(u, i)); i++)
		if (sx_completion_first(u, i, command) && sx_usage_belongs(u, o, command))
			option(u, o, to);
}

static void operands(const struct sx_usage *u, const struct sx_usage_command *c, FILE *to)
{
	if (!c->most)
		return;
	for (int i = 0; i < c->most && i < 2; i++) {
		fprintf(to, " \\\n\t\t'%s", c->most > 2 ? "*" : "");
		word(u, c->operands, c->offer, NULL, to);
		fputc('\'', to);
		if (c->most > 2)
			return;
	}
}

static void commands(const struct sx_usage *u, FILE *to)
{
	fputs(" \\\n\t\t'1: :->command' '*:: :->rest' && return\n\n\tcase $state "
	      "in\n\tcommand)\n\t\tcommands=(",
	      to);
	for (int i = 0; i < u->command_count; i++) {
		fprintf(to, "\n\t\t\t'%s:", u->commands[i].name);
		sx_completion_quoted(u->commands[i].help, "", to);
		fputc('\'', to);
	}
	fputs("\n\t\t)\n\t\t_describe -t commands command commands\n\t\t;;\n\trest)\n\t\tcase $words[1] in\n",
	      to);
	for (int i = 0; i < u->command_count; i++) {
		fprintf(to, "\t\t%s) _arguments -s", u->commands[i].name);
		options(u, &u->commands[i], to);
		operands(u, &u->commands[i], to);
		fputs(" ;;\n", to);
	}
	fputs("\t\tesac\n\t\t;;\n\tesac\n", to);
}

void sx_completion_zsh(const struct sx_usage *u, FILE *to)
{
	const char *name = sx_completion_name(u);

	fprintf(to,
		"#compdef %s\n"
		"# zsh completion of %s, made from its own table of options.\n"
		"# SPDX-License-Identifier: Apache-2.0\n\n",
		u->program, u->program);
	if (sx_completion_offers(u, SX_OFFER_INSTANCE))
		instances(name, to);
	if (sx_completion_offers(u, SX_OFFER_SETTING))
		settings(name, to);
	fprintf(to,
		"%s() {\n\tlocal curcontext=$curcontext state line expl\n\tlocal -a commands\n\n\t_arguments "
		"-s%s",
		name, u->commands ? " -C" : "");
	options(u, NULL, to);
	if (u->commands)
		commands(u, to);
	else {
		operands(u, &u->own, to);
		fputc('\n', to);
	}
	fprintf(to, "}\n\n%s \"$@\"\n", name);
}
