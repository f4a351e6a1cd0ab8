/*
 * Prints the table of a command line as JSON (--generate table). The build makes man page and completion from
 * it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/runtime_dirs.h"
#include "config/cli/usage_priv.h"
#include "config/config.h"
#include "config/preset.h"

static void table_string(const char *before, const char *text, FILE *to)
{
	fputs(before, to);
	sx_config_json_string(text, to);
}

/* Prints the kind of word, by its name in the shell completions. */
static void table_offer(enum sx_usage_offer offer, FILE *to)
{
	static const char *const names[] = {[SX_OFFER_NOTHING] = "nothing", [SX_OFFER_FILE] = "file",
					    [SX_OFFER_FOLDER] = "folder",   [SX_OFFER_INSTANCE] = "instance",
					    [SX_OFFER_SETTING] = "setting", [SX_OFFER_SECTION] = "section",
					    [SX_OFFER_PRESET] = "nothing"}; /* see table_choices() */

	table_string(",\"offer\":", names[offer], to);
}

/* Prints the words that an option accepts. For --preset: names of the build's presets. */
static void table_choices(const struct sx_usage_option *o, FILE *to)
{
	struct sx_preset_names presets = {.count = 0};

	for (int i = 0; o->words && o->words[i]; i++)
		table_string(i ? "," : "", o->words[i], to);
	if (o->offer == SX_OFFER_PRESET)
		sx_preset_names(&presets);
	for (int i = 0; i < presets.count; i++)
		table_string(i ? "," : "", presets.name[i], to);
}

static void table_option(const struct sx_usage *u, const struct sx_usage_option *o, FILE *to)
{
	const char letter[2] = {o->letter, 0};
	const char *gap = "";

	table_string("{\"name\":", o->name, to);
	table_string(",\"letter\":", letter, to);
	if (o->argument)
		table_string(",\"argument\":", o->argument, to);
	table_offer(o->offer, to);
	fprintf(to, ",\"words\":%d,\"optional\":%s,\"many\":%s,\"choices\":[",
		!o->argument		  ? 0
		: o->kind == SX_USAGE_TWO ? 2
					  : 1,
		sx_usage_optional(o) ? "true" : "false", o->many ? "true" : "false");
	table_choices(o, to);
	fputs("],\"commands\":[", to);
	for (int i = 0; i < u->command_count; i++) {
		if (!(o->commands & SX_USAGE_OF(i)))
			continue;
		table_string(gap, u->commands[i].name, to);
		gap = ",";
	}
	table_string("],\"help\":", o->help, to);
	fputc('}', to);
}

static void table_command(const struct sx_usage_command *c, FILE *to)
{
	table_string("{\"name\":", c->name ? c->name : "", to);
	table_string(",\"operands\":", c->operands ? c->operands : "", to);
	fprintf(to, ",\"most\":%d", c->most);
	table_offer(c->offer, to);
	table_string(",\"help\":", c->help ? c->help : "", to);
	table_string(",\"more\":", c->more ? c->more : "", to);
	fputc('}', to);
}

/* Prints the folders for sockets of instances (base/runtime_dirs.h). */
static void table_places(FILE *to)
{
	table_string(",\"places\":{\"system\":", SX_RUNTIME_DIR_OF_SYSTEM, to);
	table_string(",\"variable\":", SX_RUNTIME_DIR_VARIABLE, to);
	table_string(",\"user\":", SX_RUNTIME_DIR_OF_USER, to);
	table_string(",\"program\":", SX_RUNTIME_DIR_OF_PROGRAM, to);
	table_string(",\"socket\":", SX_STATUS_SOCKET, to);
	fputc('}', to);
}

void sx_usage_table(const struct sx_usage *u, FILE *to)
{
	const struct sx_usage_option *o;

	table_string("{\"program\":", u->program, to);
	fputs(",\"options\":[", to);
	for (int i = 0; (o = sx_usage_row(u, i)); i++) {
		fputs(i ? "," : "", to);
		table_option(u, o, to);
	}
	fputs("],\"own\":", to);
	table_command(&u->own, to);
	fputs(",\"commands\":[", to);
	for (int i = 0; i < u->command_count; i++) {
		fputs(i ? "," : "", to);
		table_command(&u->commands[i], to);
	}
	fputs("],\"exits\":[", to);
	for (int i = 0; i < u->exit_count; i++) {
		fprintf(to, "%s[%d", i ? "," : "", u->exits[i].code);
		table_string(",", u->exits[i].meaning, to);
		fputc(']', to);
	}
	fputs("],\"keys\":", to);
	sx_config_json_options(false, to);
	fputs(",\"sections\":", to);
	sx_config_json_sections(false, to);
	table_places(to);
	fputs("}\n", to);
}
