/*
 * Folders of the rings of writers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/feed/feed_dirs.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/contract.h"
#include "ipc/writers.h"

bool sx_feed_dir(enum sx_feed_dir place, char *folder, size_t bytes)
{
	static const enum sx_runtime_dir of[SX_FEED_SHARED] = {SX_RUNTIME_DIR_SYSTEM, SX_RUNTIME_DIR_XDG,
							       SX_RUNTIME_DIR_USER};

	if (place != SX_FEED_SHARED) {
		sx_must_or(return false, place, <, SX_FEED_SHARED);
		return sx_runtime_dir_name_of(of[place], SX_RUNTIME_DIR_FEED, folder, bytes);
	}
	if ((size_t)snprintf(folder, bytes, "/dev/shm") < bytes)
		return true;
	folder[0] = 0;
	return false;
}

/*
 * Creates the system's folder like systemd-tmpfiles does, for a machine without it. If there is no group of
 * writers, the folder is for root alone.
 */
static void make_system(const char *folder)
{
	gid_t group = 0;
	int fd;

	if (mkdir(folder, 0755) < 0 || sx_writers_group(&group) < 0 || !group)
		return;
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	if (fchown(fd, 0, group) == 0)
		(void)!fchmod(fd, SX_FEED_MODE);
	close(fd);
}

/*
 * Checks the mode bits itself: in glibc before 2.33, faccessat() with AT_EACCESS checks the real user and not
 * the effective one.
 */
static bool may_write(const struct stat *folder)
{
	mode_t needed = S_IWOTH | S_IXOTH;

	if (geteuid() == 0)
		return true;
	if (folder->st_uid == geteuid())
		needed = S_IWUSR | S_IXUSR;
	else if (sx_writers_member(folder->st_gid) > 0)
		needed = S_IWGRP | S_IXGRP;
	return (folder->st_mode & needed) == needed;
}

/*
 * True if the folder has the expected owner, is closed for writing to other users, and the caller may create
 * files in it. faccessat() also detects a read-only file system, which mode bits do not show.
 */
static bool is_ours(enum sx_feed_dir place, const char *folder)
{
	const uid_t owner = place == SX_FEED_SYSTEM ? 0 : geteuid();
	struct stat st;

	return lstat(folder, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == owner &&
	       !(st.st_mode & S_IWOTH) && may_write(&st) &&
	       faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0;
}

void sx_feed_writers_dir(char *folder, size_t bytes)
{
	for (enum sx_feed_dir place = SX_FEED_SYSTEM; place < SX_FEED_SHARED; place++) {
		if (!sx_feed_dir(place, folder, bytes))
			continue;
		if (geteuid() != 0 && place != SX_FEED_SYSTEM)
			(void)!mkdir(folder, 0700);
		else if (geteuid() == 0 && place == SX_FEED_SYSTEM)
			make_system(folder);
		if (is_ours(place, folder))
			return;
	}
	sx_feed_dir(SX_FEED_SHARED, folder, bytes);
}
