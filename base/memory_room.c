/*
 * Free memory of the machine and of memory cgroups, from files of the kernel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/memory_room.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES (PATH_MAX + 64)

/* The two versions of the cgroup interface. */
static const struct version {
	const char *folder; /* folder where it is mounted */
	const char *limit, *usage, *droppable;
} versions[] = {
	{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
	{"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"},
};

/*
 * Reads the number after the word that a line begins with. If word is "", reads the first number of a line.
 * False: no such number, or "max".
 */
static bool read_number(const char *path, const char *word, int64_t *ret)
{
	const size_t n = strlen(word);
	FILE *f = fopen(path, "re");
	char line[256];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = strncmp(line, word, n) == 0 && sscanf(line + n, " %" SCNd64, ret) == 1;
	if (f)
		fclose(f);
	return found;
}

struct room {
	int64_t least;
	char *what;
	size_t bytes;
};

static void take_room(struct room *r, int64_t left, const char *kind, const char *name, const char *limit)
{
	left = left < 0 ? 0 : left;
	if (left >= r->least)
		return;
	r->least = left;
	snprintf(r->what, r->bytes, "%s%.128s%s", kind, name, limit);
}

/* Checks the room of one cgroup. A cgroup without a limit is ignored. */
static void look_at_cgroup(struct room *r, const struct version *v, const char *folder, const char *name)
{
	char path[LINE_BYTES + 128], limit_name[64];
	int64_t limit, usage, droppable = 0;

	snprintf(path, sizeof(path), "%s/%s", folder, v->limit);
	if (!read_number(path, "", &limit))
		return;
	snprintf(path, sizeof(path), "%s/%s", folder, v->usage);
	if (!read_number(path, "", &usage))
		return;
	snprintf(path, sizeof(path), "%s/memory.stat", folder);
	if (!read_number(path, v->droppable, &droppable) || droppable < 0 || droppable > usage)
		droppable = 0;
	snprintf(limit_name, sizeof(limit_name), " (%s)", v->limit);
	take_room(r, limit - usage + droppable, "memory cgroup ", *name ? name : "/", limit_name);
}

/*
 * Checks this cgroup and all cgroups above it. In a container the path may be that of the host. If the path
 * does not exist, only the mount point is checked.
 */
static void look_up(struct room *r, const struct version *v, const char *root, const char *name)
{
	char folder[LINE_BYTES], rest[LINE_BYTES];
	const int mount = snprintf(folder, sizeof(folder), "%s%s", root, v->folder);
	char *slash;

	if (mount < 0 || (size_t)mount + strlen(name) + 1 > sizeof(folder))
		return;
	snprintf(rest, sizeof(rest), "%s", strcmp(name, "/") == 0 ? "" : name);
	snprintf(folder + mount, sizeof(folder) - (size_t)mount, "%s", rest);
	if (access(folder, F_OK) < 0)
		rest[0] = 0;
	for (;;) {
		snprintf(folder + mount, sizeof(folder) - (size_t)mount, "%s", rest);
		look_at_cgroup(r, v, folder, rest);
		slash = strrchr(rest, '/');
		if (!slash)
			break;
		*slash = 0;
	}
}

int64_t sx_memory_room(const char *root, char *what, size_t bytes)
{
	struct room r = {.least = INT64_MAX, .what = what, .bytes = bytes};
	char path[PATH_MAX], line[LINE_BYTES];
	int64_t available, swap = 0;
	FILE *f;

	snprintf(what, bytes, "%s", "");
	snprintf(path, sizeof(path), "%s/proc/meminfo", root);
	if (read_number(path, "MemAvailable:", &available)) {
		read_number(path, "SwapFree:", &swap);
		take_room(&r, (available + swap) * 1024, "this machine", "", "");
	}
	snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
	f = fopen(path, "re");
	/* version 1: "4:memory,hugetlb:/PATH", version 2: "0::/PATH" */
	while (f && fgets(line, sizeof(line), f)) {
		char *controllers = strchr(line, ':'),
		     *name = controllers ? strchr(controllers + 1, ':') : NULL;

		line[strcspn(line, "\n")] = 0;
		if (!name)
			continue;
		*name++ = 0;
		if (*++controllers == 0)
			look_up(&r, &versions[1], root, name);
		for (char *rest = NULL, *one = strtok_r(controllers, ",", &rest); one;
		     one = strtok_r(NULL, ",", &rest))
			if (strcmp(one, "memory") == 0)
				look_up(&r, &versions[0], root, name);
	}
	if (f)
		fclose(f);
	return r.least;
}
