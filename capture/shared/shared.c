/*
 * Source "shared": pairs of another process, in memory that both processes map. The engine reads them in place;
 * Bayer patterns are converted to grey here.
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
#include "capture/shared/link.h"
#include "capture/source_kinds.h"

#define LEASES_MAX 16
#define MESSAGES_MOST \
	(2 * STIXEL_PAIRS_BUFFERS_MAX) /* read at once, so that a writer cannot keep the thread busy */
#define AGE_MOST_NS (60 * SX_NS_PER_S)
#define AHEAD_MOST_NS SX_NS_PER_S
#define APART_MOST_NS (10 * SX_NS_PER_S)

/* A pair that was given out. slot: memory of the converted images; NULL: the engine reads in place. */
struct lease {
	bool lent;
	struct stixel_pairs_pair pair;
	struct sx_slot *slot;
};

struct shared {
	struct sx_shared_link link;
	const struct sx_pairs_socket *socket;
	struct lease leases[LEASES_MAX];
	int lease_count;
	struct sx_slots slots; /* memory for images converted from Bayer patterns */
	int epoll_fd, timer_fd;
	int64_t timeout_ns, last_ns; /* last_ns: time of the last pair, or of the start */
};

static int open_events(struct shared *own)
{
	const int64_t ns = own->timeout_ns / 4 + 1;
	const struct itimerspec t = {
		.it_interval = {.tv_sec = ns / SX_NS_PER_S, .tv_nsec = ns % SX_NS_PER_S},
		.it_value = {.tv_sec = ns / SX_NS_PER_S, .tv_nsec = ns % SX_NS_PER_S},
	};
	struct epoll_event e = {.events = EPOLLIN};

	own->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	own->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (own->epoll_fd < 0 || own->timer_fd < 0 || timerfd_settime(own->timer_fd, 0, &t, NULL) < 0 ||
	    epoll_ctl(own->epoll_fd, EPOLL_CTL_ADD, own->timer_fd, &e) < 0 ||
	    epoll_ctl(own->epoll_fd, EPOLL_CTL_ADD, own->link.fd, &e) < 0)
		return -errno;
	return 0;
}

/* Checks that the writer's pairs have the size and the pixels that the configuration expects. */
static int check_size(const struct sx_shared_format *f, const struct sx_source_params *p, struct sx_why *why)
{
	if (p->width && (p->width != f->width || p->height != f->height))
		return sx_why_fail(-ENODEV, why, "the writer has images of %dx%d, source.size is %dx%d",
				   f->width, f->height, p->width, p->height);
	return 0;
}

static int make_leases(struct shared *own, int slots, struct sx_why *why)
{
	const struct sx_shared_format *f = &own->link.format;
	int r = 0;

	sx_must(slots, <=, LEASES_MAX);
	own->lease_count = slots;
	if (f->raw.packing == SX_RAW_NONE)
		return 0;
	r = sx_slots_init(&own->slots, slots, SX_LAYOUT_TWO, f->width, f->height, f->pixel, why);
	for (int i = 0; i < slots && r == 0; i++)
		own->leases[i].slot = &own->slots.slot[i];
	return r < 0 ? -ENODEV : 0;
}

static void fill_info(struct sx_source *s)
{
	struct shared *own = s->own;
	const struct sx_shared_format *f = &own->link.format;
	const bool in_place = f->raw.packing == SX_RAW_NONE;

	s->info = (struct sx_source_info){
		.width = f->width,
		.height = f->height,
		.pixel = f->pixel,
		.memory = !in_place				? "converted"
			  : own->link.buffers[0].dmabuf_fd >= 0 ? "dmabuf"
								: "memfd",
		.format = f->pixel_name,
		.fps = f->fps,
		.cameras = 2,
		.path = {own->socket->path, own->socket->path},
		.paced = true,
		.camera = f->has_camera ? &own->link.format.camera : NULL,
		.rig = f->has_rig ? &own->link.format.rig : NULL,
		.camera_yields = true,
		.live = !f->simulated,
		.writer = own->link.name,
	};
	snprintf(s->info.note, sizeof(s->info.note), "pairs come from %s%s", own->link.name,
		 f->has_camera ? "; it names its camera" : "");
}

