/*
 * Where the rings of writers lie (class scores, disparity maps), for writers, the daemon and doctor.
 *
 * In /dev/shm any user may make a file and so keep a name from the writer that needs it. /run/stixel-feed is
 * root's, and only group stixel-feed may make files there (systemd/stixeld.tmpfiles). It lies beside
 * /run/stixeld and not below an instance's folder: a writer need be no reader of frames, may start before the
 * daemon, and may write for several of them. /dev/shm comes last: there, writers of libstixel before 0.2 put
 * their rings, and those that find no other place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_FEED_PLACE_H
#define SX_IPC_FEED_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/places.h"

/* The system's folder: files get its group (setgid), and a user removes only files of his own (sticky). */
#define SX_FEED_MODE 03775
/* Makes it where it is missing. */
#define SX_FEED_REMEDY "systemd-tmpfiles --create stixeld.conf"

enum sx_feed_place {
	SX_FEED_SYSTEM,	 /* /run/stixel-feed */
	SX_FEED_RUNTIME, /* the same in the places of a user: base/places.h */
	SX_FEED_USER,
	SX_FEED_SHARED, /* /dev/shm */
	SX_FEED_PLACES
};

/* The folder; false, and empty: no such place here, or too few bytes. Nothing is looked up on disk. */
bool sx_feed_place(enum sx_feed_place place, char *folder, size_t bytes);
/*
 * The first of them that the caller may make files in; the folder is made where it is the caller's to make:
 * root that of the system, a user one in the own places. /dev/shm where there is none.
 */
void sx_feed_writers_place(char *folder, size_t bytes);

#endif
