/*
 * The object that already has a ring's name: the ring of an earlier life, of another process, or any file, as
 * every user can write to /dev/shm. The code reads it and never maps it for access, because its owner may cut
 * it short at any time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_STALE_RING_H
#define SX_IPC_STALE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/why.h"
#include "include/stixel.h"

struct sx_stale_ring {
	int fd;	     /* writable; -1: there is no object, it is no ring, or we may not write it */
	bool exists; /* an object has the name */
	uid_t user;  /* owner of this object */
	bool other_user;
	bool unseen;  /* a ring whose publisher runs in another pid namespace */
	bool is_ring; /* header and live are valid */
	struct stixel_ring_header header;
	struct stixel_ring_live live;
};

/* Reads the object at a path once. The caller must close it in every case. */
void sx_stale_ring_open(struct sx_stale_ring *e, const char *path, uint64_t magic);
void sx_stale_ring_close(struct sx_stale_ring *e);
/*
 * Checks whether the ring may be replaced. Returns -EADDRINUSE, with a message in why, if its publisher lives
 * and is a process of another user, or (exclusive) any other process. The pid and the heartbeat in a ring are
 * only claims of its owner. So a process of that user must have the pid and the start time of the ring. If
 * the process cannot be seen, the heartbeat alone counts, for our own user only.
 */
int sx_stale_ring_check(const struct sx_stale_ring *e, bool exclusive, const char *path, struct sx_why *why);
/*
 * Returns until when a publisher that was just killed may still look alive, CLOCK_MONOTONIC. first: the first
 * look.
 */
int64_t sx_stale_ring_wait_ns(const struct sx_stale_ring *first);
/*
 * Explains why rename() over the object failed with error, and returns error: names the owner and the remedy.
 */
int sx_stale_ring_keeps(const struct sx_stale_ring *e, const char *path, int error, struct sx_why *why);
/* Marks the ring as replaced and wakes its readers. */
void sx_stale_ring_retire(const struct sx_stale_ring *e);
/* Writes a message to why: which process or user has the name now. */
void sx_stale_ring_tell(const struct sx_stale_ring *e, const char *path, struct sx_why *why);

#endif
