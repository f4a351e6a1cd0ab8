/*
 * The buffers of one camera.
 *
 * Source:  the kernel's Video for Linux API, "Input/Output": streaming I/O with user pointers, DMA buffers,
 * memory mapping
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/v4l2/v4l2_queue.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/contract.h"
#include "capture/v4l2/v4l2_io.h"

/* 136 years; the sum of two such times fits into 64 bits of nanoseconds */
#define STAMP_MOST_S (INT64_C(1) << 32)
/* largest age of a time stamp that is accepted although the driver names no clock */
#define STAMP_OLDEST_NS (5 * SX_NS_PER_S)

/* A buffer request, and the plane that the multi-planar interface needs with it. */
struct request {
	struct v4l2_buffer b;
	struct v4l2_plane plane;
};

static void prepare_request(const struct sx_v4l2_queue *q, struct request *r)
{
	sx_must(q->memory, !=, SX_MEMORY_AUTO);
	memset(r, 0, sizeof(*r));
	r->b.type = q->device->type;
	r->b.memory = q->memory == SX_MEMORY_USERPTR  ? V4L2_MEMORY_USERPTR
		      : q->memory == SX_MEMORY_DMABUF ? V4L2_MEMORY_DMABUF
						      : V4L2_MEMORY_MMAP;
	if (q->device->mplane) {
		r->b.m.planes = &r->plane;
		r->b.length = 1;
	}
}

const char *sx_v4l2_memory_name(enum sx_source_memory memory)
{
	static const char *const names[] = {"auto", "userptr", "dmabuf", "mmap"};

	sx_must_index(memory, sizeof(names) / sizeof(names[0]));
	return names[memory];
}

static int queue_failed(const struct sx_v4l2_queue *q, int r, const char *what, struct sx_why *why)
{
	sx_why_set(why, "%s: %s: %s", q->device->path, what, strerror(-r));
	return r == -EINVAL ? -EIO : r; /* the request was valid, so the driver fails */
}

/* Returns the capabilities that the driver reports (Linux 4.20 and later); 0: not reported. */
static uint32_t capabilities(const struct sx_v4l2_queue *q)
{
	struct v4l2_requestbuffers ask = {.type = q->device->type, .memory = V4L2_MEMORY_MMAP};

	return sx_v4l2_ioctl(q->device->fd, VIDIOC_REQBUFS, &ask) < 0 ? 0 : ask.capabilities;
}

static int request_buffers(struct sx_v4l2_queue *q, int wanted, struct sx_why *why)
{
	const uint32_t can = capabilities(q);
	const uint32_t needs = q->memory == SX_MEMORY_USERPTR  ? V4L2_BUF_CAP_SUPPORTS_USERPTR
			       : q->memory == SX_MEMORY_DMABUF ? V4L2_BUF_CAP_SUPPORTS_DMABUF
							       : V4L2_BUF_CAP_SUPPORTS_MMAP;
	struct request kind;
	struct v4l2_requestbuffers ask = {.count = (uint32_t)wanted, .type = q->device->type};
	int r;

	sx_must(wanted, >=, SX_V4L2_BUFFERS_MIN);
	prepare_request(q, &kind);
	ask.memory = kind.b.memory;
	r = can && !(can & needs) ? -ENOTSUP : sx_v4l2_ioctl(q->device->fd, VIDIOC_REQBUFS, &ask);
	/* drivers that report no capabilities answer EINVAL for an unsupported kind of memory */
	if (r == -ENOTSUP || (r == -EINVAL && !can))
		return sx_why_fail(-ENOTSUP, why, "%s: its driver does not take %s buffers", q->device->path,
				   sx_v4l2_memory_name(q->memory));
	if (r < 0)
		return queue_failed(q, r, "VIDIOC_REQBUFS", why);
	if (ask.count < SX_V4L2_BUFFERS_MIN)
		return sx_why_fail(-EIO, why, "%s: %u buffers instead of %d", q->device->path, ask.count,
				   wanted);
	q->count = ask.count > SX_V4L2_BUFFERS_MAX ? SX_V4L2_BUFFERS_MAX : (int)ask.count;
	return 0;
}

