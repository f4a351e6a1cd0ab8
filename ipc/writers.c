/*
 * The groups of users that may write for stixeld, and of users that may change its settings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/contract.h"
#include "ipc/writers.h"

#include <errno.h>
#include <grp.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#define TEXT_BYTES ((size_t)4096)	  /* initial size for a group and its members */
#define TEXT_BYTES_MAX ((size_t)16 << 20) /* limit; it is enough for half a million members */

int sx_group_number(const char *name, gid_t *ret)
{
	struct group group, *found = NULL;
	int e = ERANGE;

	*ret = 0;
	for (size_t bytes = TEXT_BYTES; e == ERANGE && bytes <= TEXT_BYTES_MAX; bytes *= 2) {
		char *text = malloc(bytes);

		if (!text)
			return -ENOMEM;
		e = getgrnam_r(name, &group, text, bytes, &found);
		if (e == 0 && found)
			*ret = group.gr_gid;
		free(text);
	}
	return e == ENOMEM ? -ENOMEM : 0;
}

int sx_writers_group(gid_t *ret)
{
	return sx_group_number(SX_WRITERS_GROUP, ret);
}

int sx_writers_member(gid_t group)
{
	const int room = getgroups(0, NULL);
	gid_t *groups;
	int n;

	sx_must_or(return -EINVAL, group, !=, (gid_t)-1);
	if (group == getegid() || geteuid() == 0)
		return 1;
	if (room <= 0)
		return 0;
	groups = malloc((size_t)room * sizeof(*groups));
	if (!groups)
		return -ENOMEM;
	n = getgroups(room, groups);
	while (n > 0 && groups[n - 1] != group)
		n--;
	free(groups);
	return n > 0;
}
