/*
 * Two V4L2 drivers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/simulate/camera.h"

#include <errno.h>
#include <linux/videodev2.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/simulate/world.h"
#include "tests/simulate/wrap.h"

#define BUFFER_BYTES 16384 /* mapped ones, at most */
#define OFFSET_STEP 65536u

uint64_t camera_tag_sum(const struct camera_tag *t)
{
	return (t->magic ^ t->side << 1 ^ t->shot << 8 ^ (uint64_t)t->ns) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint32_t image_bytes(const struct camera *c)
{
	return (uint32_t)(c->width * c->height);
}

static struct camera *camera_of(const struct sim_fd *f)
{
	return &world->camera[f->camera];
}

static bool is_gone(const struct sim_fd *f)
{
	return f->generation != camera_of(f)->generation || !camera_of(f)->present;
}

static void tell(const struct camera *c)
{
	for (int i = 0; i < sim->fds; i++)
		if (sim->fd[i].kind == SIM_CAMERA && sim->fd[i].camera == c->side)
			sim_fd_changed(&sim->fd[i]);
}

uint32_t camera_events(const struct sim_fd *f)
{
	const struct camera *c = camera_of(f);

	if (is_gone(f))
		return EPOLLERR | EPOLLHUP;
	return (c->filled_count ? EPOLLIN : 0) | (c->event ? EPOLLPRI : 0);
}

/* ---- taking images ---- */

static int64_t jump(void)
{
	return sim_once_in(2) ? sim_between(-50 * SIM_MS, 50 * SIM_MS) : sim_between(-6 * SIM_S, 6 * SIM_S);
}

static void fill(struct camera *c, uint64_t shot, int64_t ns)
{
	const struct camera_rates *r = &world->rates;
	struct camera_tag tag = {CAMERA_TAG, (uint64_t)c->side, shot, ns, 0};
	struct camera_buffer *b;
	uint32_t index;

	if (!c->queued || sim_once_in(r->lost)) {
		c->sequence++;
		return;
	}
	index = c->queue[0];
	memmove(c->queue, c->queue + 1, (size_t)--c->queued * sizeof(c->queue[0]));
	b = &c->buffers[index];
	tag.sum = camera_tag_sum(&tag);
	memcpy(b->user, &tag, sizeof(tag));
	b->bytes = sim_once_in(r->shortened) ? (uint32_t)sim_below(image_bytes(c)) : image_bytes(c);
	b->flags = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC | (sim_once_in(r->damaged) ? V4L2_BUF_FLAG_ERROR : 0);
	b->stamp_ns = sim_once_in(r->jumped) ? ns + jump() : ns;
	b->sequence = c->sequence;
	b->state = CAMERA_FILLED;
	c->filled[c->filled_count++] = index;
	sim_note("image", (int64_t)shot);
	if (!sim_once_in(r->duplicated))
		c->sequence++;
	sim_fd_changed(sim_fd(c->owner)); /* nobody else sleeps for an image */
}

static void shoot(void *user)
{
	struct camera *c = user;
	const struct camera_rates *r = &world->rates;
	const uint64_t shot = c->shot;
	const int64_t ns = c->shot_ns;
	int64_t late = 0;

	c->shot++;
	c->shot_ns += c->period_ns;
	if (sim_once_in(r->late))
		late = sim_between(0, c->period_ns);
	if (sim_once_in(r->very_late)) /* of images seconds apart by less than it takes to settle */
		late = sim_between(0, (sim->lasting ? 4 : 20) * c->period_ns);
	sim_arm(&c->timer, c->shot_ns + CAMERA_TRANSFER_NS + late + sim_between(0, 200000));
	if (!c->present || !c->streaming || c->silent)
		return;
	if (sim_once_in(r->swapped) && !c->held) {
		c->held = true;
		c->held_shot = shot;
		c->held_ns = ns;
		return;
	}
	fill(c, shot, ns);
	if (c->held) {
		c->held = false;
		fill(c, c->held_shot, c->held_ns);
	}
	if (sim_once_in(r->duplicated))
		fill(c, shot, ns);
}

void camera_init(struct camera camera[2], int64_t period_ns)
{
	static const char *const paths[] = {"/dev/simulated-left", "/dev/simulated-right"};

	for (int side = 0; side < 2; side++) {
		struct camera *c = &camera[side];

		*c = (struct camera){.path = paths[side], .side = side, .period_ns = period_ns, .owner = -1};
		c->timer = (struct sim_timer){SIM_NEVER, shoot, c, 0};
		c->shot_ns = sim->now + period_ns + side * sim_between(0, 300000);
		sim_arm(&c->timer, c->shot_ns + CAMERA_TRANSFER_NS);
	}
}

static void forget_buffers(struct camera *c)
{
	c->queued = c->filled_count = 0;
	c->held = c->streaming = false;
	c->count = 0;
	c->owner = -1;
}

void camera_plug(struct camera *c, bool present, int width, int height)
{
	sim_mark(present ? "plugged" : "unplugged", c->side);
	if (c->present) {
		c->present = false;
		c->generation++;
		tell(c);
		forget_buffers(c);
	}
	c->present = present;
	c->event = false;
	c->width = width;
	c->height = height;
	for (size_t i = 0; i < sizeof(sim->process) / sizeof(sim->process[0]); i++)
		if (sim->process[i].alive && sim->process[i].daemon)
			sim_fd_inotify(&sim->process[i]);
}

/* ---- the calls ---- */

int camera_open(const char *path)
{
	for (int side = 0; side < 2; side++) {
		struct camera *c = &world->camera[side];
		int fd;

		if (strcmp(path, c->path) != 0)
			continue;
		if (!c->present)
			return -ENOENT;
		if (sim_once_in(world->rates.refused))
			return sim_once_in(2) ? -EBUSY : -EACCES;
		fd = sim_fd_make(SIM_CAMERA);
		if (fd < 0)
			return -errno;
		sim_fd(fd)->camera = side;
		sim_fd(fd)->generation = c->generation;
		return fd;
	}
	return -ENXIO;
}

void camera_close(const struct sim_fd *f, int fd)
{
	struct camera *c = camera_of(f);

	if (c->owner != fd)
		return;
	SIM_MUST(!c->streaming || !f->process->alive || is_gone(f), "%s is closed while it streams", c->path);
	forget_buffers(c);
}

static int set_format(const struct camera *c, unsigned long request, struct v4l2_format *f)
{
	f->fmt.pix = (struct v4l2_pix_format){.width = (uint32_t)c->width,
					      .height = (uint32_t)c->height,
					      .pixelformat = V4L2_PIX_FMT_GREY,
					      .field = V4L2_FIELD_NONE,
					      .bytesperline = (uint32_t)c->width,
					      .sizeimage = image_bytes(c)};
	return 0;
}

static int request_buffers(struct camera *c, int fd, struct v4l2_requestbuffers *a)
{
	a->capabilities = V4L2_BUF_CAP_SUPPORTS_MMAP | (world->userptr ? V4L2_BUF_CAP_SUPPORTS_USERPTR : 0);
	if (c->owner >= 0 && c->owner != fd)
		return EBUSY;
	for (uint32_t i = 0; i < c->count; i++)
		SIM_MUST(!c->buffers[i].mapped, "%s: buffer %u goes while it is mapped", c->path, i);
	if (c->streaming)
		return EBUSY;
	if (a->memory != V4L2_MEMORY_MMAP && !(a->memory == V4L2_MEMORY_USERPTR && world->userptr))
		return EINVAL;
	forget_buffers(c);
	if (!a->count)
		return 0;
	a->count = a->count > CAMERA_BUFFERS ? CAMERA_BUFFERS : a->count;
	c->owner = fd;
	c->count = a->count;
	c->memory = a->memory;
	c->taken = c->gaps = 0;
	memset(c->buffers, 0, sizeof(c->buffers));
	for (uint32_t i = 0; i < c->count; i++)
		if (c->memory == V4L2_MEMORY_MMAP)
			c->buffers[i].user = world->camera_memory[c->side][i];
	return 0;
}

static int queue_buffer(struct camera *c, int fd, const struct v4l2_buffer *a)
{
	struct camera_buffer *b = &c->buffers[a->index];

	SIM_MUST(c->owner == fd && a->index < c->count && a->memory == c->memory,
		 "%s: QBUF of buffer %u of %u", c->path, a->index, c->count);
	SIM_MUST(b->state == CAMERA_OURS, "%s: buffer %u is queued twice", c->path, a->index);
	if (c->memory == V4L2_MEMORY_USERPTR) {
		SIM_MUST(!b->user || b->user == (void *)a->m.userptr, "%s: buffer %u has moved", c->path,
			 a->index);
		b->user = (void *)a->m.userptr;
	}
	world_buffer_queued(b->user);
	b->state = CAMERA_QUEUED;
	c->queue[c->queued++] = a->index;
	return 0;
}

static int take_filled(struct camera *c, int fd, struct v4l2_buffer *a)
{
	struct camera_buffer *b;
	uint32_t index;

	SIM_MUST(c->owner == fd && c->streaming, "%s: DQBUF while nothing streams", c->path);
	if (!c->filled_count)
		return EAGAIN;
	index = c->filled[0];
	b = &c->buffers[index];
	memmove(c->filled, c->filled + 1, (size_t)--c->filled_count * sizeof(c->filled[0]));
	b->state = CAMERA_OURS;
	if (c->taken++ && b->sequence > c->last && sim->broken != BREAK_GAPS)
		c->gaps += b->sequence - c->last - 1;
	c->last = b->sequence;
	a->index = index;
	a->bytesused = b->bytes;
	a->flags = b->flags;
	a->sequence = (uint32_t)b->sequence;
	a->timestamp.tv_sec = b->stamp_ns / SIM_S;
	a->timestamp.tv_usec = b->stamp_ns % SIM_S / 1000;
	return 0;
}

static int do_stream(struct camera *c, int fd, bool on)
{
	SIM_MUST(c->owner == fd, "%s: STREAM%s without buffers", c->path, on ? "ON" : "OFF");
	c->streaming = on;
	c->sequence = age_sequence();
	c->held = false;
	if (on)
		return 0;
	c->queued = c->filled_count = 0;
	for (uint32_t i = 0; i < c->count; i++)
		c->buffers[i].state = CAMERA_OURS;
	return 0;
}

static int list_sizes(const struct camera *c, struct v4l2_frmsizeenum *e)
{
	if (e->index > 0 || e->pixel_format != V4L2_PIX_FMT_GREY)
		return EINVAL;
	e->type = V4L2_FRMSIZE_TYPE_DISCRETE;
	e->discrete = (struct v4l2_frmsize_discrete){(uint32_t)c->width, (uint32_t)c->height};
	return 0;
}

static int do_gain(struct v4l2_ext_controls *all, bool set)
{
	for (uint32_t i = 0; i < all->count; i++)
		if (all->controls[i].id != V4L2_CID_GAIN)
			return EINVAL;
		else if (!set)
			all->controls[i].value = world->gain;
		else
			world->gain = all->controls[i].value;
	return 0;
}

static int query_gain(struct v4l2_query_ext_ctrl *q)
{
	const bool next = q->id & V4L2_CTRL_FLAG_NEXT_CTRL;

	if (next ? (q->id & ~V4L2_CTRL_FLAG_NEXT_CTRL) >= V4L2_CID_GAIN : q->id != V4L2_CID_GAIN)
		return EINVAL;
	*q = (struct v4l2_query_ext_ctrl){.id = V4L2_CID_GAIN,
					  .type = V4L2_CTRL_TYPE_INTEGER,
					  .name = "Gain",
					  .maximum = 100,
					  .step = 1,
					  .elem_size = 4,
					  .elems = 1};
	return 0;
}

static int answer(struct camera *c, struct sim_fd *f, int fd, unsigned long request, void *argument)
{
	switch (request) {
	case VIDIOC_QUERYCAP: {
		struct v4l2_capability *a = argument;

		a->capabilities = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
		return 0;
	}
	case VIDIOC_ENUM_FMT: {
		struct v4l2_fmtdesc *e = argument;

		e->pixelformat = V4L2_PIX_FMT_GREY;
		return e->index ? EINVAL : 0;
	}
	case VIDIOC_ENUM_FRAMESIZES:
		return list_sizes(c, argument);
	case VIDIOC_ENUM_FRAMEINTERVALS: {
		struct v4l2_frmivalenum *e = argument;

		e->type = V4L2_FRMIVAL_TYPE_DISCRETE;
		e->discrete = (struct v4l2_fract){(uint32_t)(c->period_ns / 1000), 1000000};
		return e->index ? EINVAL : 0;
	}
	case VIDIOC_G_FMT:
	case VIDIOC_S_FMT:
	case VIDIOC_TRY_FMT:
		return set_format(c, request, argument);
	case VIDIOC_G_PARM:
	case VIDIOC_S_PARM: {
		struct v4l2_streamparm *p = argument;

		p->parm.capture.capability = V4L2_CAP_TIMEPERFRAME;
		p->parm.capture.timeperframe = (struct v4l2_fract){(uint32_t)(c->period_ns / 1000), 1000000};
		return 0;
	}
	case VIDIOC_QUERY_EXT_CTRL:
		return query_gain(argument);
	case VIDIOC_S_EXT_CTRLS:
	case VIDIOC_G_EXT_CTRLS:
		return do_gain(argument, request == VIDIOC_S_EXT_CTRLS);
	case VIDIOC_REQBUFS:
		return request_buffers(c, fd, argument);
	case VIDIOC_QUERYBUF: {
		struct v4l2_buffer *a = argument;

		a->length = BUFFER_BYTES;
		a->m.offset = (a->index + 1) * OFFSET_STEP;
		return 0;
	}
	case VIDIOC_QBUF:
		return queue_buffer(c, fd, argument);
	case VIDIOC_DQBUF:
		return take_filled(c, fd, argument);
	case VIDIOC_STREAMON:
	case VIDIOC_STREAMOFF:
		return do_stream(c, fd, request == VIDIOC_STREAMON);
	case VIDIOC_SUBSCRIBE_EVENT:
		return 0;
	case VIDIOC_DQEVENT: {
		struct v4l2_event *e = argument;

		if (!c->event)
			return ENOENT;
		c->event = false;
		e->type = V4L2_EVENT_SOURCE_CHANGE;
		return 0;
	}
	}
	sim_fail("%s: ioctl %#lx is not known", c->path, request);
}

int camera_ioctl(struct sim_fd *f, int fd, unsigned long request, void *argument)
{
	return is_gone(f) ? ENODEV : answer(camera_of(f), f, fd, request, argument);
}

void *camera_map(struct sim_fd *f, size_t bytes, unsigned offset)
{
	struct camera *c = camera_of(f);
	const uint32_t index = offset / OFFSET_STEP - 1;

	if (is_gone(f)) {
		errno = ENODEV;
		return MAP_FAILED;
	}
	SIM_MUST(index < c->count && bytes == BUFFER_BYTES, "%s: mmap() of buffer %u", c->path, index);
	c->buffers[index].mapped++;
	return c->buffers[index].user;
}

bool camera_unmap(const void *at)
{
	for (int side = 0; side < 2; side++)
		for (int i = 0; i < CAMERA_BUFFERS; i++)
			if (at == world->camera_memory[side][i]) {
				struct camera_buffer *b = &world->camera[side].buffers[i];

				b->mapped -= b->mapped > 0;
				return true;
			}
	return false;
}
