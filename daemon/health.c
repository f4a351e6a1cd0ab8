/*
 * Judgement of the daemon's state, and of the watchdog's pings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/health.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/advice.h"
#include "base/contract.h"

/* percent of pairs; if more pairs are lost in ten seconds, the state is degraded */
#define LOSS_PERCENT 10
/* pairs; this number of lost pairs or fewer is ignored, because a cold start loses some */
#define LOSS_LEAST 10
#define RATE_LEAST 10	    /* pairs; the rate is judged only if at least this number is expected */
#define RATE_SLOW_SHARE 0.4 /* below 0.5, because cameras give about half of their rate in the dark */
#define RATE_WELL_SHARE 0.75
/*
 * If an engine has published frames, and then none for ten times the time of one frame, it hangs; it is not
 * just slow. The daemon reports this after a second if pairs are lost meanwhile, else after half the limit.
 * So the report is in the log before the watchdog ends the process.
 */
#define HANG_FRAMES 5 /* least number of frames in the ten seconds before */
#define HANG_INTERVALS 10
/* A frame late by half of that may hang. Pairs that are lost meanwhile do not tell yet whether the engine is slow. */
#define DOUBT_INTERVALS 5
#define HANG_LOSING_NS INT64_C(1000000000)
#define HANG_MOST_NS INT64_C(5000000000)
#define REASON_NS INT64_C(60000000000) /* shortest mean time between two logged changes of the reason, ns */
#define REASONS_AT_ONCE 3
#define SAMPLE_GAP_NS INT64_C(1000000000) /* ns; after a longer gap between two samples the window restarts */

const char *sx_health_name(enum stixel_state state)
{
	return stixel_state_name(state);
}

static const char *skip_metrics(const char *text)
{
	return text + strspn(text, "0123456789.");
}

bool sx_health_same_reason(const char *a, const char *b)
{
	for (a = skip_metrics(a), b = skip_metrics(b); *a && *a == *b; a++, b++) {
		a = skip_metrics(a + 1) - 1;
		b = skip_metrics(b + 1) - 1;
	}
	return *a == *b;
}

static bool has_other_reason(const struct sx_health *h, struct sx_health_logged *t, int64_t now_ns)
{
	if (h->state == STIXEL_STATE_STARTING || sx_health_same_reason(h->reason, t->reason) ||
	    t->until_ns - now_ns > (REASONS_AT_ONCE - 1) * REASON_NS)
		return false;
	t->until_ns = (t->until_ns > now_ns ? t->until_ns : now_ns) + REASON_NS;
	return true;
}

bool sx_health_has_changed(const struct sx_health *h, struct sx_health_logged *t, int64_t now_ns)
{
	if (h->state == t->state && !has_other_reason(h, t, now_ns))
		return false;
	t->state = h->state;
	memcpy(t->reason, h->reason, sizeof(t->reason));
	return true;
}

double sx_health_camera_rate(double asked, double given)
{
	return asked > 0 && asked < given ? asked : given;
}

static double seconds(int64_t ns)
{
	return (double)ns / 1e9;
}

static void take_sample(struct sx_health *h, const struct sx_health_input *in)
{
	unsigned i = h->sampled++ % SX_HEALTH_SAMPLES;

	h->samples[i].now_ns = in->now_ns;
	sx_must_be(i == 0 || in->captured >= h->samples[i - 1].captured);
	h->samples[i].captured = in->captured;
	h->samples[i].published = in->published;
	h->samples[i].overload = in->overload;
	h->samples[i].corrupt = in->corrupt;
	h->samples[i].no_map = in->no_map;
}

static void decide(struct sx_health *h, enum stixel_state state, bool progress, bool serving,
		   const char *format, ...) __attribute__((format(printf, 5, 6)));
static void decide(struct sx_health *h, enum stixel_state state, bool progress, bool serving,
		   const char *format, ...)
{
	va_list args;

	sx_must(state, <=, STIXEL_STATE_STOPPING);
	h->state = state;
	h->advice = NULL;
	h->progress = progress;
	h->serving = serving;
	va_start(args, format);
	vsnprintf(h->reason, sizeof(h->reason), format, args);
	va_end(args);
}

/* Returns the time without progress, counted from when progress could begin. */
static int64_t frame_overdue_ns(const struct sx_health_input *in)
{
	int64_t since =
		in->in_flight_since_ns > in->last_publish_ns ? in->in_flight_since_ns : in->last_publish_ns;

	return in->in_flight_since_ns ? in->now_ns - since : 0;
}

/* Returns how long a source may be silent: several of its intervals, but at least the limit. */
static int64_t silence_limit_ns(const struct sx_health_input *in)
{
	sx_must(in->limit_ns, >, 0);
	return 3 * in->interval_ns > in->limit_ns ? 3 * in->interval_ns : in->limit_ns;
}

/*
 * Returns the number of pairs in the window: published, or given up. Some of these may have come before the
 * window. If more pairs came than were finished, as in the first seconds, returns the number that came.
 */