static int shared_open(struct sx_source *s, const struct sx_source_params *p, int slots, struct sx_why *why)
{
	struct shared *own = calloc(1, sizeof(*own));
	int r;

	if (!own)
		return sx_why_fail(-ENOMEM, why, "no memory for the source");
	s->own = own;
	own->link.fd = own->epoll_fd = own->timer_fd = -1;
	own->slots.fd = -1;
	if (!p->socket)
		return sx_why_fail(-EINVAL, why,
				   "only a daemon takes the pairs of another process (kind = shared)");
	own->socket = p->socket;
	own->timeout_ns = (int64_t)(1e6 * p->timeout_ms);
	r = sx_shared_accept(&own->link, p->socket, why);
	if (r < 0)
		return r;
	r = check_size(&own->link.format, p, why);
	if (r == 0)
		r = make_leases(own, slots, why);
	if (r == 0 && (r = open_events(own)) < 0)
		r = sx_why_fail(-ENODEV, why, "no descriptors to wait for pairs: %s", strerror(-r));
	if (r < 0) {
		sx_shared_refuse(&own->link, why->text);
		return r;
	}
	own->last_ns = sx_now_ns();
	fill_info(s);
	return sx_shared_welcome(&own->link, slots, why);
}

static void shared_close(struct sx_source *s)
{
	struct shared *own = s->own;

	if (!own)
		return;
	if (own->timer_fd >= 0)
		close(own->timer_fd);
	if (own->epoll_fd >= 0)
		close(own->epoll_fd);
	sx_shared_close(&own->link);
	sx_slots_finish(&own->slots);
	free(own);
}

static bool shared_block(const struct sx_source *s, int index, struct sx_block *ret)
{
	const struct shared *own = s->own;

	if (own->slots.count)
		return sx_slots_block(&own->slots, index, ret);
	if (index < 0 || index >= own->link.count)
		return false;
	*ret = own->link.buffers[index].block;
	return true;
}

static int shared_fd(const struct sx_source *s)
{
	const struct shared *own = s->own;

	return own->epoll_fd;
}

