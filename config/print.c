/*
 * Prints the option table for users and programs: --help-keys, --print-config, man page, JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/printable.h"
#include "config/config.h"
#include "config/man_text.h"
#include "config/option.h"
#include "config/wrap.h"

/* Longest text of a default: two values and the words between them, bytes. */
#define DEFAULT_BYTES (2 * SX_OPTION_TEXT_BYTES + 64)

/*
 * Writes the value that engines use by default. If the default is left open (BEST), this is the best value.
 */
static void write_resolved(const struct sx_option *o, char text[SX_OPTION_TEXT_BYTES])
{
	struct sx_settings s;

	*text = 0;
	if (sx_settings_init(&s) < 0)
		return;
	sx_stereo_resolve(&s.params.stereo);
	sx_option_write(o, &s, text);
	sx_settings_finish(&s);
}

/* Writes a default: "7", "empty", "0 (12 with the other defaults)". Not for a key that must be given. */
static void write_default(const struct sx_option *o, char text[DEFAULT_BYTES])
{
	char resolved[SX_OPTION_TEXT_BYTES];

	write_resolved(o, resolved);
	if (*resolved && strcmp(resolved, o->initial) != 0)
		snprintf(text, DEFAULT_BYTES, "%s (%s with the other defaults)", o->initial, resolved);
	else
		snprintf(text, DEFAULT_BYTES, "%s", *o->initial ? o->initial : "empty");
}

#define LIMITS_BYTES (SX_OPTION_ALLOWED_BYTES + DEFAULT_BYTES + 64)

/*
 * Writes the limits: "1..255 px; default 7", "csct, census; default csct", "text; no default, must be given".
 */
static void limits_of(const struct sx_option *o, char text[LIMITS_BYTES])
{
	char allowed[SX_OPTION_ALLOWED_BYTES], initial[DEFAULT_BYTES] = "";

	sx_option_allowed(o, allowed);
	if (o->initial)
		write_default(o, initial);
	snprintf(text, LIMITS_BYTES, "%s; %s%s%s", allowed,
		 o->initial ? "default " : "no default, must be given", initial,
		 sx_option_changes_live(o) ? "; changes live" : "");
}

/* Returns the width of the left column, from the longest key of the section. */
static int key_column(const char *section)
{
	int column = 0;

	for (int i = 0; i < sx_option_count; i++) {
		int n = (int)strlen(sx_options[i].key) + 4;

		if (!strcmp(sx_options[i].section, section) && n > column)
			column = n;
	}
	return column;
}

static void help_section(const struct sx_section *section, FILE *to)
{
	const int column = key_column(section->name);
	char limits[LIMITS_BYTES];

	fprintf(to, "[%s] ", section->name);
	sx_wrap(to, section->help, (int)strlen(section->name) + 3, 0);
	for (int i = 0; i < sx_option_count; i++) {
		if (strcmp(sx_options[i].section, section->name))
			continue;
		sx_wrap_row(to, sx_options[i].key, sx_options[i].help, column);
		limits_of(&sx_options[i], limits);
		fprintf(to, "%*s", column, "");
		sx_wrap(to, limits, column, column);
	}
}

void sx_config_help(const char *section, FILE *to)
{
	for (int s = 0; s < sx_section_count; s++) {
		if (section ? strcmp(section, sx_sections[s].name) != 0
			    : sx_section_is_model(sx_sections[s].name))
			continue;
		if (s && !section)
			fputc('\n', to);
		help_section(&sx_sections[s], to);
	}
}

/*
 * Returns true if the value comes from the calibration file. It is printed as a comment, because a file that
 * gives both is refused.
 */
static bool from_calibration(const struct sx_option *o, const struct sx_settings *s)
{
	static const char *const keys[] = {"fx", "fy", "cx", "cy", "baseline_m"};

	if (!s->calibration || strcmp(o->section, "camera"))
		return false;
	for (int i = 0; i < 5; i++)
		if (!strcmp(o->key, keys[i]))
			return i < 4 || s->calibration_baseline;
	return false;
}

