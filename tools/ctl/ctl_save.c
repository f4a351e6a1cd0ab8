/*
 * stixelctl save: what was set live, as a drop-in file that the next start reads. Written by this program
 * with the rights of who calls it: the daemon's own user may write to no configuration.
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

#include "config/config.h"
#include "config/option.h"
#include "tools/common/outfile.h"
#include "tools/ctl/settings.h"

#define LIVE_FILE "90-live.conf"
#define HEAD "# Written by stixelctl save: what was set live"

struct save {
	const struct ctl *c;
	json_t *answer, *keys;
	char path[PATH_MAX], folder[PATH_MAX]; /* folder: to be made if it is not there; empty: none */
	const char *main_file;		       /* that the folder belongs to */
	struct sx_settings files;	       /* what it and its drop-ins say */
	struct sx_origins origins;	       /* of files */
	int count;			       /* keys that were written */
};

/* FILE.d/90-live.conf of the daemon's main file, or the operand. 0, or the exit code after a sentence. */
static int find_place(struct save *s)
{
	const char *file = json_string_value(json_object_get(s->answer, "file"));
	int n = 0;

	if (s->c->operand_count > 0) {
		n = snprintf(s->path, sizeof(s->path), "%s", s->c->operands[0]);
	} else if (!file) {
		return ctl_fail(EX_USAGE,
				"save: instance '%s' reads no configuration file that a drop-in could belong "
				"to: name the file",
				s->c->instance);
	} else {
		n = snprintf(s->path, sizeof(s->path), "%s.d/" LIVE_FILE, file);
		snprintf(s->folder, sizeof(s->folder), "%s.d", file);
		s->main_file = file;
	}
	return n < 0 || n >= (int)sizeof(s->path) ? ctl_fail(EX_USAGE, "save: the path is too long") : 0;
}

static const struct sx_option *option_of(const char *dotted)
{
	const char *dot = strchr(dotted, '.');
	char section[64];

	if (!dot)
		return NULL;
	snprintf(section, sizeof(section), "%.*s", (int)(dot - dotted), dotted);
	return sx_option_find(section, dot + 1);
}

/*
 * What -s of the daemon's command line says of keys that need a restart, and of the camera: files may be
 * incomplete without. Of the others it would hide what the files say.
 */
static int overrides_of(const struct save *s, const char **ret, int most)
{
	json_t *all = json_object_get(s->answer, "overrides"), *one;
	char dotted[SX_OPTION_TEXT_BYTES];
	size_t i;
	int n = 0;

	json_array_foreach(all, i, one)
	{
		const char *text = json_string_value(one);
		const struct sx_option *o;

		if (!text || n == most)
			continue;
		snprintf(dotted, sizeof(dotted), "%.*s", (int)strcspn(text, " ="), text);
		o = option_of(dotted);
		if (o && (o->change == SX_CHANGE_RESTART || sx_option_calibrates(o)))
			ret[n++] = text;
	}
	return n;
}

/* 0, or EX_CONFIG after the sentences of the files; what says what that means. */
static int read_files(struct save *s, const char *what)
{
	const char *overrides[SX_OVERRIDES_MAX];
	const int count = overrides_of(s, overrides, SX_OVERRIDES_MAX);
	struct sx_errors errors = {0};
	int code = 0;

	sx_settings_finish(&s->files);
	if (s->main_file && sx_settings_load_origins(&s->files, &s->origins, s->main_file, overrides, count,
						     true, &errors) < 0) {
		sx_errors_print(&errors, stderr);
		code = ctl_fail(EX_CONFIG, "the configuration as it lies on disk is refused: %s", what);
	}
	sx_errors_finish(&errors);
	return code;
}

static bool is_live(json_t *row)
{
	return json_is_true(json_object_get(row, "live"));
}

/* An earlier save has put it into this file. */
static bool is_there(const struct save *s, const struct sx_option *o)
{
	const size_t n = strlen(s->path);
	const char *from = sx_origin_text(&s->origins, o);

	return s->main_file && strncmp(from, s->path, n) == 0 && from[n] == ':';
}

static int count_live(json_t *keys)
{
	const char *key;
	json_t *row;
	int n = 0;

	json_object_foreach(keys, key, row) n += is_live(row);
	return n;
}

