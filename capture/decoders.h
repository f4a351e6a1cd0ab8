/*
 * Threads that decode images: of cameras (JPEG, raw pixels), and image files before they are due. A pair has
 * one or two tasks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_DECODERS_H
#define SX_CAPTURE_DECODERS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/image.h"
#include "base/why.h"
#include "capture/image/image_io.h"
#include "capture/image/notes.h"

#define SX_DECODERS_MAX 16

/*
 * Decodes an image into `to`. bytes: memory of the thread, for a file. Returns 0 with notes, or a negative
 * errno with why; `to` may then be partly written. Any thread.
 */
typedef int sx_decode_fn(const void *input, const struct sx_image *to, struct sx_file_bytes *bytes,
			 struct sx_image_notes *notes, struct sx_why *why);

/*
 * A task: an image to decode. The caller owns the task again when done is true. Until then the caller must
 * not change the input and `to`.
 */
struct sx_decode_task {
	sx_decode_fn *decode;
	const void *input;
	struct sx_image to;
	atomic_bool done;
	int result; /* valid once done, as are notes and why: what decode returned */
	struct sx_image_notes notes;
	struct sx_why why;
	struct sx_decode_task *next; /* for the queue */
};

struct sx_decoders;

/* Starts 1 to SX_DECODERS_MAX threads. Returns 0, or a negative errno with a message. */
int sx_decoders_create(struct sx_decoders **ret, int threads, struct sx_why *why);
/* Waits for all tasks in the queue, then ends the threads. Accepts NULL. */
void sx_decoders_destroy(struct sx_decoders *d);

/* Queues an image. Images are started in this order. Thread: always the same one. */
void sx_decoders_submit(struct sx_decoders *d, struct sx_decode_task *task);
/*
 * Takes a task out of the queue. Returns true if no thread has begun it; the caller then owns it, and done
 * stays false. False: it is done, or will be. Thread: that of submit.
 */
bool sx_decoders_cancel(struct sx_decoders *d, struct sx_decode_task *task);
/* Returns an eventfd. It is readable if a task was done since it was last read. */
int sx_decoders_fd(const struct sx_decoders *d);

#endif
