/*
 * Loads the configuration: defaults, preset, main file, drop-ins, overrides.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/load_priv.h"

static int is_drop_in(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return d->d_name[0] != '.' && n > 5 && !strcmp(d->d_name + n - 5, ".conf");
}

static int byte_order(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/*
 * Reads the draft if it belongs before the drop-in `next`, or replaces it. next NULL: after the last drop-in.
 */
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
	struct sx_why why;
	int r;

	memset(&s, 0, sizeof(s));
	for (int i = 0; i < sx_option_count; i++) {
		if (!sx_options[i].initial)
			continue;
		r = sx_option_read(&sx_options[i], &s, sx_options[i].initial, &why);
		if (r < 0) {
			sx_settings_finish(&s);
			return r;
		}
	}
	*ret = s;
	return 0;
}

/* Checks of the whole configuration, made after all files were read. */
enum whole { WHOLE_TEMPLATE, WHOLE_WITHOUT_SOURCE, WHOLE_WITH_SOURCE, WHOLE_EXISTING };

static void copy_origins(const struct sx_load *l, struct sx_origins *ret)
{
	for (int i = 0; i < sx_option_count; i++)
		memcpy(ret->where[i], l->origins[i].where, SX_WHERE_BYTES);
}

/* Ends a load: moves the settings to ret, or returns the error. */
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
	if (r == 0)
		r = sx_load_preset(l);
	/* check the whole configuration only if all of it was read */
	if (r == 0) {
		bool read;

		l->settings.source_given = sx_load_set_at(l, "source", "kind") != NULL;
		sx_load_dataset(l, whole >= WHOLE_WITH_SOURCE);
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

/* Returns true if one of the changed keys affects the calibration. */
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
		l->origins[i].file = 1; /* counts as set in a file, before the changes, which are overrides */
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

int sx_settings_template(struct sx_settings *ret, struct sx_origins *origins, const char *const *overrides,
			 int count, struct sx_errors *errors)
{
	return load_settings(ret, origins, NULL, NULL, overrides, count, WHOLE_TEMPLATE, errors);
}