/* Allocates all buffers in one block, each of whole pages. */
static int take_user_memory(struct sx_v4l2_queue *q, struct sx_why *why)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t each = (q->device->image_bytes + page - 1) & ~(page - 1);

	sx_must_be(!q->block.memory);
	q->block.bytes = each * (size_t)q->count;
	q->block.memory = aligned_alloc(page, q->block.bytes);
	if (!q->block.memory)
		return sx_why_fail(-ENOMEM, why, "%s: no memory for its buffers", q->device->path);
	memset(q->block.memory, 0, q->block.bytes);
	for (int i = 0; i < q->count; i++) {
		q->buffers[i].data = (char *)q->block.memory + (size_t)i * each;
		q->buffers[i].bytes = each;
	}
	return 0;
}

static int take_dma_memory(struct sx_v4l2_queue *q, struct sx_dmabuf_maker *maker, struct sx_why *why)
{
	sx_must(q->count, <=, SX_V4L2_BUFFERS_MAX);
	for (int i = 0; i < q->count; i++) {
		struct sx_v4l2_buffer *b = &q->buffers[i];
		int r = sx_dmabuf_make(maker, q->device->image_bytes, &b->dmabuf, why);

		if (r == -ENOTTY || r == -EINVAL)
			return -ENOTSUP; /* an exporter that cannot export now never will */
		if (r < 0)
			return r;
		b->data = b->dmabuf.block.memory;
		b->bytes = b->dmabuf.block.bytes;
	}
	return 0;
}

static int map_driver_memory(struct sx_v4l2_queue *q, struct sx_why *why)
{
	for (int i = 0; i < q->count; i++) {
		struct sx_v4l2_buffer *b = &q->buffers[i];
		struct request r;
		int error;

		sx_must_be(!b->data);
		prepare_request(q, &r);
		r.b.index = (uint32_t)i;
		error = sx_v4l2_ioctl(q->device->fd, VIDIOC_QUERYBUF, &r.b);
		if (error < 0)
			return queue_failed(q, error, "VIDIOC_QUERYBUF", why);
		b->bytes = q->device->mplane ? r.plane.length : r.b.length;
		b->data = sx_v4l2_mmap(q->device->fd, b->bytes,
				       q->device->mplane ? r.plane.m.mem_offset : r.b.m.offset);
		if (!b->data)
			return queue_failed(q, -errno, "mapping a buffer", why);
	}
	return 0;
}

/* Gives a buffer to the driver. Returns the plain errno of VIDIOC_QBUF. */
static int queue_buffer(struct sx_v4l2_queue *q, int index)
{
	struct sx_v4l2_buffer *b = &q->buffers[index];
	struct request r;
	int error;

	sx_must_index(index, q->count);
	sx_must_be(!b->queued);
	prepare_request(q, &r);
	r.b.index = (uint32_t)index;
	if (q->memory == SX_MEMORY_USERPTR && q->device->mplane) {
		r.plane.m.userptr = (unsigned long)b->data;
		r.plane.length = (uint32_t)b->bytes;
	} else if (q->memory == SX_MEMORY_USERPTR) {
		r.b.m.userptr = (unsigned long)b->data;
		r.b.length = (uint32_t)b->bytes;
	} else if (q->memory == SX_MEMORY_DMABUF && q->device->mplane) {
		r.plane.m.fd = b->dmabuf.fd;
		r.plane.length = (uint32_t)b->bytes;
	} else if (q->memory == SX_MEMORY_DMABUF) {
		r.b.m.fd = b->dmabuf.fd;
		r.b.length = (uint32_t)b->bytes;
	}
	if (b->dmabuf.fd >= 0 && q->streaming)
		sx_dmabuf_sync(b->dmabuf.fd, false);
	error = sx_v4l2_ioctl(q->device->fd, VIDIOC_QBUF, &r.b);
	b->queued = error >= 0;
	return error;
}

