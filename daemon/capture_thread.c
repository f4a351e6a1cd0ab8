/*
 * The capture thread: takes pairs from the source and puts them in the waiting place. It also looks for a
 * lost camera. It does not allocate while a source is open. It waits for the frame thread in two cases only:
 * if the source has no pace, and to get all pairs back before a lost camera is closed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/log.h"
#include "base/wake.h"
#include "capture/v4l2/watch.h"
#include "daemon/pipeline.h"

#define BACKOFF_FIRST_NS SX_NS_PER_S
#define BACKOFF_MOST_NS (5 * SX_NS_PER_S)
/* Time from a change of a device node to the attempt, in which udev sets rights and links. */
#define SETTLE_NS (SX_NS_PER_S / 10)
#define ATTEMPT_NS (SX_NS_PER_S / 4) /* minimum between two attempts */
/* Pause after a refused writer, so that a writer that connects again and again cannot keep the thread busy. */
#define REFUSED_PAUSE_NS (SX_NS_PER_S / 20)
/*
 * Longest sleep without a writer. The main thread may put a new socket of writers under the same descriptor
 * number (sx_run_folder_hold()). A poll() that has begun does not see it, so the thread calls poll() again.
 */
#define SOCKET_LOOK_MS 500
/* After this number of unreadable pairs in a row, a pause follows each further one. */
#define CORRUPT_MOST 10
#define CORRUPT_PAUSE_MS 20

struct capture {
	struct sx_pipeline *p;
	struct sx_telemetry *t;
	struct sx_condition corrupt, refused;
	int corrupt_in_a_row; /* counted up to CORRUPT_MOST */
	/*
	 * While the camera is absent: time between attempts, time of the next attempt, and time of the last
	 * one.
	 */
	int64_t backoff_ns, retry_ns, tried_ns;
	/* descriptor that reports changes of device nodes, or the socket of writers of pairs; -1: none */
	int watch_fd;
	/*
	 * watch_fd is the socket of writers; its owner closes it. Then attempts have no backoff: each one accepts a
	 * writer that waits, and after a refused writer the thread leaves the socket alone until retry_ns.
	 */
	bool shared;
	bool came;  /* a writer waits */
	bool found; /* the camera is back and has given no pair yet; some never do */
};

static bool must_stop(const struct capture *c)
{
	return atomic_load_explicit(&c->p->stop, memory_order_relaxed);
}

static void raise_priority(const struct sx_pipeline *p)
{
	const struct sched_param wanted = {.sched_priority = p->c.settings->realtime.priority};
	int error;

	if (wanted.sched_priority <= 0)
		return;
	error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &wanted);
	if (error)
		sx_log(CAPTURE, WARNING, "realtime.priority = %d is not permitted: %s (LimitRTPRIO?)",
		       wanted.sched_priority, strerror(error));
}

static void add_counters(struct sx_source_counters *sum, const struct sx_source *source)
{
	struct sx_source_counters last;

	sx_source_counters(source, &last);
	sx_must(last.dropped[0][SX_DROP_OVERLOAD], <=, last.captured[0]);
	for (int side = 0; side < 2; side++) {
		sum->captured[side] += last.captured[side];
		sum->gaps[side] += last.gaps[side];
		for (int i = 0; i < SX_DROP_COUNT; i++)
			sum->dropped[side][i] += last.dropped[side][i];
		for (int i = 0; i < SX_ODD_JPEG_COUNT; i++)
			sum->odd_jpeg[side][i] += last.odd_jpeg[side][i];
	}
	sum->corrupt += last.corrupt;
	sum->unpaired += last.unpaired;
	sum->reconnects += last.reconnects;
}

/* Updates the telemetry with the sums of the open source and of closed sources. */
static void note_counters(struct capture *c)
{
	struct sx_source_counters sum = c->t->closed;

	if (c->p->source)
		add_counters(&sum, c->p->source);
	sx_telemetry_source(c->t, &sum);
}

/*
 * Schedules the next attempt to open the cameras soon, when udev has finished, whatever the backoff. Called
 * after a device node changed.
 */
