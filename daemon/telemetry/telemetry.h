/*
 * What the pipeline counts and measures: written by its two threads, read by main and the status socket.
 *
 * Everything is an atomic of its own or one of the lock-free histograms, so that no reader can hold a thread
 * of the pipeline up. The durations are those that lie in the frame headers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_TELEMETRY_TELEMETRY_H
#define SX_DAEMON_TELEMETRY_TELEMETRY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/histogram.h"
#include "base/rate.h"
#include "capture/source.h"
#include "daemon/telemetry/pictures.h"
#include "ipc/feed/feed.h"
#include "ipc/figures.h"
#include "stages/engine.h"
#include "stixel.h"

/* Of the newest frame; a plain copy of what the atomics below said at one moment. */
struct sx_newest {
	uint64_t frames, number, stixels, pixels; /* frames 0: none yet, the rest means nothing */
	int64_t segment_ns, stages_ns;
	uint64_t road_origin, road_inliers, road_age;
	uint64_t stamp; /* enum stixel_stamp */
	double slope, offset, cross, axis, bend, bend_row, horizon_row, pitch_rad, roll_rad, height_m;
	double pitch_sigma_rad, roll_sigma_rad, height_sigma_m;
};
#define SX_ABSENT_BYTES 160 /* of the sentence why the camera is absent */
#define SX_ABSENT_WORDS (SX_ABSENT_BYTES / sizeof(uint64_t))
#define SX_FEED_WHY_WORDS (SX_FEED_WHY_BYTES / sizeof(uint64_t))
#define SX_NEWEST_WORDS (sizeof(struct sx_newest) / sizeof(uint64_t))
#define SX_PICTURES_WORDS (sizeof(struct sx_pictures) / sizeof(uint64_t))

/*
 * The way of a frame, cut in three. Capture is the earlier of a pair's two capture times: what it stands for
 * (start of exposure, end of frame, software) is in the frame and in the status. docs/latency.md has the
 * picture.
 */
enum sx_span {
	SX_SPAN_ALL,	 /* capture to head: from the capture time to the frame's number in the ring's head */
	SX_SPAN_WAITING, /* capture to the engine: transfer from the camera, pairing, waiting for a context */
	SX_SPAN_ENGINE,	 /* from the engine's taking the pair to the frame thread's taking the result */
	SX_SPAN_OUTPUT,	 /* from there to the head: packing, check sum, images, copy into the ring */
	SX_SPAN_COUNT
};

/* What is known of one duration. */
struct sx_duration {
	struct sx_windows windows;
	_Atomic int64_t sum_ns; /* since start */
};

struct sx_telemetry {
	/* by enum sx_figure, those that are SX_FIGURE_COUNTED; each is written by one thread */
	_Atomic uint64_t count[SX_FIG_END];

	/* capture thread */
	struct sx_source_counters
		closed; /* what sources that are closed had counted; no other thread looks */
	_Atomic uint64_t images[2], gaps[2]; /* per side */
	_Atomic uint64_t dropped[2][SX_DROP_COUNT], odd_jpeg[2][SX_ODD_JPEG_COUNT];
	_Atomic uint64_t reconnects;
	/* of a camera that came later, constant words; NULL: what was known at the start is right */
	_Atomic(const char *) memory, format;
	_Atomic int64_t source_mhz;	  /* what the driver of the camera says it gives; 0 unknown */
	_Atomic int64_t last_capture_ns;  /* when the last pair came */
	atomic_bool absent;		  /* camera lost, being looked for */
	_Atomic uint64_t absent_sequence; /* odd while the reason is being written */
	_Atomic uint64_t absent_why[SX_ABSENT_WORDS];
	struct sx_windows skew;

