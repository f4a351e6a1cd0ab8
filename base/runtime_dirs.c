/*
 * Folders of instances: /run/stixeld, XDG_RUNTIME_DIR, /run/user/UID.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/runtime_dirs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool sx_runtime_dir_name_of(enum sx_runtime_dir place, const char *program, char *folder, size_t bytes)
{
	const char *runtime = secure_getenv(SX_RUNTIME_DIR_VARIABLE);
	int n = -1;

	if (place == SX_RUNTIME_DIR_SYSTEM)
		n = snprintf(folder, bytes, "%s/%s", SX_RUN_DIR, program);
	else if (place == SX_RUNTIME_DIR_XDG && runtime && runtime[0] == '/')
		n = snprintf(folder, bytes, "%s/%s", runtime, program);
	else if (place == SX_RUNTIME_DIR_USER)
		n = snprintf(folder, bytes, "%s/%u/%s", SX_RUNTIME_DIR_OF_USER, (unsigned)geteuid(), program);
	if (n >= 0 && (size_t)n < bytes)
		return true;
	folder[0] = 0;
	return false;
}

bool sx_runtime_dir_name(enum sx_runtime_dir place, char *folder, size_t bytes)
{
	return sx_runtime_dir_name_of(place, SX_RUNTIME_DIR_PROGRAM, folder, bytes);
}

bool sx_runtime_dir_path(enum sx_runtime_dir place, const char *instance, const char *file, char *path,
			 size_t bytes)
{
	size_t used = 0;
	int n = -1;

	if (sx_runtime_dir_name(place, path, bytes)) {
		used = strlen(path);
		n = snprintf(path + used, bytes - used, "/%s%s%s", instance, file ? "/" : "",
			     file ? file : "");
	}
	if (n >= 0 && (size_t)n < bytes - used)
		return true;
	path[0] = 0;
	return false;
}

static bool owns_folder(uid_t owner, const char *instance)
{
	char folder[PATH_MAX];
	struct stat st;

	return *instance &&
	       sx_runtime_dir_path(SX_RUNTIME_DIR_SYSTEM, instance, NULL, folder, sizeof(folder)) &&
	       lstat(folder, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == owner;
}

bool sx_runtime_dir_trusts(uid_t owner, const char *instance)
{
	const size_t length = strlen(instance), end = strlen(SX_OFFER_SUFFIX);
	char of[NAME_MAX + 1];

	if (owner == 0 || owner == geteuid() || owns_folder(owner, instance))
		return true;
	if (length <= end || length - end >= sizeof(of) ||
	    strcmp(instance + length - end, SX_OFFER_SUFFIX) != 0)
		return false;
	memcpy(of, instance, length - end);
	of[length - end] = 0;
	return owns_folder(owner, of);
}

bool sx_runtime_dir_passed(int error)
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
