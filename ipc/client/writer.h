/*
 * Common part of the writers of class scores and of disparity maps: a ring that the writer fills in place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_CLIENT_WRITER_H
#define SX_IPC_CLIENT_WRITER_H

#include "ipc/ring.h"

struct sx_writer {
	struct sx_ring *ring;
	uint8_t *slot; /* the slot that was begun; NULL: none */
	uint64_t number, epoch;
};

/* Parameters of the ring. bytes: size of one frame with its header. slots: 2..64. */
struct sx_writer_params {
	const char *prefix, *name, *folder; /* folder NULL: sx_feed_writers_dir() */
	uint64_t magic;
	uint32_t slots;
	size_t bytes;
};

/* Creates the ring. Returns 0 or negative errno; call sx_writer_finish() in both cases. */
int sx_writer_init(struct sx_writer *w, const struct sx_writer_params *p);
/* Destroys the ring. Accepts a zeroed writer. */
void sx_writer_finish(struct sx_writer *w);
/* Sets slot to the next slot. Returns -ESTALE if another writer took the name. */
int sx_writer_begin(struct sx_writer *w);
/* Publishes the slot: bytes of it are complete. */
void sx_writer_commit(struct sx_writer *w, size_t bytes);

#endif
