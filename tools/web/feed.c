/*
 * Feeds: one thread for each instance that has viewers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/web/feed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/wake.h"
#include "stixel.h"
#include "tools/common/ring_layout.h"

enum { WAIT_MS = 100, RETRY_MS = 500, STACK_BYTES = 256 * 1024 };

struct web_feed {
	char instance[WEB_NAME_BYTES];
	struct web_feeds *all;
	/* only the feed's thread uses these */
	bool seen; /* a publisher has been alive */
	struct sx_scale scale;
	/* protected by all->lock */
	bool running;
	struct web_viewer *viewers;
	struct web_packet *newest;
	struct web_notice notice;
};

struct web_feeds {
	pthread_mutex_t lock;
	pthread_cond_t ended; /* a thread has ended */
	unsigned threads, viewers;
	bool stopping;
	struct web_feed feed[WEB_FEEDS];
};

void web_reader_why(const char *instance, int error, char why[WEB_READER_WHY_BYTES])
{
	char layout[SX_RING_LAYOUT_BYTES];

	if (error == -EPROTONOSUPPORT && sx_ring_other_layout(instance, "stixel-web", layout))
		snprintf(why, WEB_READER_WHY_BYTES, "%s", layout);
	else
		snprintf(why, WEB_READER_WHY_BYTES, "%s", error ? stixel_strerror(error) : "");
}

struct web_feeds *web_feeds_create(void)
{
	struct web_feeds *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->ended, NULL);
	for (int i = 0; i < WEB_FEEDS; i++)
		f->feed[i].all = f;
	return f;
}

