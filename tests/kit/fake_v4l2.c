/*
 * Fake V4L2 drivers: buffers, streaming and answers to ioctls.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/kit/fake_v4l2_priv.h"

void fake_init(struct fake_camera *c, const char *path, const struct fake_mode *modes)
{
	*c = (struct fake_camera){
		.path = path, .most_buffers = FAKE_BUFFERS, .owner = -1, .fps = modes[0].fps};
	while (modes[c->mode_count].fourcc) {
		c->modes[c->mode_count] = modes[c->mode_count];
		c->mode_count++;
	}
	c->says = V4L2_BUF_CAP_SUPPORTS_MMAP | V4L2_BUF_CAP_SUPPORTS_USERPTR | V4L2_BUF_CAP_SUPPORTS_DMABUF;
	c->stamps = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC | V4L2_BUF_FLAG_TSTAMP_SRC_SOE;
	c->format.fmt.pix.pixelformat = modes[0].fourcc;
	c->format.fmt.pix.width = (uint32_t)modes[0].width;
	c->format.fmt.pix.height = (uint32_t)modes[0].height;
}

void fake_forget_buffers(struct fake_camera *c)
{
	for (uint32_t i = 0; i < FAKE_BUFFERS; i++) {
		struct fake_buffer *b = &c->buffers[i];

		if (b->memory == V4L2_MEMORY_MMAP && b->mapped)
			fake_abort("%s: buffer %u is given up while it is mapped", c->path, i);
		if (b->memory == V4L2_MEMORY_MMAP && b->data)
			fake_host_give_back(c, b);
		if (b->memory == V4L2_MEMORY_DMABUF && b->data)
			munmap(b->data, b->length);
		*b = (struct fake_buffer){0};
	}
	c->count = c->queued = c->filled = 0;
	c->streaming = false;
	c->owner = -1;
}

struct fake_camera *fake_add_control(struct fake_camera *c, const struct fake_control *control)
{
	if (c->control_count == FAKE_CONTROLS)
		fake_abort("too many controls");
	c->controls[c->control_count++] = *control;
	return c;
}

struct fake_control *fake_control(struct fake_camera *c, uint32_t id)
{
	for (int i = 0; i < c->control_count; i++)
		if (c->controls[i].id == id)
			return &c->controls[i];
	return NULL;
}

void fake_unplug(struct fake_camera *c)
{
	c->gone = true;
}

void fake_plug(struct fake_camera *c)
{
	c->gone = c->broken = false;
	c->events = 0;
}

void fake_break(struct fake_camera *c)
{
	c->broken = true;
}

void fake_change_source(struct fake_camera *c)
{
	c->events += c->subscriptions > 0;
}

uint8_t fake_pixel(int id, int pattern, size_t byte, int y)
{
	return (uint8_t)((size_t)(id * 101 + pattern * 37 + y * 3) + byte);
}

bool fake_shows(const struct sx_image *img, int id, int pattern, int x, int y)
{
	size_t pixel = sx_pixel_bytes(img->pixel), row = (size_t)img->width * pixel;

	for (int v = 0; v < img->height; v++)
		for (size_t b = 0; b < row; b++) {
			int want = fake_pixel(id, pattern, (size_t)x * pixel + b, y + v);
			int got = ((const uint8_t *)sx_image_row(img, v))[b];

			if (want == got)
				continue;
			fprintf(stderr, "# picture %d of camera %d: byte %zu of row %d: want %d, got %d\n",
				pattern, id, b, v, want, got);
			return false;
		}
	return true;
}

/* --- buffers --- */

static int request_buffers(struct fake_camera *c, int fd, struct v4l2_requestbuffers *r)
{
	if (r->type != fake_type(c) || r->memory < V4L2_MEMORY_MMAP || r->memory > V4L2_MEMORY_DMABUF)
		fake_abort("%s: REQBUFS of type %u, memory %u", c->path, r->type, r->memory);
	if (c->refuses[r->memory])
		return EINVAL;
	if (c->owner >= 0 && c->owner != fd)
		return EBUSY;
	if (c->streaming)
		return EBUSY;
	fake_forget_buffers(c);
	r->capabilities = c->says;
	if (r->count == 0)
		return 0;
	r->count = r->count < c->least_buffers ? c->least_buffers : r->count;
	r->count = r->count > c->most_buffers ? c->most_buffers : r->count;
	c->count = r->count;
	c->memory = r->memory;
	c->owner = fd;
	for (uint32_t i = 0; i < c->count; i++) {
		struct fake_buffer *b = &c->buffers[i];

		b->memory = c->memory;
		b->length = c->buffer_bytes ? c->buffer_bytes : fake_image_bytes(c);
		b->dmabuf = -1;
		if (c->memory == V4L2_MEMORY_MMAP)
			fake_host_take(c, i);
	}
	return 0;
}

