/*
 * What writers of class scores and of disparity maps share: a ring that they write where it will lie.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_CLIENT_WRITER_H
#define SX_IPC_CLIENT_WRITER_H

#include "ipc/ring.h"

struct sx_writer {
	struct sx_ring *ring;
	uint8_t *slot; /* that was begun; NULL */
	uint64_t number, epoch;
};

/* What the ring is to be; bytes: of each thing that is given, its header included; slots: 2..64. */
struct sx_writer_params {
	const char *prefix, *name, *folder; /* folder: NULL: sx_feed_writers_place() */
	uint64_t magic;
	uint32_t slots;
	size_t bytes;
};

/* 0, or negative errno; then finish. */
int sx_writer_init(struct sx_writer *w, const struct sx_writer_params *p);
/* Takes the ring away. Accepts a zeroed one. */
void sx_writer_finish(struct sx_writer *w);
/* slot is set; -ESTALE: another writer took the name. */
int sx_writer_begin(struct sx_writer *w);
/* bytes of slot are complete. */
void sx_writer_commit(struct sx_writer *w, size_t bytes);

#endif
