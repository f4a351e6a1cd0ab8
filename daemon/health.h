/*
 * Is the instance well? One function from what was counted to a state, a reason, and whether the watchdog may
 * be pinged. It knows no clock and no thread, so that tests/daemon/test_health.c can try every case.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_HEALTH_H
#define SX_DAEMON_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "stixel.h"

#define SX_HEALTH_LIMIT_NS INT64_C(10000000000) /* without a watchdog: progress is overdue after this */
#define SX_HEALTH_TICK_NS INT64_C(250000000)
#define SX_HEALTH_SAMPLES 41 /* ten seconds of ticks, both ends */

struct sx_health_input {
	int64_t now_ns;
	int64_t limit_ns;	    /* longest time without progress: watchdog, or SX_HEALTH_LIMIT_NS */
	int64_t interval_ns;	    /* between pairs as configured, 0 unknown */
	double rate;		    /* pairs a second that the source is to give, 0 unknown */
	int64_t last_capture_ns;    /* or start of the pipeline, return of the camera */
	int64_t last_publish_ns;    /* 0 none yet */
	int64_t in_flight_since_ns; /* 0 nothing in flight */
	uint64_t published, captured, overload, corrupt;
	uint64_t no_map; /* pairs without a disparity map of the other process that matches */
	bool absent, stopping;
	const char *absent_why;	  /* NULL or empty: not known */
	const char *map_why;	  /* NULL: pairs are matched here; empty: nothing is said of maps */
	const char *names_why;	  /* why no new reader finds the frames; NULL or empty: they do */
	const char *pictures_why; /* what is wrong with the pictures; NULL or empty: nothing */
	const char *camera_why;	  /* that its settings changed a moment ago; NULL or empty: they did not */
};

/* Thread: main. Zeroed: nothing known yet. */
struct sx_health {
	struct {
		int64_t now_ns;
		uint64_t captured, published, overload, corrupt, no_map;
	} samples[SX_HEALTH_SAMPLES];
	unsigned sampled; /* how many were taken in all */
	bool expected;	  /* pairs, at the last sample */
	bool slow;	  /* the source, by the last judgement */
	int64_t hangs_ns; /* in_flight_since_ns of the frame with which the engine seems to hang, 0 none */
	uint64_t pinged_pairs; /* that were done with at the last ping: published, or without a map */

	/* verdict */
	enum stixel_state state;
	char reason[384];   /* empty when running */
	const char *advice; /* what to do about it, for the log; NULL: the reason says it */
	bool progress;	    /* nothing is overdue: heartbeats may go on */
	bool serving;	    /* frames come: /healthz answers 200 */
};

/* State and reason that were logged last. Zeroed: the daemon starts. */
struct sx_health_logged {
	enum stixel_state state;
	char reason[384];
	int64_t until_ns; /* each change of the reason that is logged takes a minute from here */
};

/* "starting", "running", ...: the word of log, status and metrics. */
const char *sx_health_name(enum stixel_state state);

/*
 * Pairs a second that a camera is to give, 0 unknown: what its driver says (given, 0 nothing), which may be
 * less than what was asked for, as the log has said, or more than a trigger gives, which asked says.
 */
double sx_health_camera_rate(double asked, double given);
/* Do two reasons say the same, whatever their figures? */
bool sx_health_same_reason(const char *a, const char *b);
/*
 * Tells whether the state is another one than was logged, or its reason has other words, and notes both. A
 * reason that changes to and fro is news three times, then once a minute.
 */
bool sx_health_is_news(const struct sx_health *h, struct sx_health_logged *t, int64_t now_ns);
/* Once a tick: takes a sample, then judges. */
void sx_health_update(struct sx_health *h, const struct sx_health_input *in);
/* The last ten seconds say nothing of what comes. */
void sx_health_forget(struct sx_health *h);
/* sx_health_update() without a sample, between ticks. */
void sx_health_judge(struct sx_health *h, const struct sx_health_input *in);
/*
 * True when a watchdog ping is due by right: a frame was published since the last one, or given up for want
 * of a map, the camera is known to be absent, or the next pair is not to be expected yet. Notes the ping.
 */
bool sx_health_may_ping(struct sx_health *h, const struct sx_health_input *in);

#endif
