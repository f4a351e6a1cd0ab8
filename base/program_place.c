/*
 * Finds the build tree of the running program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/program_place.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BUILD_DEPTH 4 /* largest number of folders between a program and the top of its build tree */

/* Replaces path by the folder above it, in place. False: there is none. */
static bool cut_last(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return false;
	*slash = '\0';
	return true;
}

bool sx_program_build_tree(char *path, size_t bytes)
{
	char top[PATH_MAX], mark[PATH_MAX + 32];
	ssize_t n = readlink("/proc/self/exe", top, sizeof(top) - 1);

	if (n <= 0)
		return false;
	top[n] = '\0';
	for (int i = 0; i < BUILD_DEPTH && cut_last(top); i++) {
		snprintf(mark, sizeof(mark), "%s/build.ninja", top);
		if (access(mark, F_OK) < 0)
			continue;
		if (strlen(top) >= bytes)
			return false;
		memcpy(path, top, strlen(top) + 1);
		return true;
	}
	return false;
}
