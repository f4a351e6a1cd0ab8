/*
 * The buffers of one camera: given to the driver, filled, returned, and given again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_V4L2_V4L2_QUEUE_H
#define SX_CAPTURE_V4L2_V4L2_QUEUE_H

#include "base/pair.h"
#include "base/why.h"
#include "capture/v4l2/dmabuf.h"
#include "capture/v4l2/v4l2_device.h"

#define SX_V4L2_BUFFERS_MIN 2
#define SX_V4L2_BUFFERS_MAX 32

struct sx_v4l2_buffer {
	void *data; /* readable while the driver does not own the buffer */
	size_t bytes;
	bool queued;
	struct sx_dmabuf dmabuf; /* fd -1: the buffer has another kind of memory */
};

struct sx_v4l2_queue {
	struct sx_v4l2_device *device;
	enum sx_source_memory memory; /* kind of memory in use */
	struct sx_v4l2_buffer buffers[SX_V4L2_BUFFERS_MAX];
	int count;
	struct sx_block block; /* userptr: memory of all buffers */
	bool streaming;
};

/*
 * A filled buffer. sequence: the driver's number of the image. ns: time in the driver's clock, unconverted.
 * STIXEL_CLOCK_UNKNOWN: the driver names no clock; ns is then the time of the call, and stamp is
 * STIXEL_STAMP_SOFTWARE. damaged: the driver flagged an error.
 */
struct sx_v4l2_filled {
	int index;
	uint32_t sequence;
	int64_t ns;
	enum stixel_clock clock;
	enum stixel_stamp stamp;
	size_t offset, bytes; /* position and size of the image in the buffer, bytes */
	bool damaged;
};

/*
 * Allocates `wanted` buffers for the device's format. Drivers may allocate another number, at least
 * SX_V4L2_BUFFERS_MIN. Gives all buffers to the driver, to be certain that it accepts them. maker: only for
 * dmabuf. Returns -ENOTSUP if the driver does not support this kind of memory. On failure everything is
 * undone. Thread of all functions: one at a time.
 */
int sx_v4l2_queue_init(struct sx_v4l2_queue *q, struct sx_v4l2_device *d, enum sx_source_memory memory,
		       int wanted, struct sx_dmabuf_maker *maker, struct sx_why *why);
/* Stops the camera, takes the buffers back and frees them. Accepts a zeroed queue. */
void sx_v4l2_queue_finish(struct sx_v4l2_queue *q);

int sx_v4l2_queue_start(struct sx_v4l2_queue *q, struct sx_why *why);
/* Gives a buffer to the driver. */
int sx_v4l2_queue_put(struct sx_v4l2_queue *q, int index, struct sx_why *why);
/*
 * Takes a filled buffer. Returns 1: *ret is filled and the buffer is ours; 0: none is ready; -EALREADY: *ret
 * is filled, but the mapped buffer was already ours: the driver has overwritten its image (v4l2loopback
 * reuses its buffers without waiting for them); other errors: the camera is lost.
 */
int sx_v4l2_queue_take(struct sx_v4l2_queue *q, struct sx_v4l2_filled *ret, struct sx_why *why);

/* Returns "userptr", "dmabuf" or "mmap". */
const char *sx_v4l2_memory_name(enum sx_source_memory memory);

#endif
