/*
 * Buffers that drivers can write and processes can map (dma-buf), from any provider of this machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_V4L2_DMABUF_H
#define SX_CAPTURE_V4L2_DMABUF_H

#include <stdbool.h>

#include "base/why.h"
#include "capture/source.h"
#include "capture/v4l2/v4l2_device.h"

struct sx_dmabuf {
	int fd; /* -1: none */
	struct sx_block block;
};

/*
 * Provider of buffers. exporter: a device that exports its own buffers (source.dmabuf_from). Zeroed: closed.
 */
struct sx_dmabuf_maker {
	const char *name; /* provider's name for the log: "/dev/dma_heap/system", ... */
	enum { SX_DMABUF_NONE, SX_DMABUF_HEAP, SX_DMABUF_UDMABUF, SX_DMABUF_EXPORT } kind;
	int fd;
	struct sx_v4l2_device exporter;
	int exported, count;
};

/*
 * Opens a provider. from: path of the exporting device, which is set to the camera's format and allocates
 * count buffers. from NULL: a DMA heap, otherwise udmabuf. Returns -ENOTSUP with a message if this machine
 * has neither; otherwise the exporter's errno.
 */
int sx_dmabuf_maker_open(struct sx_dmabuf_maker *m, const char *from, const struct sx_v4l2_device *camera,
			 int count, struct sx_why *why);
void sx_dmabuf_maker_close(struct sx_dmabuf_maker *m);

/*
 * Makes a mapped buffer of at least `bytes` bytes. The maker must stay open while the buffer is used.
 * sx_dmabuf_finish() accepts a buffer with fd -1.
 */
int sx_dmabuf_make(struct sx_dmabuf_maker *m, size_t bytes, struct sx_dmabuf *ret, struct sx_why *why);
void sx_dmabuf_finish(struct sx_dmabuf *b);

/*
 * Call it with begin true before the processor reads what a device wrote, and with begin false after that.
 * Errors are ignored: a driver that fails here has no caches to maintain.
 */
void sx_dmabuf_sync(int fd, bool begin);

#endif
