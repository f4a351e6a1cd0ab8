/*
 * The hand-over of pairs from the capture thread to the frame thread: one waiting place, and who holds each
 * pair.
 *
 * Newest wins: a pair that is put where another waits replaces it. The place is one atomic pointer, so that
 * the replaced pair has exactly one owner at any time; no thread ever waits for another.
 *
 * The life of an item: the capture thread fills a free one and puts it; the frame thread takes it and
 * releases it when the frame is done. An engine that has read the images gives their memory back to the
 * source earlier, from a thread of its own. Item.state is all that says where an item is in its life; whoever
 * changes it wakes the capture thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_HANDOVER_H
#define SX_DAEMON_HANDOVER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/pair.h"
#include "capture/source.h"

#define SX_CONTEXTS_MAX 4
/* One in each context, one waiting, one being taken from the source. */
#define SX_ITEMS_MAX (SX_CONTEXTS_MAX + 2)

enum sx_item_state {
	SX_ITEM_FREE,	 /* the capture thread's, to be filled */
	SX_ITEM_LENT,	 /* waits, or belongs to a frame in flight; its images are lent by the source */
	SX_ITEM_RETURNED /* its frame is in flight; the source has the images back */
};

struct sx_item {
	struct sx_pair pair;
	struct sx_source *source; /* that made the pair and takes its images back */
	_Atomic(enum sx_item_state) state;
	struct sx_handover *handover; /* that the item belongs to */
};

struct sx_handover {
	_Atomic(struct sx_item *) waiting;
	struct sx_item items[SX_ITEMS_MAX];
	bool paced;	/* the source is: nobody waits for an empty place. False unless set after init */
	int frame_fd;	/* eventfd: the frame thread has something to look at */
	int capture_fd; /* eventfd: the capture thread has; with the source's descriptor all that wakes it */
};

int sx_handover_init(struct sx_handover *h);
/* After both threads have ended. */
void sx_handover_finish(struct sx_handover *h);

/* Thread: capture. A free item, to be filled; it stays free until it is put. NULL: all are in use. */
struct sx_item *sx_handover_free(struct sx_handover *h);
/*
 * Thread: capture. Puts a filled item in the waiting place and wakes the frame thread. Returns the item it
 * replaced, to be released, or NULL.
 */
struct sx_item *sx_handover_put(struct sx_item *item);
/* Any thread. True while a pair waits. */
bool sx_handover_waits(const struct sx_handover *h);
/* Any thread. Items that are not free. 0: all that was done with any pair is over. */
int sx_handover_used(const struct sx_handover *h);
/*
 * Thread: frame, or main when both threads have ended. The waiting item or NULL; wakes the capture thread,
 * but not that of a source with a pace, which gives pairs all the same.
 */
struct sx_item *sx_handover_take(struct sx_handover *h);
/*
 * Thread: of the engine, as sx_images_read_fn. Gives the images back to their source; the item stays in use.
 */
void sx_handover_images_read(void *item);
/* Thread: that holds the item. Gives the images back unless the source has them, and frees the item. */
void sx_handover_release(struct sx_item *item);

#endif
