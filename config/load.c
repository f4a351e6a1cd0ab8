/*
 * Loading the configuration: defaults, main file, drop-ins, overrides.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Nearest key of the section, else of the table; a key of another section in its place is near. */
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
 * A folder as it is named from anywhere; NULL and "" are where this runs. As it is where that cannot be told,
 * or has a comma, which parts two names.
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
 * A calibration file is named relative to the file that names it, or to where this runs where none does;
 * whole, it still is that file in a configuration that is printed. What does not fit here is too long for an
 * option, too.
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
	/* one file, whose name may have a comma */
	if (n < 0 || (size_t)n >= bytes || !comma || access(buf, F_OK) == 0)
		return n >= 0 ? buf : value;
	n = snprintf(buf, bytes, "%s%s%.*s", *value == '/' ? "" : folder, *value == '/' ? "" : gap,
		     (int)(comma - value), value);
	if (n >= 0 && (size_t)n < bytes)
		n += snprintf(buf + n, bytes - (size_t)n, ",%s%s%s", *second == '/' ? "" : folder,
			      *second == '/' ? "" : gap, second);
	return n >= 0 ? buf : value;
}

void sx_load_set(struct sx_load *l, const char *section, const char *key, const char *value,
		 const char *where, const char *folder)
{
	int i = sx_load_index_of(section, key);
	struct sx_origin *origin;
	char why[512], buf[1024];
	int r;

	if (i < 0) {
		tell_unknown_key(l, section, key, where);
		return;
	}
	if (l->live && sx_options[i].change != SX_CHANGE_LIVE) {
		sx_errors_add(l->errors, "%s: [%s] %s: needs a restart: change it in a file", where, section,
			      key);
		return;
	}
	origin = &l->origins[i];
	if (l->file &&
	    origin->file == l->file) { /* twice in one file is an oversight; drop-ins are for changing */
		sx_errors_add(l->errors, "%s: [%s] %s: found '%s', but it is already set at %s", where,
			      section, key, value, origin->where);
		return;
	}
	snprintf(origin->where, sizeof(origin->where), "%s", where);
	origin->file = l->file;
	if (!strcmp(key, "calibration"))
		value = with_folder(value, folder, buf, sizeof(buf));
	r = sx_option_read(&sx_options[i], &l->settings, value, why, sizeof(why));
	if (r == -ENOMEM)
		l->out_of_memory = true;
	else if (r < 0)
		sx_errors_add(l->errors, "%s: [%s] %s: %s", where, section, key, why);
	origin->good = r == 0;
}

static int is_drop_in(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return d->d_name[0] != '.' && n > 5 && !strcmp(d->d_name + n - 5, ".conf");
}