static void hurry(struct capture *c)
{
	int64_t soon = sx_now_ns() + SETTLE_NS;

	sx_must_be(!c->p->source);
	c->backoff_ns = BACKOFF_FIRST_NS / 2; /* doubled by the attempt, if it fails */
	if (soon < c->tried_ns + ATTEMPT_NS)
		soon = c->tried_ns + ATTEMPT_NS;
	if (soon < c->retry_ns)
		c->retry_ns = soon;
}

/*
 * Schedules the next attempt: after the backoff, or soon if device nodes appeared during the last attempt or
 * while the camera was closed.
 */
static void wait_for_camera(struct capture *c)
{
	sx_must(c->backoff_ns, <=, BACKOFF_MOST_NS);
	c->tried_ns = sx_now_ns();
	c->retry_ns = c->tried_ns + (c->shared ? REFUSED_PAUSE_NS : c->backoff_ns);
	if (!c->shared && sx_watch_rearm(c->watch_fd, &c->p->c.settings->source))
		hurry(c);
}

/* Gets the pairs of a lost camera back and closes it. Returns early when the daemon stops. */
static void lose_camera(struct capture *c, const char *why)
{
	struct sx_pipeline *p = c->p;

	sx_must_be(p->source);
	sx_log(CAPTURE, WARNING, "camera lost: %s", *why ? why : "no reason given");
	/* before the reason: a status that has the reason has no writer */
	sx_telemetry_writer(c->t, NULL);
	sx_telemetry_absent(c->t, *why ? why : "no reason given");
	sx_wake(p->c.main_fd);
	while (sx_mailbox_used(&p->mailbox) > 0) {
		struct pollfd fd = {.fd = p->mailbox.capture_fd, .events = POLLIN};

		if (must_stop(c))
			return;
		if (poll(&fd, 1, -1) > 0)
			sx_wake_clear(p->mailbox.capture_fd);
	}
	sx_mailbox_return_images(&p->mailbox);
	add_counters(&c->t->closed, p->source);
	sx_pipeline_unpin(p); /* every pair has been returned, so no frame is in flight */
	sx_source_close(p->source);
	p->source = NULL;
	c->backoff_ns = BACKOFF_FIRST_NS;
	wait_for_camera(c);
}

/* Writes how a new source differs from the old one, before the daemon builds a new pipeline for it. */
static void say_change(struct sx_why *why, bool shared, const struct sx_source_info *now,
		       const struct sx_source_info *was)
{
	const bool same = now->width == was->width && now->height == was->height && now->pixel == was->pixel;

	sx_why_set(why, "%s %dx%d %s", shared ? "a writer gives pairs of" : "camera is back with", now->width,
		   now->height, sx_pixel_name(now->pixel));
	if (same)
		sx_why_add(why, ", of a camera that was not known before");
	else
		sx_why_add(why, " instead of %dx%d %s", was->width, was->height, sx_pixel_name(was->pixel));
}

