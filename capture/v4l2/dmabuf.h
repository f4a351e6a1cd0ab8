/*
 * Buffers that drivers can write into and processes can map (dma-buf), from wherever this machine has them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_V4L2_DMABUF_H
#define SX_CAPTURE_V4L2_DMABUF_H

#include <stdbool.h>

#include "capture/source.h"
#include "capture/v4l2/v4l2_device.h"

struct sx_dmabuf {
	int fd; /* -1: none */
	struct sx_block block;
};

/* Where buffers come from. exporter: a device that gives its own (source.dmabuf_from). Zeroed: closed. */
struct sx_dmabuf_maker {
	const char *name; /* for the log: "/dev/dma_heap/system", ... */
	enum { SX_DMABUF_NONE, SX_DMABUF_HEAP, SX_DMABUF_UDMABUF, SX_DMABUF_EXPORT } kind;
	int fd;
	struct sx_v4l2_device exporter;
	int exported, count;
};

/*
 * from: path of the exporting device, which is then set to the same format as the camera and takes count
 * buffers; NULL: a DMA heap, else udmabuf. -ENOTSUP and a sentence when this machine has none; otherwise the
 * exporter's errno.
 */
int sx_dmabuf_maker_open(struct sx_dmabuf_maker *m, const char *from, const struct sx_v4l2_device *camera,
			 int count, char *why, size_t why_bytes);
void sx_dmabuf_maker_close(struct sx_dmabuf_maker *m);

/* A buffer of at least bytes, mapped. finish accepts one with fd -1. The maker must stay open meanwhile. */
int sx_dmabuf_make(struct sx_dmabuf_maker *m, size_t bytes, struct sx_dmabuf *ret, char *why,
		   size_t why_bytes);
void sx_dmabuf_finish(struct sx_dmabuf *b);

/*
 * Before the processor reads what a device wrote (begin), and after. Errors are the driver's: it has no
 * caches to mind.
 */
void sx_dmabuf_sync(const struct sx_dmabuf *b, bool begin);

#endif
