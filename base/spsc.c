/*
 * Single-producer single-consumer ring.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdint.h>

#include "base/spsc.h"

int sx_spsc_init(struct sx_spsc *q, void *storage, size_t element_bytes, size_t slots)
{
	if (!storage || !element_bytes || !slots || (slots & (slots - 1)) || slots > SIZE_MAX / element_bytes)
		return -EINVAL;
	q->storage = storage;
	q->element_bytes = element_bytes;
	q->slots = slots;
	q->tail_seen = q->head_seen = 0;
	atomic_init(&q->head, 0);
	atomic_init(&q->tail, 0);
	return 0;
}

static void *slot(const struct sx_spsc *q, size_t index)
{
	return q->storage + (index & (q->slots - 1)) * q->element_bytes;
}

void *sx_spsc_reserve(struct sx_spsc *q)
{
	size_t head = atomic_load_explicit(&q->head, memory_order_relaxed);

	if (head - q->tail_seen == q->slots) {
		/* acquire: the consumer has finished reading what it released */
		q->tail_seen = atomic_load_explicit(&q->tail, memory_order_acquire);
		if (head - q->tail_seen == q->slots)
			return NULL;
	}
	return slot(q, head);
}

void sx_spsc_commit(struct sx_spsc *q)
{
	size_t head = atomic_load_explicit(&q->head, memory_order_relaxed);

	atomic_store_explicit(&q->head, head + 1, memory_order_release);
}

void *sx_spsc_peek(struct sx_spsc *q)
{
	size_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);

	if (tail == q->head_seen) {
		q->head_seen = atomic_load_explicit(&q->head, memory_order_acquire);
		if (tail == q->head_seen)
			return NULL;
	}
	return slot(q, tail);
}

void sx_spsc_release(struct sx_spsc *q)
{
	size_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);

	atomic_store_explicit(&q->tail, tail + 1, memory_order_release);
}

size_t sx_spsc_count(const struct sx_spsc *q)
{
	/* tail first: head can only grow in between, so the difference is never negative */
	size_t tail = atomic_load_explicit(&q->tail, memory_order_acquire);
	size_t head = atomic_load_explicit(&q->head, memory_order_acquire);

	return head - tail < q->slots ? head - tail : q->slots;
}
