/*
 * Counts and times of the pipeline. Its two threads write them, main and the status socket read them.
 *
 * Each value is an atomic or part of a lock-free histogram, so that no reader can delay a thread of the
 * pipeline. The durations are the same as in the frame headers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_TELEMETRY_TELEMETRY_H
#define SX_DAEMON_TELEMETRY_TELEMETRY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/statistics/histogram.h"
#include "base/statistics/rate.h"
#include "capture/source.h"
#include "daemon/motion/motion_stats.h"
#include "daemon/telemetry/image_stats.h"
#include "ipc/feed/feed.h"
#include "ipc/metrics.h"
#include "stages/engine.h"
#include "stixel.h"

/* Metrics of the newest frame: a plain, consistent copy of the atomics below. */
struct sx_newest {
	uint64_t frames, number, stixels, pixels; /* frames 0: no frame yet, the other fields are invalid */
	int64_t segment_ns, stages_ns;
	uint64_t road_origin, road_inliers, road_age;
	uint64_t stamp; /* enum stixel_stamp */
	double slope, offset, cross, axis, bend, bend_row, horizon_row, pitch_rad, roll_rad, height_m;
	double pitch_sigma_rad, roll_sigma_rad, height_sigma_m;
};
#define SX_MOTION_STATS_WORDS (sizeof(struct sx_motion_stats) / sizeof(uint64_t))
#define SX_ABSENT_BYTES 160 /* length of the sentence why the camera is absent */
#define SX_ABSENT_WORDS (SX_ABSENT_BYTES / sizeof(uint64_t))
#define SX_WRITER_BYTES 96 /* length of the name of a writer of pairs */
#define SX_WRITER_WORDS (SX_WRITER_BYTES / sizeof(uint64_t))
#define SX_FEED_WHY_WORDS (SX_FEED_WHY_BYTES / sizeof(uint64_t))
#define SX_NEWEST_WORDS (sizeof(struct sx_newest) / sizeof(uint64_t))
#define SX_IMAGE_STATS_WORDS (sizeof(struct sx_image_stats) / sizeof(uint64_t))

/*
 * Parts of a frame's latency. The capture time is the earlier one of a pair's two capture times. Frame and
 * status say what the capture time stands for (start of exposure, end of frame, software). docs/use/latency.md
 * has a figure.
 */
enum sx_span {
	SX_SPAN_ALL,	 /* capture time to the time when the ring's head has the frame's number */
	SX_SPAN_WAITING, /* capture time to submission: transfer, pairing, waiting for a context */
	SX_SPAN_ENGINE,	 /* submission to the engine, to the time when the frame thread takes the result */
	SX_SPAN_OUTPUT,	 /* result to head: packing, checksum, images, copy into the ring */
	SX_SPAN_COUNT
};

/* Statistics of one duration. */
struct sx_duration {
	struct sx_windows windows;
	_Atomic int64_t sum_ns; /* since start */
};

struct sx_telemetry {
	/* indexed by enum sx_metric, for metrics that are SX_METRIC_KIND_COUNTED; one thread writes each */
	_Atomic uint64_t count[SX_METRIC_END];

	/* capture thread */
	struct sx_source_counters closed;    /* counters of closed sources; only for the capture thread */
	_Atomic uint64_t images[2], gaps[2]; /* indexed by side */
	_Atomic uint64_t dropped[2][SX_DROP_COUNT], odd_jpeg[2][SX_ODD_JPEG_COUNT];
	_Atomic uint64_t reconnects;
	/* memory and format of a camera that was opened later, constant texts; NULL: as at the start */
	_Atomic(const char *) memory, format;
	_Atomic int64_t source_mhz;	  /* rate of the camera by its driver, mHz; 0: unknown */
	_Atomic int64_t last_capture_ns;  /* time of the last pair */
	atomic_bool absent;		  /* the camera is lost, and the capture thread looks for it */
	_Atomic uint64_t absent_sequence; /* odd while the reason is being written */
	_Atomic uint64_t absent_why[SX_ABSENT_WORDS];
	_Atomic uint64_t writer_sequence; /* odd while the name is being written */
	_Atomic uint64_t writer[SX_WRITER_WORDS];
	struct sx_windows skew;

	/* frame thread */
	_Atomic int64_t first_publish_ns; /* 0: no frame yet */
	_Atomic int64_t last_publish_ns;
	_Atomic uint64_t copy_frames, copied_bytes; /* as in struct sx_transfers; the rest is in count */
	_Atomic int64_t in_flight_since_ns; /* time when the oldest frame in flight was submitted; 0: none */
	struct sx_rate rate;		    /* rate of published frames */
	struct sx_duration spans[SX_SPAN_COUNT], stages[SX_STAGE_COUNT];
	_Atomic uint64_t newest_sequence; /* odd while being written */
	_Atomic uint64_t newest[SX_NEWEST_WORDS];
	_Atomic uint64_t image_stats_sequence; /* odd while being written */
	_Atomic uint64_t image_stats[SX_IMAGE_STATS_WORDS];
	_Atomic uint64_t motion_sequence; /* odd while being written */
	_Atomic uint64_t motion[SX_MOTION_STATS_WORDS];
	atomic_uint baseline_millionths; /* 1e6 * ratio of struct sx_road_unit; 0: no doubt of the baseline */
	struct sx_telemetry_feed {
		struct sx_feed_counters closed; /* counters of closed feeds */
		_Atomic int state;		/* enum sx_feed_state */
		_Atomic uint64_t why_sequence;	/* odd while the sentence is being written */
		_Atomic uint64_t why[SX_FEED_WHY_WORDS];
	} feed[SX_FEED_KINDS];
};

