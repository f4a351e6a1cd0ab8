/*
 * Pair slots and their pace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/slots.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/wake.h"

struct sx_image sx_layout_half(const struct sx_image *whole, enum sx_layout layout, int width, int height,
			       int side)
{
	struct sx_image view = *whole;

	sx_must_index(side, 2);
	view.width = width;
	view.height = height;
	if (sx_layout_is_interleaved(layout))
		view.data = (char *)view.data + (side != (layout == SX_LAYOUT_RIGHT_FIRST));
	else if (side && layout == SX_LAYOUT_SIDE_BY_SIDE)
		view.data = (char *)view.data + (size_t)width * sx_pixel_bytes(whole->pixel);
	else if (side)
		view.data = (char *)view.data + (size_t)height * whole->pitch;
	return view;
}

static int init_slot(struct sx_slot *slot, enum sx_layout layout, int width, int height, enum sx_pixel pixel)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes;
	bool two = layout == SX_LAYOUT_TWO;

	sx_must_be(!slot->block.memory);
	atomic_init(&slot->busy, false);
	bytes = sx_image_layout(&slot->whole[0], pixel, layout == SX_LAYOUT_SIDE_BY_SIDE ? 2 * width : width,
				layout == SX_LAYOUT_TOP_BOTTOM ? 2 * height : height);
	if (bytes == 0)
		return -EINVAL;
	slot->block.bytes = (two ? 2 : 1) * bytes + sx_layout_is_interleaved(layout);
	slot->block.bytes = (slot->block.bytes + page - 1) / page * page;
	slot->block.memory = aligned_alloc(page, slot->block.bytes);
	if (!slot->block.memory)
		return -ENOMEM;
	memset(slot->block.memory, 0, slot->block.bytes);
	slot->whole[0].data = slot->block.memory;
	if (two) {
		slot->whole[1] = slot->whole[0];
		slot->whole[1].data = (char *)slot->block.memory + bytes;
		slot->left = slot->whole[0];
		slot->right = slot->whole[1];
		return 0;
	}
	slot->left = sx_layout_half(&slot->whole[0], layout, width, height, 0);
	slot->right = sx_layout_half(&slot->whole[0], layout, width, height, 1);
	return 0;
}

/* Opens a timer that expires at once, and then after each interval. interval_ns 0: never again. */
static int open_timer(int64_t interval_ns)
{
	struct itimerspec t = {
		.it_interval = {.tv_sec = interval_ns / SX_NS_PER_S, .tv_nsec = interval_ns % SX_NS_PER_S},
		.it_value = {.tv_nsec = 1}, /* the first pair falls due at once */
	};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);

	sx_must(interval_ns, >=, 0);
	if (fd < 0)
		return -errno;
	if (timerfd_settime(fd, 0, &t, NULL) < 0) {
		int r = -errno;

		close(fd);
		return r;
	}
	return fd;
}

static int take_descriptor(struct sx_slots *s, int fd, struct sx_why *why)
{
	if (fd < 0)
		return sx_why_fail(fd, why, "no descriptor for the pace of pairs: %s", strerror(-fd));
	s->fd = fd;
	return 0;
}

int sx_slots_pace(struct sx_slots *s, double fps, struct sx_why *why)
{
	int r;

	if (!(fps >= 0 && fps <= SX_FPS_MAX) || (fps > 0 && fps < 0.001))
		return sx_why_fail(-EINVAL, why, "%g pairs a second, allowed are 0 (no pace) or 0.001 to %g",
				   fps, SX_FPS_MAX);
	sx_must(s->fd, ==, -1);
	s->paced = fps > 0;
	if (s->paced)
		return take_descriptor(s, open_timer((int64_t)((double)SX_NS_PER_S / fps + 0.5)), why);
	r = eventfd((unsigned)(s->count - s->spare), EFD_NONBLOCK | EFD_CLOEXEC | EFD_SEMAPHORE);
	return take_descriptor(s, r < 0 ? -errno : r, why);
}

