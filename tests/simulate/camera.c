/*
 * Simulates two V4L2 drivers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/simulate/camera.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/kit/fake_v4l2_priv.h"
#include "tests/simulate/world.h"
#include "tests/simulate/wrap.h"

/* ---- the machine under the drivers ---- */

void fake_abort(const char *format, ...)
{
	char text[200];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	sim_fail("%s", text);
}

void fake_host_take(struct fake_camera *c, uint32_t index)
{
	c->buffers[index].data = world->camera_memory[c->id][index];
}

void fake_host_give_back(struct fake_camera *c, struct fake_buffer *b)
{
	b->data = NULL;
}

void fake_host_filled(const struct fake_camera *c)
{
	sim_fd_changed(sim_fd(c->owner)); /* no other descriptor waits for images */
}

void fake_host_taken(const struct fake_camera *c, uint32_t count)
{
}

uint64_t camera_tag_sum(const struct camera_tag *t)
{
	return (t->magic ^ t->side << 1 ^ t->shot << 8 ^ (uint64_t)t->ns) * UINT64_C(0x9e3779b97f4a7c15);
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
	return c->driver.filled ? EPOLLIN : 0;
}

/* ---- capturing images ---- */

static int64_t jump(void)
{
	return sim_once_in(2) ? sim_between(-50 * SIM_MS, 50 * SIM_MS) : sim_between(-6 * SIM_S, 6 * SIM_S);
}

static void fill(struct camera *c, uint64_t shot, int64_t ns)
{
	const struct camera_rates *r = &world->rates;
	struct camera_tag tag = {CAMERA_TAG, (uint64_t)c->side, shot, ns, 0};
	struct fake_frame f = {.tag = &tag, .tag_bytes = sizeof(tag)};
	const uint64_t bytes = (uint64_t)c->width * (uint64_t)c->height;
	bool same_number;

	if (!c->driver.queued || sim_once_in(r->lost)) {
		c->driver.sequence++;
		return;
	}
	tag.sum = camera_tag_sum(&tag);
	if (sim_once_in(r->shortened))
		f.missing = (uint32_t)(bytes - sim_below(bytes));
	f.error = sim_once_in(r->damaged);
	f.ns = sim_once_in(r->jumped) ? ns + jump() : ns;
	sim_note("image", (int64_t)shot);
	same_number = sim_once_in(r->duplicated);
	fake_fill(&c->driver, &f);
	c->driver.sequence -= same_number;
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
	if (sim_once_in(r->very_late)) /* if images are seconds apart, by less than the time to settle */
		late = sim_between(0, (sim->lasting ? 4 : 20) * c->period_ns);
	sim_arm(&c->timer, c->shot_ns + CAMERA_TRANSFER_NS + late + sim_between(0, 200000));
	if (!c->present || !c->driver.streaming || c->silent)
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
	const struct fake_control gain = {.name = "Gain", .id = V4L2_CID_GAIN, .maximum = 100};

	for (int side = 0; side < 2; side++) {
		struct camera *c = &camera[side];

		const struct v4l2_fract interval = {(uint32_t)(period_ns / 1000), 1000000};
		const struct fake_mode modes[] = {
			{.fourcc = V4L2_PIX_FMT_GREY, .interval = interval, .fps = 1}, {0}};

		*c = (struct camera){.side = side, .period_ns = period_ns};
		fake_init(&c->driver, paths[side], modes);
		c->driver.id = side;
		c->driver.odd = interval;
		c->driver.no_device_caps = true;
		c->driver.stamps = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
		c->driver.buffer_bytes = CAMERA_BUFFER_BYTES;
		c->driver.says = V4L2_BUF_CAP_SUPPORTS_MMAP;
		if (world->userptr)
			c->driver.says |= V4L2_BUF_CAP_SUPPORTS_USERPTR;
		c->driver.refuses[V4L2_MEMORY_USERPTR] = !world->userptr;
		c->driver.refuses[V4L2_MEMORY_DMABUF] = true;
		fake_add_control(&c->driver, &gain);
		c->timer = (struct sim_timer){SIM_NEVER, shoot, c, 0};
		c->shot_ns = sim->now + period_ns + side * sim_between(0, 300000);
		sim_arm(&c->timer, c->shot_ns + CAMERA_TRANSFER_NS);
	}
}

