/*
 * The waiting pair, and the owner of each pair.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/exchange/handover.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/wake.h"

int sx_handover_init(struct sx_handover *h)
{
	int r;

	atomic_init(&h->waiting, NULL);
	h->paced = false;
	for (int i = 0; i < SX_ITEMS_MAX; i++) {
		atomic_init(&h->items[i].state, SX_ITEM_FREE);
		h->items[i].handover = h;
	}
	h->capture_fd = -1;
	h->frame_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (h->frame_fd < 0)
		return -errno;
	h->capture_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (h->capture_fd < 0) {
		r = -errno;
		sx_handover_finish(h);
		return r;
	}
	return 0;
}

void sx_handover_finish(struct sx_handover *h)
{
	struct sx_item *item = sx_handover_take(h);

	if (item)
		sx_handover_release(item);
	sx_must(sx_handover_used(h), ==, 0);
	if (h->frame_fd >= 0)
		close(h->frame_fd);
	if (h->capture_fd >= 0)
		close(h->capture_fd);
	h->frame_fd = h->capture_fd = -1;
}

/* Loads with acquire: the last owner has finished with the pair. */
static bool item_is_free(const struct sx_item *item)
{
	return atomic_load_explicit(&item->state, memory_order_acquire) == SX_ITEM_FREE;
}

struct sx_item *sx_handover_free(struct sx_handover *h)
{
	for (int i = 0; i < SX_ITEMS_MAX; i++)
		if (item_is_free(&h->items[i]))
			return &h->items[i];
	return NULL;
}

struct sx_item *sx_handover_put(struct sx_item *item)
{
	struct sx_handover *h = item->handover;
	struct sx_item *old;

	sx_must(atomic_load_explicit(&item->state, memory_order_relaxed), ==, SX_ITEM_FREE);
	/* relaxed, because the exchange that gives the item away comes after this store */
	atomic_store_explicit(&item->state, SX_ITEM_LENT, memory_order_relaxed);
	old = atomic_exchange_explicit(&h->waiting, item, memory_order_acq_rel);
	sx_must_be(old != item);
	sx_wake(h->frame_fd);
	return old;
}

bool sx_handover_waits(const struct sx_handover *h)
{
	return atomic_load_explicit(&h->waiting, memory_order_acquire) != NULL;
}

int sx_handover_used(const struct sx_handover *h)
{
	int used = 0;

	for (int i = 0; i < SX_ITEMS_MAX; i++)
		used += !item_is_free(&h->items[i]);
	return used;
}

struct sx_item *sx_handover_take(struct sx_handover *h)
{
	struct sx_item *item = atomic_exchange_explicit(&h->waiting, NULL, memory_order_acq_rel);

	if (item) {
		sx_must(atomic_load_explicit(&item->state, memory_order_relaxed), ==, SX_ITEM_LENT);
		if (!h->paced)
			sx_wake(h->capture_fd);
	}
	return item;
}

/* Returns the images to the source. True: the images were lent until now; false: they had been returned. */
static bool item_return_images(struct sx_item *item)
{
	enum sx_item_state lent = SX_ITEM_LENT;

	if (!atomic_compare_exchange_strong_explicit(&item->state, &lent, SX_ITEM_RETURNED,
						     memory_order_acq_rel, memory_order_acquire)) {
		sx_must(lent, ==, SX_ITEM_RETURNED);
		return false;
	}
	sx_source_release(item->source, &item->pair);
	return true;
}

void sx_handover_images_read(void *user)
{
	struct sx_item *item = user;

	if (item_return_images(item))
		sx_wake(item->handover->capture_fd);
}

void sx_handover_release(struct sx_item *item)
{
	struct sx_handover *h = item->handover;

	item_return_images(item);
	atomic_store_explicit(&item->state, SX_ITEM_FREE, memory_order_release);
	sx_wake(h->capture_fd);
}
