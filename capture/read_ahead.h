/*
 * Reads the image files of pairs into slots before the pairs are due, with several threads.
 *
 * The capture thread begins pairs in the order of their turns, and takes them in that order. Turn: number of
 * a pair in the course of the source, from 0; a list that is played twice gives each of its pairs two turns.
 * A pair that was begun holds a slot until it is taken or dropped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_READ_AHEAD_H
#define SX_CAPTURE_READ_AHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"
#include "capture/decoders.h"
#include "capture/file_list.h"
#include "capture/slots.h"

#define SX_READ_AHEAD_MAX (SX_DECODERS_MAX + 2)

/* Threads and memory of a source. pairs: how many pairs are read at once, 1 to SX_READ_AHEAD_MAX. */
struct sx_read_ahead_size {
	int decoders, pairs;
};

struct sx_read_ahead;

/*
 * Chooses a decoder for each processor that this process may use, but no more than files. The pairs keep all
 * decoders busy, and two more pairs wait for their turn; more than two pairs take no more than 256 MB.
 * pair_bytes: memory of a pair.
 */
struct sx_read_ahead_size sx_read_ahead_choose(const struct sx_file_list *list, size_t pair_bytes);

/*
 * Starts the threads. slots: size.pairs of them are spare. The caller keeps list and slots until it has
 * called sx_read_ahead_close(). Returns 0, or a negative errno with a message.
 */
int sx_read_ahead_open(struct sx_read_ahead **ret, const struct sx_file_list *list, struct sx_slots *slots,
		       struct sx_read_ahead_size size, struct sx_why *why);
/*
 * Waits for images that are being decoded, begins no other, ends the threads and drops all pairs. Accepts
 * NULL.
 */
void sx_read_ahead_close(struct sx_read_ahead *r);

/* Returns the number of slots that pairs hold. */
int sx_read_ahead_held(const struct sx_read_ahead *r);
/*
 * Drops all pairs of turns before this one. An image that is being decoded keeps its slot until it is done.
 */
void sx_read_ahead_drop(struct sx_read_ahead *r, uint64_t turn);
/*
 * Begins to read pair `at` of the list. Returns true if this turn was begun, now or before; false: no room.
 */
bool sx_read_ahead_begin(struct sx_read_ahead *r, uint64_t turn, size_t at);
/*
 * Waits until the files of pair `at` of this turn are read, and begins the pair first if need be. Earlier
 * turns must have been dropped. *slot then belongs to the caller. Returns what reading each file gave: one or
 * two tasks, valid until the next pair is begun.
 */
const struct sx_decode_task *sx_read_ahead_take(struct sx_read_ahead *r, uint64_t turn, size_t at,
						struct sx_slot **slot);

#endif
