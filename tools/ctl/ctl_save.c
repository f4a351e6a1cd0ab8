/*
 * Implements stixelctl save: writes the settings that were set live to a drop-in file, which the next start
 * reads. This program writes the file with the rights of its caller, because the daemon's own user may not
 * write to any configuration.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>

#include "base/printable.h"
#include "base/why.h"
#include "config/draft.h"
#include "tools/common/outfile.h"
#include "tools/ctl/save_place.h"
#include "tools/ctl/settings.h"

#define HEAD "# Written by stixelctl save: what was set live"

struct save {
	const struct ctl *c;
	json_t *answer, *keys;
	struct save_place place;
	struct sx_settings live; /* values that were set live, of the rows marked in is_live */
	bool is_live[SX_OPTION_MAX];
	struct sx_settings files;  /* settings of the main file and its drop-ins; in the end with the draft */
	struct sx_origins origins; /* origins of files */
	char *text;		   /* content of the file that is written */
	int count;		   /* number of keys in text */
};

/* Returns the row of SECTION.KEY, by its present or its old name. */
static const struct sx_option *option_of(const char *dotted)
{
	const char *dot = strchr(dotted, '.');
	char section[64];

	if (!dot)
		return NULL;
	snprintf(section, sizeof(section), "%.*s", (int)(dot - dotted), dotted);
	return sx_option_find(section, dot + 1);
}

/* Returns the row of the key that a -s of the daemon's command line sets. */
static const struct sx_option *overridden(const char *text)
{
	char dotted[SX_OPTION_TEXT_BYTES];

	snprintf(dotted, sizeof(dotted), "%.*s", (int)strcspn(text, " ="), text);
	return option_of(dotted);
}

/*
 * Collects the -s of the daemon's command line for keys that need a restart and for the camera, because the
 * files may be incomplete without them. Leaves out the -s of other keys, because they would hide the values
 * of the files.
 */
static int overrides_of(const struct save *s, const char **ret, int most)
{
	json_t *all = json_object_get(s->answer, "overrides"), *one;
	size_t i;
	int n = 0;

	json_array_foreach(all, i, one)
	{
		const char *text = json_string_value(one);
		const struct sx_option *o = text ? overridden(text) : NULL;

		if (n < most && o && (!sx_option_changes_live(o) || sx_option_calibrates(o)))
			ret[n++] = text;
	}
	return n;
}

/*
 * Reads the files with the draft. Returns 0, or prints the errors and returns EX_CONFIG; what: beginning of
 * the last error message.
 */
static int read_files(struct save *s, const struct sx_draft *draft, const char *what)
{
	const char *overrides[SX_OVERRIDES_MAX];
	const int count = overrides_of(s, overrides, SX_OVERRIDES_MAX);
	struct sx_errors errors = {0};
	int code = 0;

	sx_settings_finish(&s->files);
	if (*s->place.main_file && sx_settings_load_draft(&s->files, &s->origins, s->place.main_file, draft,
							  overrides, count, &errors) < 0) {
		sx_errors_print(&errors, stderr);
		code = ctl_fail(EX_CONFIG, "%s: nothing was written", what);
	}
	sx_errors_finish(&errors);
	return code;
}

/* Returns true if an earlier save has put the key into this file. */
static bool is_there(const struct save *s, const struct sx_option *o)
{
	const size_t n = strlen(s->place.path);
	const char *from = sx_origin_text(&s->origins, o);

	return *s->place.main_file && strncmp(from, s->place.path, n) == 0 && from[n] == ':';
}

/*
 * Takes one key that the daemon reports as set live. Accepts only what the option table accepts, so that
 * nothing else reaches the file.
 */
static int take_live_key(struct save *s, const char *dotted, const json_t *value)
{
	const struct sx_option *o = option_of(dotted);
	const char *text = json_string_value(value);
	char said[128];
	struct sx_why why = {"its value is no text"};

	if (o && sx_option_changes_live(o) && text && sx_option_read(o, &s->live, text, &why) == 0) {
		s->count += !s->is_live[o - sx_options]; /* the daemon may list a key by two names */
		s->is_live[o - sx_options] = true;
		return 0;
	}
	snprintf(said, sizeof(said), "%s", dotted);
	sx_make_printable(said);
	sx_make_printable(why.text);
	return ctl_fail(EX_DATAERR, "save: instance '%s' says that %s was set live: %s: nothing was written",
			s->c->instance, said,
			!o			     ? "this stixelctl knows no such key"
			: !sx_option_changes_live(o) ? "this key needs a restart"
						     : why.text);
}

/* Reads all keys that were set live into s->live. Returns 0, or prints an error and returns the exit code. */
static int take_keys(struct save *s)
{
	const char *dotted;
	json_t *row;
	int code = 0;

	json_object_foreach(s->keys, dotted, row)
	{
		if (!code && json_is_true(json_object_get(row, "live")))
			code = take_live_key(s, dotted, json_object_get(row, "value"));
	}
	return code;
}

