/*
 * Counts numbers, drops and times frame by frame for stixelctl endurance, and checks the sum of the status
 * counters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tools/ctl/answer.h"
#include "tools/ctl/endurance/endurance.h"

/*
 * Captured pairs in addition to the frames in flight: one that waits, and one on its way to the frame thread.
 */
#define IN_FLIGHT_MORE 2

static int compare_ns(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/*
 * Sets the nominal interval: that of source.fps if the median of the first intervals is within 1 % of it,
 * else the median.
 */
static void settle_nominal(struct endurance *e)
{
	struct endurance_frames *f = &e->frames;
	const int64_t reported_ns = e->status.fps > 0.0 ? (int64_t)(1e9 / e->status.fps) : 0;

	qsort(f->first_ns, ENDURANCE_FIRST_INTERVALS, sizeof(f->first_ns[0]), compare_ns);
	f->nominal_ns = f->first_ns[ENDURANCE_FIRST_INTERVALS / 2];
	f->as_reported = reported_ns > 0 && llabs(f->nominal_ns - reported_ns) <= reported_ns / 100;
	if (f->as_reported)
		f->nominal_ns = reported_ns;
	for (int i = 0; i < ENDURANCE_FIRST_INTERVALS; i++)
		sx_histogram_add(&f->jitter, llabs(f->first_ns[i] - f->nominal_ns));
}

static void add_interval(struct endurance *e, int64_t ns)
{
	struct endurance_frames *f = &e->frames;

	if (f->nominal_ns) {
		sx_histogram_add(&f->jitter, llabs(ns - f->nominal_ns));
		return;
	}
	f->first_ns[f->first++] = ns;
	if (f->first == ENDURANCE_FIRST_INTERVALS)
		settle_nominal(e);
}

/*
 * Adds the pairs that were dropped between two frames, by the counters of both headers. Returns their number.
 */
static uint64_t add_dropped(struct endurance_frames *f, const struct stixel_frame_header *h)
{
	const uint64_t dropped[ENDURANCE_DROPS] = {
		[ENDURANCE_OVERLOAD] = h->dropped_overload - f->before.dropped_overload,
		[ENDURANCE_UNPAIRED] = h->dropped_unpaired - f->before.dropped_unpaired,
		[ENDURANCE_CORRUPT] = h->dropped_corrupt - f->before.dropped_corrupt,
	};
	uint64_t all = 0;

	for (int i = 0; i < ENDURANCE_DROPS; i++) {
		f->dropped[i] += dropped[i];
		all += dropped[i];
	}
	return all;
}

/* Counts a frame that follows another one of the same epoch. */
static void count_next(struct endurance *e, const struct stixel_frame_header *h, uint64_t lost)
{
	struct endurance_frames *f = &e->frames;
	const uint64_t dropped = add_dropped(f, h), step = h->number - f->number;

	if (h->number <= f->number) {
		f->back++;
		return;
	}
	if (step - 1 > lost)
		f->missing += step - 1 - lost;
	f->span_ns += h->capture_left_ns - f->before.capture_left_ns;
	f->intervals += step;
	/*
	 * the counter may include a replaced pair one frame early, because that pair was captured after the
	 * pair in the engine
	 */
	if (step == 1 && dropped == 0 && f->dropped_before == 0)
		add_interval(e, h->capture_left_ns - f->before.capture_left_ns);
	f->dropped_before = dropped;
}

void endurance_count(struct endurance *e, const struct stixel_frame_header *h, uint64_t lost)
{
	struct endurance_frames *f = &e->frames;
	/* use one clock for all publishers, so that a restart counts as silence too */
	const int64_t silent_ns = h->published_ns - (f->frames ? f->before.published_ns : e->began_ns);

	if (silent_ns > f->longest_ns)
		f->longest_ns = silent_ns;
	f->frames++;
	f->lost += lost;
	if (f->epoch && h->epoch == f->epoch) {
		count_next(e, h, lost);
	} else {
		f->restarts += f->epoch != 0;
		f->dropped_before = 0;
	}
	if (h->clock != STIXEL_CLOCK_UNKNOWN) {
		sx_histogram_add(&f->latency, stixel_age_ns(h, h->published_ns));
		sx_histogram_add(&f->age, stixel_age_ns(h, sx_now_ns()));
	}
	f->epoch = h->epoch;
	f->number = h->number;
	f->before = *h;
}

int64_t endurance_whole(json_t *j, const char *path)
{
	json_t *v = sx_answer_find(j, path);

	return json_is_integer(v) ? json_integer_value(v) : -1;
}

int64_t endurance_unbalanced(json_t *j)
{
	const int64_t most = endurance_whole(j, "engine.contexts") + IN_FLIGHT_MORE;
	const int64_t reported = endurance_whole(j, "frames.dropped.teardown");
	/* daemons before 0.2.0 do not report these pairs */
	const int64_t teardown = reported > 0 ? reported : 0;
	const int64_t rest = endurance_whole(j, "frames.captured") - endurance_whole(j, "frames.published") -
			     endurance_whole(j, "frames.dropped.overload") -
			     endurance_whole(j, "frames.dropped.no_map") - teardown;

	return rest < 0 ? rest : rest > most ? rest - most : 0;
}
