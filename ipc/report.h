/*
 * A snapshot of a running instance, and the two documents made from it: /status (JSON) and /metrics
 * (OpenMetrics).
 *
 * Keys and metric names are a contract: docs/metrics.md, design of the status. What is one number is a row of
 * ipc/figures.def; here lie texts, durations and lists. Figures that are not known are NAN (reals) or
 * negative (counts) and appear as null, or not at all in the metrics; never as 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_REPORT_H
#define SX_IPC_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/histogram.h"
#include "ipc/figures.h"
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
	int64_t count[SX_CAMERA_END]; /* by enum sx_camera_figure */
	/* dropped: images that became no part of a pair, by reason; odd_jpeg: those used, by kind */
	struct sx_report_images {
		const char *what;
		int64_t images;
	} dropped[SX_REPORT_DROPS], odd_jpeg[SX_REPORT_DROPS];
	int drops, odds; /* 0: the source does not tell sides apart */
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
 * What measures the computer's power. With stale its figures are unknown (NAN) and reason says since when,
 * age_ms goes on. No sensor: source is empty, and reason says why.
 */
struct sx_report_power {
	char source[16], scope[64], device[160], reason[320]; /* empty: none */
	bool stale;
};

/*
 * Class scores of another process, or disparity maps, which have no classes. source, reason (why there are
 * none): may be empty. state: sx_feed_state_name().
 */
struct sx_report_feed {
	char source[72], reason[384];
	const char *state;
	int class_count;
	char name[SX_REPORT_CLASSES][32];
	const char *kind[SX_REPORT_CLASSES];
};

/* files: that were read, absolute, a '\n' behind each, those that fit. Relative names begin in folder. */
struct sx_report_config {
	char files[8192];
	const char *folder;
	const char *const *overrides; /* as of -s; more than 16 kB are told as null */
	int override_count;
};

/* The computer. Texts are empty where nothing says so. */
struct sx_report_board {
	char model[96], mode[64], governor[32]; /* mode: nvpmodel's name */
};

/* Value of a FIGURE of ipc/figures.def: real if the row is REAL, count otherwise. */
union sx_figure_value {
	int64_t count;
	double real;
};

/*
 * Text may be NULL (null). What a pointer shows stays as it is for as long as anybody may ask; text that
 * changes or goes away lies in the snapshot itself.
 */
struct sx_report {
	const char *instance, *version, *state;
	char reason[384]; /* why this state, one sentence; empty when running */
	int64_t pid;
	uint64_t epoch;
	struct {
		const char *backend, *device, *reason, *input; /* input: "mapped", "copy", "host" */
		char volume[256]; /* what became of engine.volume and why; empty: the engine has no choice */
	} engine;
	struct {
		const char *kind, *memory;
		int cameras;
		struct sx_report_camera camera[2];
		const char *stamp; /* of capture times: "start of exposure", "end of frame", "software" */
		struct sx_summary skew; /* between left and right capture time */
	} source;
	/* the way of a frame: all of it, from capture to publication, then its parts in their order */
	struct sx_report_latency spans[SX_REPORT_SPANS];
	int span_count;
	struct sx_report_latency stages[SX_REPORT_STAGES]; /* in their order; n is 0 where one never ran */
	int stage_count;
	char camera[512];	     /* fx, baseline, lens, distances, one sentence; empty: not known yet */
	char camera_questions[2048]; /* what is unlikely about it, a '\n' behind each */
	const char *road_origin;     /* "measured", "previous", "calibration", "none" */
	char ring_path[SX_REPORT_PATH_BYTES]; /* empty: no ring */
	struct {
		enum sx_report_image left, right, disparity;
	} images;
	struct sx_report_feed semantics, external;
	struct sx_report_power power;
	struct sx_report_board board;
	struct sx_report_config config;
	union sx_figure_value figure[SX_FIG_END]; /* by enum sx_figure */
};

static inline void sx_report_count(struct sx_report *r, enum sx_figure figure, int64_t count)
{
	r->figure[figure].count = count;
}

static inline void sx_report_real(struct sx_report *r, enum sx_figure figure, double real)
{
	r->figure[figure].real = real;
}

/* Everything unknown: figures as enum sx_figure_kind says, texts NULL or empty. */
void sx_report_init(struct sx_report *r);
/* Writes the whole document; t->cut afterwards means that it did not fit. */
void sx_report_json(const struct sx_report *r, struct sx_text *t);
void sx_report_metrics(const struct sx_report *r, struct sx_text *t);

#endif
