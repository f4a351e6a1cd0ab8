/*
 * The buffers of one camera and their way: to the driver, filled, back to us, and round again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_V4L2_V4L2_QUEUE_H
#define SX_CAPTURE_V4L2_V4L2_QUEUE_H

#include "base/pair.h"
#include "capture/v4l2/dmabuf.h"
#include "capture/v4l2/v4l2_device.h"

#define SX_V4L2_BUFFERS_MIN 2
#define SX_V4L2_BUFFERS_MAX 32

struct sx_v4l2_buffer {
	void *data; /* readable while the buffer is not with the driver */
	size_t bytes;
	bool queued;
	struct sx_dmabuf dmabuf; /* fd -1: another kind of memory */
};

struct sx_v4l2_queue {
	struct sx_v4l2_device *device;
	enum sx_source_memory memory; /* the kind in use */
	struct sx_v4l2_buffer buffers[SX_V4L2_BUFFERS_MAX];
	int count;
	struct sx_block block; /* userptr: what all buffers lie in */
	bool streaming;
};

/*
 * A filled buffer. sequence: the driver's number of the image. ns: of clock, converted to nothing;
 * STIXEL_CLOCK_UNKNOWN: the driver does not say, ns is the time of the call then and stamp
 * STIXEL_STAMP_SOFTWARE. damaged: flagged as an error.
 */
struct sx_v4l2_filled {
	int index;
	uint32_t sequence;
	int64_t ns;
	enum stixel_clock clock;
	enum stixel_stamp stamp;
	size_t offset, bytes; /* of the image in the buffer */
	bool damaged;
};

/*
 * Takes wanted buffers of the device's format (drivers may give other numbers, at least SX_V4L2_BUFFERS_MIN)
 * and puts all of them into the driver, so that it is certain that it takes them. maker: only for dmabuf.
 * -ENOTSUP: the driver does not do this kind of memory. On failure nothing is left behind. Thread: all
 * functions, one at a time.
 */
int sx_v4l2_queue_init(struct sx_v4l2_queue *q, struct sx_v4l2_device *d, enum sx_source_memory memory,
		       int wanted, struct sx_dmabuf_maker *maker, char *why, size_t why_bytes);
/* Stops, takes the buffers back, frees them. Accepts a zeroed queue. */
void sx_v4l2_queue_finish(struct sx_v4l2_queue *q);

int sx_v4l2_queue_start(struct sx_v4l2_queue *q, char *why, size_t why_bytes);
/* Gives a buffer to the driver. */
int sx_v4l2_queue_put(struct sx_v4l2_queue *q, int index, char *why, size_t why_bytes);
/*
 * 1: *ret is filled and the buffer ours; 0: none is ready; -EALREADY: *ret is filled, but the mapped buffer
 * was ours already: the driver has written over its image (v4l2loopback goes round its buffers without
 * asking); other: the camera is lost.
 */
int sx_v4l2_queue_take(struct sx_v4l2_queue *q, struct sx_v4l2_filled *ret, char *why, size_t why_bytes);

/* "userptr", "dmabuf", "mmap" */
const char *sx_v4l2_memory_name(enum sx_source_memory memory);

#endif
