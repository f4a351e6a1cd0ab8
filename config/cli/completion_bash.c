/*
 * Completion for bash.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "config/cli/completion_priv.h"

static const char bash_instances[] =
	"# Instances that have a configuration, and those that run.\n"
	"%s_instances()\n"
	"{\n"
	"\tlocal path\n"
	"\n"
	"\tfor path in /etc/stixeld/*.conf " SX_PLACE_SYSTEM_DIR "/*/" SX_STATUS_SOCKET " \\\n"
	"\t\t\"${" SX_PLACE_VARIABLE ":-" SX_PLACE_USER_DIR "/$UID}\"" SX_PLACE_PROGRAM_DIR
	"/*/" SX_STATUS_SOCKET " \\\n"
	"\t\t\"" SX_PLACE_USER_DIR "/$UID\"" SX_PLACE_PROGRAM_DIR "/*/" SX_STATUS_SOCKET "; do\n"
	"\t\t[ -e \"$path\" ] || continue\n"
	"\t\tpath=${path%%.conf}\n"
	"\t\tpath=${path%%/" SX_STATUS_SOCKET "}\n"
	"\t\tprintf '%%s\\n' \"${path##*/}\"\n"
	"\tdone | sort -u\n"
	"}\n"
	"\n";

static void bash_settings(const char *name, FILE *to)
{
	fprintf(to, "# Values of a key that has few.\n%s_values()\n{\n\tcase $1 in\n", name);
	for (int i = 0; i < sx_option_count; i++) {
		if (!sx_completion_has_words(&sx_options[i]))
			continue;
		fprintf(to, "\t%s.%s) echo '", sx_options[i].section, sx_options[i].key);
		sx_completion_words(&sx_options[i], to);
		fputs("' ;;\n", to);
	}
	fprintf(to, "\tesac\n}\n\n%s_keys='", name);
	for (int i = 0; i < sx_option_count; i++)
		fprintf(to, "%s%s.%s=", i ? "\n\t" : "", sx_options[i].section, sx_options[i].key);
	fputs("'\n\n", to);
}

/* "-i | --instance" of every option for which wanted() is true; false: there is none. */
static bool bash_pattern(const struct sx_usage *u, bool (*wanted)(const struct sx_usage_option *o), FILE *to)
{
	const struct sx_usage_option *o;
	const char *gap = "\t";

	for (int i = 0; (o = sx_usage_row(u, i)); i++) {
		if (!sx_completion_first(u, i, NULL) || !wanted(o))
			continue;
		fputs(gap, to);
		if (o->letter)
			fprintf(to, "-%c | ", o->letter);
		fprintf(to, "--%s", o->name);
		gap = " | ";
	}
	return *gap == ' ';
}

static bool takes_word(const struct sx_usage_option *o)
{
	return o->argument != NULL && !sx_usage_optional(o);
}

static bool takes_file(const struct sx_usage_option *o)
{
	return o->argument && o->offer == SX_OFFER_FILE;
}

static bool takes_folder(const struct sx_usage_option *o)
{
	return o->argument && o->offer == SX_OFFER_FOLDER;
}

static bool takes_instance(const struct sx_usage_option *o)
{
	return o->argument && o->offer == SX_OFFER_INSTANCE;
}

static bool takes_setting(const struct sx_usage_option *o)
{
	return o->argument && o->offer == SX_OFFER_SETTING;
}

static bool takes_section(const struct sx_usage_option *o)
{
	return o->argument && o->offer == SX_OFFER_SECTION;
}

static bool takes_other(const struct sx_usage_option *o)
{
	return o->argument && o->offer == SX_OFFER_NOTHING && !o->words;
}

static void bash_case(const struct sx_usage *u, bool (*wanted)(const struct sx_usage_option *o),
		      const char *then, FILE *to)
{
	if (bash_pattern(u, wanted, to))
		fprintf(to, ")\n\t\t%s\n\t\treturn\n\t\t;;\n", then);
}

/* What may follow an option. */
static void bash_arguments(const struct sx_usage *u, const char *name, FILE *to)
{
	char instances[128];

	snprintf(instances, sizeof(instances),
		 "mapfile -t COMPREPLY < <(compgen -W \"$(%s_instances)\" -- \"$cur\")", name);
	fputs("\tcase $prev in\n", to);
	bash_case(u, takes_file,
		  "compopt -o filenames 2>/dev/null\n\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")",
		  to);
	bash_case(u, takes_folder,
		  "compopt -o filenames 2>/dev/null\n\t\tmapfile -t COMPREPLY < <(compgen -d -- \"$cur\")",
		  to);
	bash_case(u, takes_instance, instances, to);
	if (bash_pattern(u, takes_section, to)) {
		fputs(")\n\t\tmapfile -t COMPREPLY < <(compgen -W '", to);
		sx_completion_sections(to);
		fputs("' -- \"$cur\")\n\t\treturn\n\t\t;;\n", to);
	}
	if (sx_completion_offers(u, SX_OFFER_SETTING)) {
		char keys[160];

		snprintf(keys, sizeof(keys),
			 "compopt -o nospace 2>/dev/null\n\t\tmapfile -t COMPREPLY < <(compgen -W "
			 "\"$%s_keys\" -- \"$cur\")",
			 name);
		bash_case(u, takes_setting, keys, to);
	}
	for (int i = 0; i < u->option_count; i++) {
		const struct sx_usage_option *o = &u->options[i];

		if (!o->words)
			continue;
		fprintf(to, "\t--%s)\n\t\tmapfile -t COMPREPLY < <(compgen -W '", o->name);
		for (int w = 0; o->words[w]; w++)
			fprintf(to, "%s%s", w ? " " : "", o->words[w]);
		fputs("' -- \"$cur\")\n\t\treturn\n\t\t;;\n", to);
	}
	if (bash_pattern(u, takes_other, to))
		fputs(") return ;;\n", to);
	fputs("\tesac\n", to);
}