static struct fake_buffer *checked_buffer(struct fake_camera *c, int fd, const struct v4l2_buffer *a,
					  const char *what)
{
	if (c->owner != fd)
		fake_abort("%s: %s without buffers", c->path, what);
	if (a->index >= c->count || a->type != fake_type(c) || a->memory != c->memory)
		fake_abort("%s: %s of buffer %u, type %u, memory %u; there are %u of memory %u", c->path,
			   what, a->index, a->type, a->memory, c->count, c->memory);
	if (c->mplane && (!a->m.planes || a->length != 1))
		fake_abort("%s: %s without its plane", c->path, what);
	return &c->buffers[a->index];
}

static int query_buffer(struct fake_camera *c, int fd, struct v4l2_buffer *a)
{
	struct fake_buffer *b = checked_buffer(c, fd, a, "QUERYBUF");

	if (c->mplane) {
		a->m.planes[0].length = (uint32_t)b->length;
		a->m.planes[0].m.mem_offset = (a->index + 1) * FAKE_OFFSET_STEP;
	} else {
		a->length = (uint32_t)b->length;
		a->m.offset = (a->index + 1) * FAKE_OFFSET_STEP;
	}
	return 0;
}

/* Takes the memory of a user pointer or of a DMA buffer, in the size that the program states. */
static void take_memory(struct fake_camera *c, struct fake_buffer *b, const struct v4l2_buffer *a)
{
	size_t length = c->mplane ? a->m.planes[0].length : a->length;
	int dmabuf = c->mplane ? a->m.planes[0].m.fd : a->m.fd;
	unsigned long user = c->mplane ? a->m.planes[0].m.userptr : a->m.userptr;
	struct stat status;

	if (length < fake_image_bytes(c))
		fake_abort("%s: buffer %u has %zu bytes, pictures have %u", c->path, a->index, length,
			   fake_image_bytes(c));
	if (b->memory == V4L2_MEMORY_USERPTR) {
		if (user % 4096 || (b->first_user && b->first_user != (void *)user))
			fake_abort("%s: buffer %u was at %p, is at %#lx", c->path, a->index, b->first_user,
				   user);
		b->data = (void *)user;
		b->first_user = b->data;
		memset(b->data, 0xdb, length); /* write to all of it, so that ASan checks the memory */
		return;
	}
	if (fstat(dmabuf, &status) < 0 || (size_t)status.st_size < length)
		fake_abort("%s: buffer %u: descriptor %d has not %zu bytes", c->path, a->index, dmabuf,
			   length);
	if (b->dmabuf == dmabuf)
		return;
	if (b->dmabuf >= 0)
		fake_abort("%s: buffer %u is another DMA buffer than before", c->path, a->index);
	b->data = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, dmabuf, 0);
	b->length = length;
	b->dmabuf = dmabuf;
	if (b->data == MAP_FAILED)
		fake_abort("%s: buffer %u cannot be mapped", c->path, a->index);
}

static int queue_buffer(struct fake_camera *c, int fd, const struct v4l2_buffer *a)
{
	struct fake_buffer *b = checked_buffer(c, fd, a, "QBUF");

	if (b->state != FAKE_OURS && c->lied)
		/* the kernel refuses it, too: the fake has given the program a wrong buffer number */
		return EINVAL;
	if (b->state != FAKE_OURS)
		fake_abort("%s: buffer %u is queued twice", c->path, a->index);
	if (c->refuses_queued == c->memory)
		return EFAULT;
	if (b->memory != V4L2_MEMORY_MMAP)
		take_memory(c, b, a);
	b->state = FAKE_QUEUED;
	c->fifo[c->queued++] = a->index;
	return 0;
}

