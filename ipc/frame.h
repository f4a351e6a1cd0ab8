/*
 * Packs the bytes of a frame (include/stixel.h). Ring, stream and recordings have the same bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_FRAME_H
#define SX_IPC_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "include/stixel.h"

/* Most images in a frame, at most one of each kind. */
#define SX_FRAME_IMAGES 2

/*
 * Returns the size of images of these kinds (bits 1u << enum stixel_plane) in a frame, bytes. Rows are padded
 * to 8 bytes.
 */
size_t sx_frame_image_bytes(unsigned kinds, uint32_t width, uint32_t height);

/*
 * Returns the size of a frame with these counts and without what is known of motion, bytes; 0 above
 * STIXEL_FRAME_BYTES_MAX. image_bytes: sum over all images.
 */
size_t sx_frame_bytes(uint32_t columns, uint32_t stixels, size_t image_bytes);
/*
 * Returns the size of the largest frame with these counts, bytes: with STIXEL_OBJECTS_MAX objects and a record of motion
 * for each stixel. STIXEL_FRAME_BYTES_MAX if only they do not fit: sx_frame_pack() leaves them out then. 0: the frame does
 * not fit without them.
 */
size_t sx_frame_bytes_most(uint32_t columns, uint32_t stixels, size_t image_bytes);

/* What is known of motion in a frame, besides the header's fields. Zeroed: nothing. */
struct sx_frame_motion {
	const struct stixel_motion *stixels; /* a record for each stixel, or NULL */
	const struct stixel_object *objects; /* by growing id; NULL: the publisher does not follow objects */
	uint32_t object_count;
	const uint8_t
		*object_of; /* for each stixel 0, or 1 + the index of its object; not read without objects */
};

/*
 * Writes a frame to out (8-byte aligned, room bytes). The caller fills these parts of *header: epoch, number,
 * times, image, camera, road, counters, stages, columns, stixel_count. The function fills the rest, also in
 * *header: magic, versions, sizes, offsets, planes, anchor, published_ns unless set, checksum. offsets:
 * columns + 1 entries. motion: NULL: nothing is known. If not all fits, the records of stixels are left out, then the
 * objects. images: image_count of them (0 to 2, of different kinds), copied row by row from any memory. Returns the
 * bytes written, -ENOBUFS (does not fit) or -EINVAL (inconsistent: a reader would refuse it). Any thread; allocates
 * nothing.
 */
int64_t sx_frame_pack(void *out, size_t room, struct stixel_frame_header *header, const uint32_t *offsets,
		      const struct stixel *stixels, const struct sx_frame_motion *motion,
		      const struct stixel_image *images, int image_count);

/* Sets another epoch and number in a packed frame (a recording played back) and recomputes its checksum. */
void sx_frame_restamp(void *frame, uint64_t epoch, uint64_t number);

/*
 * Copies a packed frame without its planes (sets STIXEL_FRAME_PLANE_LEFT_OUT). If it still has more than room bytes,
 * leaves out its records of motion, then its objects, then its stixels too (sets STIXEL_FRAME_STIXELS_LEFT_OUT).
 * Returns bytes or -ENOBUFS.
 */
int64_t sx_frame_shrink(void *out, size_t room, const void *frame);
/*
 * Copies a checked frame with only the images that kinds selects (bits 1u << enum stixel_plane). If the frame
 * has none of these images, copies it without images, as sx_frame_shrink() does. Returns bytes, -ENOBUFS or
 * -EINVAL.
 */
int64_t sx_frame_keep_images(void *out, size_t room, const struct stixel_frame *frame, unsigned kinds);

/* Returns a random number for a life of a publisher, never 0. */
uint64_t sx_epoch_new(void);

#endif
