/*
 * Makes the bytes of a frame (include/stixel.h): the same for the ring, the stream and recordings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_FRAME_H
#define SX_IPC_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "include/stixel.h"

/* At most one of each kind. */
#define SX_FRAME_IMAGES 2

/*
 * Bytes of images of these kinds (bits 1u << enum stixel_plane) in a frame: rows there are padded to 8 bytes.
 */
size_t sx_frame_image_bytes(unsigned kinds, uint32_t width, uint32_t height);

/*
 * Bytes of the largest frame with these sizes; 0 above STIXEL_FRAME_BYTES_MAX.
 * image_bytes: of all images together.
 */
size_t sx_frame_bytes(uint32_t columns, uint32_t stixels, size_t image_bytes);

/*
 * Writes a frame to out (8-byte aligned, room bytes). The caller fills of *header what it knows: epoch,
 * number, times, image, camera, road, counters, stages, columns, stixel_count. The rest (magic, versions,
 * sizes, offsets, planes, anchor, published_ns unless set, checksum) is filled here, in *header too. offsets:
 * columns + 1; images: image_count of them (0 to 2, of different kinds), copied row by row from wherever they
 * lie. Returns the bytes written; -ENOBUFS does not fit, -EINVAL contradicts itself (what a reader would
 * refuse). Any thread; allocates nothing.
 */
int64_t sx_frame_pack(void *out, size_t room, struct stixel_frame_header *header, const uint32_t *offsets,
		      const struct stixel *stixels, const struct stixel_image *images, int image_count);

/* Gives a packed frame another epoch and number (a recording played back) and renews its checksum. */
void sx_frame_restamp(void *frame, uint64_t epoch, uint64_t number);

/*
 * Copies a packed frame without its planes (flagged STIXEL_FRAME_PLANE_LEFT_OUT), and if even that has more
 * than room bytes, its header alone (STIXEL_FRAME_STIXELS_LEFT_OUT). Returns bytes; -ENOBUFS.
 */
int64_t sx_frame_shrink(void *out, size_t room, const void *frame);

/* A random number for a publisher's life, never 0. */
uint64_t sx_epoch_new(void);

#endif