/*
 * Returns all buffers to the driver. Buffers of a dead process or of an unplugged camera may still be mapped.
 */
static void forget_buffers(struct camera *c, bool may_be_mapped)
{
	for (int i = 0; may_be_mapped && i < FAKE_BUFFERS; i++)
		c->driver.buffers[i].mapped = 0;
	c->held = false;
	fake_forget_buffers(&c->driver);
}

void camera_plug(struct camera *c, bool present, int width, int height)
{
	sim_mark(present ? "plugged" : "unplugged", c->side);
	if (c->present) {
		c->present = false;
		c->generation++;
		tell(c);
		forget_buffers(c, true);
	}
	c->present = present;
	c->width = c->driver.modes[0].width = width;
	c->height = c->driver.modes[0].height = height;
	for (size_t i = 0; i < sizeof(sim->process) / sizeof(sim->process[0]); i++)
		if (sim->process[i].alive && sim->process[i].daemon)
			sim_fd_inotify(&sim->process[i]);
}

/* ---- system calls ---- */

int camera_open(const char *path)
{
	for (int side = 0; side < 2; side++) {
		struct camera *c = &world->camera[side];
		int fd;

		if (strcmp(path, c->driver.path) != 0)
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

	if (c->driver.owner != fd)
		return;
	SIM_MUST(!c->driver.streaming || !f->process->alive || is_gone(f), "%s is closed while it streams",
		 c->driver.path);
	forget_buffers(c, !f->process->alive);
}

static void count_taken(struct camera *c, uint32_t sequence)
{
	const uint32_t step = sequence - c->last;

	if (c->taken++ && step && sim->broken != BREAK_GAPS)
		c->gaps += step - 1;
	c->last = sequence;
}

int camera_ioctl(struct sim_fd *f, int fd, unsigned long request, void *argument)
{
	struct camera *c = camera_of(f);
	const struct v4l2_buffer *buffer = argument;
	const struct v4l2_requestbuffers *buffers = argument;
	const int error = is_gone(f) ? ENODEV : fake_answer(&c->driver, fd, request, argument);

	if (error)
		return error;
	switch (request) {
	case VIDIOC_REQBUFS:
		if (buffers->count)
			c->taken = c->gaps = 0;
		break;
	case VIDIOC_QBUF:
		world_buffer_queued(c->driver.buffers[buffer->index].data);
		break;
	case VIDIOC_DQBUF:
		count_taken(c, buffer->sequence);
		break;
	case VIDIOC_STREAMON:
	case VIDIOC_STREAMOFF:
		c->driver.sequence = age_sequence();
		c->held = false;
		break;
	}
	return 0;
}

void *camera_map(struct sim_fd *f, size_t bytes, unsigned offset)
{
	struct camera *c = camera_of(f);
	const uint32_t index = offset / FAKE_OFFSET_STEP - 1;

	if (is_gone(f)) {
		errno = ENODEV;
		return MAP_FAILED;
	}
	SIM_MUST(index < c->driver.count && bytes == CAMERA_BUFFER_BYTES, "%s: mmap() of buffer %u",
		 c->driver.path, index);
	c->driver.buffers[index].mapped++;
	return c->driver.buffers[index].data;
}

bool camera_unmap(const void *at)
{
	for (int side = 0; side < 2; side++)
		for (int i = 0; i < FAKE_BUFFERS; i++)
			if (at == world->camera_memory[side][i]) {
				struct fake_buffer *b = &world->camera[side].driver.buffers[i];

				b->mapped -= b->mapped > 0;
				return true;
			}
	return false;
}
