/*
 * The ring of a feed: finds it in its possible folders, opens and checks it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_FEED_FEED_RING_H
#define SX_IPC_FEED_FEED_RING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/why.h"
#include "ipc/feed/feed.h"
#include "ipc/feed/feed_dirs.h"
#include "ipc/feed/feed_kind.h"

/* Possible paths of the ring, the best first. */
struct sx_feed_dirs {
	const struct sx_feed_words *words;
	unsigned writers; /* group of permitted writers */
	int count;
	char path[SX_FEED_DIRS][512];
};

/* A ring that was opened and passed the checks. */
struct sx_feed_ring {
	int fd; /* -1: none */
	int dir;
	dev_t device;
	ino_t inode;
	struct stixel_ring_header header; /* read once, checked, never read again */
};

/* Fills the paths. False: every path is too long. */
bool sx_feed_dirs_init(struct sx_feed_dirs *dirs, const struct sx_feed_params *p, unsigned writers);
/*
 * Opens the first readable ring, in the order of the folders, and sets *path to its path. If no ring is
 * readable but a path has an object, sets *path to the path of that object and writes the reason to why.
 * False: no path has an object.
 */
bool sx_feed_find(const struct sx_feed_dirs *dirs, struct sx_feed_ring *ring, const char **path,
		  struct sx_why *why);
/*
 * Returns true if a folder that is tried before that of ring has a readable ring. With gone: if any other
 * folder has one.
 */
bool sx_feed_find_other(const struct sx_feed_dirs *dirs, const struct sx_feed_ring *ring, bool gone);

#endif
