/*
 * Mailbox: the waiting pair, and the bits that say which parts of each pair are in use.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/channels/mailbox.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/wake.h"

int sx_mailbox_init(struct sx_mailbox *h)
{
	int r;

	atomic_init(&h->waiting, NULL);
	h->paced = false;
	for (int i = 0; i < SX_QUEUED_PAIRS_MAX; i++) {
		atomic_init(&h->pairs[i].in_use, 0);
		h->pairs[i].mailbox = h;
	}
	h->capture_fd = -1;
	h->frame_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (h->frame_fd < 0)
		return -errno;
	h->capture_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (h->capture_fd < 0) {
		r = -errno;
		sx_mailbox_finish(h);
		return r;
	}
	return 0;
}

void sx_mailbox_finish(struct sx_mailbox *h)
{
	struct sx_queued_pair *queued = sx_mailbox_take(h);

	if (queued)
		sx_mailbox_release(queued);
	sx_mailbox_return_images(h);
	sx_must(sx_mailbox_used(h), ==, 0);
	if (h->frame_fd >= 0)
		close(h->frame_fd);
	if (h->capture_fd >= 0)
		close(h->capture_fd);
	h->frame_fd = h->capture_fd = -1;
}

/*
 * Loads with acquire: if a thread has cleared a bit, all its accesses to that part of the pair came before.
 */
static unsigned item_use(const struct sx_queued_pair *queued)
{
	return atomic_load_explicit(&queued->in_use, memory_order_acquire);
}

struct sx_queued_pair *sx_mailbox_free(struct sx_mailbox *h)
{
	for (int i = 0; i < SX_QUEUED_PAIRS_MAX; i++)
		if (item_use(&h->pairs[i]) == 0)
			return &h->pairs[i];
	return NULL;
}

void sx_mailbox_return_images(struct sx_mailbox *h)
{
	for (int i = 0; i < SX_QUEUED_PAIRS_MAX; i++) {
		struct sx_queued_pair *queued = &h->pairs[i];

		if ((item_use(queued) & (SX_QUEUED_PAIR_LENT | SX_QUEUED_PAIR_IMAGES)) != SX_QUEUED_PAIR_LENT)
			continue;
		sx_source_release(queued->source, &queued->pair);
		/* relaxed, because this thread alone fills the queued pair again */
		atomic_fetch_and_explicit(&queued->in_use, ~(unsigned)SX_QUEUED_PAIR_LENT,
					  memory_order_relaxed);
	}
}

struct sx_queued_pair *sx_mailbox_put(struct sx_queued_pair *queued)
{
	struct sx_mailbox *h = queued->mailbox;
	struct sx_queued_pair *old;

	sx_must(atomic_load_explicit(&queued->in_use, memory_order_relaxed), ==, 0);
	/* relaxed, because the exchange below publishes this store together with the queued pair */
	atomic_store_explicit(&queued->in_use,
			      SX_QUEUED_PAIR_FRAME | SX_QUEUED_PAIR_IMAGES | SX_QUEUED_PAIR_LENT,
			      memory_order_relaxed);
	old = atomic_exchange_explicit(&h->waiting, queued, memory_order_acq_rel);
	sx_must_be(old != queued);
	sx_wake(h->frame_fd);
	return old;
}

bool sx_mailbox_waits(const struct sx_mailbox *h)
{
	return atomic_load_explicit(&h->waiting, memory_order_acquire) != NULL;
}

int sx_mailbox_used(const struct sx_mailbox *h)
{
	int used = 0;

	for (int i = 0; i < SX_QUEUED_PAIRS_MAX; i++)
		used += (item_use(&h->pairs[i]) & SX_QUEUED_PAIR_FRAME) != 0;
	return used;
}

struct sx_queued_pair *sx_mailbox_take(struct sx_mailbox *h)
{
	struct sx_queued_pair *queued = atomic_exchange_explicit(&h->waiting, NULL, memory_order_acq_rel);

	if (queued) {
		sx_must_be(atomic_load_explicit(&queued->in_use, memory_order_relaxed) &
			   SX_QUEUED_PAIR_IMAGES);
		if (!h->paced)
			sx_wake(h->capture_fd);
	}
	return queued;
}

/*
 * Clears these bits and wakes the capture thread. Uses release, so that the caller's reads of the pair come
 * before. Returns the previous bits.
 */
static unsigned end_use(struct sx_queued_pair *queued, unsigned bits)
{
	const int capture_fd = queued->mailbox->capture_fd;
	const unsigned before = atomic_fetch_and_explicit(&queued->in_use, ~bits, memory_order_release);

	sx_wake(capture_fd);
	return before;
}

void sx_mailbox_images_read(void *user)
{
	const unsigned before = end_use(user, SX_QUEUED_PAIR_IMAGES);

	sx_must_be(before & SX_QUEUED_PAIR_FRAME);
}

void sx_mailbox_release(struct sx_queued_pair *queued)
{
	const unsigned before = end_use(queued, SX_QUEUED_PAIR_FRAME | SX_QUEUED_PAIR_IMAGES);

	sx_must_be(before & SX_QUEUED_PAIR_FRAME);
}
