/*
 * Source "v4l2": pairs from one or two streaming cameras. v4l2_setup.c sets the cameras up; v4l2_decode.c
 * decodes MJPG and raw pixels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/contract.h"
#include "capture/v4l2/v4l2_io.h"
#include "capture/v4l2/v4l2_priv.h"

/* Events of epoll: indices of the cameras, then descriptors that must be read empty. */
enum { EVENT_CAMERA, EVENT_TIMER = 2, EVENT_DECODED };

static int watch_fd(struct sx_v4l2 *v, int fd, uint32_t events, uint32_t event)
{
	struct epoll_event e = {.events = events, .data.u32 = event};

	return epoll_ctl(v->epoll_fd, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

/* Opens one descriptor for all events: cameras, decoded pairs, and a timer to notice silence. */
static int open_events(struct sx_v4l2 *v)
{
	int64_t ns = v->timeout_ns / 4;
	const struct timespec t = {.tv_sec = ns / SX_NS_PER_S, .tv_nsec = ns % SX_NS_PER_S};
	const struct itimerspec each = {.it_interval = t, .it_value = t};
	int r;

	sx_must(v->epoll_fd, ==, -1);
	v->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	v->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (v->epoll_fd < 0 || v->timer_fd < 0 || timerfd_settime(v->timer_fd, 0, &each, NULL) < 0)
		return -errno;
	r = watch_fd(v, v->timer_fd, EPOLLIN, EVENT_TIMER);
	if (r == 0 && v->decoders)
		r = watch_fd(v, sx_decoders_fd(v->decoders), EPOLLIN, EVENT_DECODED);
	for (int i = 0; r == 0 && i < v->count; i++)
		r = watch_fd(v, v->cameras[i].device.fd, EPOLLIN | EPOLLPRI, EVENT_CAMERA + (uint32_t)i);
	return r;
}

static int start_cameras(struct sx_v4l2 *v, struct sx_why *why)
{
	struct v4l2_event_subscription changes = {.type = V4L2_EVENT_SOURCE_CHANGE};
	int r = 0;

	sx_must_be(v->count == 1 || v->count == 2);
	for (int i = 0; i < v->count && r == 0; i++) {
		/* most cameras lack this event, which does no harm */
		sx_v4l2_ioctl(v->cameras[i].device.fd, VIDIOC_SUBSCRIBE_EVENT, &changes);
		r = sx_v4l2_queue_start(&v->cameras[i].queue, why);
		v->cameras[i].last_ns = sx_now_ns();
	}
	v->last_pair_ns = sx_now_ns();
	return r == 0 ? 0 : -ENODEV;
}

static int v4l2_open(struct sx_source *s, const struct sx_source_params *p, int slots, struct sx_why *why)
{
	struct sx_v4l2 *v = calloc(1, sizeof(*v));
	int r;

	if (!v)
		return sx_why_fail(-ENOMEM, why, "no memory for the source");
	s->own = v;
	v->epoll_fd = v->timer_fd = -1;
	for (int i = 0; i < 2; i++)
		v->cameras[i].device.fd = -1;
	v->maker.fd = -1;
	r = sx_v4l2_set_up(s, v, p, slots, why);
	if (r < 0)
		return r;
	r = open_events(v);
	if (r < 0)
		return sx_why_fail(-ENODEV, why, "%s: no descriptors to wait for images: %s", p->left,
				   strerror(-r));
	return start_cameras(v, why);
}

static void v4l2_close(struct sx_source *s)
{
	struct sx_v4l2 *v = s->own;
	const int fds[] = {v ? v->epoll_fd : -1, v ? v->timer_fd : -1};

	if (!v)
		return;
	sx_decoders_destroy(v->decoders); /* ends the decoders first, because they read the buffers */
	for (int i = 0; i < 2; i++)
		sx_v4l2_queue_finish(&v->cameras[i].queue);
	sx_dmabuf_maker_close(&v->maker);
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	for (int i = 0; i < v->count; i++)
		sx_v4l2_device_close(&v->cameras[i].device);
	sx_slots_finish(&v->slots);
	free(v);
}

/*
 * Returns memory blocks. Direct: one per camera (userptr) or one per buffer (dmabuf). Copied: one per slot.
 */
static bool v4l2_block(const struct sx_source *s, int index, struct sx_block *ret)
{
	const struct sx_v4l2 *v = s->own;

	sx_must(index, >=, 0);
	if (!v->direct)
		return sx_slots_block(&v->slots, index, ret);
	for (int i = 0; i < v->count; i++) {
		const struct sx_v4l2_queue *q = &v->cameras[i].queue;
		int blocks = q->memory == SX_MEMORY_USERPTR ? 1 : q->count;

		if (index < blocks) {
			*ret = q->memory == SX_MEMORY_USERPTR ? q->block : q->buffers[index].dmabuf.block;
			return true;
		}
		index -= blocks;
	}
	return false;
}

static int v4l2_fd(const struct sx_source *s)
{
	const struct sx_v4l2 *v = s->own;

	return v->epoll_fd;
}

/*
 * Finds damage, and the first image after the start. Returns the reason to drop the image; SX_DROP_COUNT: it
 * is good.
 */
static enum sx_image_drop judge_image(const struct sx_v4l2_camera *c, const struct sx_v4l2_filled *f,
				      bool first)
{
	const struct sx_v4l2_device *d = &c->device;

	sx_must_index(f->index, c->queue.count);
	if (f->damaged)
		return SX_DROP_ERROR_FLAG;
	if (f->bytes < sx_v4l2_format_bytes(d->format, d->pitch, d->height) ||
	    f->offset + f->bytes > c->queue.buffers[f->index].bytes)
		return SX_DROP_SHORT;
	return first ? SX_DROP_FIRST : SX_DROP_COUNT;
}

/*
 * Returns the reason for dropping an image that is lost before it was in a pair. The image of a single camera
 * is a whole pair, so it counts as overload.
 */
static enum sx_image_drop lost_alone(const struct sx_v4l2 *v)
{
	sx_must_be(v->count == 1 || v->count == 2);
	return v->count == 2 ? SX_DROP_UNPAIRED : SX_DROP_OVERLOAD;
}

/*
 * Handles a driver that has overwritten an image in our buffer. If the old image was waiting for its partner,
 * the new one replaces it (returns true). If the old image is in use, it may be torn, and the new one is
 * dropped.
 */
static bool overwritten(struct sx_source *s, int side, int index)
{
	struct sx_v4l2 *v = s->own;

	sx_must_index(index, v->cameras[side].queue.count);
	sx_v4l2_count(&s->dropped[side][lost_alone(v)], 1);
	if (v->count == 2)
		sx_v4l2_count(&s->unpaired, 1);
	return sx_pairing_forget(&v->pairing, side, index);
}

/* Counts the images that the driver lost: the gaps in its sequence numbers. */
static void count_gap(struct sx_source *s, int side, uint32_t sequence)
{
	struct sx_v4l2 *v = s->own;
	struct sx_v4l2_camera *c = &v->cameras[side];

	sx_must_index(side, v->count);
	/* unsigned, because the numbers may wrap. A number that goes back means that the driver restarted. */
	if (c->begun && sequence - c->sequence - 1 < UINT32_MAX / 2)
		sx_v4l2_count(&s->gaps[side], sequence - c->sequence - 1);
	c->begun = true;
	c->sequence = sequence;
}

/*
 * Takes one image of a camera: passes it to the pairing, or returns its buffer to the driver. Returns 1:
 * there may be more images; 0: there is none.
 */
static int take_image(struct sx_source *s, int side, struct sx_why *why)
{
	struct sx_v4l2 *v = s->own;
	struct sx_v4l2_camera *c = &v->cameras[side];
	const bool first = !c->begun;
	struct sx_v4l2_filled f;
	enum sx_image_drop drop;
	int error = 0, taken = sx_v4l2_queue_take(&c->queue, &f, why);

	if (taken <= 0 && taken != -EALREADY)
		return taken;
	sx_v4l2_count(&s->captured[side], 1);
	c->last_ns = sx_now_ns();
	count_gap(s, side, f.sequence);
	if (taken == -EALREADY && !overwritten(s, side, f.index))
		return 1;
	sx_must_be(!c->queue.buffers[f.index].queued);
	c->filled[f.index] = f;
	drop = judge_image(c, &f, first);
	if (sx_v4l2_is_damage(drop))
		sx_why_set(&v->damage, "%s: %s image (%zu bytes)", c->device.path,
			   drop == SX_DROP_SHORT ? "short" : "damaged", f.bytes);
	if (drop == SX_DROP_COUNT && !sx_pairing_add(&v->pairing, side, f.index, f.ns))
		drop = lost_alone(v);
	if (drop != SX_DROP_COUNT)
		sx_v4l2_drop(s, side, f.index, drop, &error, why);
	return error < 0 ? error : 1;
}

/* Returns true if the driver has no buffer of this camera, so that it cannot deliver images. */
static bool is_starved(const struct sx_v4l2_camera *c)
{
	sx_must(c->queue.count, >, 0);
	for (int i = 0; i < c->queue.count; i++)
		if (c->queue.buffers[i].queued)
			return false;
	return true;
}

/*
 * Restarts the timeouts while pairs in use hold all buffers: then the cameras are not silent, they lack
 * buffers.
 */
static void excuse_cameras(struct sx_v4l2 *v, int64_t now)
{
	bool lent = false, starved = false;

	for (int i = 0; i < v->count; i++) {
		if (!is_starved(&v->cameras[i]))
			continue;
		v->cameras[i].last_ns = now;
		starved = true;
	}
	for (int k = 0; k < v->lease_count && starved; k++)
		lent = lent || v->leases[k].state == SX_LEASE_LENT;
	if (lent)
		v->last_pair_ns = now;
}

/*
 * Detects lost cameras. A lost device shows as an error of VIDIOC_DQBUF, an error of poll, or silence. This
 * function checks the last two, and a changed format.
 */
static int check_cameras(struct sx_v4l2 *v, const uint32_t events[2], int64_t now, struct sx_why *why)
{
	excuse_cameras(v, now);
	for (int i = 0; i < v->count; i++) {
		const struct sx_v4l2_camera *c = &v->cameras[i];
		struct v4l2_event e = {0};

		sx_must(now, >=, c->last_ns);
		if (events[i] & EPOLLPRI && sx_v4l2_ioctl(c->device.fd, VIDIOC_DQEVENT, &e) == 0 &&
		    e.type == V4L2_EVENT_SOURCE_CHANGE)
			return sx_why_fail(-ENODEV, why, "%s: its image format has changed", c->device.path);
		if (events[i] & (EPOLLERR | EPOLLHUP))
			return sx_why_fail(-ENODEV, why, "%s: streaming has failed", c->device.path);
		if (now - c->last_ns > v->timeout_ns)
			return sx_why_fail(-ENODEV, why, "%s: no image for %.1f s", c->device.path,
					   (double)(now - c->last_ns) / 1e9);
	}
	return 0;
}

/* Detects cameras whose images never form a pair: never two of the same time, or all damaged. */
static int check_pairs(const struct sx_v4l2 *v, int64_t now, struct sx_why *why)
{
	int64_t silence = now - v->last_pair_ns;

	sx_must(v->timeout_ns, >, 0);
	if (silence <= v->timeout_ns)
		return 0;
	/*
	 * a camera that fell silent soon after the last pair is reported by check_cameras() when its own
	 * timeout ends
	 */
	for (int i = 0; i < v->count; i++)
		if (v->cameras[i].last_ns - v->last_pair_ns < v->timeout_ns / 2)
			return 0;
	if (!sx_why_is_empty(&v->damage))
		sx_why_set(why, "no pair for %.1f s: %s", (double)silence / 1e9, v->damage.text);
	else
		sx_why_set(why, "no pair for %.1f s: images of %s and %s are more than %.1f ms apart",
			   (double)silence / 1e9, v->cameras[0].device.path,
			   v->cameras[v->count - 1].device.path, (double)v->pairing.tolerance_ns / 1e6);
	return -ENODEV;
}

/* Reads the descriptors that only wake the thread. events: set to the epoll events of the cameras. */
static void read_events(struct sx_v4l2 *v, uint32_t events[2])
{
	struct epoll_event e[8];
	int n = epoll_wait(v->epoll_fd, e, 8, 0);
	uint64_t value;

	events[0] = events[1] = 0;
	for (int i = 0; i < n; i++) {
		const uint32_t which = e[i].data.u32;

		if (which < EVENT_TIMER)
			events[which] = e[i].events;
		else if (read(which == EVENT_TIMER ? v->timer_fd : sx_decoders_fd(v->decoders), &value,
			      sizeof(value)) < 0)
			continue; /* the descriptor was already empty */
	}
}

/*
 * Passes filled buffers to the pairing. *now: time after that. Negative: the cameras are lost.
 */
static int take_images(struct sx_source *s, int64_t *now, struct sx_why *why)
{
	struct sx_v4l2 *v = s->own;
	uint32_t events[2];
	int r = v->lost;

	read_events(v, events);
	if (r < 0)
		sx_why_set(why, "%s", v->lost_why.text);
	for (int side = 0; side < v->count && r >= 0; side++) {
		do {
			r = take_image(s, side, why);
		} while (r > 0);
	}
	if (r < 0)
		return r;
	*now = sx_now_ns();
	return check_cameras(v, events, *now, why);
}

/*
 * Finds the newest pair among the waiting images. Returns 1: *pair is filled; 0: none, or it is being
 * decoded; negative: the cameras are lost.
 */
static int next_pair(struct sx_source *s, struct sx_pair *pair, struct sx_why *why)
{
	struct sx_v4l2 *v = s->own;
	struct sx_v4l2_lease *decoded;
	struct sx_pairing_image found[2];
	int r = sx_v4l2_find_pair(s, found, why);

	if (r > 0)
		r = sx_v4l2_begin_pair(s, found, pair, why);
	if (r < 0 || !v->decoders)
		return r;
	r = sx_v4l2_decoded(s, &decoded, why);
	if (r > 0) {
		sx_must_be(decoded->slot);
		sx_v4l2_deliver(s, decoded, pair);
	}
	return r;
}

/* Counts images in progress when a camera was lost. They will be in no pair. */
static void count_lost(struct sx_source *s)
{
	const struct sx_v4l2 *v = s->own;

	for (int side = 0; side < v->count; side++) {
		uint64_t rest = s->captured[side] - s->number;

		for (int i = 0; i < SX_DROP_COUNT; i++)
			rest -= s->dropped[side][i];
		sx_must(rest, <=, s->captured[side]);
		sx_v4l2_count(&s->dropped[side][lost_alone(v)], rest);
		if (v->count == 2)
			sx_v4l2_count(&s->unpaired, rest);
	}
}

/* Returns the number of damaged images since the source was opened. */
static uint64_t count_of_damaged(const struct sx_source *s)
{
	return atomic_load_explicit(&s->corrupt, memory_order_relaxed);
}

/* Thread: capture. Every error except -EBADMSG means that the cameras must be opened again. */
static int v4l2_next(struct sx_source *s, struct sx_pair *pair, struct sx_why *why)
{
	struct sx_v4l2 *v = s->own;
	const uint64_t damaged_before = count_of_damaged(s);
	int64_t now = 0;
	int r = take_images(s, &now, why);

	if (r >= 0)
		r = next_pair(s, pair, why);
	if (r > 0) {
		v->last_pair_ns = now;
		sx_why_clear(&v->damage);
		return 1;
	}
	if (r == 0)
		r = check_pairs(v, now, why);
	if (r < 0) {
		v->lost = -ENODEV;
		sx_why_set(&v->lost_why, "%s", why ? why->text : "");
		count_lost(s);
		return -ENODEV;
	}
	if (count_of_damaged(s) == damaged_before)
		return 0;
	return sx_why_fail(-EBADMSG, why, "%s", v->damage.text);
}

const struct sx_source_ops sx_v4l2_ops = {
	.open = v4l2_open,
	.close = v4l2_close,
	.block = v4l2_block,
	.fd = v4l2_fd,
	.next = v4l2_next,
	.release = sx_v4l2_release,
	.change_controls = sx_v4l2_change_controls,
};