int sx_slots_pace_by_hand(struct sx_slots *s, struct sx_why *why)
{
	sx_must(s->fd, ==, -1);
	s->paced = true;
	return take_descriptor(s, open_timer(0), why);
}

void sx_slots_due(struct sx_slots *s, int64_t ns)
{
	const struct itimerspec t = {.it_value = {.tv_sec = ns / SX_NS_PER_S, .tv_nsec = ns % SX_NS_PER_S}};

	sx_must_be(s->paced);
	sx_must(ns, >, 0); /* a time of 0 would stop the timer; one in the past expires at once */
	(void)timerfd_settime(s->fd, TFD_TIMER_ABSTIME, &t, NULL);
}

int sx_slots_init(struct sx_slots *s, int count, enum sx_layout layout, int width, int height,
		  enum sx_pixel pixel, struct sx_why *why)
{
	int r = 0;

	*s = (struct sx_slots){.fd = -1};
	if (count < 1 || count > SX_SLOTS_MAX)
		return sx_why_fail(-EINVAL, why, "%d pair slots, allowed are 1 to %d", count, SX_SLOTS_MAX);
	s->slot = calloc((size_t)count, sizeof(*s->slot));
	if (!s->slot)
		r = -ENOMEM;
	else
		s->count = count;
	for (int i = 0; i < count && r == 0; i++)
		r = init_slot(&s->slot[i], layout, width, height, pixel);
	if (r < 0) {
		sx_why_set(why, "no room for %d pairs of %dx%d: %s", count, width, height, strerror(-r));
		sx_slots_finish(s);
	}
	return r;
}

void sx_slots_finish(struct sx_slots *s)
{
	if (!s->slot)
		return;
	for (int i = 0; i < s->count; i++)
		free(s->slot[i].block.memory);
	free(s->slot);
	if (s->fd >= 0)
		close(s->fd);
	*s = (struct sx_slots){.fd = -1};
}

bool sx_slots_block(const struct sx_slots *s, int index, struct sx_block *ret)
{
	if (index < 0 || index >= s->count)
		return false;
	*ret = s->slot[index].block;
	return true;
}

/* Returns how many slots are in use. Relaxed: reserving a slot acquires it. */
static int slots_used(const struct sx_slots *s)
{
	int used = 0;

	for (int i = 0; i < s->count; i++)
		used += atomic_load_explicit(&s->slot[i].busy, memory_order_relaxed);
	return used;
}

bool sx_slots_is_due(struct sx_slots *s, int reserved)
{
	uint64_t n;

	sx_must(s->fd, >=, 0);
	if (read(s->fd, &n, sizeof(n)) != (ssize_t)sizeof(n))
		return false;
	if (slots_used(s) - reserved < s->count - s->spare)
		return true;
	sx_must_be(s->paced);
	s->missed += n;
	return false;
}

struct sx_slot *sx_slots_reserve(struct sx_slots *s)
{
	for (int i = 0; i < s->count; i++)
		if (!atomic_load_explicit(&s->slot[i].busy, memory_order_acquire)) {
			atomic_store_explicit(&s->slot[i].busy, true, memory_order_relaxed);
			return &s->slot[i];
		}
	return NULL;
}

void sx_slots_unreserve(struct sx_slots *s, struct sx_slot *slot)
{
	sx_must_index(slot - s->slot, s->count);
	sx_must_be(atomic_load_explicit(&slot->busy, memory_order_relaxed));
	atomic_store_explicit(&slot->busy, false, memory_order_release);
}

struct sx_slot *sx_slots_take(struct sx_slots *s)
{
	return sx_slots_is_due(s, 0) ? sx_slots_reserve(s) : NULL;
}

void sx_slots_release(struct sx_slots *s, struct sx_slot *slot)
{
	sx_slots_unreserve(s, slot);
	if (!s->paced)
		sx_wake(s->fd);
}
