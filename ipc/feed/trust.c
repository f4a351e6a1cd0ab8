/*
 * Whose rings of scores and maps are read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/feed/trust.h"

#include <errno.h>
#include <grp.h>
#include <unistd.h>

#include "ipc/feed/feed.h"
#include "ipc/why.h"

gid_t sx_feed_writers(void)
{
	struct group writers, *found = NULL;
	char text[4096];
	int e = getgrnam_r(SX_FEED_GROUP, &writers, text, sizeof(text), &found);

	return e == 0 && found ? writers.gr_gid : 0;
}

/*
 * /dev/shm is open to all. Only who is a member of a group, or root, can give a file to that group: so what
 * belongs to that of the writers was put there by one of those who are meant to. The daemon's own group is
 * that of its readers: they do not write what a vehicle takes for road. What others may write to, anybody
 * may have written.
 */
int sx_feed_trust(const struct stat *st, gid_t writers, const char *path, char *why, size_t why_bytes)
{
	if (!(st->st_mode & S_IWOTH) &&
	    (st->st_uid == 0 || st->st_uid == geteuid() || (writers && st->st_gid == writers)))
		return 0;
	return sx_why(-EPERM, why, why_bytes,
		      "%s has owner %u, group %u, mode %o: read is what belongs to root, user %u or group %s "
		      "(make the writer a member), and only they may write",
		      path, (unsigned)st->st_uid, (unsigned)st->st_gid, (unsigned)st->st_mode & 0777,
		      (unsigned)geteuid(), SX_FEED_GROUP);
}
