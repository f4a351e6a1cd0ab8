/*
 * The waiting pair, and the owner of each pair.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/exchange/mailbox.h"

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
	for (int i = 0; i < SX_ITEMS_MAX; i++) {
		atomic_init(&h->items[i].in_use, 0);
		h->items[i].mailbox = h;
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
	struct sx_item *item = sx_mailbox_take(h);

	if (item)
		sx_mailbox_release(item);
	sx_mailbox_return_images(h);
	sx_must(sx_mailbox_used(h), ==, 0);
	if (h->frame_fd >= 0)
		close(h->frame_fd);
	if (h->capture_fd >= 0)
		close(h->capture_fd);
	h->frame_fd = h->capture_fd = -1;
}

/* Loads with acquire: a thread that has cleared a bit does not touch what the bit stands for any more. */
static unsigned item_use(const struct sx_item *item)
{
	return atomic_load_explicit(&item->in_use, memory_order_acquire);
}

struct sx_item *sx_mailbox_free(struct sx_mailbox *h)
{
	for (int i = 0; i < SX_ITEMS_MAX; i++)
		if (item_use(&h->items[i]) == 0)
			return &h->items[i];
	return NULL;
}

void sx_mailbox_return_images(struct sx_mailbox *h)
{
	for (int i = 0; i < SX_ITEMS_MAX; i++) {
		struct sx_item *item = &h->items[i];

		if ((item_use(item) & (SX_ITEM_LENT | SX_ITEM_IMAGES)) != SX_ITEM_LENT)
			continue;
		sx_source_release(item->source, &item->pair);
		/* relaxed, because the same thread fills the item again */
		atomic_fetch_and_explicit(&item->in_use, ~(unsigned)SX_ITEM_LENT, memory_order_relaxed);
	}
}

struct sx_item *sx_mailbox_put(struct sx_item *item)
{
	struct sx_mailbox *h = item->mailbox;
	struct sx_item *old;

	sx_must(atomic_load_explicit(&item->in_use, memory_order_relaxed), ==, 0);
	/* relaxed, because the exchange that gives the item away comes after this store */
	atomic_store_explicit(&item->in_use, SX_ITEM_FRAME | SX_ITEM_IMAGES | SX_ITEM_LENT,
			      memory_order_relaxed);
	old = atomic_exchange_explicit(&h->waiting, item, memory_order_acq_rel);
	sx_must_be(old != item);
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

	for (int i = 0; i < SX_ITEMS_MAX; i++)
		used += (item_use(&h->items[i]) & SX_ITEM_FRAME) != 0;
	return used;
}

struct sx_item *sx_mailbox_take(struct sx_mailbox *h)
{
	struct sx_item *item = atomic_exchange_explicit(&h->waiting, NULL, memory_order_acq_rel);

	if (item) {
		sx_must_be(atomic_load_explicit(&item->in_use, memory_order_relaxed) & SX_ITEM_IMAGES);
		if (!h->paced)
			sx_wake(h->capture_fd);
	}
	return item;
}

/*
 * Clears these bits and wakes the capture thread. Release: what the caller has read of the pair comes before.
 * Returns the bits as they were.
 */
static unsigned end_use(struct sx_item *item, unsigned bits)
{
	const int capture_fd = item->mailbox->capture_fd;
	const unsigned before = atomic_fetch_and_explicit(&item->in_use, ~bits, memory_order_release);

	sx_wake(capture_fd);
	return before;
}

void sx_mailbox_images_read(void *user)
{
	const unsigned before = end_use(user, SX_ITEM_IMAGES);

	sx_must_be(before & SX_ITEM_FRAME);
}

void sx_mailbox_release(struct sx_item *item)
{
	const unsigned before = end_use(item, SX_ITEM_FRAME | SX_ITEM_IMAGES);

	sx_must_be(before & SX_ITEM_FRAME);
}
