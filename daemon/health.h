/*
 * Health of the instance. One function turns counts into a state, a reason, and whether the watchdog may be
 * pinged. The caller passes the time, and there are no threads, so that tests/daemon/test_health.c can try
 * every case.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_HEALTH_H
#define SX_DAEMON_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "stixel.h"

#define SX_HEALTH_LIMIT_NS INT64_C(10000000000) /* limit without a watchdog: after it progress is overdue */
#define SX_HEALTH_TICK_NS INT64_C(250000000)
#define SX_HEALTH_SAMPLES 41 /* ten seconds of ticks, including both ends */

struct sx_health_input {
	int64_t now_ns;
	int64_t limit_ns;	 /* longest time without progress: watchdog period, or SX_HEALTH_LIMIT_NS */
	int64_t interval_ns;	 /* configured time between pairs, 0: unknown */
	double rate;		 /* expected pairs per second of the source, 0: unknown */
	int64_t last_capture_ns; /* last pair, or start of the pipeline, or return of the camera */
	int64_t last_publish_ns; /* 0: no frame yet */
	int64_t in_flight_since_ns; /* 0: no frame in flight */
	uint64_t published, captured, overload, corrupt;
	uint64_t no_map; /* pairs without a disparity map from the external matcher */
	bool absent, stopping;
	const char *absent_why; /* NULL or empty: unknown */
	const char *map_why;	/* NULL: the daemon matches; empty: no problem with maps is known */
	const char *names_why;	/* why new readers cannot find the frames; NULL or empty: they can */
	const char *images_why; /* what is wrong with the images; NULL or empty: nothing */
	const char *camera_why; /* recent change of the camera's settings; NULL or empty: none */
};

/* Thread: main. Zeroed: no sample yet. */
struct sx_health {
	struct {
		int64_t now_ns;
		uint64_t captured, published, overload, corrupt, no_map;
	} samples[SX_HEALTH_SAMPLES];
	unsigned sampled; /* number of samples since the last reset */
	bool expected;	  /* at the last sample a pair was expected */
	bool slow;	  /* at the last judgement the source was too slow */
	int64_t hangs_ns; /* in_flight_since_ns of the frame at which the engine seems to hang, 0: none */
	uint64_t pinged_pairs; /* pairs finished at the last ping: published, or given up without a map */

	/* result of the last judgement */
	enum stixel_state state;
	char reason[384];   /* empty if the state is running */
	const char *advice; /* advice for the log; NULL: the reason contains it */
	bool progress;	    /* nothing is overdue: heartbeats continue */
	bool serving;	    /* frames are published: /healthz answers 200 */
};

/* State and reason that were logged last. Zeroed: the daemon starts. */
struct sx_health_logged {
	enum stixel_state state;
	char reason[384];
	int64_t until_ns; /* budget of log lines: each logged change of the reason moves it a minute ahead */
};

/* Returns "starting", "running", ...: the word in log, status and metrics. */
const char *sx_health_name(enum stixel_state state);

/*
 * Returns the expected pairs per second of a camera, 0: unknown. given: the driver's rate, 0: unknown; it may
 * be below the requested rate, and then the log has reported that. asked: the configured rate; it is below
 * the driver's rate if a trigger gives fewer pairs.
 */
double sx_health_camera_rate(double asked, double given);
/* Returns true if two reasons are equal except for their numbers. */
bool sx_health_same_reason(const char *a, const char *b);
/*
 * Returns true if the state differs from the logged one, or the reason has other words, and stores both. A
 * reason that alternates is reported three times, then once a minute.
 */
bool sx_health_has_changed(const struct sx_health *h, struct sx_health_logged *t, int64_t now_ns);
/* Takes a sample, then judges. Called once a tick. */
void sx_health_update(struct sx_health *h, const struct sx_health_input *in);
/* Discards the samples of the last ten seconds, which do not apply to the next ones. */
void sx_health_forget(struct sx_health *h);
/* Does the same as sx_health_update() without a sample, between ticks. */
void sx_health_judge(struct sx_health *h, const struct sx_health_input *in);
/*
 * Returns true if a watchdog ping is justified: since the last ping a frame was published or given up for
 * want of a disparity map, or the camera is known to be absent, or the next pair is not expected yet. Stores
 * the ping.
 */
bool sx_health_may_ping(struct sx_health *h, const struct sx_health_input *in);

#endif
