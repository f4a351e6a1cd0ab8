/*
 * dma-buf: heaps (linux/dma-heap.h), udmabuf (linux/udmabuf.h), or the buffers of another V4L2 device
 * (VIDIOC_EXPBUF).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/v4l2/dmabuf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/contract.h"
#include "capture/v4l2/v4l2_io.h"

static size_t whole_pages(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) & ~(page - 1);
}

static int open_exporter(struct sx_dmabuf_maker *m, const char *from, const struct sx_v4l2_device *camera,
			 int count, struct sx_why *why)
{
	struct v4l2_requestbuffers ask = {.count = (uint32_t)count, .memory = V4L2_MEMORY_MMAP};
	int r = sx_v4l2_device_open(&m->exporter, from, why);

	sx_must(count, >, 0);
	if (r < 0)
		return r;
	m->name = from;
	m->kind = SX_DMABUF_EXPORT;
	r = sx_v4l2_device_set_format(&m->exporter, camera->format, camera->width, camera->height, why);
	if (r < 0)
		return r;
	ask.type = m->exporter.type;
	r = sx_v4l2_ioctl(m->exporter.fd, VIDIOC_REQBUFS, &ask);
	if (r == 0 && ask.count < (uint32_t)count)
		r = -ENOBUFS;
	if (r < 0)
		sx_why_set(why, "%s: %d buffers for others: %s", from, count, strerror(-r));
	m->count = (int)ask.count; /* the driver may allocate more buffers than requested */
	return r;
}

int sx_dmabuf_maker_open(struct sx_dmabuf_maker *m, const char *from, const struct sx_v4l2_device *camera,
			 int count, struct sx_why *why)
{
	/* memory with processor caches first, because a processor also reads the images */
	static const struct {
		const char *path;
		int kind;
	} places[] = {{"/dev/dma_heap/system", SX_DMABUF_HEAP},
		      {"/dev/dma_heap/linux,cma", SX_DMABUF_HEAP},
		      {"/dev/dma_heap/reserved", SX_DMABUF_HEAP},
		      {"/dev/udmabuf", SX_DMABUF_UDMABUF}};

	*m = (struct sx_dmabuf_maker){.fd = -1, .exporter.fd = -1};
	if (from) {
		int r = open_exporter(m, from, camera, count, why);

		if (r < 0)
			sx_dmabuf_maker_close(m);
		return r;
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		m->fd = open(places[i].path, O_RDWR | O_CLOEXEC);
		if (m->fd < 0)
			continue;
		m->name = places[i].path;
		m->kind = places[i].kind;
		return 0;
	}
	return sx_why_fail(
		-ENOTSUP, why,
		"%s: no buffers for DMA: neither /dev/dma_heap nor /dev/udmabuf can be opened, and "
		"source.dmabuf_from names no device",
		camera->path);
}

void sx_dmabuf_maker_close(struct sx_dmabuf_maker *m)
{
	if (m->kind == SX_DMABUF_EXPORT)
		sx_v4l2_device_close(&m->exporter); /* buffers live until their last descriptor is closed */
	if (m->kind != SX_DMABUF_NONE && m->fd >= 0)
		close(m->fd);
	*m = (struct sx_dmabuf_maker){.fd = -1};
}

static int from_heap(const struct sx_dmabuf_maker *m, size_t bytes)
{
	struct dma_heap_allocation_data a = {.len = bytes, .fd_flags = O_RDWR | O_CLOEXEC};

	return ioctl(m->fd, DMA_HEAP_IOCTL_ALLOC, &a) < 0 ? -errno : (int)a.fd;
}

/* Makes a buffer from the pages of a sealed memory file. */
static int from_udmabuf(const struct sx_dmabuf_maker *m, size_t bytes)
{
	struct udmabuf_create c = {.flags = UDMABUF_FLAGS_CLOEXEC, .size = bytes};
	int file = memfd_create("stixeld-camera", MFD_CLOEXEC | MFD_ALLOW_SEALING), r;

	if (file < 0)
		return -errno;
	r = ftruncate(file, (off_t)bytes) < 0 || fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK) < 0 ? -errno : 0;
	if (r == 0) {
		c.memfd = (uint32_t)file;
		r = ioctl(m->fd, UDMABUF_CREATE, &c);
		r = r < 0 ? -errno : r;
	}
	close(file);
	return r;
}

static int from_exporter(struct sx_dmabuf_maker *m)
{
	struct v4l2_exportbuffer e = {
		.type = m->exporter.type, .index = (uint32_t)m->exported, .flags = O_RDWR | O_CLOEXEC};
	int r;

	sx_must(m->exported, <=, m->count);
	if (m->exported == m->count)
		return -ENOBUFS;
	r = sx_v4l2_ioctl(m->exporter.fd, VIDIOC_EXPBUF, &e);
	if (r < 0)
		return r;
	m->exported++;
	return e.fd;
}

int sx_dmabuf_make(struct sx_dmabuf_maker *m, size_t bytes, struct sx_dmabuf *ret, struct sx_why *why)
{
	struct sx_dmabuf b = {.block.bytes = whole_pages(bytes)};

	sx_must(m->kind, !=, SX_DMABUF_NONE);
	b.fd = m->kind == SX_DMABUF_HEAP      ? from_heap(m, b.block.bytes)
	       : m->kind == SX_DMABUF_UDMABUF ? from_udmabuf(m, b.block.bytes)
					      : from_exporter(m);
	if (b.fd < 0) {
		sx_why_set(why, "%s: a buffer of %zu bytes for DMA: %s", m->name, b.block.bytes,
			   strerror(-b.fd));
		return b.fd;
	}
	b.block.memory = mmap(NULL, b.block.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, b.fd, 0);
	if (b.block.memory == MAP_FAILED) {
		int r = -errno;

		sx_why_set(why, "%s: its buffers cannot be mapped: %s", m->name, strerror(-r));
		close(b.fd);
		return r;
	}
	*ret = b;
	return 0;
}

void sx_dmabuf_finish(struct sx_dmabuf *b)
{
	if (b->fd < 0)
		return;
	sx_must(b->block.bytes, >, 0);
	munmap(b->block.memory, b->block.bytes);
	close(b->fd);
	*b = (struct sx_dmabuf){.fd = -1};
}

void sx_dmabuf_sync(int fd, bool begin)
{
	struct dma_buf_sync s = {.flags =
					 DMA_BUF_SYNC_READ | (begin ? DMA_BUF_SYNC_START : DMA_BUF_SYNC_END)};
	int r;

	do
		r = ioctl(fd, DMA_BUF_IOCTL_SYNC, &s);
	while (r < 0 && (errno == EINTR || errno == EAGAIN));
}
