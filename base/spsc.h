/*
 * Single-producer single-consumer ring of elements of fixed size. Real-time threads pass log lines through
 * it.
 *
 * The method is Lamport's queue with cached peer indices: each side reads the other's index only if its
 * cached copy says full or empty. Both sides are wait-free, without system calls and without allocation. The
 * caller does the wake-ups (eventfd).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_SPSC_H
#define SX_BASE_SPSC_H

#include <stdatomic.h>
#include <stddef.h>

#define SX_CACHE_LINE 64

/* The ring. Indices count elements and never wrap at slots; the slot is index & (slots - 1). */
struct sx_spsc {
	unsigned char *storage;
	size_t element_bytes, slots;
	_Alignas(SX_CACHE_LINE) atomic_size_t head; /* written by the producer */
	size_t tail_seen;			    /* producer's copy of tail */
	_Alignas(SX_CACHE_LINE) atomic_size_t tail; /* written by the consumer */
	size_t head_seen;			    /* consumer's copy of head */
};

/*
 * Initialises a ring. storage: slots * element_bytes bytes. The caller owns it, aligns it for the element,
 * and keeps it while the ring is used. All slots can be filled. -EINVAL unless slots is a power of two and
 * element_bytes is not 0.
 */
int sx_spsc_init(struct sx_spsc *q, void *storage, size_t element_bytes, size_t slots);

/*
 * Returns the free slot to write into, or NULL if the ring is full. sx_spsc_commit() publishes it. Without a
 * commit, the next call returns the same slot. Thread: the producer.
 */
void *sx_spsc_reserve(struct sx_spsc *q);
void sx_spsc_commit(struct sx_spsc *q);
/*
 * Returns the oldest element, or NULL if the ring is empty. sx_spsc_release() frees it. Without a release,
 * the next call returns the same element. Thread: the consumer.
 */
void *sx_spsc_peek(struct sx_spsc *q);
void sx_spsc_release(struct sx_spsc *q);

/*
 * Returns the number of elements in the ring. If the producer or the consumer calls it, the number was true
 * at some instant during the call. Any thread.
 */
size_t sx_spsc_count(const struct sx_spsc *q);

#endif
