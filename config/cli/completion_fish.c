/*
 * Completion for fish.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "config/cli/completion_priv.h"

/* Text between single quotes, where fish wants a backslash before ' and \. */
static void quoted(const char *text, FILE *to)
{
	fputc('\'', to);
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			fputc('\\', to);
		fputc(*text, to);
	}
	fputc('\'', to);
}

static void instances(const char *name, FILE *to)
{
	fprintf(to,
		"function _%s_instances\n"
		"\tset -l user " SX_PLACE_USER_DIR "/(id -u)\n"
		"\tset -l runtime $" SX_PLACE_VARIABLE "\n"
		"\ttest -n \"$runtime\"; or set runtime $user\n"
		"\tfor path in /etc/stixeld/*.conf " SX_PLACE_SYSTEM_DIR "/*/" SX_STATUS_SOCKET
		" $runtime" SX_PLACE_PROGRAM_DIR "/*/" SX_STATUS_SOCKET " $user" SX_PLACE_PROGRAM_DIR
		"/*/" SX_STATUS_SOCKET "\n"
		"\t\tstring replace -r '(\\.conf|/status\\.sock)$' '' -- $path | string replace -r '^.*/' "
		"''\n"
		"\tend | sort -u\n"
		"end\n\n",
		name);
}

static void settings(const char *name, FILE *to)
{
	fprintf(to, "function _%s_settings\n\tprintf '%%b\\n'", name);
	for (int i = 0; i < sx_option_count; i++) {
		const struct sx_option *o = &sx_options[i];

		fprintf(to, " \\\n\t\t%s.%s=\\\\t", o->section, o->key);
		quoted(o->help, to);
		for (int w = 0; o->kind == SX_OPTION_CHOICE && o->words[w]; w++)
			fprintf(to, " %s.%s=%s", o->section, o->key, o->words[w]);
		if (o->kind == SX_OPTION_BOOL)
			fprintf(to, " %s.%s=yes %s.%s=no", o->section, o->key, o->section, o->key);
	}
	fputs("\nend\n\n", to);
}

/* The command that stands on the line, or nothing: words that follow an option are passed over. */
static void command_function(const struct sx_usage *u, const char *name, FILE *to)
{
	const struct sx_usage_option *o;

	fprintf(to,
		"function _%s_command\n"
		"\tset -l words (commandline -opc)\n"
		"\tset -e words[1]\n"
		"\tset -l skip no\n"
		"\tfor word in $words\n"
		"\t\tif test $skip = yes\n"
		"\t\t\tset skip no\n"
		"\t\t\tcontinue\n"
		"\t\tend\n"
		"\t\tswitch $word\n"
		"\t\t\tcase",
		name);
	for (int i = 0; (o = sx_usage_row(u, i)); i++) {
		if (!o->argument || sx_usage_optional(o) || !sx_completion_first(u, i, NULL))
			continue;
		if (o->letter)
			fprintf(to, " -%c", o->letter);
		fprintf(to, " --%s", o->name);
	}
	fprintf(to,
		"\n\t\t\t\tset skip yes\n"
		"\t\t\tcase '-*'\n"
		"\t\t\tcase '*'\n"
		"\t\t\t\techo $word\n"
		"\t\t\t\treturn 0\n"
		"\t\tend\n"
		"\tend\n"
		"\treturn 1\n"
		"end\n\n"
		"function _%s_in\n"
		"\tcontains -- (_%s_command) $argv\n"
		"end\n\n",
		name, name);
}

static void condition(const struct sx_usage *u, uint32_t commands, FILE *to)
{
	if (!commands)
		return;
	fprintf(to, " -n '_%s_in", sx_completion_name(u));
	for (int i = 0; i < u->command_count; i++)
		if (commands & SX_USAGE_OF(i))
			fprintf(to, " %s", u->commands[i].name);
	fputc('\'', to);
}

static void word(const struct sx_usage *u, enum sx_usage_offer offer, const char *const *words, FILE *to)
{
	switch (offer) {
	case SX_OFFER_FILE:
		fputs(" -r -F", to);
		break;
	case SX_OFFER_FOLDER:
		fputs(" -x -a '(__fish_complete_directories)'", to);
		break;
	case SX_OFFER_INSTANCE:
		fprintf(to, " -x -a '(_%s_instances)'", sx_completion_name(u));
		break;
	case SX_OFFER_SETTING:
		fprintf(to, " -x -a '(_%s_settings)'", sx_completion_name(u));
		break;
	case SX_OFFER_SECTION:
		fputs(" -x -a '", to);
		sx_completion_sections(to);
		fputc('\'', to);
		break;
	case SX_OFFER_NOTHING:
		fputs(" -x", to);
		if (!words)
			break;
		fputs(" -a '", to);
		for (int i = 0; words[i]; i++)
			fprintf(to, "%s%s", i ? " " : "", words[i]);
		fputc('\'', to);
	}
}

static void option(const struct sx_usage *u, const struct sx_usage_option *o, FILE *to)
{
	fprintf(to, "complete -c %s", u->program);
	condition(u, o->commands, to);
	if (o->letter)
		fprintf(to, " -s %c", o->letter);
	fprintf(to, " -l %s", o->name);
	if (o->argument)
		word(u, o->offer, o->words, to);
	fputs(" -d ", to);
	quoted(o->help, to);
	fputc('\n', to);
}

void sx_completion_fish(const struct sx_usage *u, FILE *to)
{
	const char *name = sx_completion_name(u);
	const struct sx_usage_option *o;

	fprintf(to,
		"# fish completion of %s, made from its own table of options.\n"
		"# SPDX-License-Identifier: Apache-2.0\n\n",
		u->program);
	if (sx_completion_offers(u, SX_OFFER_INSTANCE))
		instances(name, to);
	if (sx_completion_offers(u, SX_OFFER_SETTING))
		settings(name, to);
	if (u->commands)
		command_function(u, name, to);
	if (u->commands || u->own.offer != SX_OFFER_FILE)
		fprintf(to, "complete -c %s -f\n", u->program);
	for (int i = 0; i < u->command_count; i++) {
		const struct sx_usage_command *c = &u->commands[i];

		fprintf(to, "complete -c %s -n 'not _%s_command >/dev/null' -a %s -d ", u->program, name,
			c->name);
		quoted(c->help, to);
		fputc('\n', to);
		if (c->offer == SX_OFFER_FILE)
			fprintf(to, "complete -c %s -n '_%s_in %s' -F\n", u->program, name, c->name);
	}
	for (int i = 0; (o = sx_usage_row(u, i)); i++)
		option(u, o, to);
}
