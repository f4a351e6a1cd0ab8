/*
 * A snapshot of a running instance, and the two documents made from it: /status (JSON) and /metrics (OpenMetrics).
 *
 * Keys and metric names are a contract: docs/metrics.md, design of the status. Figures that are not known are
 * NAN (reals) or negative (counts) and appear as null, or not at all in the metrics; never as 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_REPORT_H
#define SX_IPC_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/histogram.h"
#include "ipc/text.h"

#define SX_REPORT_STAGES 16
#define SX_REPORT_SPANS 4
#define SX_REPORT_PATH_BYTES 512
#define SX_REPORT_DROPS 8
#define SX_REPORT_CLASSES 32

struct sx_report_camera {
	const char *side;		 /* "left", "right", "both" */
	char path[SX_REPORT_PATH_BYTES]; /* empty: unknown */
	const char *format;
	int width, height; /* px */
	int64_t captured, errors, sequence_gaps, reconnects;
	/* images that became no part of a pair, by reason; none where the source does not tell sides apart */
	struct {
		const char *reason;
		int64_t images;
	} dropped[SX_REPORT_DROPS];
	int drops;
};

/* One duration: since start, over the last ten seconds and the last second, and the sum since start. */
struct sx_report_latency {
	const char *name;
	struct sx_summary start, last_10s, last_1s;
	int64_t sum_ns;
};

/* What there is to say of an image that may be published beside the stixels. */
enum sx_report_image {
	SX_IMAGE_OFF,	   /* no room was made for it */
	SX_IMAGE_IDLE,	   /* nobody asks for it */
	SX_IMAGE_PUBLISHED /* the newest frame has it */
};

/*
 * What the computer draws, and for what. The figures are those of the last readings; with stale they are unknown (NAN)
 * and reason says since when, age_ms goes on. No sensor: source is empty, and reason says why.
 */
struct sx_report_power {
	char source[16], scope[64], device[160], reason[320]; /* empty: none */
	bool stale;
	double watts, watts_10s;	       /* means over 1 and 10 s */
	double joules_per_frame, fps_per_watt; /* over 10 s */
	int64_t age_ms, interval_ms;	       /* since the last reading; between two */
	double start_joules, start_seconds; /* measured since start: less than uptime where readings failed */
	int64_t start_frames;		    /* published in that time */
};

/* Class scores of another process. source, reason (why there are none): may be empty. state: sx_feed_state_name(). */
struct sx_report_semantics {
	char source[72], reason[200];
	const char *state;
	int class_count;
	char name[SX_REPORT_CLASSES][32];
	const char *kind[SX_REPORT_CLASSES];
	int64_t matched, older, missing;		 /* frames */
	int64_t received, late, lost, refused, restarts; /* scores; writers */
};

/* The computer, and how fast its clocks run. Texts are empty and figures negative where nothing says so. */
struct sx_report_board {
	char model[96], mode[64], governor[32]; /* mode: nvpmodel's name */
	int64_t mode_id;
	int64_t cpu_hz, cpu_max_hz, gpu_hz, gpu_max_hz, memory_hz; /* max: what is allowed just now */
};

/*
 * Text may be NULL (null). What a pointer shows stays as it is for as long as anybody may ask; text that changes or
 * goes away lies in the snapshot itself.
 */
struct sx_report {
	const char *instance, *version, *state;
	char reason[192]; /* why this state, one sentence; empty when running */
	int64_t pid;
	uint64_t epoch;
	double uptime_s;
	struct {
		const char *backend, *device, *reason;
		int64_t contexts, memory_bytes;
		struct {
			const char *path; /* "mapped", "copy", "host" */
			/* images; since start, frames says over how many frames */
			int64_t frames, copies_in, copied_bytes, staged, copies_out;
		} input;
	} engine;
	struct {
		const char *kind, *memory;
		int cameras;
		struct sx_report_camera camera[2];
		const char *
			stamp; /* what the capture times say: "start of exposure", "end of frame", "software" */
		struct sx_summary skew; /* between left and right capture time */
	} source;
	struct {
		uint64_t captured, published, overload, unpaired, corrupt;
	} frames;
	double fps_1s, fps_10s;
	/* the way of a frame: all of it, from capture to publication, then its parts in their order */
	struct sx_report_latency spans[SX_REPORT_SPANS];
	int span_count;
	struct sx_report_latency stages[SX_REPORT_STAGES]; /* in their order; n is 0 where one never ran */
	int stage_count;
	struct {
		double per_frame, pixels_per_stixel; /* of the newest frame */
	} stixels;
	struct {
		const char *origin; /* "measured", "previous", "calibration", "none" */
		double slope, offset, horizon_row, pitch_deg, height_m;
		int64_t inliers, age_frames;
	} road;
	struct {
		char path[SX_REPORT_PATH_BYTES]; /* empty: no ring */
		int64_t bytes, slots;
	} ring;
	struct {
		enum sx_report_image left, disparity;
	} images;
	struct {
		int64_t clients, accepted, refused, garbage, sent, dropped;
	} stream;
	struct sx_report_semantics semantics;
	struct sx_report_power power;
	struct sx_report_board board;
	uint64_t log_lost;
};

/* Everything unknown: NAN, negative or NULL as said above; states and counters of frames are 0. */
void sx_report_init(struct sx_report *r);
/* Writes the whole document; t->cut afterwards means that it did not fit. */
void sx_report_json(const struct sx_report *r, struct sx_text *t);
void sx_report_metrics(const struct sx_report *r, struct sx_text *t);

#endif