/*
 * Any thread. If a total and its parts are counted, the writer adds to the total first and the reader reads
 * the parts first. With acquire and release no reader sees more parts than the total.
 */
static inline uint64_t sx_telemetry_count(const struct sx_telemetry *t, enum sx_metric metric)
{
	return atomic_load_explicit(&t->count[metric], memory_order_acquire);
}

/* Thread: the writer of the metric. Adds more to the metric. */
static inline void sx_telemetry_add(struct sx_telemetry *t, enum sx_metric metric, uint64_t more)
{
	atomic_fetch_add_explicit(&t->count[metric], more, memory_order_release);
}

/* Allocates about 2.5 MB, zeroed and touched. */
int sx_telemetry_create(struct sx_telemetry **ret);
void sx_telemetry_destroy(struct sx_telemetry *t);

/* Thread: capture. Counts a pair from the source. skew_ns: difference of its two capture times. */
void sx_telemetry_captured(struct sx_telemetry *t, int64_t now_ns, int64_t skew_ns);
/*
 * Thread: capture, or main while capture does not run. Sets the counts of the source, including closed
 * sources.
 */
void sx_telemetry_source(struct sx_telemetry *t, const struct sx_source_counters *c);
/*
 * Thread: capture, or main while capture does not run. Sets why the camera is absent (cut to fit); NULL: it
 * is present.
 */
void sx_telemetry_absent(struct sx_telemetry *t, const char *why);
/* Any thread. Copies the reason why the camera is absent to why; empty if unknown, or while it changes. */
void sx_telemetry_absent_why(const struct sx_telemetry *t, char why[SX_ABSENT_BYTES]);
/* Thread: capture, or main while capture does not run. Sets the name of the writer of pairs; NULL: none. */
void sx_telemetry_writer(struct sx_telemetry *t, const char *name);
/* Any thread. Copies the name of the writer of pairs; empty if there is none, or while it changes. */
void sx_telemetry_writer_name(const struct sx_telemetry *t, char name[SX_WRITER_BYTES]);
/*
 * Thread: frame. Takes all metrics from the header of a frame that was just published. head_ns: time when the
 * frame was in the ring.
 */
void sx_telemetry_published(struct sx_telemetry *t, const struct stixel_frame_header *h, int64_t head_ns);
/* Thread: frame. Stores the image statistics of the newest frame. Call it before sx_telemetry_published(). */
void sx_telemetry_image_stats(struct sx_telemetry *t, const struct sx_image_stats *p);
/* Any thread. As sx_telemetry_newest(), but also returns false before the first frame. */
bool sx_telemetry_newest_image_stats(const struct sx_telemetry *t, struct sx_image_stats *ret);
/* Thread: frame. Stores the motion of the newest frame. Call it before sx_telemetry_published(). */
void sx_telemetry_motion(struct sx_telemetry *t, const struct sx_motion_stats *m);
/* Any thread. Returns false if no frame had a motion. */
bool sx_telemetry_newest_motion(const struct sx_telemetry *t, struct sx_motion_stats *ret);
/* Returns "capture_to_publish", ...: the word in status and metrics. */
const char *sx_span_name(enum sx_span span);
/* Thread: frame. Stores the engine's counts so far. Call it before sx_telemetry_published(). */
void sx_telemetry_transfers(struct sx_telemetry *t, const struct sx_transfers *transfers);
/* Thread: frame. Stores counts, state and reason of a feed. */
void sx_telemetry_feed(struct sx_telemetry *t, enum sx_feed_kind kind, const struct sx_feed_counters *c,
		       enum sx_feed_state state, const char *why);
/*
 * Thread: main, while frame does not run. Adds the counts of a closed feed to closed, so that they stay
 * counted.
 */
void sx_telemetry_feed_closed(struct sx_telemetry *t, enum sx_feed_kind kind,
			      const struct sx_feed_counters *c);
/*
 * Any thread. Copies to why the reason why maps or scores of a feed are absent or refused; empty if they are
 * not, or while it changes.
 */
void sx_telemetry_feed_why(const struct sx_telemetry *t, enum sx_feed_kind kind, char why[SX_FEED_WHY_BYTES]);
/*
 * Any thread. Copies the newest metrics to *ret. Returns false, without writing *ret, if the frame thread was
 * writing all the time, which never happens.
 */
bool sx_telemetry_newest(const struct sx_telemetry *t, struct sx_newest *ret);

#endif
