/*
 * What makes a frame whole. One copy of the rules: the publisher refuses to pack what a reader would refuse.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_CHECK_H
#define SX_IPC_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "include/stixel.h"

/* Column lists without gaps, every stixel in its column and inside the image. offsets: h->columns + 1. */
bool sx_lists_agree(const struct stixel_frame_header *h, const uint32_t *offsets,
		    const struct stixel *stixels);

/* CRC-32C as stixel_frame_header says; sizes in *h must have been checked. */
uint32_t sx_frame_checksum(const void *frame, const struct stixel_frame_header *h);

/*
 * The header of a ring of this magic in an object of so many bytes. 0, -EPROTO: none, or damaged;
 * -EPROTONOSUPPORT: of another major version or byte order.
 */
int sx_ring_check(const struct stixel_ring_header *h, uint64_t magic, uint64_t object_bytes);

/* stixel_parse() of the library. */
int sx_frame_check(struct stixel_frame *frame, const void *data, size_t bytes);

#endif