static void find_camera(struct capture *c)
{
	struct sx_pipeline *p = c->p;
	const struct sx_source_info *info;
	struct sx_why why;
	int r = sx_source_open(&p->source, &p->opens.params, sx_pipeline_slots(p->c.settings), &why);

	if (r < 0) {
		sx_must_be(!p->source);
		if (c->shared && r != -ENOENT)
			sx_condition_hit(&c->refused, sx_now_ns(), SX_LOG_CAPTURE, SX_LOG_WARNING,
					 "writer refused: %s", why.text);
		else
			sx_log(CAPTURE, DEBUG, "camera still absent: %s", why.text);
		sx_telemetry_absent(c->t, why.text);
		c->backoff_ns = 2 * c->backoff_ns < BACKOFF_MOST_NS ? 2 * c->backoff_ns : BACKOFF_MOST_NS;
		wait_for_camera(c);
		return;
	}
	if (c->shared)
		sx_condition_clear(&c->refused, sx_now_ns(), SX_LOG_CAPTURE, "a writer is accepted again");
	info = sx_source_info(p->source);
	c->t->closed.reconnects++;
	note_counters(c);
	if (!sx_pipeline_fits(info, &p->info)) {
		say_change(&why, c->shared, info, &p->info);
		sx_pipeline_end(p, SX_END_CHANGED, why.text);
		return;
	}
	sx_pipeline_pin(p);
	sx_telemetry_writer(c->t, info->writer);
	atomic_store_explicit(&c->t->memory, info->memory, memory_order_relaxed);
	atomic_store_explicit(&c->t->format, info->format, memory_order_relaxed);
	atomic_store_explicit(&c->t->source_mhz, (int64_t)(1e3 * info->fps + 0.5), memory_order_relaxed);
	sx_log(CAPTURE, NOTICE, "camera is back: %dx%d %s", info->width, info->height,
	       info->format ? info->format : sx_pixel_name(info->pixel));
	if (*info->note)
		sx_log(CAPTURE, INFO, "%s", info->note);
	atomic_store_explicit(&c->t->last_capture_ns, sx_now_ns(), memory_order_relaxed);
	c->found = true;
}

/*
 * Logs an unreadable pair. Pauses if many pairs in a row are unreadable, so that this thread does not spin on
 * a loop of unreadable files.
 */
static void skip_corrupt(struct capture *c, const char *why)
{
	struct pollfd fd = {.fd = c->p->mailbox.capture_fd, .events = POLLIN};

	sx_condition_hit(&c->corrupt, sx_now_ns(), SX_LOG_CAPTURE, SX_LOG_WARNING, "unreadable pair: %s",
			 why);
	sx_must(c->corrupt_in_a_row, <=, CORRUPT_MOST);
	if (c->corrupt_in_a_row < CORRUPT_MOST)
		c->corrupt_in_a_row++;
	else
		poll(&fd, 1, CORRUPT_PAUSE_MS);
}

static void put_in_mailbox(struct capture *c, struct sx_queued_pair *queued)
{
	int64_t now = sx_now_ns();

	sx_must_be(queued->source == c->p->source);
	c->corrupt_in_a_row = 0;
	sx_condition_clear(&c->corrupt, now, SX_LOG_CAPTURE, "pairs are readable again");
	sx_telemetry_captured(c->t, now, queued->pair.left_ns - queued->pair.right_ns);
	if (c->found) {
		c->found = false;
		sx_telemetry_absent(c->t, NULL);
		sx_wake(c->p->c.main_fd);
	}
	queued = sx_mailbox_put(queued);
	if (!queued)
		return;
	sx_must_be(queued->source == c->p->source);
	/* A pair after the last requested frame was not dropped because of a busy engine. */
	sx_telemetry_add(c->t,
			 atomic_load_explicit(&c->p->full, memory_order_relaxed) ? SX_METRIC_DROPPED_TEARDOWN
										 : SX_METRIC_DROPPED_OVERLOAD,
			 1);
	sx_mailbox_release(queued);
}

/* Takes a pair from the source. Returns false if the source has ended. */
static bool take_pair(struct capture *c)
{
	struct sx_pipeline *p = c->p;
	struct sx_queued_pair *queued = sx_mailbox_free(&p->mailbox);
	char warning[SX_WHY_BYTES];
	struct sx_why why;
	int r;

	if (!queued)
		return true;
	sx_why_clear(&why);
	queued->source = p->source;
	r = sx_source_next(p->source, &queued->pair, &why);
	note_counters(c);
	if (r > 0 && sx_source_warning(p->source, warning, sizeof(warning)))
		sx_log(CAPTURE, WARNING, "%s", warning);
	if (r > 0) {
		put_in_mailbox(c, queued);
		return true;
	}
	if (r == -EBADMSG)
		skip_corrupt(c, why.text);
	else if (r == -ENODATA && why.text[0])
		sx_pipeline_end(p, SX_END_DATA, why.text);
	else if (r == -ENODATA)
		return false;
	else if (r < 0)
		lose_camera(c, why.text[0] ? why.text : strerror(-r));
	return true;
}

