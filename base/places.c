/*
 * Folders of instances: /run/stixeld, XDG_RUNTIME_DIR, /run/user/UID.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/places.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool sx_place_folder_of(enum sx_place place, const char *program, char *folder, size_t bytes)
{
	const char *runtime = secure_getenv(SX_PLACE_VARIABLE);
	int n = -1;

	if (place == SX_PLACE_SYSTEM)
		n = snprintf(folder, bytes, "%s/%s", SX_PLACE_RUN_DIR, program);
	else if (place == SX_PLACE_RUNTIME && runtime && runtime[0] == '/')
		n = snprintf(folder, bytes, "%s/%s", runtime, program);
	else if (place == SX_PLACE_USER)
		n = snprintf(folder, bytes, "%s/%u/%s", SX_PLACE_USER_DIR, (unsigned)geteuid(), program);
	if (n >= 0 && (size_t)n < bytes)
		return true;
	folder[0] = 0;
	return false;
}

bool sx_place_folder(enum sx_place place, char *folder, size_t bytes)
{
	return sx_place_folder_of(place, SX_PLACE_PROGRAM, folder, bytes);
}

bool sx_place_path(enum sx_place place, const char *instance, const char *file, char *path, size_t bytes)
{
	size_t used = 0;
	int n = -1;

	if (sx_place_folder(place, path, bytes)) {
		used = strlen(path);
		n = snprintf(path + used, bytes - used, "/%s%s%s", instance, file ? "/" : "",
			     file ? file : "");
	}
	if (n >= 0 && (size_t)n < bytes - used)
		return true;
	path[0] = 0;
	return false;
}

bool sx_place_trusts(uid_t owner, const char *instance)
{
	char folder[PATH_MAX];
	struct stat st;

	if (owner == 0 || owner == geteuid())
		return true;
	return *instance && sx_place_path(SX_PLACE_SYSTEM, instance, NULL, folder, sizeof(folder)) &&
	       lstat(folder, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == owner;
}

bool sx_place_passed(int error)
{
	switch (error < 0 ? -error : error) {
	case ENOENT:
	case ENOTDIR:
	case ENAMETOOLONG: /* no socket can have such a path */
	case ECONNREFUSED:
	case EACCES:
	case EPERM:
		return true;
	default:
		return false;
	}
}