/* Returns true if the rate is that of the time stamps. As a key it would replace them. */
static bool from_recording(const struct sx_option *o, const struct sx_settings *s)
{
	return s->source.recorded && !strcmp(o->section, "source") && !strcmp(o->key, "fps");
}

/* Returns true if the key must be given and was not, so that no value can be printed. */
static bool is_missing(const struct sx_option *o, const struct sx_settings *s)
{
	return !o->initial && !s->source_given;
}

/* Writes "; from FILE:12", as part of a comment. Nothing for the value of a default. */
static void write_origin(const struct sx_option *o, const struct sx_settings *s,
			 const struct sx_origins *origins, char text[SX_WHERE_BYTES + 8])
{
	const char *where = sx_origin_text(origins, o);

	*text = '\0';
	if (strcmp(where, SX_ORIGIN_DEFAULT) == 0 || sx_option_is_default(o, s))
		return;
	snprintf(text, SX_WHERE_BYTES + 8, "; from %s", where);
	sx_make_printable(text); /* a line break would end the comment */
}

static void print_key(const struct sx_option *o, const struct sx_settings *s,
		      const struct sx_origins *origins, FILE *to)
{
	char value[SX_OPTION_TEXT_BYTES], limits[LIMITS_BYTES], origin[SX_WHERE_BYTES + 8];

	sx_option_write(o, s, value);
	if (is_missing(o, s))
		*value = 0;
	limits_of(o, limits);
	write_origin(o, s, origins, origin);
	fprintf(to, "# %s\n# %s%s%s\n%s%s =%s%s\n", o->help, limits, origin,
		from_calibration(o, s) ? "; from the calibration file"
		: from_recording(o, s) ? "; from the time stamps"
				       : "",
		from_calibration(o, s) || from_recording(o, s) || is_missing(o, s) ? "#" : "", o->key,
		*value ? " " : "", value);
}

void sx_config_print(const struct sx_settings *s, const struct sx_origins *origins, bool all, FILE *to)
{
	for (int n = 0; n < sx_section_count; n++) {
		const bool model = sx_section_is_model(sx_sections[n].name);
		bool begun = false;

		for (int i = 0; i < sx_option_count; i++) {
			const struct sx_option *o = &sx_options[i];

			if (strcmp(o->section, sx_sections[n].name) ||
			    (model && !all && sx_option_is_default(o, s)))
				continue;
			if (!begun)
				fprintf(to, "%s# %s\n[%s]\n", n ? "\n" : "", sx_sections[n].help,
					sx_sections[n].name);
			begun = true;
			print_key(o, s, origins, to);
		}
	}
}

/* Counts the leading bytes that need no escape in a JSON string. */
static size_t plain_bytes(const char *text)
{
	size_t n = 0;

	while ((unsigned char)text[n] >= 0x20 && text[n] != '"' && text[n] != '\\')
		n++;
	return n;
}

void sx_config_json_string(const char *text, FILE *to)
{
	fputc('"', to);
	for (; *text; text++) {
		const size_t plain = plain_bytes(text);

		fwrite(text, 1, plain, to);
		text += plain;
		if (*text == '"' || *text == '\\')
			fprintf(to, "\\%c", *text);
		else if (*text)
			fprintf(to, "\\u%04x", (unsigned char)*text);
		else
			break;
	}
	fputc('"', to);
}

static bool is_number(const struct sx_option *o)
{
	return o->kind == SX_OPTION_INT || o->kind == SX_OPTION_UNSIGNED || o->kind == SX_OPTION_REAL;
}

static void json_value(const struct sx_option *o, const char *text, FILE *to)
{
	if (is_number(o))
		fputs(text, to);
	else if (o->kind == SX_OPTION_BOOL)
		fputs(strcmp(text, "yes") ? "false" : "true", to);
	else
		sx_config_json_string(text, to);
}

static void json_origin(const struct sx_option *o, const struct sx_origins *origins, FILE *to)
{
	if (!origins)
		return;
	fputs(",\"from\":", to);
	sx_config_json_string(sx_origin_text(origins, o), to);
	fprintf(to, ",\"live\":%s", sx_origin_is_live(origins, o) ? "true" : "false");
}

