/*
 * Publisher's side of the ring in shared memory. Layout: include/stixel.h; rules and reasons: docs/shm.md.
 * The writer waits for nobody and keeps nothing about readers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_RING_H
#define SX_IPC_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "include/stixel.h"

#define SX_RING_SLOTS_MAX 1024

struct sx_ring_params {
	const char *prefix;	 /* of the object's name; NULL: "stixeld." */
	uint64_t magic;		 /* 0: STIXEL_RING_MAGIC */
	const char *instance;	 /* checked name */
	const char *shm_dir;	 /* NULL: /dev/shm */
	const char *stream_path; /* frames.sock, told to the readers; NULL without */
	uint64_t epoch;		 /* sx_epoch_new(); the frames carry the same */
	size_t frame_bytes;	 /* of the largest frame: sx_frame_bytes() */
	uint32_t flags;		 /* STIXEL_RING_* */
	int slots;		 /* power of two, 2..1024 */
	int heartbeat_period_ms; /* how often sx_ring_beat() or a publish comes at least; 0: 1000 */
	mode_t mode;		 /* 0: 0640 */
	gid_t group;		 /* (gid_t)-1: as the process has it */
	bool exclusive;		 /* a live publisher keeps the name also when it is the same user's */
	bool quiet;		 /* nobody sleeps on its bell: it counts, and wakes no one */
};

struct sx_ring;

/*
 * Makes the object, complete, then gives it the name stixeld.INSTANCE in one step. The caller holds the lock
 * of the instance (instance.h): what an earlier life left is swept away, its readers are told (REPLACED). All
 * memory is taken and touched here. On error a sentence in why; nothing is left behind.
 * Errors: -ENOSPC shared memory is full, -EADDRINUSE the name belongs to a live publisher of another user
 * (exclusive: of any user),
 * -EPERM or -EACCES the name belongs to another user and stays his, -EINVAL parameters.
 */
int sx_ring_create(struct sx_ring **ret, const struct sx_ring_params *p, char *why, size_t why_bytes);

/* Orderly end: state CLOSED, readers woken, name removed if it is still ours. Accepts NULL. */
void sx_ring_destroy(struct sx_ring *r);

enum sx_ring_name {
	SX_RING_NAMED, /* also when nothing can be known */
	SX_RING_LOST,  /* the name was removed: no reader finds the ring any more */
	SX_RING_TAKEN  /* something else lies there */
};
/* Where the name leads now; a sentence unless it is NAMED. */
enum sx_ring_name sx_ring_look(const struct sx_ring *r, char *why, size_t why_bytes);
/* Removes the name if it is still ours. */
void sx_ring_unname(struct sx_ring *r);

/*
 * Before anything is published by another thread: from now on the readers are woken by who reads this
 * eventfd: how long that takes grows with their number, which they choose. Once the last 150 wakes were of
 * few readers and quick, the publisher wakes them itself, which is sooner by the time that a thread needs to
 * wake up; after one that was not, they are left to the eventfd again. Destroying wakes all itself, after
 * that thread has ended.
 */
#define SX_RING_CALM 150
void sx_ring_set_bell(struct sx_ring *r, int eventfd);
/*
 * Thread: frame. Writes to the eventfd, if readers of what was published are left to it. A call of its own,
 * once for each frame: who reads the eventfd may take the publisher's processor at once, so the publisher
 * first ends what must not be late.
 */
void sx_ring_pass_bell(struct sx_ring *r);
/* Any thread. Wakes eight at most of who sleeps on the bell; true: eight it were, there may be more. */
bool sx_ring_wake_few(struct sx_ring *r);
/* Any thread. Wakes who sleeps on the bell, first come first served; returns how many, at most most. */
int sx_ring_wake(struct sx_ring *r, int most);

/*
 * Thread: frame (one publisher). Publishes a packed frame (frame.h), whose epoch is the ring's and
 * whose number is the last one's plus 1. Does not block, allocates nothing. -EINVAL wrong number or
 * epoch, -ENOBUFS too large.
 */
int sx_ring_publish(struct sx_ring *r, const void *frame, size_t bytes);

/*
 * The rule of a slot's bytes. A reader copies them while the writer may be storing the next frame, and throws
 * such a copy away: the sequence beside them says so. In C even that is a data race, unless both sides use
 * atomic accesses. So this library and the daemon store into a slot by this function alone, words of 8 bytes,
 * relaxed; readers that map a ring load the same words. Between begin and commit the program that matches or
 * segments fills its maps or scores with plain stores: the daemon reads these with pread(), which is no
 * access of C.
 *
 * to: within a slot, a multiple of 8 bytes from its begin; bytes: a multiple of 8. No slower than memcpy():
 * the words go out one per cycle.
 */
void sx_ring_store(void *to, const void *from, size_t bytes);

/*
 * The same in two steps, for who writes its frame where it will lie: begin gives frame_bytes of the slot that
 * frame *number (the last one's plus 1) goes to, and takes that slot away from the readers; again, without a
 * commit, the same one. commit publishes what was written there.
 */
void *sx_ring_begin(struct sx_ring *r, uint64_t *number);
void sx_ring_commit(struct sx_ring *r, size_t bytes);
/* Another publisher has taken the name, and told so. */
bool sx_ring_replaced(const struct sx_ring *r);

/* Any thread. Tells the readers a state (wakes them if it changed), and counts as a heartbeat. */
void sx_ring_set_state(struct sx_ring *r, enum stixel_state state);
/* Any thread. At least once per heartbeat period while nothing is published, also without a camera. */
void sx_ring_beat(struct sx_ring *r);

/* Full path of the object, and its bytes. */
const char *sx_ring_path(const struct sx_ring *r);
size_t sx_ring_bytes(const struct sx_ring *r);

#endif