/* A file that somebody wrote by hand is not overwritten. */
static bool is_foreign(const char *path)
{
	FILE *f = fopen(path, "re");
	char line[sizeof(HEAD)] = "";
	bool foreign;

	if (!f)
		return false;
	foreign = !fgets(line, sizeof(line), f) || strcmp(line, HEAD) != 0;
	fclose(f);
	return foreign;
}

/* The keys come section by section, as the option table has them. */
static void print_file(struct save *s, FILE *to)
{
	const char *section = "", *dotted;
	char value[SX_OPTION_TEXT_BYTES];
	json_t *row;

	fprintf(to, HEAD " (instance %s). Written anew by each save.\n", s->c->instance);
	json_object_foreach(s->keys, dotted, row)
	{
		const char *live = json_string_value(json_object_get(row, "value"));
		const struct sx_option *o = option_of(dotted);

		if (!o || !(is_live(row) || is_there(s, o)))
			continue;
		if (is_live(row) && live)
			snprintf(value, sizeof(value), "%s", live);
		else
			sx_option_write(o, &s->files, value);
		if (strcmp(section, o->section) != 0)
			fprintf(to, "\n[%s]\n", o->section);
		section = o->section;
		fprintf(to, "%s =%s%s\n", o->key, *value ? " " : "", value);
		s->count++;
	}
}

static int write_file(struct save *s)
{
	static struct sx_outfile file;
	int r = 0;

	if (*s->folder && mkdir(s->folder, 0755) < 0 && errno != EEXIST)
		r = -errno;
	if (r == 0)
		r = sx_outfile_open(&file, s->path);
	/* whatever the umask: the daemon is another user, and must read it */
	if (r == 0 && fchmod(fileno(file.f), 0644) < 0)
		r = -errno;
	if (r == 0) {
		print_file(s, file.f); /* a failure is told by the commit */
		r = sx_outfile_commit(&file);
	}
	if (r == 0)
		return 0;
	sx_outfile_abort(&file);
	return ctl_fail(EX_CANTCREAT, "cannot write %s: %s%s", s->path, strerror(-r),
			r == -EACCES || r == -EPERM ? " (root may: sudo stixelctl save)" : "");
}

/* -s of the daemon's command line wins over every file. */
static void note_override(const struct save *s, const char *key)
{
	json_t *all = json_object_get(s->answer, "overrides"), *one;
	const size_t n = strlen(key);
	size_t i;

	json_array_foreach(all, i, one)
	{
		const char *text = json_string_value(one);

		if (text && strncmp(text, key, n) == 0 && text[n + strspn(text + n, " ")] == '=')
			printf("but the daemon is started with -s %s, which wins over it\n", text);
	}
}

/* What the next start will make of it: another drop-in may win, or the whole may be refused. */
static int check_files(struct save *s)
{
	int code = s->main_file ? read_files(s, "a restart would fail") : 0;
	char value[SX_OPTION_TEXT_BYTES];
	const char *dotted;
	json_t *row;

	if (code || !s->main_file)
		return code;
	json_object_foreach(s->keys, dotted, row)
	{
		const char *live = json_string_value(json_object_get(row, "value"));
		const struct sx_option *o = option_of(dotted);

		if (!o || !live || !is_live(row))
			continue;
		note_override(s, dotted);
		sx_option_write(o, &s->files, value);
		if (strcmp(value, live) != 0)
			printf("but %s says %s = %s, and wins over it\n", sx_origin_text(&s->origins, o),
			       dotted, value);
	}
	return 0;
}

static int save_all(struct save *s)
{
	int code = find_place(s);

	if (code)
		return code;
	if (count_live(s->keys) == 0) {
		puts("nothing was set live: nothing to save");
		return 0;
	}
	if (is_foreign(s->path))
		return ctl_fail(EX_CANTCREAT, "%s exists, and was not written by stixelctl save", s->path);
	code = read_files(s, "nothing was written");
	if (!code)
		code = write_file(s);
	if (code)
		return code;
	printf("%d key%s in %s\n", s->count, s->count == 1 ? "" : "s", s->path);
	return check_files(s);
}

int ctl_save(const struct ctl *c)
{
	static struct save s;
	int code = 0;

	s.c = c;
	s.answer = sx_settings_ask(c, &code);
	if (!s.answer)
		return code;
	s.keys = json_object_get(s.answer, "keys");
	code = save_all(&s);
	sx_settings_finish(&s.files);
	json_decref(s.answer);
	if (!code && fflush(stdout) != 0)
		code = ctl_fail(EX_CANTCREAT, "cannot print: %s", strerror(errno));
	return code;
}
