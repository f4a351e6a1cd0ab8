/*
 * Threads that make grey images of what cameras send otherwise, JPEG or raw pixels: two tasks a pair or one.
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
#include "capture/image/notes.h"
#include "capture/v4l2/raw.h"

#define SX_DECODERS_MAX 8
#define SX_DECODE_WHY_BYTES 128

/* One image. The caller's until done is true again; data and to stay untouched by others meanwhile. */
struct sx_decode_task {
	const uint8_t *data; /* JPEG */
	size_t bytes;
	struct sx_raw raw;  /* packing SX_RAW_NONE: it is JPEG */
	struct sx_image to; /* of the size that is expected; U8, or what sx_raw_grey() says */
	atomic_bool done;
	int result; /* once done: 0 and notes, or, of JPEG, -EBADMSG or -ENOMEM and why */
	struct sx_image_notes notes;
	char why[SX_DECODE_WHY_BYTES];
	struct sx_decode_task *next; /* the queue's */
};

struct sx_decoders;

/*
 * 1 to SX_DECODERS_MAX threads. jpeg: they can decode JPEG, too. Negative errno and a sentence; -ENOTSUP:
 * JPEG, but built without libjpeg.
 */
int sx_decoders_create(struct sx_decoders **ret, int threads, bool jpeg, char *why, size_t why_bytes);
/* Waits for what is being decoded. Accepts NULL. */
void sx_decoders_destroy(struct sx_decoders *d);

/* Thread: one. Images are begun in this order. */
void sx_decoders_submit(struct sx_decoders *d, struct sx_decode_task *task);
/* An eventfd, readable when a task was done since it was last read. */
int sx_decoders_fd(const struct sx_decoders *d);

#endif