static uint64_t pairs_of(uint64_t captured, uint64_t published, uint64_t overload, uint64_t no_map)
{
	const uint64_t done = published + overload + no_map;

	return done > captured ? done : captured;
}

/*
 * Judges lost disparity maps. A few lost maps are no pattern, unless no frame was published. serving: frames
 * were published meanwhile.
 */
static bool judge_maps(struct sx_health *h, const struct sx_health_input *in, uint64_t captured,
		       uint64_t no_map, bool serving)
{
	if (no_map == 0 || (serving && (no_map <= LOSS_LEAST || no_map * 100 <= captured * LOSS_PERCENT)))
		return false;
	decide(h, STIXEL_STATE_DEGRADED, true, serving,
	       "%llu of the last %llu pairs had no disparity map%s%s", (unsigned long long)no_map,
	       (unsigned long long)captured, in->map_why && *in->map_why ? ": " : "",
	       in->map_why ? in->map_why : "");
	return true;
}

/* Returns the index of the oldest sample. There must be a sample. */
static unsigned first_sample(const struct sx_health *h)
{
	return h->sampled < SX_HEALTH_SAMPLES ? 0 : h->sampled % SX_HEALTH_SAMPLES;
}

/* Returns true if no frame has finished for ten times the mean time of a frame in the last ten seconds. */
/* Returns whether no frame came for `intervals` times the time of one frame, after frames came. */
static bool engine_stalls(const struct sx_health *h, const struct sx_health_input *in, int intervals)
{
	const unsigned now = (h->sampled - 1) % SX_HEALTH_SAMPLES, then = first_sample(h);
	uint64_t frames;

	if (h->sampled == 0 || !in->in_flight_since_ns)
		return false;
	frames = h->samples[now].published - h->samples[then].published;
	return frames >= HANG_FRAMES &&
	       seconds(frame_overdue_ns(in)) * (double)frames >
		       intervals * seconds(h->samples[now].now_ns - h->samples[then].now_ns);
}

static bool loses_pairs(const struct sx_health *h)
{
	return h->sampled > 0 && h->samples[(h->sampled - 1) % SX_HEALTH_SAMPLES].overload -
						 h->samples[first_sample(h)].overload >
					 LOSS_LEAST;
}

static bool engine_hangs(struct sx_health *h, const struct sx_health_input *in)
{
	const int64_t half = in->limit_ns / 2 < HANG_MOST_NS ? in->limit_ns / 2 : HANG_MOST_NS;
	const int64_t patience = loses_pairs(h) || half < HANG_LOSING_NS ? HANG_LOSING_NS : half;

	if (!in->in_flight_since_ns || frame_overdue_ns(in) <= patience)
		h->hangs_ns = 0;
	else if (engine_stalls(h, in, HANG_INTERVALS))
		/* the verdict holds until this frame is done, even when older frames have left the window */
		h->hangs_ns = in->in_flight_since_ns;
	return h->hangs_ns != 0;
}

static bool judge_loss(struct sx_health *h, const struct sx_health_input *in)
{
	unsigned now, then;
	uint64_t captured, published, overload, corrupt, no_map;
	bool serving;

	if (h->sampled == 0)
		return false;
	now = (h->sampled - 1) % SX_HEALTH_SAMPLES;
	then = first_sample(h);
	sx_must(h->samples[now].captured, >=, h->samples[then].captured);
	sx_must(h->samples[now].overload, >=, h->samples[then].overload);
	published = h->samples[now].published - h->samples[then].published;
	no_map = h->samples[now].no_map - h->samples[then].no_map;
	overload = h->samples[now].overload - h->samples[then].overload;
	corrupt = h->samples[now].corrupt - h->samples[then].corrupt;
	/* An engine is never so slow that no frame comes. An external matcher may be that slow. */
	serving = !in->map_why || published > 0;
	captured =
		pairs_of(h->samples[now].captured - h->samples[then].captured, published, overload, no_map);
	if (judge_maps(h, in, captured, no_map, serving))
		return true;
	if (overload > LOSS_LEAST && overload * 100 > captured * LOSS_PERCENT) {
		/* the last verdict holds until it is clear whether the engine hangs */
		if (engine_stalls(h, in, DOUBT_INTERVALS))
			return h->state == STIXEL_STATE_DEGRADED;
		decide(h, STIXEL_STATE_DEGRADED, true, serving,
		       "%s too slow: %llu of the last %llu pairs dropped by overload",
		       in->map_why ? "the other process that matches, or the engine, is" : "engine",
		       (unsigned long long)overload, (unsigned long long)captured);
		h->advice = sx_advice_too_slow();
		return true;
	}
	if (corrupt > LOSS_LEAST && corrupt * 100 > (captured + corrupt) * LOSS_PERCENT) {
		decide(h, STIXEL_STATE_DEGRADED, true, true, "%llu of the last %llu pairs were unreadable",
		       (unsigned long long)corrupt, (unsigned long long)(captured + corrupt));
		return true;
	}
	return false;
}

