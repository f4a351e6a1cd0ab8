/*
 * Reads one configuration file. inih splits the lines. This reader passes it one clean line at a time. So
 * line numbers are ours, every bad line is reported, and no line is cut silently.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <ini.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/printable.h"
#include "config/load_priv.h"
#include "config/text/file.h"

#define SECTION_BYTES 64

struct parse {
	struct sx_load *load;
	const char *path;
	char *at, *end; /* part of the file that is not read yet */
	int line;
	bool skip; /* the current section does not exist; ignore its keys */
	char where[288], folder[PATH_MAX], section[SECTION_BYTES];
};

static void fault(struct parse *p, const char *text)
{
	sx_errors_add(p->load->errors, "%s: %s", p->where, text);
}

/* Reads a line "[name]" with at most a comment after it, and stores the name. False: a fault was reported. */
static bool take_section(struct parse *p, const char *line)
{
	size_t length = strcspn(line + 1, "]");
	const char *behind = line + 1 + length;
	char text[160];

	p->skip = true;
	if (*behind != ']') {
		snprintf(text, sizeof(text), "found '%.80s', the ']' of a section is missing", line);
		fault(p, text);
		return false;
	}
	behind++;
	behind += strspn(behind, " \t");
	if (*behind && *behind != ';' && *behind != '#') {
		snprintf(text, sizeof(text), "found '%.80s' after a section's name", behind);
		fault(p, text);
		return false;
	}
	snprintf(p->section, sizeof(p->section), "%.*s",
		 (int)(length < SECTION_BYTES ? length : SECTION_BYTES - 1), line + 1);
	p->skip = sx_load_unknown_section(p->load, p->section, p->where);
	return true;
}

/* Reports bytes in a line that no setting can hold. Returns true if there are any. */
static bool bad_bytes(struct parse *p, const char *line, size_t length)
{
	char text[80];

	if (!sx_utf8_valid(line, length)) {
		fault(p, "the line is not UTF-8");
		return true;
	}
	for (size_t i = 0; i < length; i++)
		if (((unsigned char)line[i] < 0x20 && line[i] != '\t') || line[i] == 0x7f) {
			snprintf(text, sizeof(text), "control character 0x%02x in column %zu",
				 (unsigned char)line[i], i + 1);
			fault(p, text);
			return true;
		}
	return false;
}

/* Returns true if the line is for inih. Comments, blank lines and bad lines are not. */
static bool check_line(struct parse *p, const char *line, size_t length, int room)
{
	char text[160];
	size_t key;

	if (bad_bytes(p, line, length) || !length || *line == '#' || *line == ';')
		return false;
	if (length + 2 > (size_t)room) {
		snprintf(text, sizeof(text), "the line has %zu bytes, at most %d are allowed", length,
			 room - 2);
		fault(p, text);
		return false;
	}
	if (*line == '[')
		return take_section(p, line);
	key = strcspn(line, "=:");
	if (line[key] != '=' || !key) {
		snprintf(text, sizeof(text), "found '%.80s', expected KEY = VALUE or [SECTION]", line);
		fault(p, text);
		return false;
	}
	return !p->skip;
}

/*
 * ini_reader: returns the next line for inih. The line never starts with a blank, because inih would join it
 * to the line before.
 */
static char *next_line(char *to, int room, void *stream)
{
	struct parse *p = stream;

	while (p->at < p->end) {
		char *line = p->at, *end = memchr(line, '\n', (size_t)(p->end - line));
		size_t length;

		if (!end)
			end = p->end;
		p->at = end < p->end ? end + 1 : end;
		p->line++;
		snprintf(p->where, sizeof(p->where), "%.255s:%d", p->path, p->line);
		if (p->line == 1 && end - line >= 3 && !memcmp(line, "\xef\xbb\xbf", 3))
			line += 3;
		while (end > line && strchr(" \t\r", end[-1]) && end[-1])
			end--;
		while (line < end && (*line == ' ' || *line == '\t'))
			line++;
		length = (size_t)(end - line);
		*end = 0; /* the newline, or the 0 after the file */
		if (!check_line(p, line, length, room))
			continue;
		memcpy(to, line, length);
		to[length] = '\n';
		to[length + 1] = 0;
		return to;
	}
	return NULL;
}

static int take_key(void *user, const char *section, const char *key, const char *value)
{
	struct parse *p = user;

	if (!*section)
		sx_errors_add(p->load->errors, "%s: %s: a key before the first [SECTION]", p->where, key);
	else
		sx_load_set(p->load, p->section, key, value, p->where, p->folder);
	return 1;
}

/* Appends the path to l->settings.files, the list of the files that were read. */
static void remember_file(struct sx_load *l, const char *path)
{
	size_t used = l->settings.files ? strlen(l->settings.files) : 0, bytes = used + strlen(path) + 2;
	char *files = realloc(l->settings.files, bytes);

	if (!files) {
		l->out_of_memory = true;
		return;
	}
	snprintf(files + used, bytes - used, "%s\n", path);
	l->settings.files = files;
}

/* Reads the file at this path, or the text of the draft that would replace it. */
static int read_file(const struct sx_draft *draft, const char *path, char **text, size_t *size,
		     struct sx_why *why)
{
	if (!draft || strcmp(path, draft->path) != 0)
		return sx_file_read(path, SX_CONFIG_FILE_BYTES, text, size, why);
	*text = strdup(draft->text);
	if (!*text)
		sx_why_set(why, "%s", strerror(ENOMEM));
	if (!*text)
		return -ENOMEM;
	*size = strlen(*text);
	return 0;
}

/* Returns true if path is /dev/null. With systemd, a link to /dev/null masks a file. */
static bool is_null(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
}

/* Reads one file. Its number is l->file. */
static int load_one(struct sx_load *l, const char *path)
{
	struct parse p = {.load = l, .path = path};
	const char *slash = strrchr(path, '/');
	char *text;
	struct sx_why why;
	size_t size;
	int r;

	if (is_null(path)) /* /dev/null counts as an empty file without drop-ins */
		return 0;
	r = read_file(l->draft, path, &text, &size, &why);
	if (r < 0) {
		sx_errors_add(l->errors, "%s: %s", path, why.text);
		return r;
	}
	if (l->file != SX_LOAD_PRESET) /* readers take the first of these files as the main one */
		remember_file(l, path);
	if (slash)
		snprintf(p.folder, sizeof(p.folder), "%.*s", (int)(slash > path ? slash - path : 1), path);
	p.at = text;
	p.end = text + size;
#ifdef SX_INIH_RUNTIME_LIMITS
	/*
	 * Size of its buffer; if the library fixes it, errors name the library's limit. The library reads it
	 * in other threads, too: main loads a file before they start, and none writes it later.
	 */
	if (ini_max_line != 1024)
		ini_max_line = 1024;
#endif
	if (ini_parse_stream(next_line, &p, take_key, &p))
		sx_errors_add(l->errors, "%s: cannot be parsed",
			      path); /* cannot happen: every line was checked */
	free(text);
	return 0;
}

int sx_load_file(struct sx_load *l, const char *path)
{
	l->file++;
	return load_one(l, path);
}

int sx_load_preset_file(struct sx_load *l, const char *path)
{
	const int file = l->file;
	int r;

	l->file = SX_LOAD_PRESET;
	r = load_one(l, path);
	l->file = file;
	return r;
}
