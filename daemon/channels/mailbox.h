/*
 * Mailbox for pairs from the capture thread to the frame thread. It has one waiting place, and records which
 * threads still use each pair.
 *
 * A queued pair (struct sx_queued_pair) is a pair with its source and its state. The newest pair wins: it
 * replaces the pair that waits. The waiting place is one atomic pointer, so that a replaced pair has exactly
 * one owner at any time. No thread waits for another.
 *
 * in_use of a queued pair is its only state that threads share. Each bit says which part of the pair is in
 * use. The capture thread fills a queued pair whose in_use is 0, sets all bits, and puts it in the waiting
 * place. The engine's thread clears IMAGES as soon as it has read the images. The frame thread takes the
 * queued pair from the waiting place, and clears FRAME and IMAGES when the frame is done. Both threads then
 * wake the capture thread, which gives images that are no longer read back to their source and clears LENT.
 * So only the capture thread calls a source.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_CHANNELS_MAILBOX_H
#define SX_DAEMON_CHANNELS_MAILBOX_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/pair.h"
#include "capture/source.h"

#define SX_CONTEXTS_MAX 4
/* Queued pairs: one in each context, one in the waiting place, one that the capture thread fills. */
#define SX_QUEUED_PAIRS_MAX (SX_CONTEXTS_MAX + 2)

/* Bits of sx_queued_pair.in_use; 0: the capture thread may fill the queued pair. */
enum sx_pair_use {
	SX_QUEUED_PAIR_FRAME = 1,  /* the pair waits, or its frame is in flight */
	SX_QUEUED_PAIR_IMAGES = 2, /* the engine may still read the images */
	SX_QUEUED_PAIR_LENT = 4	   /* the source has not got the images back */
};

struct sx_queued_pair {
	struct sx_pair pair;
	struct sx_source *source; /* source that made the pair and takes its images back */
	atomic_uint in_use;
	struct sx_mailbox *mailbox; /* owner of the queued pair */
};

struct sx_mailbox {
	_Atomic(struct sx_queued_pair *) waiting;
	struct sx_queued_pair pairs[SX_QUEUED_PAIRS_MAX];
	/* the source has a pace and does not wait for an empty place; false unless set after init */
	bool paced;
	int frame_fd;	/* eventfd that wakes the frame thread */
	int capture_fd; /* eventfd that wakes the capture thread, as the source's descriptor does */
};

int sx_mailbox_init(struct sx_mailbox *h);
/* Call it after both threads have ended. */
void sx_mailbox_finish(struct sx_mailbox *h);

/*
 * Thread: capture. Returns a queued pair to fill, or NULL if all are in use. The queued pair counts as in use
 * only after sx_mailbox_put().
 */
struct sx_queued_pair *sx_mailbox_free(struct sx_mailbox *h);
/*
 * Thread: capture, or main after both threads have ended. Gives images that are no longer read back to their
 * sources. Call it before the source is asked for a pair, and before it is closed.
 */
void sx_mailbox_return_images(struct sx_mailbox *h);
/*
 * Thread: capture. Puts a filled queued pair in the waiting place and wakes the frame thread. Returns the
 * queued pair that it replaced, which the caller releases, or NULL.
 */
struct sx_queued_pair *sx_mailbox_put(struct sx_queued_pair *queued);
/* Any thread. Returns true if a pair is in the waiting place. */
bool sx_mailbox_waits(const struct sx_mailbox *h);
/*
 * Any thread. Returns the number of pairs in use: those that wait, and those whose frames are in flight. 0:
 * the other threads no longer use any pair.
 */
int sx_mailbox_used(const struct sx_mailbox *h);
/*
 * Thread: frame, or main after both threads have ended. Takes the queued pair out of the waiting place. NULL:
 * none waits. Wakes the capture thread, except for a source with a pace, which does not wait for an empty
 * place.
 */
struct sx_queued_pair *sx_mailbox_take(struct sx_mailbox *h);
/*
 * Thread: the engine's (sx_images_read_fn). Ends the use of the images, so that they can go back to the
 * source. The queued pair stays in use.
 */
void sx_mailbox_images_read(void *queued);
/* Thread: the owner of the queued pair. Ends the use of the queued pair and of its images. */
void sx_mailbox_release(struct sx_queued_pair *queued);

#endif
