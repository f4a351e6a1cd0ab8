/*
 * The folder of presets: finds and lists its files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "config/preset.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/program_place.h"
#include "config/option.h"

#define ENDING ".conf"

void sx_preset_folder(char *path, size_t bytes)
{
	const char *override = secure_getenv("STIXEL_PRESET_PATH");
	char top[PATH_MAX];

	if (override && *override)
		snprintf(path, bytes, "%s", override);
	else if (sx_program_build_tree(top, sizeof(top)))
		snprintf(path, bytes, "%s/config/presets", top);
	else
		snprintf(path, bytes, "%s", SX_PRESET_DIR);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

void sx_preset_names(struct sx_preset_names *ret)
{
	char folder[PATH_MAX];
	const struct dirent *e;
	DIR *dir;

	ret->count = 0;
	sx_preset_folder(folder, sizeof(folder));
	dir = opendir(folder);
	while (dir && (e = readdir(dir)) && ret->count < SX_PRESETS_MAX) {
		const size_t n = strlen(e->d_name), ending = strlen(ENDING);

		if (e->d_name[0] == '.' || n <= ending || strcmp(e->d_name + n - ending, ENDING) != 0 ||
		    n - ending >= SX_PRESET_NAME_BYTES)
			continue;
		memcpy(ret->name[ret->count], e->d_name, n - ending);
		ret->name[ret->count++][n - ending] = '\0';
	}
	if (dir)
		closedir(dir);
	qsort(ret->name, (size_t)ret->count, sizeof(ret->name[0]), by_name);
}

/* Writes "car, fast, indoor, robot of /usr/share/stixeld/presets, or a path such as ./FILE". */
static int refuse_name(const char *folder, struct sx_why *why)
{
	struct sx_preset_names names;

	sx_preset_names(&names);
	sx_why_clear(why);
	for (int i = 0; i < names.count; i++)
		sx_why_add(why, "%s%s", i ? ", " : "", names.name[i]);
	sx_why_add(why, "%s %.200s, or a path such as ./FILE",
		   names.count ? " of" : "a file of the empty folder", folder);
	return -ENOENT;
}

int sx_preset_find(const char *name, char path[PATH_MAX], struct sx_why *why)
{
	char folder[PATH_MAX - SX_PRESET_NAME_BYTES - sizeof(ENDING)];

	if (strchr(name, '/')) {
		if (strlen(name) >= PATH_MAX || access(name, R_OK) < 0)
			return sx_why_fail(-ENOENT, why, "a file that can be read (%s)", strerror(errno));
		snprintf(path, PATH_MAX, "%s", name);
		return 0;
	}
	sx_preset_folder(folder, sizeof(folder));
	if (strlen(name) >= SX_PRESET_NAME_BYTES || !*name)
		return refuse_name(folder, why);
	snprintf(path, PATH_MAX, "%s/%s" ENDING, folder, name);
	return access(path, F_OK) == 0 ? 0 : refuse_name(folder, why);
}

bool sx_preset_take(const char *name, char override[SX_PRESET_OVERRIDE_BYTES], struct sx_why *why)
{
	char path[PATH_MAX];
	struct sx_why allowed;

	if (sx_preset_find(name, path, &allowed) == 0) {
		snprintf(override, SX_PRESET_OVERRIDE_BYTES, SX_SECTION_PRESET ".name=%s", name);
		return true;
	}
	sx_why_set(why, "needs %s", allowed.text);
	return false;
}