/*
 * Gives the first buffer to the driver. Drivers that need contiguous memory report it only here, and another
 * kind of memory is tried. Other errors may be temporary.
 */
static int queue_first_buffer(struct sx_v4l2_queue *q, int index, struct sx_why *why)
{
	int r = queue_buffer(q, index);
	bool refused = r == -EINVAL || r == -EFAULT || r == -ENOTTY || r == -ENOTSUP;

	if (r == 0)
		return 0;
	r = queue_failed(q, r, "VIDIOC_QBUF", why);
	return refused && q->memory != SX_MEMORY_MMAP ? -ENOTSUP : r;
}

int sx_v4l2_queue_init(struct sx_v4l2_queue *q, struct sx_v4l2_device *d, enum sx_source_memory memory,
		       int wanted, struct sx_dmabuf_maker *maker, struct sx_why *why)
{
	int r;

	sx_must(memory, !=, SX_MEMORY_AUTO);
	*q = (struct sx_v4l2_queue){.device = d, .memory = memory};
	for (int i = 0; i < SX_V4L2_BUFFERS_MAX; i++)
		q->buffers[i].dmabuf.fd = -1;
	r = request_buffers(q, wanted, why);
	if (r == 0 && memory == SX_MEMORY_USERPTR)
		r = take_user_memory(q, why);
	else if (r == 0 && memory == SX_MEMORY_DMABUF)
		r = take_dma_memory(q, maker, why);
	else if (r == 0)
		r = map_driver_memory(q, why);
	for (int i = 0; r == 0 && i < q->count; i++)
		r = queue_first_buffer(q, i, why);
	if (r < 0)
		sx_v4l2_queue_finish(q);
	return r;
}

void sx_v4l2_queue_finish(struct sx_v4l2_queue *q)
{
	struct v4l2_requestbuffers none = {0};
	struct request kind;

	if (!q->device)
		return;
	sx_must(q->count, <=, SX_V4L2_BUFFERS_MAX);
	prepare_request(q, &kind);
	none.type = kind.b.type;
	none.memory = kind.b.memory;
	if (q->streaming)
		sx_v4l2_ioctl(q->device->fd, VIDIOC_STREAMOFF, &none.type);
	for (int i = 0; i < q->count; i++) {
		if (q->memory == SX_MEMORY_MMAP && q->buffers[i].data)
			sx_v4l2_munmap(q->buffers[i].data, q->buffers[i].bytes);
		sx_dmabuf_finish(&q->buffers[i].dmabuf);
	}
	/* the result does not matter: a removed device has lost its buffers anyway */
	sx_v4l2_ioctl(q->device->fd, VIDIOC_REQBUFS, &none);
	free(q->block.memory);
	*q = (struct sx_v4l2_queue){0};
}

int sx_v4l2_queue_start(struct sx_v4l2_queue *q, struct sx_why *why)
{
	int type = (int)q->device->type;
	int r = sx_v4l2_ioctl(q->device->fd, VIDIOC_STREAMON, &type);

	sx_must_be(!q->streaming);
	if (r == -ENOSPC)
		return sx_why_fail(
			r, why,
			"%s: the USB bus has no bandwidth left for this camera (VIDIOC_STREAMON: ENOSPC): "
			"put it on another port, away from the other camera's hub, or take "
			"format = mjpg, a smaller size, or fewer fps",
			q->device->path);
	if (r < 0)
		return queue_failed(q, r, "VIDIOC_STREAMON", why);
	q->streaming = true;
	return 0;
}

int sx_v4l2_queue_put(struct sx_v4l2_queue *q, int index, struct sx_why *why)
{
	int r = queue_buffer(q, index);

	return r < 0 ? queue_failed(q, r, "VIDIOC_QBUF", why) : 0;
}

