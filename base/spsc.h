/*
 * Single-producer single-consumer ring of fixed-size elements: how log lines leave a real-time thread.
 *
 * Lamport's queue with cached peer indices (each side reads the other's index only when its copy says full or
 * empty). Wait-free on both sides, no system call, no allocation. Wake-ups (eventfd) are the caller's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_SPSC_H
#define SX_BASE_SPSC_H

#include <stdatomic.h>
#include <stddef.h>

#define SX_CACHE_LINE 64

/* Indices count elements for ever; index & (slots - 1) is the slot. */
struct sx_spsc {
	unsigned char *storage;
	size_t element_bytes, slots;
	_Alignas(SX_CACHE_LINE) atomic_size_t head; /* written by the producer */
	size_t tail_seen;			    /* producer's copy of tail */
	_Alignas(SX_CACHE_LINE) atomic_size_t tail; /* written by the consumer */
	size_t head_seen;			    /* consumer's copy of head */
};

/*
 * storage: slots * element_bytes bytes, the caller's, stays while the ring is used and is aligned for the
 * element.
 * -EINVAL unless slots is a power of two and element_bytes is not 0. All slots can be filled.
 */
int sx_spsc_init(struct sx_spsc *q, void *storage, size_t element_bytes, size_t slots);

/*
 * Thread: the producer. The free slot to write into (NULL: full), published by sx_spsc_commit(); one that is
 * not committed is handed out again.
 */
void *sx_spsc_reserve(struct sx_spsc *q);
void sx_spsc_commit(struct sx_spsc *q);
/*
 * Thread: the consumer. The oldest element (NULL: empty), given back by sx_spsc_release(); one that is not
 * released is handed out again.
 */
void *sx_spsc_peek(struct sx_spsc *q);
void sx_spsc_release(struct sx_spsc *q);

/* Any thread: how many elements lie inside; true at some instant of the call for producer and consumer. */
size_t sx_spsc_count(const struct sx_spsc *q);

#endif
