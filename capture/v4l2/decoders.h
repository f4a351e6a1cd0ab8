/*
 * Threads that convert JPEG or raw pixels of cameras to grey images. A pair has one or two tasks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_V4L2_DECODERS_H
#define SX_CAPTURE_V4L2_DECODERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/image.h"
#include "base/why.h"
#include "capture/image/notes.h"
#include "capture/v4l2/raw.h"

#define SX_DECODERS_MAX 8

/*
 * A task: an image to decode. The caller owns the task again when done is true. Until then the caller must not
 * change data and to.
 */
struct sx_decode_task {
	const uint8_t *data; /* JPEG data */
	size_t bytes;
	struct sx_raw raw;  /* packing SX_RAW_NONE: the image is JPEG */
	struct sx_image to; /* has the expected size; U8, or the format required by sx_raw_grey() */
	atomic_bool done;
	int result; /* valid once done: 0 with notes; for JPEG also -EBADMSG or -ENOMEM with why */
	struct sx_image_notes notes;
	struct sx_why why;
	struct sx_decode_task *next; /* for the queue */
};

struct sx_decoders;

/*
 * Starts 1 to SX_DECODERS_MAX threads. jpeg: they must decode JPEG, too. Returns a negative errno with a
 * message on failure; -ENOTSUP: JPEG, but built without libjpeg.
 */
int sx_decoders_create(struct sx_decoders **ret, int threads, bool jpeg, struct sx_why *why);
/* Waits for images that are being decoded, then ends the threads. Accepts NULL. */
void sx_decoders_destroy(struct sx_decoders *d);

/* Queues an image. Images are started in this order. Thread: always the same one. */
void sx_decoders_submit(struct sx_decoders *d, struct sx_decode_task *task);
/* Returns an eventfd. It is readable if a task was done since it was last read. */
int sx_decoders_fd(const struct sx_decoders *d);

#endif
