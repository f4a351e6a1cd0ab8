/*
 * Hand-over of pairs from the capture thread to the frame thread: one waiting place, and the owner of each
 * pair.
 *
 * The newest pair wins: a new pair replaces the waiting one. The place is one atomic pointer, so that the
 * replaced pair has exactly one owner at any time. No thread ever waits for another.
 *
 * Life of an item: the capture thread fills a free item and puts it in the waiting place. The frame thread
 * takes it, and releases it when the frame is done. An engine that has read the images returns their memory
 * to the source earlier, from the engine's own thread. Only item.state tells where an item is in its life.
 * The thread that changes it wakes the capture thread.
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
/* Items: one in each context, one in the waiting place, one that the capture thread fills. */
#define SX_ITEMS_MAX (SX_CONTEXTS_MAX + 2)

enum sx_item_state {
	SX_ITEM_FREE,	 /* owned by the capture thread, which fills it */
	SX_ITEM_LENT,	 /* waiting, or its frame is in flight; the source lends the images */
	SX_ITEM_RETURNED /* frame is in flight; the source has the images back */
};

struct sx_item {
	struct sx_pair pair;
	struct sx_source *source; /* source that made the pair and takes its images back */
	_Atomic(enum sx_item_state) state;
	struct sx_handover *handover; /* owner of the item */
};

struct sx_handover {
	_Atomic(struct sx_item *) waiting;
	struct sx_item items[SX_ITEMS_MAX];
	bool paced;	/* the source has a pace and waits for no empty place; false unless set after init */
	int frame_fd;	/* eventfd that wakes the frame thread */
	int capture_fd; /* eventfd that wakes the capture thread, as the source's descriptor does */
};

int sx_handover_init(struct sx_handover *h);
/* Call it after both threads have ended. */
void sx_handover_finish(struct sx_handover *h);

/*
 * Thread: capture. Returns a free item to fill, or NULL if all are in use. The item stays free until it is
 * put.
 */
struct sx_item *sx_handover_free(struct sx_handover *h);
/*
 * Thread: capture. Puts a filled item in the waiting place and wakes the frame thread. Returns the item that
 * it replaced, which the caller releases, or NULL.
 */
struct sx_item *sx_handover_put(struct sx_item *item);
/* Any thread. Returns true if a pair waits. */
bool sx_handover_waits(const struct sx_handover *h);
/* Any thread. Returns the number of items that are not free. 0: no thread uses any pair any more. */
int sx_handover_used(const struct sx_handover *h);
/*
 * Thread: frame, or main after both threads have ended. Returns the waiting item or NULL. Wakes the capture
 * thread unless the source has a pace, since such a source gives pairs anyway.
 */
struct sx_item *sx_handover_take(struct sx_handover *h);
/* Thread: the engine's, as sx_images_read_fn. Returns the images to their source. The item stays in use. */
void sx_handover_images_read(void *item);
/*
 * Thread: the owner of the item. Frees the item, and returns its images if the source does not have them yet.
 */
void sx_handover_release(struct sx_item *item);

#endif
