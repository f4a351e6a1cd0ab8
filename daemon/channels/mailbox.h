/*
 * Mailbox for pairs from the capture thread to the frame thread: one waiting place, and the owner of each
 * pair.
 *
 * The newest pair wins: a new pair replaces the waiting one. The place is one atomic pointer, so that the
 * replaced pair has exactly one owner at any time. No thread ever waits for another.
 *
 * The word queued pair.in_use is the only state of a pair between threads: its bits say what of the pair is
 * in use. The capture thread fills a queued pair that is not in use, and sets all bits when it puts the
 * queued pair in the waiting place. An engine clears IMAGES from its own thread as soon as it has read the
 * images. The frame thread takes the queued pair, and clears FRAME and IMAGES when the frame is done. Both
 * wake the capture thread. It gives images that are no longer read back to the source, and clears LENT. So
 * only the capture thread calls a source.
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
	SX_QUEUED_PAIR_IMAGES = 2, /* its images may still be read */
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
	bool paced;	/* the source has a pace and waits for no empty place; false unless set after init */
	int frame_fd;	/* eventfd that wakes the frame thread */
	int capture_fd; /* eventfd that wakes the capture thread, as the source's descriptor does */
};

int sx_mailbox_init(struct sx_mailbox *h);
/* Call it after both threads have ended. */
void sx_mailbox_finish(struct sx_mailbox *h);

/*
 * Thread: capture. Returns a queued pair to fill, or NULL if all are in use. It is in use from the time when
 * it is put.
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
/* Any thread. Returns true if a pair waits. */
bool sx_mailbox_waits(const struct sx_mailbox *h);
/*
 * Any thread. Returns the number of pairs that wait, or whose frames are in flight. 0: no other thread uses any
 * pair any more.
 */
int sx_mailbox_used(const struct sx_mailbox *h);
/*
 * Thread: frame, or main after both threads have ended. Returns the waiting queued pair or NULL. Wakes the
 * capture thread unless the source has a pace, since such a source gives pairs anyway.
 */
struct sx_queued_pair *sx_mailbox_take(struct sx_mailbox *h);
/* Thread: the engine's, as sx_images_read_fn. The images can go back. The queued pair stays in use. */
void sx_mailbox_images_read(void *queued);
/* Thread: the owner of the queued pair. Ends the use of the queued pair and of its images. */
void sx_mailbox_release(struct sx_queued_pair *queued);

#endif