/*
 * Judges the rate of the source: it is too slow below two fifths of its rate over ten whole seconds,
 * unreadable pairs included. It stays too slow up to three quarters, so that a rate near the limit does not
 * flap.
 */
static bool judge_rate(struct sx_health *h, const struct sx_health_input *in)
{
	const unsigned now = (h->sampled - 1) % SX_HEALTH_SAMPLES, then = h->sampled % SX_HEALTH_SAMPLES;
	const double span = seconds(h->samples[now].now_ns - h->samples[then].now_ns);
	uint64_t pairs;
	double wanted;

	/* If the rate is unknown, no pairs are expected. A few pairs do not show a rate. */
	if (h->sampled < SX_HEALTH_SAMPLES || in->rate <= 0 || in->rate * span < RATE_LEAST)
		return h->slow = false;
	sx_must(h->samples[now].now_ns, >, h->samples[then].now_ns);
	pairs = h->samples[now].captured - h->samples[then].captured + h->samples[now].corrupt -
		h->samples[then].corrupt;
	wanted = in->rate * span * (h->slow ? RATE_WELL_SHARE : RATE_SLOW_SHARE);
	h->slow = (double)pairs < wanted;
	if (h->slow)
		decide(h, STIXEL_STATE_DEGRADED, true, true, "source gives %.1f of %g pairs a second",
		       (double)pairs / span, in->rate);
	return h->slow;
}

void sx_health_judge(struct sx_health *h, const struct sx_health_input *in)
{
	int64_t overdue = frame_overdue_ns(in), silence = in->now_ns - in->last_capture_ns;
	const bool hangs = engine_hangs(h, in);

	if (in->stopping)
		decide(h, STIXEL_STATE_STOPPING, overdue <= in->limit_ns, false, "stopping");
	else if (overdue > in->limit_ns || hangs)
		decide(h, STIXEL_STATE_DEGRADED, overdue <= in->limit_ns, overdue <= in->limit_ns,
		       "no frame finished for %.1f s while one is in flight", seconds(overdue));
	else if (in->absent)
		decide(h, STIXEL_STATE_NO_CAMERA, true, false, "%s",
		       in->absent_why && *in->absent_why ? in->absent_why
							 : "camera absent, retried every few seconds");
	else if (!in->in_flight_since_ns && silence > silence_limit_ns(in))
		decide(h, STIXEL_STATE_DEGRADED, false, false, "no pair from the source for %.1f s",
		       seconds(silence));
	else if ((in->published > 0 || in->no_map > 0) && judge_loss(h, in))
		return; /* lost pairs have priority over faults of the images */
	else if (in->published == 0)
		decide(h, STIXEL_STATE_STARTING, true, false, "no frame yet");
	else if (in->names_why && *in->names_why)
		decide(h, STIXEL_STATE_DEGRADED, true, true, "%s", in->names_why);
	else if (in->images_why && *in->images_why)
		decide(h, STIXEL_STATE_DEGRADED, true, true, "%s", in->images_why);
	else if (in->camera_why && *in->camera_why)
		decide(h, STIXEL_STATE_DEGRADED, true, true, "%s", in->camera_why);
	else if (judge_rate(h, in))
		return;
	else
		decide(h, STIXEL_STATE_RUNNING, true, true, "%s", "");
}

/* Returns true if a camera is present, and a frame was published or a pair given up for want of a map. */
static bool expects_pairs(const struct sx_health_input *in)
{
	return !in->absent && (in->published > 0 || in->no_map > 0);
}

void sx_health_forget(struct sx_health *h)
{
	h->sampled = 0;
}

void sx_health_update(struct sx_health *h, const struct sx_health_input *in)
{
	const unsigned last = (h->sampled - 1) % SX_HEALTH_SAMPLES;
	const bool expected = expects_pairs(in);

	sx_must_be(!h->sampled || in->now_ns >= h->samples[last].now_ns);
	if (h->sampled && in->now_ns - h->samples[last].now_ns > SAMPLE_GAP_NS) {
		sx_health_forget(h); /* main did not run: a stop signal, or a suspended machine */
	} else if (h->sampled && expected && !h->expected) { /* the window begins with the first pairs */
		h->samples[0] = h->samples[last];
		h->sampled = 1;
	}
	h->expected = expected;
	take_sample(h, in);
	sx_health_judge(h, in);
}

bool sx_health_may_ping(struct sx_health *h, const struct sx_health_input *in)
{
	const uint64_t pairs = in->published + in->no_map;
	bool slow_source = !in->in_flight_since_ns && 2 * in->interval_ns > in->limit_ns &&
			   in->now_ns - in->last_capture_ns <= silence_limit_ns(in);

	sx_must(pairs, >=, h->pinged_pairs);
	if (pairs == h->pinged_pairs && !(in->absent && h->progress) && !slow_source)
		return false;
	h->pinged_pairs = pairs;
	return true;
}
