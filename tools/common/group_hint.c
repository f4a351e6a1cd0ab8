/*
 * Tells which group may use a file that was refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/common/group_hint.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Finds the file, or the folder of its path, that refuses access. False: it cannot be seen. */
static bool find_refuser(const char *path, struct stat *st)
{
	char way[PATH_MAX];
	char *slash;

	if (stat(path, st) == 0)
		return true;
	snprintf(way, sizeof(way), "%s", path);
	while (errno == EACCES && (slash = strrchr(way, '/')) && slash != way) {
		*slash = 0;
		if (stat(way, st) == 0)
			return true;
	}
	return false;
}

void sx_group_hint(const char *path, char *text, size_t bytes)
{
	const struct group *g;
	struct stat st;

	*text = 0;
	if (!find_refuser(path, &st) || !(st.st_mode & (S_ISDIR(st.st_mode) ? S_IXGRP : S_IRGRP)))
		return;
	g = getgrgid(st.st_gid);
	if (st.st_gid == 0)
		snprintf(
			text, bytes,
			" (root alone may: ask by sudo; what the service stixeld@ makes is open to a group)");
	else if (g)
		snprintf(text, bytes,
			 " (members of group %s may: sudo usermod -aG %s YOU, then log in again)", g->gr_name,
			 g->gr_name);
	else
		snprintf(text, bytes, " (members of group %u may)", (unsigned)st.st_gid);
}