static int take_filled(struct fake_camera *c, int fd, struct v4l2_buffer *a)
{
	struct v4l2_plane *plane = c->mplane ? a->m.planes : NULL;
	struct fake_buffer *b;

	if (c->owner != fd || !c->streaming)
		fake_abort("%s: DQBUF while nothing streams", c->path);
	if (a->type != fake_type(c) || a->memory != c->memory || (c->mplane && (!plane || a->length != 1)))
		fake_abort("%s: DQBUF of type %u, memory %u", c->path, a->type, a->memory);
	if (!c->filled)
		return EAGAIN;
	fake_host_taken(c, 1);
	b = &c->buffers[c->filled_fifo[0]];
	memmove(c->filled_fifo, c->filled_fifo + 1, --c->filled * sizeof(c->filled_fifo[0]));
	b->state = FAKE_OURS;
	*a = b->answer;
	if (plane) {
		*plane = b->plane;
		a->m.planes = plane;
	}
	return 0;
}

static int do_stream(struct fake_camera *c, int fd, bool on, int type)
{
	if (c->owner != fd || (uint32_t)type != fake_type(c))
		fake_abort("%s: STREAM%s without buffers", c->path, on ? "ON" : "OFF");
	if (on && !c->queued)
		fake_abort("%s: STREAMON with no buffer queued", c->path);
	c->streaming = on;
	c->sequence = 0;
	if (on)
		return 0;
	fake_host_taken(c, c->filled);
	c->queued = c->filled = 0;
	for (uint32_t i = 0; i < c->count; i++)
		c->buffers[i].state = FAKE_OURS;
	return 0;
}

static void answer(const struct fake_camera *c, struct fake_buffer *b, uint32_t index,
		   const struct fake_frame *f, uint32_t bytes)
{
	b->answer = (struct v4l2_buffer){
		.index = index,
		.type = fake_type(c),
		.memory = c->memory,
		.sequence = c->sequence,
		.flags = c->stamps | (f->error ? V4L2_BUF_FLAG_ERROR : 0),
		.timestamp = {.tv_sec = f->ns / SX_NS_PER_S, .tv_usec = f->ns % SX_NS_PER_S / 1000},
	};
	if (f->huge)
		bytes = (uint32_t)b->length + 4097;
	if (c->mplane) {
		b->plane = (struct v4l2_plane){.bytesused = bytes + c->data_offset,
					       .length = (uint32_t)b->length,
					       .data_offset = c->data_offset};
		if (f->padded_count)
			b->plane.bytesused = c->data_offset / 2;
		b->answer.length = 1;
	} else {
		b->answer.bytesused = bytes;
		b->answer.length = (uint32_t)b->length;
	}
}

static void draw(const struct fake_camera *c, struct fake_buffer *b, const struct fake_frame *f)
{
	uint8_t *to = (uint8_t *)b->data + c->data_offset;
	size_t row = fake_row_bytes(c), pitch = row + c->wider_by;
	uint8_t ramp[512];

	if (f->tag) {
		memcpy(to, f->tag, f->tag_bytes);
		return;
	}
	memset(b->data, 0xee, fake_image_bytes(c));
	if (f->data && f->bytes > fake_image_bytes(c))
		fake_abort("%s: %zu bytes do not fit", c->path, f->bytes);
	if (f->data) {
		memcpy(to, f->data, f->bytes);
		return;
	}
	for (size_t i = 0; i < sizeof(ramp); i++)
		ramp[i] = (uint8_t)i;
	for (uint32_t y = 0; y < c->format.fmt.pix.height; y++)
		/* in steps of 256 bytes, because fake_pixel() repeats after 256 */
		for (size_t i = 0; i < row; i += 256)
			memcpy(to + y * pitch + i, ramp + fake_pixel(c->id, f->pattern, i, (int)y),
			       row - i < 256 ? row - i : 256);
}

static uint32_t buffer_of_program(const struct fake_camera *c)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (c->buffers[i].state == FAKE_OURS)
			return i;
	fake_abort("%s: all buffers are the driver's", c->path);
}