static void print_file(struct save *s, FILE *to)
{
	char value[SX_OPTION_TEXT_BYTES];
	const char *section = "";

	s->count = 0;
	fprintf(to, HEAD " (instance %s). Each save writes this file again.\n", s->c->instance);
	for (int i = 0; i < sx_option_count; i++) {
		const struct sx_option *o = &sx_options[i];

		if (!s->is_live[i] && !is_there(s, o))
			continue;
		sx_option_write(o, s->is_live[i] ? &s->live : &s->files, value);
		if (strcmp(section, o->section) != 0)
			fprintf(to, "\n[%s]\n", o->section);
		section = o->section;
		fprintf(to, "%s =%s%s\n", o->key, *value ? " " : "", value);
		s->count++;
	}
}

/* Writes the whole file into s->text. Returns 0 or a negative errno. */
static int compose(struct save *s)
{
	size_t bytes;
	FILE *to = open_memstream(&s->text, &bytes);

	if (!to)
		return -ENOMEM;
	print_file(s, to);
	return fclose(to) == 0 ? 0 : -ENOMEM;
}

static int write_file(struct save *s)
{
	static struct sx_outfile file;
	char path[64 + NAME_MAX];
	int r = save_place_make(&s->place);

	if (r == 0) {
		save_place_held_path(&s->place, path, sizeof(path));
		r = sx_outfile_open(&file, path);
	}
	/* independent of the umask, because the daemon is another user and must read the file */
	if (r == 0 && fchmod(fileno(file.f), 0644) < 0)
		r = -errno;
	if (r == 0) {
		fputs(s->text, file.f); /* the commit reports a failure */
		r = sx_outfile_commit(&file);
	}
	if (r == 0)
		return 0;
	sx_outfile_abort(&file);
	save_place_unmake(&s->place);
	return save_place_fail(&s->place, r);
}

/* Prints a note if -s of the daemon's command line sets the key: it wins over every file. */
static void note_override(const struct save *s, const struct sx_option *o)
{
	json_t *all = json_object_get(s->answer, "overrides"), *one;
	char said[SX_OPTION_TEXT_BYTES];
	size_t i;

	json_array_foreach(all, i, one)
	{
		const char *text = json_string_value(one);

		if (!text || overridden(text) != o)
			continue;
		snprintf(said, sizeof(said), "%s", text);
		sx_make_printable(said);
		printf("but the daemon is started with -s %s, which wins over it\n", said);
	}
}

/*
 * Prints a note for each key whose saved value the next start will not use, because -s or another drop-in
 * wins.
 */
static void note_winners(struct save *s)
{
	char is[SX_OPTION_TEXT_BYTES], dotted[128];

	for (int i = 0; i < sx_option_count && *s->place.main_file; i++) {
		const struct sx_option *o = &sx_options[i];

		if (!s->is_live[i])
			continue;
		snprintf(dotted, sizeof(dotted), "%s.%s", o->section, o->key);
		note_override(s, o);
		if (sx_option_equal(o, &s->files, &s->live))
			continue;
		sx_option_write(o, &s->files, is);
		printf("but %s says %s = %s, and wins over it\n", sx_origin_text(&s->origins, o), dotted, is);
	}
}

/*
 * Finds the place of the file: the operand, or FILE.d/90-live.conf of the main file. Returns 0, or prints an
 * error and returns the exit code.
 */
static int find_place(struct save *s)
{
	const char *file = json_string_value(json_object_get(s->answer, "file"));

	if (s->c->operand_count > 0)
		return save_place_of_operand(&s->place, s->c->operands[0]);
	if (!file)
		return ctl_fail(EX_USAGE,
				"save: instance '%s' reads no configuration file that a drop-in could belong "
				"to: name the file",
				s->c->instance);
	return save_place_of_daemon(&s->place, s->c->instance, file);
}

/* Checks everything, the configuration as a whole too, before it writes anything. */
static int save_all(struct save *s)
{
	int code = take_keys(s);

	if (!code && s->count == 0) {
		puts("nothing was set live: nothing to save");
		return 0;
	}
	if (!code)
		code = find_place(s);
	if (!code)
		code = save_place_look(&s->place, HEAD);
	if (!code)
		code = read_files(s, NULL, "the configuration as it lies on disk is refused");
	if (!code && compose(s) < 0)
		code = ctl_fail(EX_SOFTWARE, "out of memory");
	if (!code)
		code = read_files(
			s, &(struct sx_draft){.path = s->place.path, .text = s->text},
			"the configuration with what was set live is refused, a restart would fail");
	if (!code)
		code = write_file(s);
	if (code)
		return code;
	printf("%d key%s in %s\n", s->count, s->count == 1 ? "" : "s", s->place.path);
	note_winners(s);
	return 0;
}

int ctl_save(const struct ctl *c)
{
	static struct save s = {.place = {.parent = -1, .folder = -1}};
	int code = 0;

	s.c = c;
	s.answer = sx_settings_ask(c, &code);
	if (!s.answer)
		return code;
	s.keys = json_object_get(s.answer, "keys");
	code = sx_settings_init(&s.live) < 0 ? ctl_fail(EX_SOFTWARE, "out of memory") : save_all(&s);
	save_place_close(&s.place);
	sx_settings_finish(&s.live);
	sx_settings_finish(&s.files);
	free(s.text);
	json_decref(s.answer);
	if (!code && fflush(stdout) != 0)
		code = ctl_fail(EX_CANTCREAT, "cannot print: %s", strerror(errno));
	return code;
}
