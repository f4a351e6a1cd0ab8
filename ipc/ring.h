/*
 * Publisher's side of the ring in shared memory. Layout: include/stixel.h; rules and reasons: docs/use/shm.md.
 * The writer never waits for a reader and keeps no data about readers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_RING_H
#define SX_IPC_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/why.h"
#include "include/stixel.h"

#define SX_RING_SLOTS_MAX 1024

struct sx_ring_params {
	const char *prefix;	 /* prefix of the object's name; NULL: "stixeld." */
	uint64_t magic;		 /* 0: STIXEL_RING_MAGIC */
	const char *instance;	 /* checked name */
	const char *shm_dir;	 /* folder of the object; NULL: /dev/shm */
	const char *stream_path; /* path of frames.sock for readers; NULL: none */
	uint64_t epoch;		 /* sx_epoch_new(); frames carry the same epoch */
	size_t frame_bytes;	 /* size of the largest frame, as ipc/frame.h computes it */
	uint32_t flags;		 /* STIXEL_RING_* */
	int slots;		 /* power of two, 2..1024 */
	int heartbeat_period_ms; /* sx_ring_beat() or a publish comes at least this often; 0: 1000 */
	mode_t mode;		 /* 0: 0640 */
	gid_t group;		 /* (gid_t)-1: the process's group */
	bool exclusive;		 /* a live publisher of the same user keeps the name, too */
	/* no reader sleeps on the bell (the ring's futex word): the ring counts it up and wakes no reader */
	bool quiet;
};

struct sx_ring;

/*
 * Creates the object, complete, then gives it the name stixeld.INSTANCE in one step. The caller holds the
 * lock of the instance (instance.h). Removes the objects of an earlier life and sets the state REPLACED for
 * their readers. Allocates and touches all memory. On error writes an error message to why and leaves nothing
 * behind.
 * Errors: -ENOSPC: shared memory is full. -EADDRINUSE: the name belongs to a live publisher of another user
 * (exclusive: of any user). -EPERM or -EACCES: the name belongs to another user and cannot be replaced.
 * -EINVAL: parameters.
 */
int sx_ring_create(struct sx_ring **ret, const struct sx_ring_params *p, struct sx_why *why);

/*
 * Ends the ring: sets state CLOSED, wakes the readers, and removes the name if it is still ours. Accepts
 * NULL.
 */
void sx_ring_destroy(struct sx_ring *r);

enum sx_ring_name {
	SX_RING_NAMED, /* also if the state of the name cannot be read */
	SX_RING_LOST,  /* the name was removed: readers cannot find the ring any more */
	SX_RING_TAKEN  /* another object has the name */
};
/* Checks where the name leads now. Writes a message to why unless the result is SX_RING_NAMED. */
enum sx_ring_name sx_ring_look(const struct sx_ring *r, struct sx_why *why);
/* Removes the name if it is still ours. */
void sx_ring_unname(struct sx_ring *r);

/*
 * Call before another thread publishes. From now on a helper thread reads this eventfd and wakes the readers,
 * because waking takes time per reader and readers may be many. If the last 150 wakes had few readers and
 * were quick, the publisher wakes the readers itself: it saves the time that the helper thread needs to wake
 * up. After a wake that was slow or had many readers, the helper thread takes over again. sx_ring_destroy()
 * wakes all readers itself; call it after the helper thread has ended.
 */
#define SX_RING_CALM 150
void sx_ring_set_waker(struct sx_ring *r, int eventfd);
/*
 * Thread: frame. Writes to the eventfd if the helper thread has to wake readers of the last publish. Call it
 * once for each frame. It is a separate call because the helper thread may take the publisher's processor at
 * once, so the publisher finishes urgent work first.
 */
void sx_ring_pass_wake(struct sx_ring *r);
/* Any thread. Wakes at most eight readers that sleep on the bell. True: it woke eight, and more may sleep. */
bool sx_ring_wake_few(struct sx_ring *r);
/*
 * Any thread. Wakes at most `most` readers that sleep on the bell, first come first served. Returns how many.
 */
int sx_ring_wake(struct sx_ring *r, int most);

/*
 * Thread: frame (one publisher). Publishes a packed frame (frame.h). The frame must have the ring's epoch and
 * the last number plus 1. Does not block and allocates nothing. Returns 0, -EINVAL (wrong number or epoch) or
 * -ENOBUFS (too large).
 */
int sx_ring_publish(struct sx_ring *r, const void *frame, size_t bytes);

/*
 * Copies to a slot in words of 8 bytes by relaxed atomic stores.
 *
 * Rule for the bytes of a slot: a reader copies them while the writer may be storing the next frame. The
 * sequence beside them shows this, and the reader then discards the copy. In C even such an access is a data
 * race unless both sides use atomic accesses. So this library and the daemon store into a slot by this
 * function alone, and readers that map a ring load the same words. Between begin and commit, an external
 * matcher or segmentation program fills its maps or scores with plain stores. The daemon reads these with
 * pread(), which is no access in the sense of C.
 *
 * to: within a slot, a multiple of 8 bytes from its begin; bytes: a multiple of 8. It is as fast as memcpy():
 * one word per cycle.
 */
void sx_ring_store(void *to, const void *from, size_t bytes);

/*
 * Publishes in two steps, for a writer that fills its frame in place. sx_ring_begin() returns frame_bytes of
 * the slot of frame *number (the last number plus 1), and makes that slot invalid for readers. A second
 * sx_ring_begin() without a commit returns the same slot. sx_ring_commit() publishes the bytes written there.
 */
void *sx_ring_begin(struct sx_ring *r, uint64_t *number);
void sx_ring_commit(struct sx_ring *r, size_t bytes);
/* True if another publisher has taken the name and marked this ring as replaced. */
bool sx_ring_replaced(const struct sx_ring *r);

/* Any thread. Sets the state for the readers, wakes them if it changed, and counts as a heartbeat. */
void sx_ring_set_state(struct sx_ring *r, enum stixel_state state);
/*
 * Any thread. Sets the heartbeat. Call it at least once per heartbeat period while nothing is published, also
 * without a camera.
 */
void sx_ring_beat(struct sx_ring *r);

/* Returns the full path of the object; the second function its size in bytes. */
const char *sx_ring_path(const struct sx_ring *r);
size_t sx_ring_bytes(const struct sx_ring *r);

#endif