/* Waits until there may be work. Returns true if the source may have a pair and there is room for it. */
static bool wait_for_pair(struct capture *c)
{
	struct sx_pipeline *p = c->p;
	bool absent = !p->source;
	bool room = !absent && (p->info.paced || !sx_mailbox_waits(&p->mailbox)) &&
		    sx_mailbox_used(&p->mailbox) < sx_pipeline_slots(p->c.settings);
	struct pollfd fds[3] = {
		{.fd = p->mailbox.capture_fd, .events = POLLIN},
		{.fd = room ? sx_source_fd(p->source) : -1, .events = POLLIN},
		{.fd = absent ? c->watch_fd : -1, .events = POLLIN},
	};
	int64_t left_ns = absent ? c->retry_ns - sx_now_ns() : 0;
	int timeout_ms = !absent ? -1 : left_ns <= 0 ? 0 : (int)(left_ns / 1000000) + 1;

	sx_must(left_ns, <=, BACKOFF_MOST_NS);
	if (c->shared && left_ns > 0)
		fds[2].fd = -1;
	else if (c->shared && absent)
		timeout_ms = SOCKET_LOOK_MS;
	if (poll(fds, 3, timeout_ms) > 0 && fds[0].revents)
		sx_wake_clear(p->mailbox.capture_fd);
	sx_mailbox_return_images(&p->mailbox);
	if (fds[2].revents && c->shared) {
		c->came = true;
	} else if (fds[2].revents) {
		sx_watch_rearm(c->watch_fd, &p->c.settings->source);
		hurry(c);
	}
	/* A source that had no memory left may have a pair now, so a wake-up for returned images also counts. */
	return room && (fds[0].revents || fds[1].revents);
}

/* Sets camera controls that main has handed over, and returns them to main. */
static void change_controls(struct capture *c)
{
	struct sx_pipeline *p = c->p;
	struct sx_camera_controls *t = sx_control_channel_take_controls(&p->channel);

	if (!t)
		return;
	if (p->source) {
		t->result = sx_source_change_controls(p->source, &t->params, &t->why);
	} else {
		t->result = -ENODEV;
		sx_why_set(&t->why, "the camera is absent, and only it can tell what it takes");
	}
	if (t->result ==
	    0) /* copy only the controls: the other texts of t->params are freed after the change */
		sx_camera_controls_update(&p->opens, &t->params);
	sx_must(t->result, <=, 0);
	sx_control_channel_return_controls(&p->channel, t);
	sx_wake(p->c.main_fd);
}

void *sx_capture_thread(void *pipeline)
{
	struct sx_pipeline *p = pipeline;
	struct capture c = {.p = p, .t = p->c.telemetry, .backoff_ns = BACKOFF_FIRST_NS};

	sx_log_join(p->c.log);
	sx_log_realtime_begin();
	raise_priority(p);
	c.found = p->source && atomic_load_explicit(&c.t->absent, memory_order_relaxed);
	c.shared = p->c.settings->source.kind == SX_SOURCE_SHARED;
	c.watch_fd = c.shared ? p->c.pairs->fd : sx_watch_open(&p->c.settings->source);
	c.tried_ns = sx_now_ns();
	c.retry_ns = c.tried_ns + (c.shared ? ATTEMPT_NS : c.backoff_ns);
	while (!must_stop(&c)) {
		change_controls(&c);
		if (wait_for_pair(&c) && !must_stop(&c)) {
			if (!take_pair(&c)) {
				atomic_store_explicit(&p->source_ended, true, memory_order_release);
				sx_wake(p->mailbox.frame_fd);
				break;
			}
		} else if (!p->source && (c.shared ? c.came : sx_now_ns() >= c.retry_ns)) {
			c.came = false;
			find_camera(&c);
		}
	}
	if (c.watch_fd >= 0 && !c.shared)
		close(c.watch_fd);
	sx_log_realtime_end();
	sx_wake(p->c.main_fd);
	return NULL;
}