static int byte_order(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Reads the draft if its turn is before the drop-in next, or in its place; NULL: behind all. */
static int load_draft(struct sx_load *l, const char *folder, const char *next, bool *done)
{
	const size_t n = strlen(folder);
	const char *name = l->draft ? l->draft->path + n + 1 : NULL;

	if (!name || *done || strncmp(l->draft->path, folder, n) != 0 || (next && strcmp(name, next) > 0))
		return 0;
	*done = true;
	return sx_load_file(l, l->draft->path);
}

static int load_drop_ins(struct sx_load *l, const char *file)
{
	struct dirent **list = NULL;
	char folder[512], path[1024];
	bool drafted = false;
	int n, r = 0;

	if (snprintf(folder, sizeof(folder), "%s.d", file) >= (int)sizeof(folder)) {
		sx_errors_add(l->errors, "%.60s...: the file's name is too long, allowed are %zu bytes", file,
			      sizeof(folder) - sizeof(".d"));
		return -ENAMETOOLONG;
	}
	n = scandir(folder, &list, is_drop_in, byte_order);
	if (n < 0) {
		if (errno == ENOENT)
			return load_draft(l, folder, NULL, &drafted);
		r = -errno;
		sx_errors_add(l->errors, "%s: %s", folder, strerror(errno));
		return r;
	}
	if (n > SX_CONFIG_FILES) {
		sx_errors_add(l->errors, "%s: has %d files, at most %d are allowed", folder, n,
			      SX_CONFIG_FILES);
		r = -E2BIG;
	}
	for (int i = 0; i < n; i++) {
		int e = load_draft(l, folder, list[i]->d_name, &drafted);

		snprintf(path, sizeof(path), "%s/%s", folder, list[i]->d_name);
		if (e == 0 && i < SX_CONFIG_FILES && !(l->draft && strcmp(path, l->draft->path) == 0))
			e = sx_load_file(l, path);
		r = e < 0 ? e : r;
		free(list[i]);
	}
	free(list);
	n = load_draft(l, folder, NULL, &drafted);
	return r < 0 ? r : n;
}

static void load_override(struct sx_load *l, const char *text)
{
	const char *equals = strchr(text, '='), *dot = strchr(text, '.');
	char where[SX_WHERE_BYTES], section[64], key[64];
	const char *value;

	snprintf(where, sizeof(where), "%s %.250s", l->how, text);
	if (!equals || !dot || dot > equals || dot == text) {
		const struct sx_option *o = NULL;

		snprintf(key, sizeof(key), "%.*s",
			 equals ? (int)(equals - text < 63 ? equals - text : 63) : 63, text);
		if (equals)
			o = sx_option_find(NULL, key);
		if (o)
			sx_errors_add(l->errors, "%s: expected SECTION.KEY=VALUE, did you mean %s.%s?", where,
				      o->section, o->key);
		else
			sx_errors_add(l->errors, "%s: expected SECTION.KEY=VALUE", where);
		return;
	}
	if (dot - text >= (int)sizeof(section) || equals - dot - 1 >= (int)sizeof(key)) {
		sx_errors_add(l->errors, "%s: the name is too long", where);
		return;
	}
	snprintf(section, sizeof(section), "%.*s", (int)(dot - text), text);
	snprintf(key, sizeof(key), "%.*s", (int)(equals - dot - 1), dot + 1);
	for (size_t n = strlen(key); n && key[n - 1] == ' '; n--)
		key[n - 1] = 0;
	value = equals + 1 + strspn(equals + 1, " ");
	if (!sx_load_unknown_section(l, section, where))
		sx_load_set(l, section, key, value, where, NULL);
}

int sx_settings_init(struct sx_settings *ret)
{
	struct sx_settings s;
	char why[256];
	int r;

	memset(&s, 0, sizeof(s));
	for (int i = 0; i < sx_option_count; i++) {
		if (!sx_options[i].initial)
			continue;
		r = sx_option_read(&sx_options[i], &s, sx_options[i].initial, why, sizeof(why));
		if (r < 0) {
			sx_settings_finish(&s);
			return r;
		}
	}
	*ret = s;
	return 0;
}

/* What is asked of the whole, once all of it was read. */
enum whole { WHOLE_TEMPLATE, WHOLE_WITHOUT_SOURCE, WHOLE_WITH_SOURCE, WHOLE_EXISTING };

static void copy_origins(const struct sx_load *l, struct sx_origins *ret)
{
	for (int i = 0; i < sx_option_count; i++)
		memcpy(ret->where[i], l->origins[i].where, SX_WHERE_BYTES);
}

/* Ends a load: the settings to ret, or the errno why not. */
static int load_end(struct sx_load *l, int r, struct sx_settings *ret, struct sx_origins *origins)
{
	if (l->out_of_memory)
		r = -ENOMEM;
	else if (r == 0 && (l->errors->count || l->errors->more))
		r = -EINVAL;
	if (r < 0) {
		sx_settings_finish(&l->settings);
	} else {
		*ret = l->settings;
		if (origins)
			copy_origins(l, origins);
	}
	free(l);
	return r;
}

static int load_settings(struct sx_settings *ret, struct sx_origins *origins, const char *file,
			 const struct sx_draft *draft, const char *const *overrides, int count,
			 enum whole whole, struct sx_errors *errors)
{
	struct sx_load *l = calloc(1, sizeof(*l));
	int r = l ? sx_settings_init(&l->settings) : -ENOMEM, e;

	if (r < 0) {
		free(l);
		return r;
	}
	l->errors = errors;
	l->how = "-s";
	l->look = whole == WHOLE_EXISTING;
	l->draft = draft;
	if (file) {
		r = sx_load_file(l, file);
		e = load_drop_ins(l, file);
		r = r < 0 ? r : e;
	}
	l->file = 0;
	for (int i = 0; i < count; i++)
		load_override(l, overrides[i]);
	/* what the whole says is only worth telling when all of it was read */
	if (r == 0) {
		bool read;

		l->settings.source_given = sx_load_set_at(l, "source", "kind") != NULL;
		read = sx_load_calibration(l);
		if (whole != WHOLE_TEMPLATE) {
			sx_load_check_rectify(l, read);
			sx_load_check(l, whole >= WHOLE_WITH_SOURCE);
		}
	}
	return load_end(l, r, ret, origins);
}

int sx_settings_load_origins(struct sx_settings *ret, struct sx_origins *origins, const char *file,
			     const char *const *overrides, int count, bool source_required,
			     struct sx_errors *errors)
{
	return load_settings(ret, origins, file, NULL, overrides, count,
			     source_required ? WHOLE_WITH_SOURCE : WHOLE_WITHOUT_SOURCE, errors);
}

int sx_settings_load_existing(struct sx_settings *ret, struct sx_origins *origins, const char *file,
			      const char *const *overrides, int count, struct sx_errors *errors)
{
	return load_settings(ret, origins, file, NULL, overrides, count, WHOLE_EXISTING, errors);
}

int sx_settings_load_draft(struct sx_settings *ret, struct sx_origins *origins, const char *file,
			   const struct sx_draft *draft, const char *const *overrides, int count,
			   struct sx_errors *errors)
{
	return load_settings(ret, origins, file, draft, overrides, count, WHOLE_WITH_SOURCE, errors);
}

/* Is a key among the changes that a calibration has to do with? */
static bool sets_calibration(const struct sx_load *l)
{
	for (int i = 0; i < sx_option_count; i++)
		if (l->origins[i].where[0] && !l->origins[i].file && sx_option_calibrates(&sx_options[i]))
			return true;
	return false;
}

int sx_settings_set(struct sx_settings *ret, struct sx_origins *origins, const struct sx_settings *base,
		    const char *const *changes, int count, struct sx_errors *errors)
{
	struct sx_load *l = calloc(1, sizeof(*l));
	int r = l ? sx_settings_copy(&l->settings, base) : -ENOMEM;

	if (r < 0) {
		free(l);
		return r;
	}
	l->errors = errors;
	l->how = "set";
	l->live = true;
	for (int i = 0; i < sx_option_count; i++) {
		memcpy(l->origins[i].where, origins->where[i], SX_WHERE_BYTES);
		l->origins[i].good = true;
		l->origins[i].file = 1; /* before the changes, which are 0 */
	}
	for (int i = 0; i < count; i++)
		load_override(l, changes[i]);
	if (sets_calibration(l)) {
		sx_load_forget_calibration(l);
		sx_load_check_rectify(l, sx_load_calibration(l));
	}
	sx_load_check(l, true);
	return load_end(l, 0, ret, origins);
}

int sx_settings_load(struct sx_settings *ret, const char *file, const char *const *overrides, int count,
		     bool source_required, struct sx_errors *errors)
{
	return sx_settings_load_origins(ret, NULL, file, overrides, count, source_required, errors);
}

int sx_settings_template(struct sx_settings *ret, const char *const *overrides, int count,
			 struct sx_errors *errors)
{
	return load_settings(ret, NULL, NULL, NULL, overrides, count, WHOLE_TEMPLATE, errors);
}