static void json_unit(const struct sx_option *o, FILE *to)
{
	if (!o->unit)
		return;
	fputs(",\"unit\":", to);
	sx_config_json_string(o->unit, to);
}

/* Writes the members of a key after its value and default. */
static void json_about(const struct sx_option *o, int name, const struct sx_origins *origins, FILE *to)
{
	fprintf(to, ",\"restart\":%s", sx_option_changes_live(o) ? "false" : "true");
	if (name > 0)
		fprintf(to, ",\"now\":\"%s.%s\"", o->section, o->key);
	json_origin(o, origins, to);
	fputc('}', to);
}

/* Writes the keys of a section, and the keys that earlier releases had there. */
static void json_section(const char *section, const struct sx_settings *s, const struct sx_origins *origins,
			 FILE *to)
{
	char value[SX_OPTION_TEXT_BYTES];
	bool first = true;

	for (int i = 0; i < sx_option_count; i++) {
		const struct sx_option *o = &sx_options[i];
		const int name = strcmp(o->section, section) ? 1 : 0;

		if (name > 0 && (!o->was || strcmp(o->was, section)))
			continue;
		sx_option_write(o, s, value);
		fprintf(to, "%s\"%s\":{\"value\":", first ? "" : ",", o->key);
		json_value(o, value, to);
		fputs(",\"default\":", to);
		if (o->initial)
			json_value(o, o->initial, to);
		else
			fputs("null", to);
		json_unit(o, to);
		json_about(o, name, origins, to);
		first = false;
	}
}

void sx_config_json(const struct sx_settings *s, const struct sx_origins *origins, FILE *to)
{
	for (int n = 0; n < sx_section_count; n++) {
		fprintf(to, "%s\"%s\":{", n ? "," : "{", sx_sections[n].name);
		json_section(sx_sections[n].name, s, origins, to);
		fputc('}', to);
	}
	fputs("}\n", to);
}

void sx_config_json_texts(const struct sx_settings *s, const struct sx_origins *origins, FILE *to)
{
	char value[SX_OPTION_TEXT_BYTES];
	const char *section;

	for (int i = 0; i < sx_option_count; i++) {
		const struct sx_option *o = &sx_options[i];

		sx_option_write(o, s, value);
		for (int name = 0; (section = sx_option_section(o, name)); name++) {
			fprintf(to, "%s\"%s.%s\":{\"value\":", i || name ? "," : "{", section, o->key);
			sx_config_json_string(value, to);
			fputs(",\"default\":", to);
			if (o->initial)
				sx_config_json_string(o->initial, to);
			else
				fputs("null", to);
			json_about(o, name, origins, to);
		}
	}
	fputc('}', to);
}

static void json_words(const char *const *words, FILE *to)
{
	fputs(",\"words\":[", to);
	for (int i = 0; words[i]; i++) {
		fputs(i ? "," : "", to);
		sx_config_json_string(words[i], to);
	}
	fputc(']', to);
}

static void json_option(const struct sx_option *o, FILE *to)
{
	static const char *const kinds[] = {
		[SX_OPTION_BOOL] = "bool", [SX_OPTION_INT] = "int",   [SX_OPTION_UNSIGNED] = "int",
		[SX_OPTION_REAL] = "real", [SX_OPTION_TEXT] = "text", [SX_OPTION_CHOICE] = "choice",
		[SX_OPTION_SIZE] = "size"};
	char allowed[SX_OPTION_ALLOWED_BYTES];

	sx_option_allowed(o, allowed);
	fprintf(to, "{\"kind\":\"%s\",\"allowed\":", kinds[o->kind]);
	sx_config_json_string(allowed, to);
	if (is_number(o))
		fprintf(to, ",\"min\":%.10g,\"max\":%.10g", o->min, o->max);
	json_unit(o, to);
	if (o->kind == SX_OPTION_CHOICE)
		json_words(o->words, to);
	fprintf(to, ",\"change\":\"%s\",\"help\":", sx_option_change_name(o));
	sx_config_json_string(o->help, to);
	fputc('}', to);
}

