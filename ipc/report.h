/*
 * A snapshot of a running instance, and the two documents made from it: /status (JSON) and /metrics
 * (OpenMetrics).
 *
 * Keys and metric names are a contract: docs/use/metrics.md, design of the status. A single number is a row of
 * ipc/metrics.def; this header has texts, durations and lists. Unknown numbers are NAN (reals) or negative
 * (counts). They appear as null in the status and are left out of the metrics; they never appear as 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_REPORT_H
#define SX_IPC_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/statistics/histogram.h"
#include "ipc/metrics.h"
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
	int width, height;	      /* px */
	int64_t count[SX_CAMERA_END]; /* by enum sx_camera_metric */
	/*
	 * dropped: images that became no part of a pair, by reason. odd_jpeg: images that were used although
	 * their JPEG data deviates from the standard, by kind.
	 */
	struct sx_report_images {
		const char *what;
		int64_t images;
	} dropped[SX_REPORT_DROPS], odd_jpeg[SX_REPORT_DROPS];
	int drops, odds; /* number of entries; 0: the source does not count them per side */
};

/* A duration: since start, over the last 10 s and the last 1 s, and the sum since start. */
struct sx_report_latency {
	const char *name;
	struct sx_summary start, last_10s, last_1s;
	int64_t sum_ns;
};

/* State of an image that may be published beside the stixels. */
enum sx_report_image {
	SX_IMAGE_OFF,	   /* the publisher reserved no room for it */
	SX_IMAGE_IDLE,	   /* no client requests it */
	SX_IMAGE_PUBLISHED /* the newest frame has it */
};

/*
 * The power measurement. If it is stale, its metrics are unknown (NAN), reason contains the time since when,
 * and age_ms counts on. Without a sensor, source is empty and reason contains the cause.
 */
struct sx_report_power {
	char source[16], scope[64], device[160], reason[320]; /* empty: none */
	bool stale;
};

/*
 * Input from another process: class scores, or disparity maps, which have no classes. source and reason (why
 * there is no input) may be empty. state: sx_feed_state_name().
 */
struct sx_report_feed {
	char source[72], reason[384];
	const char *state;
	int class_count;
	char name[SX_REPORT_CLASSES][32];
	const char *kind[SX_REPORT_CLASSES];
};

/*
 * files: the files that were read, absolute, each followed by '\n', as many as fit. folder: base of relative
 * names.
 */
struct sx_report_config {
	char files[8192];
	const char *folder;
	const char *const *overrides; /* as given by -s; more than 16 kB are reported as null */
	int override_count;
};

/* The computer. Texts are empty if unknown. */
struct sx_report_board {
	char model[96], mode[64], governor[32]; /* mode: nvpmodel's name */
};

/* Value of a METRIC of ipc/metrics.def: real if the row is REAL, count otherwise. */
union sx_metric_value {
	int64_t count;
	double real;
};

/*
 * The snapshot. A text pointer may be NULL (null). Its target stays unchanged as long as a client may ask for
 * the status. Text that changes or goes away is stored in the snapshot itself.
 */
struct sx_report {
	const char *instance, *version, *state;
	char reason[384]; /* reason for this state, one sentence; empty when running */
	int64_t pid;
	uint64_t epoch;
	struct {
		const char *backend, *device, *reason, *input; /* input: "mapped", "copy", "host" */
		/* result of engine.volume with its reason; empty: the engine has no choice */
		char volume[256];
	} engine;
	struct {
		const char *kind, *memory;
		char writer[96]; /* shared: name and process of the writer of pairs; empty: there is none */
		int cameras;
		struct sx_report_camera camera[2];
		/* moment of capture times: "start of exposure", "end of frame", "software" */
		const char *stamp;
		struct sx_summary skew; /* difference of left and right capture time */
	} source;
	/* path of a frame: first the whole, from capture to publication, then its parts in order */
	struct sx_report_latency spans[SX_REPORT_SPANS];
	int span_count;
	struct sx_report_latency stages[SX_REPORT_STAGES]; /* in order; n is 0 for a stage that never ran */
	int stage_count;
	char camera[512];	     /* fx, baseline, lens, distances, one sentence; empty: not known yet */
	char camera_questions[2048]; /* unlikely values of the camera model, each followed by '\n' */
	const char *road_origin;     /* "measured", "previous", "calibration", "none" */
	struct {
		const char *mode;  /* motion.mode */
		bool measured;	   /* the mode is not off */
		bool checked;	   /* and motion.range_offset is not off */
		const char *state; /* "found", or why the step is unknown; NULL: no frame yet */
		char range[256];   /* sentence about the range; empty: nothing is known yet */
		bool wrong;	   /* distances are wrong by more than chance, and by 1 % or more */
	} motion;
	char ring_path[SX_REPORT_PATH_BYTES]; /* empty: no ring */
	struct {
		enum sx_report_image left, right, disparity;
	} images;
	struct sx_report_feed semantics, external;
	struct sx_report_power power;
	struct sx_report_board board;
	struct sx_report_config config;
	union sx_metric_value metric[SX_METRIC_END]; /* by enum sx_metric */
};

static inline void sx_report_count(struct sx_report *r, enum sx_metric metric, int64_t count)
{
	r->metric[metric].count = count;
}

static inline void sx_report_real(struct sx_report *r, enum sx_metric metric, double real)
{
	r->metric[metric].real = real;
}

/* Sets everything to unknown: metrics as in enum sx_metric_kind, texts NULL or empty. */
void sx_report_init(struct sx_report *r);
/* Write a whole document. t->cut is set afterwards if it did not fit. */
void sx_report_json(const struct sx_report *r, struct sx_text *t);
void sx_report_metrics(const struct sx_report *r, struct sx_text *t);

#endif
