/*
 * The preset: a file whose values replace the defaults.
 *
 * The preset is read after files and overrides, because they name it. It only sets keys that they leave out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "config/load_priv.h"
#include "config/preset.h"
#include "config/text/file.h"

/* Returns true if a file or an override has set the key. */
static bool is_set(const struct sx_load *l, int i)
{
	return l->origins[i].where[0] && l->origins[i].file != SX_LOAD_PRESET;
}

/*
 * Reports a value that the key does not accept. Returns true if the value is good and differs from that of
 * the settings.
 */
static bool differs(struct sx_load *l, int i, const char *value, const char *where)
{
	const struct sx_option *o = &sx_options[i];
	struct sx_settings *spare = calloc(1, sizeof(*spare));
	struct sx_why why;
	int r = spare ? sx_option_read(o, spare, value, &why) : -ENOMEM;
	const bool ret = r == 0 && !sx_option_equal(o, spare, &l->settings);

	if (r == -ENOMEM)
		l->out_of_memory = true;
	else if (r < 0)
		sx_errors_add(l->errors, "%s: [%s] %s: %s", where, o->section, o->key, why.text);
	if (spare)
		sx_option_clear(o, spare);
	free(spare);
	return ret;
}

bool sx_load_preset_may_set(struct sx_load *l, int i, const char *value, const char *where)
{
	if (strcmp(sx_options[i].section, SX_SECTION_PRESET) == 0) {
		sx_errors_add(l->errors, "%s: a preset cannot name another preset", where);
		return false;
	}
	l->preset.keys++;
	if (!is_set(l, i))
		return true;
	l->preset.unused += differs(l, i, value, where);
	return false;
}

int sx_load_preset(struct sx_load *l)
{
	const char *name = l->settings.preset, *set_at = sx_load_set_at(l, SX_SECTION_PRESET, "name");
	char path[PATH_MAX];
	struct sx_why why;
	int r;

	if (!name)
		return 0;
	if (sx_preset_find(name, path, &why) < 0) {
		sx_errors_add(l->errors, "%s: [" SX_SECTION_PRESET "] name: found '%s', allowed %s", set_at,
			      name, why.text);
		return 0;
	}
	r = sx_load_preset_file(l, path);
	/* for example, a file that --print-config wrote sets every key */
	if (r == 0 && !l->draft && l->preset.keys && l->preset.unused == l->preset.keys)
		sx_log(CONFIG, NOTICE,
		       "%s: preset %s has no effect: files or -s set its keys otherwise, and count more: remove "
		       "them there",
		       set_at, name);
	return r;
}

/* ---- list ---------------------------------------------------------------------------------------------- */

/* Copies the text of the first line if it is a comment. */
static void read_help(const char *path, char *help, size_t bytes)
{
	struct sx_why why;
	size_t size, n;
	char *text;

	*help = '\0';
	if (sx_file_read(path, SX_CONFIG_FILE_BYTES, &text, &size, &why) < 0)
		return;
	n = strspn(text, "# ");
	if (n)
		snprintf(help, bytes, "%.*s", (int)strcspn(text + n, "\r\n"), text + n);
	free(text);
}

static void print_keys(const struct sx_load *l, FILE *to)
{
	char value[SX_OPTION_TEXT_BYTES];
	const char *gap = "";

	fputs(",\"keys\":{", to);
	for (int i = 0; i < sx_option_count; i++) {
		if (!l->origins[i].where[0])
			continue;
		sx_option_write(&sx_options[i], &l->settings, value);
		fprintf(to, "%s\"%s.%s\":", gap, sx_options[i].section, sx_options[i].key);
		sx_config_json_string(value, to);
		gap = ",";
	}
	fputc('}', to);
}

static void print_preset(const char *name, FILE *to)
{
	struct sx_load *l = calloc(1, sizeof(*l));
	struct sx_errors errors = {0};
	char path[PATH_MAX] = "", help[256] = "";
	struct sx_why why = {""};
	int r = l ? sx_settings_init(&l->settings) : -ENOMEM;

	if (r == 0)
		r = sx_preset_find(name, path, &why);
	if (r == 0) {
		l->errors = &errors;
		r = sx_load_preset_file(l, path);
		read_help(path, help, sizeof(help));
	}
	if (errors.count)
		sx_why_set(&why, "%s", errors.text[0]);
	else if (r < 0 && sx_why_is_empty(&why))
		sx_why_set(&why, "%s", strerror(-r));
	fputs("{\"name\":", to);
	sx_config_json_string(name, to);
	fputs(",\"path\":", to);
	sx_config_json_string(path, to);
	fputs(",\"help\":", to);
	sx_config_json_string(help, to);
	if (sx_why_is_empty(&why)) {
		print_keys(l, to);
	} else {
		fputs(",\"error\":", to);
		sx_config_json_string(why.text, to);
	}
	fputc('}', to);
	sx_errors_finish(&errors);
	if (l)
		sx_settings_finish(&l->settings);
	free(l);
}

void sx_presets_json(FILE *to)
{
	struct sx_preset_names names;

	sx_preset_names(&names);
	for (int i = 0; i < names.count; i++) {
		fputs(i ? "," : "[", to);
		print_preset(names.name[i], to);
	}
	fputs(names.count ? "]\n" : "[]\n", to);
}
