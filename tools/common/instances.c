/*
 * Finds the status sockets of instances in all runtime directories.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/common/instances.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/runtime_dirs.h"

static const char ring_prefix[] = SX_RING_PREFIX, offer_suffix[] = SX_OFFER_SUFFIX;

static bool has_status_socket(const char *folder, const char *name)
{
	char path[PATH_MAX];
	struct stat st;
	int n = snprintf(path, sizeof(path), "%s/%s/" SX_STATUS_SOCKET, folder, name);

	return n > 0 && (size_t)n < sizeof(path) && stat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

void sx_programs_find(const char *program, void (*take)(void *user, const char *name), void *user)
{
	char folder[PATH_MAX];

	for (int place = 0; place < SX_RUNTIME_DIRS; place++) {
		DIR *d = NULL;

		if (sx_runtime_dir_name_of((enum sx_runtime_dir)place, program, folder, sizeof(folder)))
			d = opendir(folder);
		for (struct dirent *e; d && (e = readdir(d));)
			if (e->d_name[0] != '.' && has_status_socket(folder, e->d_name))
				take(user, e->d_name);
		if (d)
			closedir(d);
	}
}

void sx_instances_find(void (*take)(void *user, const char *name), void *user)
{
	sx_programs_find(SX_RUNTIME_DIR_PROGRAM, take, user);
}

/*
 * Returns true if the ring has the pairs that an instance publishes for another process. Otherwise it
 * belongs to an instance of this name.
 */
static bool is_offer(int folder, const char *name)
{
	const size_t length = strlen(name), end = strlen(offer_suffix);
	char ring[NAME_MAX + 1];

	if (length <= end || strcmp(name + length - end, offer_suffix) != 0)
		return false;
	snprintf(ring, sizeof(ring), "%s%.*s", ring_prefix, (int)(length - end), name);
	return faccessat(folder, ring, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool ring_trusted(int folder, const char *file, const char *name)
{
	struct stat st;

	return fstatat(folder, file, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	       sx_runtime_dir_trusts(st.st_uid, name);
}

void sx_instances_find_rings(void (*take)(void *user, const char *name, bool trusted), void *user)
{
	DIR *d = opendir(SX_SHM_DIR);

	for (struct dirent *e; d && (e = readdir(d));) {
		const char *name = e->d_name + strlen(ring_prefix);

		if (strncmp(e->d_name, ring_prefix, strlen(ring_prefix)) == 0 && !is_offer(dirfd(d), name))
			take(user, name, ring_trusted(dirfd(d), e->d_name, name));
	}
	if (d)
		closedir(d);
}
