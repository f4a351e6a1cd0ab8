/*
 * One key of a configuration: finds its row, reads its value, stores its origin.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "config/load_priv.h"
#include "config/text/number.h"

int sx_load_index_of(const char *section, const char *key)
{
	const struct sx_option *o = sx_option_find(section, key);

	return o ? (int)(o - sx_options) : -1;
}

const char *sx_load_set_at(const struct sx_load *l, const char *section, const char *key)
{
	int i = sx_load_index_of(section, key);

	return i >= 0 && l->origins[i].where[0] ? l->origins[i].where : NULL;
}

bool sx_load_unknown_section(struct sx_load *l, const char *section, const char *where)
{
	const char *best = NULL;
	int least = 99;

	for (int i = 0; i < sx_section_count; i++) {
		int distance = sx_word_distance(section, sx_sections[i].name);

		if (!distance)
			return false;
		if (distance < least) {
			least = distance;
			best = sx_sections[i].name;
		}
	}
	if (best && sx_word_near(section, least))
		sx_errors_add(l->errors, "%s: unknown section [%s], did you mean [%s]?", where, section,
			      best);
	else
		sx_errors_add(l->errors, "%s: unknown section [%s]", where, section);
	return true;
}

/*
 * Reports an unknown key. Names the section that has this key; otherwise the nearest key, in this section
 * first.
 */
static void tell_unknown_key(struct sx_load *l, const char *section, const char *key, const char *where)
{
	const struct sx_option *elsewhere = sx_option_find(NULL, key), *best = NULL;
	int least = 99;

	if (elsewhere) {
		sx_errors_add(l->errors, "%s: [%s] %s: unknown key, it belongs to [%s]", where, section, key,
			      elsewhere->section);
		return;
	}
	for (int i = 0; i < sx_option_count; i++) {
		bool here = !strcmp(sx_options[i].section, section);
		int distance = 2 * sx_word_distance(key, sx_options[i].key) + !here;

		if (distance < least) {
			least = distance;
			best = &sx_options[i];
		}
	}
	if (!best || !sx_word_near(key, least / 2))
		sx_errors_add(l->errors, "%s: [%s] %s: unknown key", where, section, key);
	else if (strcmp(best->section, section))
		sx_errors_add(l->errors, "%s: [%s] %s: unknown key, did you mean %s in [%s]?", where, section,
			      key, best->key, best->section);
	else
		sx_errors_add(l->errors, "%s: [%s] %s: unknown key, did you mean %s?", where, section, key,
			      best->key);
}

/*
 * Makes a folder absolute. folder NULL or "" means the working directory. If the working directory is
 * unknown, or contains a comma, folder is returned unchanged: a comma separates two file names.
 */
static const char *whole_folder(const char *folder, char *buf, size_t bytes)
{
	size_t n;

	if ((folder && *folder == '/') || !getcwd(buf, bytes) || strchr(buf, ','))
		return folder;
	n = strlen(buf);
	if (folder && *folder && (size_t)snprintf(buf + n, bytes - n, "/%s", folder) >= bytes - n)
		return folder;
	return buf;
}

/*
 * Makes the name of a file absolute, so that a printed configuration names the same file. The
 * name is relative to the folder of the configuration file, or to the working directory if no file gave it. A
 * name that does not fit into buf is also too long for an option.
 */
static const char *with_folder(const char *value, const char *folder, char *buf, size_t bytes)
{
	const char *comma = strchr(value, ','), *second = comma ? comma + 1 + strspn(comma + 1, " ") : NULL;
	const char *gap;
	char whole[PATH_MAX];
	int n;

	folder = whole_folder(folder, whole, sizeof(whole));
	if (!*value || !folder || !*folder)
		return value;
	gap = folder[strlen(folder) - 1] == '/' ? "" : "/";
	n = snprintf(buf, bytes, "%s%s%s", *value == '/' ? "" : folder, *value == '/' ? "" : gap, value);
	/* the value is one file, whose name may contain a comma */
	if (n < 0 || (size_t)n >= bytes || !comma || access(buf, F_OK) == 0)
		return n >= 0 ? buf : value;
	n = snprintf(buf, bytes, "%s%s%.*s", *value == '/' ? "" : folder, *value == '/' ? "" : gap,
		     (int)(comma - value), value);
	if (n >= 0 && (size_t)n < bytes)
		n += snprintf(buf + n, bytes - (size_t)n, ",%s%s%s", *second == '/' ? "" : folder,
			      *second == '/' ? "" : gap, second);
	return n >= 0 ? buf : value;
}

/* Returns true if the value is the name of a file. A preset without '/' is in the folder of presets. */
static bool names_file(const struct sx_option *o, const char *value)
{
	return !strcmp(o->key, "calibration") ||
	       (!strcmp(o->section, SX_SECTION_PRESET) && strchr(value, '/'));
}

/*
 * Logs that a key has moved to another section. Silent for a live change, whose answer names the key, and for
 * a draft, which is read in addition to the files.
 */
static void tell_moved(const struct sx_load *l, const struct sx_option *o, const char *section,
		       const char *where)
{
	if (strcmp(section, o->section) != 0 && !l->live && !l->draft)
		sx_log(CONFIG, NOTICE,
		       "%s: [%s] %s belongs to [%s] now: move it there, the next release will refuse it here",
		       where, section, o->key, o->section);
}

void sx_load_set(struct sx_load *l, const char *section, const char *key, const char *value,
		 const char *where, const char *folder)
{
	int i = sx_load_index_of(section, key);
	struct sx_origin *origin;
	char buf[1024];
	struct sx_why why;
	int r;

	if (i < 0) {
		tell_unknown_key(l, section, key, where);
		return;
	}
	if (l->live && !sx_option_changes_live(&sx_options[i])) {
		sx_errors_add(l->errors, "%s: [%s] %s: needs a restart: change it in a file", where, section,
			      key);
		return;
	}
	origin = &l->origins[i];
	if (l->file &&
	    origin->file == l->file) { /* twice in one file is a mistake; a drop-in may change a key */
		sx_errors_add(l->errors, "%s: [%s] %s: found '%s', but it is already set at %s", where,
			      section, key, value, origin->where);
		return;
	}
	if (l->file == SX_LOAD_PRESET && !sx_load_preset_may_set(l, i, value, where))
		return;
	tell_moved(l, &sx_options[i], section, where);
	snprintf(origin->where, sizeof(origin->where), "%s", where);
	origin->file = l->file;
	if (names_file(&sx_options[i], value))
		value = with_folder(value, folder, buf, sizeof(buf));
	r = sx_option_read(&sx_options[i], &l->settings, value, &why);
	if (r == -ENOMEM)
		l->out_of_memory = true;
	else if (r < 0)
		sx_errors_add(l->errors, "%s: [%s] %s: %s", where, section, key, why.text);
	origin->good = r == 0;
}
