/*
 * Implements stixelctl endurance: follows a running daemon for minutes or days and judges how it kept up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/ctl/endurance/endurance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/clock.h"
#include "tools/common/progress.h"

#define DEFAULT_MINUTES 10
#define NS_PER_MS INT64_C(1000000)
/*
 * Longest warm-up. Memory that a daemon fills after its start is not a leak. The warm-up is a quarter of the
 * run, at most 1 min.
 */
#define WARM_UP_MOST_NS (60 * SX_NS_PER_S)
/* Interval of looks at the ring's state while no frame comes, ms. */
#define LOOK_MS 100

static void look_at_ring(struct endurance *e)
{
	struct endurance_frames *f = &e->frames;
	struct stixel_status s = {0};

	if (stixel_status(e->reader, &s, sizeof(s)) < 0)
		return;
	f->damaged = s.corrupt;
	if (s.publisher == STIXEL_PUBLISHER_ALIVE && f->state == STIXEL_STATE_RUNNING)
		f->state = (enum stixel_state)s.state;
	if (s.publisher == STIXEL_PUBLISHER_STALLED && s.heartbeat_age_ns > f->stalled_ns)
		f->stalled_ns = s.heartbeat_age_ns;
}

/* Counts every frame until the time is up or a signal comes. Returns 0 or a negative error. */
static int follow(struct endurance *e)
{
	const int64_t end_ns = e->began_ns + e->planned_ns;
	const struct stixel_frame *frame;
	uint64_t lost;
	int r = 0;

	for (int64_t now_ns = sx_now_ns(); !ctl_stopped && now_ns < end_ns; now_ns = sx_now_ns()) {
		const int64_t left_ms = (end_ns - now_ns) / NS_PER_MS + 1;

		r = stixel_wait(e->reader, left_ms < LOOK_MS ? (int)left_ms : LOOK_MS);
		while (r > 0 && !ctl_stopped && (r = stixel_next(e->reader, &frame, &lost)) > 0)
			endurance_count(e, frame->header, lost);
		if (r < 0 && r != -EINTR && r != -EBADMSG)
			return r;
		look_at_ring(e);
		sx_progress_update((uint64_t)((sx_now_ns() - e->began_ns) / SX_NS_PER_S));
	}
	return 0;
}

/* Counts the silence at the end of the run, too. */
static void end_silence(struct endurance *e)
{
	struct endurance_frames *f = &e->frames;
	const int64_t since_ns = f->frames ? f->before.published_ns : e->began_ns;

	e->ended_ns = sx_now_ns();
	if (e->ended_ns - since_ns > f->longest_ns)
		f->longest_ns = e->ended_ns - since_ns;
}

static int endurance_run(struct endurance *e)
{
	const struct stixel_frame *frame;
	int r = stixel_open(&e->reader, e->c->instance, STIXEL_OPEN_FOLLOW);

	if (r < 0)
		return r;
	stixel_latest(e->reader, &frame); /* skip the frame in the ring, which was published earlier */
	e->frames.state = STIXEL_STATE_RUNNING;
	e->began_ns = sx_now_ns();
	e->warm_ns =
		e->began_ns + (e->planned_ns / 4 < WARM_UP_MOST_NS ? e->planned_ns / 4 : WARM_UP_MOST_NS);
	r = endurance_ask_begin(e);
	if (r < 0)
		return r;
	sx_progress_begin("seconds", (uint64_t)(e->planned_ns / SX_NS_PER_S));
	r = follow(e);
	sx_progress_end();
	end_silence(e);
	endurance_ask_end(e);
	return r;
}

int ctl_endurance_words(const struct ctl *c)
{
	return c->minutes && c->duration_ms
		       ? ctl_fail(EX_USAGE, "endurance takes --minutes or --duration, not both")
		       : 0;
}

int ctl_endurance(const struct ctl *c)
{
	struct endurance_row rows[ENDURANCE_ROWS];
	struct endurance *e;
	int r, code;

	e = calloc(1, sizeof(*e));
	if (!e)
		return ctl_fail(EX_SOFTWARE, "out of memory");
	e->c = c;
	e->planned_ns = c->duration_ms ? c->duration_ms * NS_PER_MS
				       : (c->minutes ? c->minutes : DEFAULT_MINUTES) * 60 * SX_NS_PER_S;
	code = endurance_meet(e);
	if (!code) {
		e->paced = e->status.fps > 0.0 || strcmp(e->status.source, "v4l2") == 0;
		r = endurance_run(e);
		code = r < 0 ? ctl_explain(c, r) : endurance_report(e, rows, endurance_judge(e, rows));
	}
	stixel_close(e->reader);
	free(e);
	return code;
}
