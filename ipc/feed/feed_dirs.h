/*
 * Folders for the rings of writers (class scores, disparity maps), for writers, the daemon and doctor.
 *
 * In /dev/shm any user may create a file and so block a name that a writer needs. /run/stixel-feed belongs to
 * root, and only group stixel-feed may create files there (systemd/stixeld.tmpfiles). It is beside
 * /run/stixeld and not below an instance's folder, because a writer may have no permission to read frames,
 * may start before the daemon, and may write for several daemons. /dev/shm is tried last: writers of
 * libstixel before 0.2 put their rings there, and so do writers that find no other folder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_FEED_FEED_DIRS_H
#define SX_IPC_FEED_FEED_DIRS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/runtime_dirs.h"

/*
 * Mode of the system's folder: files get its group (setgid), and a user can remove only his own files
 * (sticky).
 */
#define SX_FEED_MODE 03775
/* Command that creates the folder if it is missing. */
#define SX_FEED_REMEDY "systemd-tmpfiles --create stixeld.conf"

enum sx_feed_dir {
	SX_FEED_SYSTEM, /* /run/stixel-feed */
	/* this and the next: stixel-feed in the two runtime directories of a user (base/runtime_dirs.h) */
	SX_FEED_RUNTIME,
	SX_FEED_USER,
	SX_FEED_SHARED, /* /dev/shm */
	SX_FEED_DIRS
};

/*
 * Finds the folder. False, with an empty text: this system has no such folder, or bytes is too small. Does
 * not access the disk.
 */
bool sx_feed_dir(enum sx_feed_dir place, char *folder, size_t bytes);
/*
 * Finds the first folder in which the caller may create files. Creates the folder if it is missing and the
 * caller has the permission: root creates the system's folder, another user creates the folders in his own
 * runtime directories. If there is none, returns /dev/shm.
 */
void sx_feed_writers_dir(char *folder, size_t bytes);

#endif
