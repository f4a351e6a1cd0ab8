/*
 * Defines the functions of capture/v4l2/v4l2_io.h, for cameras that a test has made up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/v4l2/v4l2_io.h"
#include "tests/kit/fake_v4l2_priv.h"

#define CAMERAS 4
#define HANDLES 8

static struct fake_camera cameras[CAMERAS];
static int camera_count;
static struct handle {
	int fd; /* 0: unused entry */
	struct fake_camera *camera;
	int epoll;
	struct epoll_event event;
} handles[HANDLES];
static struct {
	unsigned long request;
	int countdown, error;
	bool done;
} order;
static struct {
	unsigned long request;
	int calls;
} counted[64];

int __real_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event);
int __real_epoll_wait(int epoll, struct epoll_event *events, int max, int timeout);
int __wrap_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event);
int __wrap_epoll_wait(int epoll, struct epoll_event *events, int max, int timeout);

static struct handle *handle_of(int fd)
{
	for (int i = 0; i < HANDLES; i++)
		if (fd > 0 && handles[i].fd == fd)
			return &handles[i];
	return NULL;
}

/* Returns 0, or the errno with which this call has to fail. */
static int ordered(unsigned long request)
{
	int i = 0;

	while (counted[i].request && counted[i].request != request && i < 63)
		i++;
	counted[i].request = request;
	counted[i].calls++;
	if (!order.countdown || (order.request != FAKE_ALL_REQUESTS && order.request != request))
		return 0;
	if (--order.countdown)
		return 0;
	order.done = true;
	return order.error;
}

/* --- the machine below the driver: memory from memfds, eventfds as descriptors --- */

void fake_host_take(struct fake_camera *c, uint32_t index)
{
	struct fake_buffer *b = &c->buffers[index];

	b->dmabuf = memfd_create("fake-buffer", MFD_CLOEXEC);
	if (b->dmabuf < 0 || ftruncate(b->dmabuf, (off_t)(b->length + 4095) / 4096 * 4096) < 0)
		fake_abort("no memory for buffers");
	b->data = mmap(NULL, b->length, PROT_READ | PROT_WRITE, MAP_SHARED, b->dmabuf, 0);
	if (b->data == MAP_FAILED)
		fake_abort("no memory for buffers");
}

void fake_host_give_back(struct fake_camera *c, struct fake_buffer *b)
{
	munmap(b->data, b->length);
	close(b->dmabuf);
}

void fake_host_filled(const struct fake_camera *c)
{
	const uint64_t one = 1;

	if (write(c->owner, &one, sizeof(one)) < 0)
		fake_abort("eventfd");
}

void fake_host_taken(const struct fake_camera *c, uint32_t count)
{
	uint64_t one;

	for (uint32_t i = 0; i < count; i++)
		if (read(c->owner, &one, sizeof(one)) != (ssize_t)sizeof(one))
			fake_abort("%s: the descriptor does not tell of its %u pictures", c->path, c->filled);
}

/* --- functions for tests --- */

void fake_reset(void)
{
	for (int i = 0; i < HANDLES; i++)
		if (handles[i].fd)
			fake_abort("%s: is still open", handles[i].camera->path);
	memset(cameras, 0, sizeof(cameras));
	camera_count = 0;
	memset(&order, 0, sizeof(order));
	memset(counted, 0, sizeof(counted));
}

struct fake_camera *fake_add(const char *path, const struct fake_mode *modes)
{
	struct fake_camera *c = &cameras[camera_count];

	if (camera_count == CAMERAS)
		fake_abort("too many cameras");
	fake_init(c, path, modes);
	c->id = camera_count++;
	return c;
}

void fake_fail(unsigned long request, int nth, int error)
{
	order.request = request;
	order.countdown = nth;
	order.error = error;
	order.done = false;
}

bool fake_has_failed(void)
{
	return order.done;
}