static void bash_words(const struct sx_usage *u, const struct sx_usage_command *command, FILE *to)
{
	const struct sx_usage_option *o;

	for (int i = 0; (o = sx_usage_row(u, i)); i++)
		if (sx_completion_first(u, i, command) && sx_usage_belongs(u, o, command))
			fprintf(to, " --%s", o->name);
}

static const char *bash_operand(const struct sx_usage_command *c)
{
	return c->offer == SX_OFFER_FILE ? "files=-f" : c->offer == SX_OFFER_FOLDER ? "files=-d" : "files=''";
}

static void bash_commands(const struct sx_usage *u, FILE *to)
{
	if (!u->commands) {
		fputs("\twords='", to);
		bash_words(u, NULL, to);
		fprintf(to, "'\n\t%s\n", bash_operand(&u->own));
		return;
	}
	fputs("\tfor ((i = 1; i < COMP_CWORD; i++)); do\n\t\tcase ${COMP_WORDS[i]} in\n\t", to);
	bash_pattern(u, takes_word, to);
	fputs(") [ \"${COMP_WORDS[i + 1]}\" = '=' ] && i=$((i + 1)); i=$((i + 1)) ;;\n"
	      "\t\t-*) ;;\n"
	      "\t\t*) command=${COMP_WORDS[i]}; break ;;\n"
	      "\t\tesac\n"
	      "\tdone\n"
	      "\tcase $command in\n"
	      "\t'') words='",
	      to);
	for (int i = 0; i < u->command_count; i++)
		fprintf(to, "%s%s", i ? " " : "", u->commands[i].name);
	bash_words(u, NULL, to);
	fputs("' files='' ;;\n", to);
	for (int i = 0; i < u->command_count; i++) {
		fprintf(to, "\t%s) words='", u->commands[i].name);
		bash_words(u, &u->commands[i], to);
		fprintf(to, "' %s ;;\n", bash_operand(&u->commands[i]));
	}
	fputs("\tesac\n", to);
}

static void bash_value_of_key(const struct sx_usage *u, const char *name, FILE *to)
{
	if (!sx_completion_offers(u, SX_OFFER_SETTING))
		return;
	fprintf(to,
		"\t# SECTION.KEY=VALUE is cut at the \"=\" too\n"
		"\tif [ \"${COMP_WORDS[COMP_CWORD - back]}\" = '=' ] && [[ ${COMP_WORDS[COMP_CWORD - back - "
		"1]} == *.* ]]; then\n"
		"\t\tmapfile -t COMPREPLY < <(compgen -W \"$(%s_values \"${COMP_WORDS[COMP_CWORD - back - "
		"1]}\")\" -- \"$cur\")\n"
		"\t\treturn\n"
		"\tfi\n",
		name);
}

void sx_completion_bash(const struct sx_usage *u, FILE *to)
{
	const char *name = sx_completion_name(u);

	fprintf(to,
		"# bash completion of %s, made from its own table of options.\n"
		"# shellcheck shell=bash\n"
		"# SPDX-License-Identifier: Apache-2.0\n\n",
		u->program);
	if (sx_completion_offers(u, SX_OFFER_INSTANCE))
		fprintf(to, bash_instances, name);
	if (sx_completion_offers(u, SX_OFFER_SETTING))
		bash_settings(name, to);
	fprintf(to,
		"%s()\n{\n"
		"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev words files back=1%s\n\n"
		"\tCOMPREPLY=()\n"
		"\t# bash cuts --option=word into three\n"
		"\t[ \"$cur\" = '=' ] && cur='' back=0\n"
		"\tprev=${COMP_WORDS[COMP_CWORD - back]}\n"
		"\t[ \"$prev\" = '=' ] && prev=${COMP_WORDS[COMP_CWORD - back - 1]}\n",
		name, u->commands ? " command='' i" : "");
	bash_value_of_key(u, name, to);
	bash_arguments(u, name, to);
	bash_commands(u, to);
	fprintf(to,
		"\tif [[ $cur == -* || -z $files ]]; then\n"
		"\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
		"\telse\n"
		"\t\tcompopt -o filenames 2>/dev/null\n"
		"\t\tmapfile -t COMPREPLY < <(compgen \"$files\" -- \"$cur\")\n"
		"\tfi\n"
		"}\n\n"
		"complete -F %s %s\n",
		name, u->program);
}