void web_feeds_destroy(struct web_feeds *f)
{
	if (!f)
		return;
	pthread_mutex_lock(&f->lock);
	while (f->threads)
		pthread_cond_wait(&f->ended, &f->lock);
	pthread_mutex_unlock(&f->lock);
	pthread_cond_destroy(&f->ended);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

/* Wakes all viewers of the feed. Call with the lock held. */
static void wake(struct web_feed *feed)
{
	for (struct web_viewer *v = feed->viewers; v; v = v->next)
		sx_wake(v->event_fd);
}

void web_feeds_stop(struct web_feeds *f)
{
	pthread_mutex_lock(&f->lock);
	f->stopping = true;
	for (int i = 0; i < WEB_FEEDS; i++)
		wake(&f->feed[i]);
	pthread_mutex_unlock(&f->lock);
}

/* Collects what the viewers want together. False: there are no viewers, and the feed has ended. */
static bool look_around(struct web_feed *feed, unsigned *wants, int64_t *interval_ns)
{
	struct web_feeds *f = feed->all;
	bool on;

	*wants = 0;
	*interval_ns = INT64_MAX;
	pthread_mutex_lock(&f->lock);
	for (struct web_viewer *v = feed->viewers; v; v = v->next) {
		*wants |= v->wants;
		*interval_ns = v->interval_ns < *interval_ns ? v->interval_ns : *interval_ns;
	}
	on = feed->viewers && !f->stopping;
	if (!on) {
		feed->running = false;
		web_packet_unref(feed->newest);
		feed->newest = NULL;
	}
	pthread_mutex_unlock(&f->lock);
	return on;
}

static void publish(struct web_feed *feed, const struct stixel_frame *frame, unsigned wants)
{
	struct web_packet *p, *old;

	sx_scale_frame(&feed->scale, frame->header, frame->stixels);
	p = web_packet_create(frame, wants, &feed->scale);
	if (!p)
		return;
	pthread_mutex_lock(&feed->all->lock);
	old = feed->newest;
	feed->newest = p;
	wake(feed);
	pthread_mutex_unlock(&feed->all->lock);
	web_packet_unref(old);
}

/*
 * Returns how the last publisher ended. A reader with STIXEL_OPEN_FOLLOW does not keep this, but the ring
 * shows it: a crash leaves a ring without a publisher, and an orderly end removes the ring.
 */
static uint32_t how_it_ended(const struct web_feed *feed)
{
	struct stixel_reader *reader = NULL;
	struct stixel_status s = {0};
	int r = stixel_open(&reader, feed->instance, STIXEL_OPEN_LEFTOVER);

	if (r == 0)
		r = stixel_status(reader, &s, sizeof(s));
	stixel_close(reader);
	if (r == 0 && s.publisher == STIXEL_PUBLISHER_DIED)
		return STIXEL_PUBLISHER_DIED;
	return feed->seen ? STIXEL_PUBLISHER_ENDED : STIXEL_PUBLISHER_ABSENT;
}

/* Sends the viewers a notice if the publisher's state has changed. */
static void feed_tell(struct web_feed *feed, struct stixel_reader *reader, int error)
{
	struct stixel_status s = {0};
	struct web_notice *n = &feed->notice;
	char why[WEB_READER_WHY_BYTES];
	bool changed;

	if (reader)
		stixel_status(reader, &s, sizeof(s));
	feed->seen |= s.publisher == STIXEL_PUBLISHER_ALIVE;
	if (reader && s.publisher == STIXEL_PUBLISHER_ABSENT)
		s.publisher = how_it_ended(feed);
	web_reader_why(feed->instance, error, why);
	pthread_mutex_lock(&feed->all->lock);
	changed = n->error != error || n->publisher != s.publisher || n->state != s.state ||
		  n->epoch != s.epoch;
	n->error = error;
	memcpy(n->error_text, why, sizeof(n->error_text));
	n->publisher = s.publisher;
	n->state = s.state;
	n->epoch = s.epoch;
	n->head = s.head;
	memcpy(n->version_text, s.version, sizeof(n->version_text));
	n->heartbeat_age_ns = reader ? s.heartbeat_age_ns : INT64_MAX;
	if (changed || !n->version) {
		n->version++;
		wake(feed);
	}
	pthread_mutex_unlock(&feed->all->lock);
}

static void sleep_ns(int64_t ns)
{
	struct timespec t = {.tv_sec = ns / SX_NS_PER_S, .tv_nsec = ns % SX_NS_PER_S};

	if (ns > 0)
		nanosleep(&t, NULL);
}

/* Waits for the next frame, not before due_ns, and takes it. Negative: the reader can no longer be used. */
static int take_one(struct web_feed *feed, struct stixel_reader *reader, unsigned wants, int64_t due_ns)
{
	const struct stixel_frame *frame;
	int64_t early_ns = due_ns - sx_now_ns();
	int r;

	if (early_ns > WAIT_MS * INT64_C(1000000)) {
		sleep_ns(WAIT_MS * INT64_C(1000000));
		return 0;
	}
	sleep_ns(early_ns);
	r = stixel_wait(reader, WAIT_MS);
	if (r > 0)
		r = stixel_latest(reader, &frame);
	if (r > 0) {
		/* first, so that a viewer that comes now does not learn that the publisher before has ended */
		feed_tell(feed, reader, 0);
		publish(feed, frame, wants);
	}
	return r == -EINTR || r == -EBADMSG ? 0 : r;
}

/* Reads until the reader fails (true) or no viewer is left (false). */
static bool read_on(struct web_feed *feed, struct stixel_reader *reader)
{
	int64_t due_ns = 0, interval_ns;
	unsigned wants, asked = ~0u;

	while (look_around(feed, &wants, &interval_ns)) {
		int r;

		if (wants != asked)
			/* if images are refused, the stixels still come */
			stixel_want_images(reader, web_packet_planes(wants));
		asked = wants;
		r = take_one(feed, reader, wants, due_ns);
		feed_tell(feed, reader, r < 0 ? r : 0);
		if (r < 0)
			return true;
		if (r > 0) /* counted from the due time to keep the rate; missed frames are not made up for */
			due_ns = (due_ns + interval_ns > sx_now_ns() ? due_ns : sx_now_ns()) + interval_ns;
	}
	return false;
}

static void *feed_run(void *arg)
{
	struct web_feed *feed = arg;
	struct web_feeds *all = feed->all;
	struct stixel_reader *reader = NULL;
	int64_t interval_ns;
	unsigned wants;
	bool on = true;

	while (on) {
		int r = stixel_open(&reader, feed->instance, STIXEL_OPEN_FOLLOW);

		if (r == 0)
			on = read_on(feed, reader);
		else
			feed_tell(feed, NULL, r);
		stixel_close(reader);
		reader = NULL;
		if (on) {
			sleep_ns(RETRY_MS * INT64_C(1000000));
			on = look_around(feed, &wants, &interval_ns);
		}
	}
	/* another thread may use this feed from here on */
	pthread_mutex_lock(&all->lock);
	all->threads--;
	pthread_cond_broadcast(&all->ended);
	pthread_mutex_unlock(&all->lock);
	return NULL;
}

/* Returns the feed of this instance, or a free one. Call with the lock held. */
static struct web_feed *find_feed(struct web_feeds *f, const char *instance)
{
	struct web_feed *free_place = NULL;

	for (int i = 0; i < WEB_FEEDS; i++) {
		struct web_feed *feed = &f->feed[i];

		if (feed->running && strcmp(feed->instance, instance) == 0)
			return feed;
		if (!feed->running && !free_place)
			free_place = feed;
	}
	return free_place;
}

/* Starts the feed's thread. Call with the lock held. */
static int feed_start(struct web_feed *feed, const char *instance)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int r;

	snprintf(feed->instance, sizeof(feed->instance), "%s", instance);
	memset(&feed->notice, 0, sizeof(feed->notice));
	feed->seen = false;
	feed->scale = (struct sx_scale){0};
	r = pthread_attr_init(&attributes);
	if (r)
		return -r;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	r = pthread_create(&thread, &attributes, feed_run, feed);
	pthread_attr_destroy(&attributes);
	if (r)
		return -r;
	feed->running = true;
	feed->all->threads++;
	return 0;
}