static void count(_Atomic uint64_t *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* Converts a capture time to CLOCK_MONOTONIC. Returns false if it is impossible. */
static bool convert_time(const struct sx_shared_format *f, int64_t *ns)
{
	const int64_t now = sx_now_ns();

	if (f->clock == STIXEL_CLOCK_UNKNOWN)
		return *ns >= 0 && *ns < INT64_MAX / 4;
	if (f->clock == STIXEL_CLOCK_REALTIME) {
		if (*ns < 0)
			return false;
		*ns -= sx_clock_ns(CLOCK_REALTIME) - now;
	}
	return *ns <= now + AHEAD_MOST_NS && *ns >= now - AGE_MOST_NS;
}

/* Sets the capture times of a pair, whose writer may not know them. Returns -EBADMSG if they are impossible. */
static int stamp(const struct shared *own, const struct stixel_pairs_pair *from, struct sx_pair *to,
		 struct sx_why *why)
{
	const struct sx_shared_format *f = &own->link.format;

	to->left_ns = from->left_ns;
	to->right_ns = from->right_ns;
	if (from->left_ns == 0 && from->right_ns == 0) {
		to->left_ns = to->right_ns = sx_now_ns();
		to->clock = STIXEL_CLOCK_MONOTONIC;
		to->stamp = STIXEL_STAMP_SOFTWARE;
		return 0;
	}
	to->clock = f->clock;
	to->stamp = f->stamp;
	if (!convert_time(f, &to->left_ns) || !convert_time(f, &to->right_ns))
		return sx_why_fail(
			-EBADMSG, why,
			"%s: the capture times of pair %llu are more than %d s old or lie in the future",
			own->link.name, (unsigned long long)from->number, (int)(AGE_MOST_NS / SX_NS_PER_S));
	if (to->left_ns - to->right_ns > APART_MOST_NS || to->right_ns - to->left_ns > APART_MOST_NS)
		return sx_why_fail(-EBADMSG, why, "%s: the images of pair %llu are more than %d s apart",
				   own->link.name, (unsigned long long)from->number,
				   (int)(APART_MOST_NS / SX_NS_PER_S));
	return 0;
}

static struct sx_image view(const struct sx_shared_format *f, const uint8_t *data)
{
	return (struct sx_image){.data = (void *)data, /* engines only read images */
				 .width = f->width,
				 .height = f->height,
				 .pitch = f->pitch,
				 .pixel = f->pixel};
}

/* Converts both images to grey, and gives them back to the writer. */
static void convert(struct shared *own, struct lease *l, const uint8_t *const images[2])
{
	for (int side = 0; side < 2; side++) {
		struct sx_raw from = own->link.format.raw;

		from.data = images[side];
		from.pitch = own->link.format.pitch;
		sx_raw_grey(&from, &l->slot->whole[side]);
	}
}

static void sync_pair(const struct shared *own, const struct stixel_pairs_pair *p, bool begin)
{
	sx_shared_sync(&own->link, p->left_buffer, begin);
	if (p->right_buffer != p->left_buffer)
		sx_shared_sync(&own->link, p->right_buffer, begin);
}

/* Ends the use of a pair's images. */
static void give_back(struct shared *own, const struct stixel_pairs_pair *p, enum stixel_pairs_fate fate)
{
	sync_pair(own, p, false);
	sx_shared_return(&own->link, p->number, fate);
}

/* Makes a pair of the newest one that has come. Returns 1, or -EBADMSG with a sentence. */
static int deliver(struct sx_source *s, struct lease *l, const struct stixel_pairs_pair *newest,
		   struct sx_pair *pair, struct sx_why *why)
{
	struct shared *own = s->own;
	const struct sx_shared_format *f = &own->link.format;
	const uint8_t *images[2];

	*pair = (struct sx_pair){.number = ++s->number, .slot = l};
	if (sx_shared_images(&own->link, newest, &images[0], &images[1], why) < 0 ||
	    stamp(own, newest, pair, why) < 0) {
		sx_shared_return(&own->link, newest->number, STIXEL_PAIR_BAD);
		count(&s->corrupt);
		return -EBADMSG;
	}
	count(&s->captured[0]);
	count(&s->captured[1]);
	l->lent = true;
	l->pair = *newest;
	sync_pair(own, newest, true);
	pair->left = view(f, images[0]);
	pair->right = view(f, images[1]);
	if (l->slot) {
		convert(own, l, images);
		pair->left = l->slot->left;
		pair->right = l->slot->right;
		give_back(own, newest, STIXEL_PAIR_TAKEN);
	}
	return 1;
}

/* Finds the newest pair that has come, and gives older ones back. Returns as sx_shared_take(). */
static int take_newest(struct sx_source *s, struct stixel_pairs_pair *newest, struct sx_why *why)
{
	struct shared *own = s->own;
	struct stixel_pairs_pair next;
	int r = 0, found = 0;

	for (int i = 0; i < MESSAGES_MOST && (r = sx_shared_take(&own->link, &next, why)) > 0; i++) {
		if (found) {
			sx_shared_return(&own->link, newest->number, STIXEL_PAIR_OVERLOAD);
			for (int side = 0; side < 2; side++) {
				count(&s->captured[side]);
				count(&s->dropped[side][SX_DROP_OVERLOAD]);
			}
		}
		*newest = next;
		found = 1;
	}
	if (found)
		own->last_ns = sx_now_ns();
	/* the last pair of a writer that has ended is computed; the next call reports the end */
	return found ? 1 : r;
}

/* Detects a writer that is there and gives no pairs, although it has buffers. */
static int check_silence(struct shared *own, struct sx_why *why)
{
	const int64_t silence = sx_now_ns() - own->last_ns;

	for (int i = 0; i < own->lease_count; i++)
		if (own->leases[i].lent && !own->leases[i].slot) {
			own->last_ns = sx_now_ns();
			return 0;
		}
	if (silence <= own->timeout_ns)
		return 0;
	return sx_why_fail(-ENODEV, why, "the writer %s has given no pair for %.1f s (source.timeout_ms)",
			   own->link.name, (double)silence / 1e9);
}

static int shared_next(struct sx_source *s, struct sx_pair *pair, struct sx_why *why)
{
	struct shared *own = s->own;
	struct stixel_pairs_pair newest;
	struct lease *l = NULL;
	uint64_t expirations;
	int r;

	(void)!read(own->timer_fd, &expirations, sizeof(expirations));
	sx_shared_refuse_others(&own->link, own->socket);
	for (int i = 0; i < own->lease_count && !l; i++)
		l = own->leases[i].lent ? NULL : &own->leases[i];
	if (!l)
		return 0;
	r = take_newest(s, &newest, why);
	if (r > 0)
		return deliver(s, l, &newest, pair, why);
	if (r == 0)
		r = check_silence(own, why);
	if (r < 0)
		sx_shared_refuse(&own->link, why->text);
	return r;
}

static void shared_release(struct sx_source *s, const struct sx_pair *pair)
{
	struct shared *own = s->own;
	struct lease *l = pair->slot;

	sx_must_be(l->lent);
	l->lent = false;
	if (!l->slot)
		give_back(own, &l->pair, STIXEL_PAIR_TAKEN);
}

static void shared_refuse(struct sx_source *s, const char *sentence)
{
	struct shared *own = s->own;

	sx_shared_refuse(&own->link, sentence);
}

const struct sx_source_ops sx_shared_ops = {
	.open = shared_open,
	.close = shared_close,
	.block = shared_block,
	.fd = shared_fd,
	.next = shared_next,
	.release = shared_release,
	.refuse = shared_refuse,
};
