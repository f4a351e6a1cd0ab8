/*
 * The ring of a feed: the places where it may lie, opened and checked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_FEED_FEED_RING_H
#define SX_IPC_FEED_FEED_RING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "ipc/feed/feed.h"
#include "ipc/feed/feed_kind.h"
#include "ipc/feed/place.h"

/* Where a ring may lie, the best first. */
struct sx_feed_places {
	const struct sx_feed_words *words;
	unsigned writers; /* group */
	int count;
	char path[SX_FEED_PLACES][512];
};

/* One that was opened and found good. */
struct sx_feed_ring {
	int fd; /* -1: none */
	int place;
	dev_t device;
	ino_t inode;
	struct stixel_ring_header header; /* read once, checked, never read again */
};

/* False: no path fits. */
bool sx_feed_places_init(struct sx_feed_places *places, const struct sx_feed_params *p, unsigned writers);
/*
 * Opens the ring of the first place that has one that may be read. *path: its path; of none, what is in the
 * way, and why (SX_FEED_WHY_BYTES) says it. False: nothing lies in any place.
 */
bool sx_feed_find(const struct sx_feed_places *places, struct sx_feed_ring *ring, const char **path,
		  char *why);
/* Whether one that may be read lies in a better place than that of ring; gone: in any other. */
bool sx_feed_find_other(const struct sx_feed_places *places, const struct sx_feed_ring *ring, bool gone);
/* All of it or nothing: short means that the object is smaller than it says. */
bool sx_feed_read(int fd, void *to, size_t bytes, uint64_t at);

#endif
