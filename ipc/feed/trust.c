/*
 * Decides which rings of scores and maps the daemon trusts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/feed/trust.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/why.h"
#include "ipc/feed/feed_dirs.h"
#include "ipc/writers.h"

/*
 * Every user can write to /dev/shm. But only root and the members of a group can give a file to that group.
 * So a file of the group of writers was put there by a permitted writer. The daemon's own group is the group
 * of its readers, and readers must not write what a vehicle takes for road. If others or another group have
 * write permission, any of these users may have written the file.
 */
int sx_feed_trusted_by(uid_t user, const struct stat *st, gid_t writers, const char *path, struct sx_why *why)
{
	const bool shared = st->st_mode & S_IWGRP && st->st_gid != 0 && (!writers || st->st_gid != writers);
	const bool open_to_all = strncmp(path, "/dev/shm/", strlen("/dev/shm/")) == 0;

	if (!(st->st_mode & S_IWOTH) && !shared &&
	    (st->st_uid == 0 || st->st_uid == user || (writers && st->st_gid == writers)))
		return 0;
	return sx_why_fail(
		-EPERM, why,
		"%s has owner %u, group %u, mode %o: read is what belongs to root, user %u or group %s (%s), "
		"and only they may write%s",
		path, (unsigned)st->st_uid, (unsigned)st->st_gid, (unsigned)st->st_mode & 0777,
		(unsigned)user, SX_WRITERS_GROUP,
		writers ? "make the writer a member: usermod -aG " SX_WRITERS_GROUP " NAME"
			: "which is not known here: groupadd -r " SX_WRITERS_GROUP,
		open_to_all
			? "; any user can take a name there, none but members in /run/" SX_RUNTIME_DIR_FEED
			  ": " SX_FEED_REMEDY
			: "");
}

int sx_feed_trust(const struct stat *st, gid_t writers, const char *path, struct sx_why *why)
{
	return sx_feed_trusted_by(geteuid(), st, writers, path, why);
}

int sx_feed_forbidden(const char *path, gid_t writers, struct sx_why *why)
{
	struct stat st;
	int e;

	if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return sx_why_fail(-EACCES, why, "cannot open %s: %s", path, strerror(EACCES));
	e = sx_feed_trust(&st, writers, path, why);
	if (e < 0)
		return e;
	return sx_why_fail(-EACCES, why,
			   "%s has owner %u, group %u, mode %o, and user %u may not read it: "
			   "make stixeld's user a member of group %s and start it again",
			   path, (unsigned)st.st_uid, (unsigned)st.st_gid, (unsigned)st.st_mode & 0777,
			   (unsigned)geteuid(), SX_WRITERS_GROUP);
}