int web_feed_join(struct web_feeds *f, struct web_viewer *v, const char *instance)
{
	struct web_feed *feed;
	int r = 0;

	v->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (v->event_fd < 0)
		return -errno;
	pthread_mutex_lock(&f->lock);
	feed = find_feed(f, instance);
	if (!feed || f->viewers >= WEB_VIEWERS || f->stopping)
		r = -EBUSY;
	else if (!feed->running)
		r = feed_start(feed, instance);
	if (r == 0) {
		v->feed = feed;
		v->next = feed->viewers;
		feed->viewers = v;
		f->viewers++;
	}
	pthread_mutex_unlock(&f->lock);
	if (r < 0)
		close(v->event_fd);
	return r;
}

void web_feed_leave(struct web_feeds *f, struct web_viewer *v)
{
	struct web_viewer **at = &v->feed->viewers;

	pthread_mutex_lock(&f->lock);
	while (*at != v)
		at = &(*at)->next;
	*at = v->next;
	f->viewers--;
	pthread_mutex_unlock(&f->lock);
	close(v->event_fd);
}

struct web_packet *web_feed_newest(struct web_viewer *v, uint64_t epoch, uint64_t number)
{
	struct web_packet *p;

	pthread_mutex_lock(&v->feed->all->lock);
	p = v->feed->newest;
	p = p && (p->epoch != epoch || p->number != number) ? web_packet_ref(p) : NULL;
	pthread_mutex_unlock(&v->feed->all->lock);
	return p;
}

void web_feed_notice(struct web_viewer *v, struct web_notice *ret)
{
	pthread_mutex_lock(&v->feed->all->lock);
	*ret = v->feed->notice;
	pthread_mutex_unlock(&v->feed->all->lock);
}

bool web_feed_over(struct web_viewer *v)
{
	bool over;

	pthread_mutex_lock(&v->feed->all->lock);
	over = v->feed->all->stopping;
	pthread_mutex_unlock(&v->feed->all->lock);
	return over;
}

unsigned web_feeds_viewers(struct web_feeds *f)
{
	unsigned n;

	pthread_mutex_lock(&f->lock);
	n = f->viewers;
	pthread_mutex_unlock(&f->lock);
	return n;
}
