/*
 * What lies at a ring's name already: the ring of an earlier life, another process's, or anything that
 * somebody put there, as /dev/shm is open to all. It is read, never looked at in a map: its owner may cut it
 * short at any time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_EARLIER_H
#define SX_IPC_EARLIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "include/stixel.h"

struct sx_earlier {
	int fd;	     /* writable; -1: there is none, it is no ring, or not ours to write */
	bool exists; /* something lies there, */
	uid_t user;  /* of this user */
	bool other_user;
	bool unseen;  /* a ring whose publisher runs in another pid namespace */
	bool is_ring; /* the two that follow are filled */
	struct stixel_ring_header header;
	struct stixel_ring_live live;
};

/* Looks at a path once. To be closed, whatever is there. */
void sx_earlier_open(struct sx_earlier *e, const char *path, uint64_t magic);
void sx_earlier_close(struct sx_earlier *e);
/*
 * -EADDRINUSE with a sentence: a ring of another user, or (exclusive) of any other process, whose publisher
 * lives. Its pid and heartbeat are that user's word, so a process of that user must have the pid, and have
 * begun when the ring says. Where it cannot be seen, the heartbeat alone is believed of our own user.
 */
int sx_earlier_check(const struct sx_earlier *e, bool exclusive, const char *path, char *why,
		     size_t why_bytes);
/* Until when a publisher that was just killed may still look alive: first is what was found at first. */
int64_t sx_earlier_patience_ns(const struct sx_earlier *first);
/* Renaming over it failed with error, which is returned: whose it is, and what to do. */
int sx_earlier_keeps(const struct sx_earlier *e, const char *path, int error, char *why, size_t why_bytes);
/* Tells its readers that it was replaced. */
void sx_earlier_retire(const struct sx_earlier *e);
/* A sentence on who has the name. */
void sx_earlier_tell(const struct sx_earlier *e, const char *path, char *why, size_t why_bytes);

#endif