bool fake_fill(struct fake_camera *c, const struct fake_frame *f)
{
	uint32_t index, bytes = f->data ? (uint32_t)f->bytes : fake_image_bytes(c) - c->data_offset;
	struct fake_buffer *b;

	if (!c->streaming)
		fake_abort("%s: a picture while nothing streams", c->path);
	c->sequence += f->lost;
	if (!c->queued) {
		c->sequence++;
		return false;
	}
	index = c->fifo[0];
	memmove(c->fifo, c->fifo + 1, --c->queued * sizeof(c->fifo[0]));
	b = &c->buffers[index];
	draw(c, f->other_index == 2 ? &c->buffers[buffer_of_program(c)] : b, f);
	answer(c, b, index, f, bytes - f->missing);
	c->lied |= f->other_index != 0;
	if (f->other_index)
		b->answer.index = f->other_index == 1 ? c->count : buffer_of_program(c);
	c->sequence++;
	b->state = FAKE_FILLED;
	c->filled_fifo[c->filled++] = index;
	fake_host_filled(c);
	return true;
}

/* --- answers to ioctls --- */

static int export_buffer(struct fake_camera *c, int fd, struct v4l2_exportbuffer *e)
{
	if (!c->exporter)
		return ENOTTY;
	if (c->owner != fd || e->index >= c->count || c->memory != V4L2_MEMORY_MMAP)
		fake_abort("%s: EXPBUF of buffer %u", c->path, e->index);
	e->fd = fcntl(c->buffers[e->index].dmabuf, F_DUPFD_CLOEXEC, 3);
	return e->fd < 0 ? errno : 0;
}

static int capability(const struct fake_camera *c, struct v4l2_capability *a)
{
	uint32_t can = V4L2_CAP_STREAMING;

	can |= c->no_capture ? V4L2_CAP_VIDEO_OUTPUT
	       : c->mplane   ? V4L2_CAP_VIDEO_CAPTURE_MPLANE
			     : V4L2_CAP_VIDEO_CAPTURE;
	snprintf((char *)a->card, sizeof(a->card), "Fake %d", c->id);
	snprintf((char *)a->driver, sizeof(a->driver), "fake");
	snprintf((char *)a->bus_info, sizeof(a->bus_info), "made-up:%d", c->id);
	a->capabilities = c->no_device_caps ? can : V4L2_CAP_DEVICE_CAPS | V4L2_CAP_VIDEO_OUTPUT;
	a->device_caps = c->no_device_caps ? 0 : can;
	return 0;
}

static int take_event(struct fake_camera *c, struct v4l2_event *e)
{
	if (!c->events)
		return ENOENT;
	c->events--;
	e->type = V4L2_EVENT_SOURCE_CHANGE;
	return 0;
}

int fake_answer(struct fake_camera *c, int fd, unsigned long request, void *argument)
{
	switch (request) {
	case VIDIOC_QUERYCAP:
		return capability(c, argument);
	case VIDIOC_ENUM_FMT:
		return fake_list_formats(c, argument);
	case VIDIOC_ENUM_FRAMESIZES:
		return fake_list_sizes(c, argument);
	case VIDIOC_ENUM_FRAMEINTERVALS:
		return fake_list_rates(c, argument);
	case VIDIOC_G_FMT:
	case VIDIOC_S_FMT:
	case VIDIOC_TRY_FMT:
		return fake_do_format(c, request, argument);
	case VIDIOC_G_PARM:
	case VIDIOC_S_PARM:
		return fake_do_rate(c, request, argument);
	case VIDIOC_QUERY_EXT_CTRL:
		return fake_query_control(c, argument);
	case VIDIOC_S_EXT_CTRLS:
		return fake_set_controls(c, argument);
	case VIDIOC_G_EXT_CTRLS:
		return fake_get_controls(c, argument);
	case VIDIOC_REQBUFS:
		return request_buffers(c, fd, argument);
	case VIDIOC_QUERYBUF:
		return query_buffer(c, fd, argument);
	case VIDIOC_QBUF:
		return queue_buffer(c, fd, argument);
	case VIDIOC_DQBUF:
		return take_filled(c, fd, argument);
	case VIDIOC_EXPBUF:
		return export_buffer(c, fd, argument);
	case VIDIOC_STREAMON:
	case VIDIOC_STREAMOFF:
		return do_stream(c, fd, request == VIDIOC_STREAMON, *(const int *)argument);
	case VIDIOC_SUBSCRIBE_EVENT:
		c->subscriptions++;
		return 0;
	case VIDIOC_DQEVENT:
		return take_event(c, argument);
	}
	fake_abort("%s: ioctl %#lx is not known", c->path, request);
}