	/* frame thread */
	_Atomic int64_t first_publish_ns; /* 0: none yet */
	_Atomic int64_t last_publish_ns;
	_Atomic uint64_t copy_frames, copied_bytes; /* as struct sx_transfers; the rest of it is counts */
	_Atomic int64_t in_flight_since_ns; /* when the oldest frame in flight was submitted; 0 none */
	struct sx_rate rate;		    /* frames published */
	struct sx_duration spans[SX_SPAN_COUNT], stages[SX_STAGE_COUNT];
	_Atomic uint64_t newest_sequence; /* odd while being written */
	_Atomic uint64_t newest[SX_NEWEST_WORDS];
	_Atomic uint64_t pictures_sequence; /* odd while being written */
	_Atomic uint64_t pictures[SX_PICTURES_WORDS];
	atomic_uint baseline_millionths; /* ratio of struct sx_road_unit; 0: nothing is said against it */
	struct sx_telemetry_feed {
		struct sx_feed_counters closed; /* what feeds that are closed had counted */
		_Atomic int state;		/* enum sx_feed_state */
		_Atomic uint64_t why_sequence;	/* odd while the sentence is being written */
		_Atomic uint64_t why[SX_FEED_WHY_WORDS];
	} feed[SX_FEED_KINDS];
};

/*
 * Any thread. Whoever counts a whole and its parts adds to the whole first, and whoever reads them reads the
 * parts first: acquire and release see to it that nobody finds more parts than the whole.
 */
static inline uint64_t sx_telemetry_count(const struct sx_telemetry *t, enum sx_figure figure)
{
	return atomic_load_explicit(&t->count[figure], memory_order_acquire);
}

/* Thread: that of the figure. So many more. */
static inline void sx_telemetry_add(struct sx_telemetry *t, enum sx_figure figure, uint64_t more)
{
	atomic_fetch_add_explicit(&t->count[figure], more, memory_order_release);
}

/* About 2.5 MB, zeroed and touched. */
int sx_telemetry_create(struct sx_telemetry **ret);
void sx_telemetry_destroy(struct sx_telemetry *t);

/* Thread: capture. A pair came from the source; skew_ns: between its two capture times. */
void sx_telemetry_captured(struct sx_telemetry *t, int64_t now_ns, int64_t skew_ns);
/* Thread: capture, or main while that does not run. What the source counted so far, closed ones included. */
void sx_telemetry_source(struct sx_telemetry *t, const struct sx_source_counters *c);
/* Thread: likewise. The camera is absent, and why (cut to fit); NULL: it is there. */
void sx_telemetry_absent(struct sx_telemetry *t, const char *why);
/* Any thread. Why the camera is absent; empty when it is not known, or changing just now. */
void sx_telemetry_absent_why(const struct sx_telemetry *t, char why[SX_ABSENT_BYTES]);
/*
 * Thread: frame. Takes everything from the header of a frame that was just published; head_ns: when it was in
 * the ring.
 */
void sx_telemetry_published(struct sx_telemetry *t, const struct stixel_frame_header *h, int64_t head_ns);
/* Thread: frame. Of the newest frame, before it is noted as published. */
void sx_telemetry_pictures(struct sx_telemetry *t, const struct sx_pictures *p);
/* Any thread. As sx_telemetry_newest(); also false before the first frame. */
bool sx_telemetry_newest_pictures(const struct sx_telemetry *t, struct sx_pictures *ret);
/* "capture_to_publish", ...: the word of status and metrics. */
const char *sx_span_name(enum sx_span span);
/* Thread: frame. What the engine counted so far; before the frame is noted as published. */
void sx_telemetry_transfers(struct sx_telemetry *t, const struct sx_transfers *transfers);
/* Thread: frame. What a feed counted so far and says of itself. */
void sx_telemetry_feed(struct sx_telemetry *t, enum sx_feed_kind kind, const struct sx_feed_counters *c,
		       enum sx_feed_state state, const char *why);
/* Thread: main, while frame does not run. A feed is closed: what it counted stays counted. */
void sx_telemetry_feed_closed(struct sx_telemetry *t, enum sx_feed_kind kind,
			      const struct sx_feed_counters *c);
/* Any thread. Why a feed's are absent or refused; empty when they are not, or it is changing just now. */
void sx_telemetry_feed_why(const struct sx_telemetry *t, enum sx_feed_kind kind, char why[SX_FEED_WHY_BYTES]);
/* Any thread. False: the frame thread wrote all the time (it never does), *ret is not written. */
bool sx_telemetry_newest(const struct sx_telemetry *t, struct sx_newest *ret);

#endif