void sx_config_json_options(bool all, FILE *to)
{
	const char *section, *gap = "{";

	for (int i = 0; i < sx_option_count; i++) {
		const struct sx_option *o = &sx_options[i];

		if (!all && sx_section_is_model(o->section))
			continue;
		for (int name = 0; (section = sx_option_section(o, name)); name++) {
			fprintf(to, "%s\"%s.%s\":", gap, section, o->key);
			json_option(o, to);
			gap = ",";
		}
	}
	fputc('}', to);
}

void sx_config_json_sections(bool all, FILE *to)
{
	const char *gap = "{";

	for (int i = 0; i < sx_section_count; i++) {
		if (!all && sx_section_is_model(sx_sections[i].name))
			continue;
		fprintf(to, "%s\"%s\":", gap, sx_sections[i].name);
		gap = ",";
		sx_config_json_string(sx_sections[i].help, to);
	}
	fputc('}', to);
}

static const char man_head[] = "stixeld.conf(5)\n\n"
			       "# NAME\n\n"
			       "stixeld.conf - configuration of the stixel daemon\n\n"
			       "# SYNOPSIS\n\n"
			       "/etc/stixeld/NAME.conf++\n"
			       "/etc/stixeld/NAME.conf.d/\\*.conf\n\n"
			       "# DESCRIPTION\n\n"
			       "Lines \"KEY = VALUE\" in sections, UTF-8. A line that begins with \"#\" or "
			       "\";\" is a comment, and so is the rest of a line from \" ;\" on. The main "
			       "file is read first, then the drop-ins in byte order of their names, then the "
			       "*-s* options of the command line; the last one wins. A preset (*--preset* or "
			       "_preset.name_) is a file of the same form, in /usr/share/stixeld/presets or "
			       "anywhere else, whose values replace the defaults: it only counts for keys "
			       "that no file and no *-s* sets. The same key twice in "
			       "one file is an error. A number may be followed by its unit, and by no other. "
			       "Everything wrong is reported at once, with file and line, and the program "
			       "exits with 78.\n\n"
			       "The name of a calibration file is relative to the file that gives it, and to "
			       "the working directory of stixeld where no file does (*-s*, *stixelctl "
			       "set*).\n\n"
			       "Keys that change live are taken over between two frames, by *SIGHUP* or "
			       "*stixelctl set* (*stixelctl*(1)); all others need a restart.\n\n"
			       "Constants of the models are in a section [model], which a file may have and "
			       "*stixeld --print-config --all* prints. They are for those who develop the "
			       "models (docs/develop/model.md), and not listed here.\n\n";

void sx_config_man(FILE *to)
{
	fputs(man_head, to);
	for (int s = 0; s < sx_section_count; s++) {
		if (sx_section_is_model(sx_sections[s].name))
			continue;
		fprintf(to, "# [%s]\n\n", sx_sections[s].name);
		sx_man_text(sx_sections[s].help, to);
		fputs("\n\n", to);
		for (int i = 0; i < sx_option_count; i++) {
			const struct sx_option *o = &sx_options[i];
			char allowed[SX_OPTION_ALLOWED_BYTES], initial[DEFAULT_BYTES];

			if (strcmp(o->section, sx_sections[s].name))
				continue;
			sx_option_allowed(o, allowed);
			fputc('*', to);
			sx_man_text(o->key, to);
			fputs("* = ", to);
			sx_man_text(allowed, to);
			fputs("\n\t", to);
			sx_man_text(o->help, to);
			fputs(". ", to);
			if (!o->initial)
				fputs("No default, must be given", to);
			else {
				write_default(o, initial);
				fputs("Default: ", to);
				sx_man_text(initial, to);
			}
			fprintf(to, ".%s\n\n", sx_option_changes_live(o) ? " Changes live." : "");
		}
	}
	fputs("# SEE ALSO\n\n*stixeld*(8), *stixel*(7)\n", to);
}
