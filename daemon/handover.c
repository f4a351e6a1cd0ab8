/*
 * The waiting pair.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/handover.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

void sx_wake(int eventfd)
{
	uint64_t one = 1;

	/* EAGAIN: the counter is full, so the reader is being woken already */
	(void)!write(eventfd, &one, sizeof(one));
}

void sx_wake_clear(int eventfd)
{
	uint64_t count;

	(void)!read(eventfd, &count, sizeof(count));
}

int sx_handover_init(struct sx_handover *h)
{
	int r;

	atomic_init(&h->waiting, NULL);
	atomic_init(&h->held, 0);
	for (int i = 0; i < SX_ITEMS_MAX; i++)
		atomic_init(&h->items[i].used, false);
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
		sx_handover_release(h, item);
	if (h->frame_fd >= 0)
		close(h->frame_fd);
	if (h->capture_fd >= 0)
		close(h->capture_fd);
	h->frame_fd = h->capture_fd = -1;
}

struct sx_item *sx_handover_item(struct sx_handover *h)
{
	for (int i = 0; i < SX_ITEMS_MAX; i++) {
		struct sx_item *item = &h->items[i];

		/* acquire: what the last holder did with the pair is over */
		if (atomic_load_explicit(&item->used, memory_order_acquire))
			continue;
		atomic_store_explicit(&item->used, true, memory_order_relaxed);
		atomic_store_explicit(&item->returned, false, memory_order_relaxed);
		atomic_fetch_add_explicit(&h->held, 1, memory_order_relaxed);
		return item;
	}
	return NULL;
}

struct sx_item *sx_handover_put(struct sx_handover *h, struct sx_item *item)
{
	struct sx_item *old = atomic_exchange_explicit(&h->waiting, item, memory_order_acq_rel);

	sx_wake(h->frame_fd);
	return old;
}

bool sx_handover_waits(const struct sx_handover *h)
{
	return atomic_load_explicit(&h->waiting, memory_order_acquire) != NULL;
}

struct sx_item *sx_handover_take(struct sx_handover *h)
{
	struct sx_item *item = atomic_exchange_explicit(&h->waiting, NULL, memory_order_acq_rel);

	if (item)
		sx_wake(h->capture_fd);
	return item;
}

void sx_handover_forget(struct sx_handover *h, struct sx_item *item)
{
	atomic_store_explicit(&item->used, false, memory_order_release);
	atomic_fetch_sub_explicit(&h->held, 1, memory_order_release);
}

static void return_pair(struct sx_item *item)
{
	if (!atomic_exchange_explicit(&item->returned, true, memory_order_acq_rel))
		sx_source_release(item->source, &item->pair);
}

void sx_handover_images_read(const struct sx_pair *pair)
{
	/* the item around it; const is the engine's promise, not ours */
	return_pair((struct sx_item *)(uintptr_t)((const char *)pair - offsetof(struct sx_item, pair)));
}

void sx_handover_release(struct sx_handover *h, struct sx_item *item)
{
	return_pair(item);
	sx_handover_forget(h, item);
	sx_wake(h->capture_fd);
}