static int64_t stamp_part(int64_t value)
{
	return value < 0 ? 0 : value > STAMP_MOST_S ? STAMP_MOST_S : value;
}

/*
 * Returns the time stamp in ns, limited to 0 .. STAMP_MOST_S seconds. A stamp above the limit is a driver's
 * mistake and pairs only with another such stamp.
 */
static int64_t stamp_ns(const struct v4l2_buffer *b)
{
	const int64_t most_ns = STAMP_MOST_S * SX_NS_PER_S;
	const int64_t ns =
		stamp_part(b->timestamp.tv_sec) * SX_NS_PER_S + stamp_part(b->timestamp.tv_usec) * 1000;

	return ns > most_ns ? most_ns : ns;
}

/*
 * Returns true if the stamp is of the monotonic clock. Some drivers use it without naming it (v4l2loopback
 * before 0.13). A stamp within the last seconds is accepted, because no other clock shows such a time by
 * chance.
 */
static bool is_monotonic(const struct v4l2_buffer *b, int64_t ns)
{
	int64_t now_ns;

	switch (b->flags & V4L2_BUF_FLAG_TIMESTAMP_MASK) {
	case V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC:
		return true;
	case V4L2_BUF_FLAG_TIMESTAMP_UNKNOWN:
		now_ns = sx_now_ns();
		return ns > 0 && ns <= now_ns && now_ns - ns < STAMP_OLDEST_NS;
	default:
		return false;
	}
}

/*
 * Reads the time stamp. Monotonic stamps are used unchanged. All others, including copied ones, do not tell
 * when the image was taken.
 */
static void read_stamp(const struct v4l2_buffer *b, struct sx_v4l2_filled *f)
{
	f->ns = stamp_ns(b);
	if (!is_monotonic(b, f->ns)) {
		f->ns = sx_now_ns();
		f->clock = STIXEL_CLOCK_UNKNOWN;
		f->stamp = STIXEL_STAMP_SOFTWARE;
		return;
	}
	f->clock = STIXEL_CLOCK_MONOTONIC;
	f->stamp = (b->flags & V4L2_BUF_FLAG_TSTAMP_SRC_MASK) == V4L2_BUF_FLAG_TSTAMP_SRC_SOE
			   ? STIXEL_STAMP_EXPOSURE_START
			   : STIXEL_STAMP_FRAME_END;
}

int sx_v4l2_queue_take(struct sx_v4l2_queue *q, struct sx_v4l2_filled *ret, struct sx_why *why)
{
	struct request r;
	bool ours;
	int error;

	sx_must_be(q->streaming);
	prepare_request(q, &r);
	error = sx_v4l2_ioctl(q->device->fd, VIDIOC_DQBUF, &r.b);
	if (error == -EAGAIN)
		return 0;
	if (error < 0)
		return queue_failed(q, error, "VIDIOC_DQBUF", why);
	ours = r.b.index < (uint32_t)q->count && !q->buffers[r.b.index].queued;
	if (r.b.index >= (uint32_t)q->count || (ours && q->memory != SX_MEMORY_MMAP))
		return sx_why_fail(-EPROTO, why, "%s: the driver gave back buffer %u, which it does not have",
				   q->device->path, r.b.index);
	q->buffers[r.b.index].queued = false;
	ret->index = (int)r.b.index;
	ret->sequence = r.b.sequence;
	/* the multi-planar interface also counts the bytes before the image */
	ret->offset = q->device->mplane ? r.plane.data_offset : 0;
	ret->bytes = q->device->mplane ? r.plane.bytesused : r.b.bytesused;
	ret->bytes -= ret->offset < ret->bytes ? ret->offset : ret->bytes;
	ret->damaged = r.b.flags & V4L2_BUF_FLAG_ERROR;
	read_stamp(&r.b, ret);
	if (q->buffers[r.b.index].dmabuf.fd >= 0)
		sx_dmabuf_sync(q->buffers[r.b.index].dmabuf.fd, true);
	return ours ? -EALREADY : 1;
}