int fake_calls(unsigned long request)
{
	for (int i = 0; i < 64; i++)
		if (counted[i].request == request)
			return counted[i].calls;
	return 0;
}

/* --- functions of v4l2_io.h --- */

int sx_v4l2_ioctl(int fd, unsigned long request, void *argument)
{
	struct handle *h = handle_of(fd);
	int error;

	if (!h)
		fake_abort("ioctl %#lx on descriptor %d, which is not open", request, fd);
	error = ordered(request);
	if (!error)
		error = h->camera->gone ? ENODEV : fake_answer(h->camera, fd, request, argument);
	return -error;
}

int sx_v4l2_open(const char *path)
{
	struct fake_camera *c = NULL;
	int error = ordered(FAKE_OPEN), i = 0;

	for (int k = 0; k < camera_count; k++)
		if (!strcmp(cameras[k].path, path))
			c = &cameras[k];
	if (error || !c || c->gone)
		return error ? -error : -ENOENT;
	while (handles[i].fd && i < HANDLES - 1)
		i++;
	handles[i] = (struct handle){.camera = c};
	handles[i].fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
	if (handles[i].fd <= 0) {
		handles[i].fd = 0;
		return -errno;
	}
	c->opens++;
	return handles[i].fd;
}

void sx_v4l2_close(int fd)
{
	struct handle *h = handle_of(fd);

	if (!h)
		fake_abort("close of descriptor %d, which is not open", fd);
	if (h->camera->streaming && h->camera->owner == fd && !h->camera->gone && !order.done)
		fake_abort("%s: is closed while it streams", h->camera->path);
	if (h->camera->owner == fd)
		fake_forget_buffers(h->camera);
	close(fd);
	*h = (struct handle){0};
}

void *sx_v4l2_mmap(int fd, size_t bytes, unsigned offset)
{
	struct handle *h = handle_of(fd);
	uint32_t index = offset / FAKE_OFFSET_STEP - 1;
	int error = ordered(FAKE_MMAP);

	if (!h || h->camera->owner != fd || offset % FAKE_OFFSET_STEP || index >= h->camera->count ||
	    bytes != h->camera->buffers[index].length)
		fake_abort("mmap of %zu bytes at %#x", bytes, offset);
	if (error) {
		errno = error;
		return NULL;
	}
	h->camera->buffers[index].mapped++;
	return h->camera->buffers[index].data;
}

void sx_v4l2_munmap(void *memory, size_t bytes)
{
	for (int k = 0; k < camera_count; k++)
		for (uint32_t i = 0; i < cameras[k].count; i++) {
			struct fake_buffer *b = &cameras[k].buffers[i];

			if (b->data != memory || !b->mapped || b->length != bytes)
				continue;
			b->mapped--;
			return;
		}
	fake_abort("munmap of %p, which is not mapped", memory);
}

/* Adds the events that eventfds cannot signal. */
int __wrap_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
	struct handle *h = handle_of(fd);

	if (h && op == EPOLL_CTL_ADD) {
		h->epoll = epoll;
		h->event = *event;
	}
	return __real_epoll_ctl(epoll, op, fd, event);
}

int __wrap_epoll_wait(int epoll, struct epoll_event *events, int max, int timeout)
{
	int n = __real_epoll_wait(epoll, events, max, timeout), at;

	for (int i = 0; n >= 0 && i < HANDLES; i++) {
		const struct handle *h = &handles[i];
		uint32_t more;

		if (!h->fd || h->epoll != epoll)
			continue;
		more = (h->camera->events ? EPOLLPRI : 0) |
		       (h->camera->gone || h->camera->broken ? EPOLLERR | EPOLLHUP : 0);
		for (at = 0; at < n && events[at].data.u64 != h->event.data.u64; at++)
			;
		if (!more || at == max)
			continue;
		if (at == n)
			events[n++] = (struct epoll_event){.data = h->event.data};
		events[at].events |= more;
	}
	return n;
}
