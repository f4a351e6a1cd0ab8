/*
 * Who may use a file that was refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/common/group_hint.h"

#include <grp.h>
#include <stdio.h>
#include <sys/stat.h>

void sx_group_hint(const char *path, char *text, size_t bytes)
{
	const struct group *g;
	struct stat st;

	*text = 0;
	if (stat(path, &st) < 0 || !(st.st_mode & S_IRGRP) || st.st_gid == 0)
		return;
	g = getgrgid(st.st_gid);
	if (g)
		snprintf(text, bytes,
			 " (members of group %s may: sudo usermod -aG %s YOU, then log in again)", g->gr_name,
			 g->gr_name);
	else
		snprintf(text, bytes, " (members of group %u may)", (unsigned)st.st_gid);
}
