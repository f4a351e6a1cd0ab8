/*
 * Checks whether a frame is complete and consistent. Publisher and reader share these rules: the publisher
 * refuses to pack a frame that a reader would refuse.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_CHECK_H
#define SX_IPC_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "include/stixel.h"

/*
 * True if the column lists have no gaps and every stixel is in its column and inside the image. offsets:
 * h->columns + 1 entries.
 */
bool sx_lists_agree(const struct stixel_frame_header *h, const uint32_t *offsets,
		    const struct stixel *stixels);

/*
 * True if an object is as include/stixel.h promises: with finite numbers and covariances, inside the image. Its id
 * is not checked.
 */
bool sx_object_agrees(const struct stixel_frame_header *h, const struct stixel_object *object);

/*
 * True if each object agrees, if their ids grow, and if the bytes of the stixels name objects that exist.
 * object_of: h->stixel_count bytes; not read without objects.
 */
bool sx_objects_agree(const struct stixel_frame_header *h, const struct stixel_object *objects,
		      uint32_t count, const uint8_t *object_of);

/*
 * True if the header of a frame includes all fields of objects. The header of a lying publisher may end between them:
 * then none of them counts.
 */
static inline bool sx_header_has_objects(const struct stixel_frame_header *h)
{
	return h->header_bytes >= offsetof(struct stixel_frame_header, motion_reserved) + sizeof(uint32_t);
}

/* Returns the CRC-32C as defined at stixel_frame_header. The caller must have checked the sizes in *h. */
uint32_t sx_frame_checksum(const void *frame, const struct stixel_frame_header *h);

/*
 * Checks the header of a ring with this magic, in an object of object_bytes. Returns 0, -EPROTO (no ring, or
 * damaged) or -EPROTONOSUPPORT (another major version or byte order).
 */
int sx_ring_check(const struct stixel_ring_header *h, uint64_t magic, uint64_t object_bytes);

/* Implements stixel_parse() of the library. */
int sx_frame_check(struct stixel_frame *frame, const void *data, size_t bytes);

#endif
