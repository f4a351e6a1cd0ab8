/*
 * The waiting pair: one place between the capture thread and the frame thread, and the wake-ups of both.
 *
 * Newest wins: a pair that is put where another waits replaces it. The place is one atomic pointer, so that the
 * replaced pair has exactly one owner at any time; no side ever waits for the other. A pair belongs to the
 * thread that holds its item.
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

struct sx_item {
	struct sx_pair pair;
	struct sx_source *source; /* that made the pair and takes it back */
	atomic_bool returned;	  /* it has done so already: the engine had read the images */
	atomic_bool used;
};

struct sx_handover {
	_Atomic(struct sx_item *) waiting;
	struct sx_item items[SX_ITEMS_MAX];
	atomic_int held; /* items in use */
	int frame_fd;	 /* eventfd: the frame thread has something to look at */
	int capture_fd;	 /* eventfd: the capture thread has */
};

int sx_handover_init(struct sx_handover *h);
/* After both threads have ended. */
void sx_handover_finish(struct sx_handover *h);

/* Thread: capture. An unused item; NULL when all are held, which the number of slots of a source rules out. */
struct sx_item *sx_handover_item(struct sx_handover *h);
/* Thread: capture. Puts the item in the waiting place and wakes the frame thread. Returns the item it replaced. */
struct sx_item *sx_handover_put(struct sx_handover *h, struct sx_item *item);
/* Any thread. True while a pair waits. */
bool sx_handover_waits(const struct sx_handover *h);
/* Thread: frame, or main when both threads have ended. The waiting item or NULL; wakes the capture thread. */
struct sx_item *sx_handover_take(struct sx_handover *h);
/* Thread: of the engine. As pair->images_read: gives the pair's memory back to its source; the item stays in use. */
void sx_handover_images_read(const struct sx_pair *pair);
/* Any thread that holds it. Gives the pair back to its source and the item back to the capture thread. */
void sx_handover_release(struct sx_handover *h, struct sx_item *item);
/* Thread: capture. Gives back an item that never got a pair. */
void sx_handover_forget(struct sx_handover *h, struct sx_item *item);

/* Any thread, also from a signal handler: adds to an eventfd, empties one. Neither blocks. */
void sx_wake(int eventfd);
void sx_wake_clear(int eventfd);

#endif
