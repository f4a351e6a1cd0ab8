/*
 * stixel-bench: its parts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_BENCH_BENCH_H
#define SX_TOOLS_BENCH_BENCH_H

#include <stdbool.h>
#include <stdio.h>

#include "capture/slots.h"
#include "tools/common/settings_args.h"

#define SX_PROGRAM "stixel-bench"
#define BENCH_SIZES_MAX 16
#define BENCH_CONTEXTS_MAX 4

struct bench_options {
	struct sx_settings_args args;
	const char *images[2]; /* left and right, instead of the synthetic street; NULL: none */
	struct {
		int width, height;
	} size[BENCH_SIZES_MAX];
	int size_count; /* 0: source.size, or that of the images */
	int frames, warm_up, sms;
	bool json, table, asleep;
	const char *timeline; /* file, or NULL */
	const char *report;   /* file, or NULL */
	int board;	      /* of bench_board_words; -1: none, so it measures */
};

/* What of a frame's time counts in a row of the table. */
enum bench_part { BENCH_CHAIN, BENCH_MATCHER, BENCH_SEGMENT };

/* One thing to measure. A zeroed one: what the options and the settings say. */
struct bench_case {
	const char *name; /* NULL: no row of the table */
	int width, height, sms;
	const char *set[8]; /* beside the options' own */
	enum bench_part part;
};

/* Durations of one thing over all frames, ms. */
struct bench_series {
	double *ms;
	double median, p99, max; /* by nearest rank, after bench_summarize() */
};

/* Of both ways to keep path costs, where the engine has two. */
struct bench_volume {
	size_t traffic_bytes, memory_bytes; /* per frame; 0: unknown */
};

/*
 * chain: from pair in host memory to record in host memory, one frame at a time. engine: the share of it
 * between the engine's own start and end. part: what the case asks for. timed: the chain of an engine that
 * measures stages only on demand, while it does. pipelined_ms: from frame to frame with every context busy.
 */
struct bench_result {
	int frames;
	struct bench_series chain, engine, part, timed;
	struct bench_series stage[SX_STAGE_COUNT];
	bool staged;	  /* the engine told the time of stages */
	bool timed_apart; /* in a pass of its own: timed is set */
	double pipelined_ms;
	size_t memory_bytes;
	struct sx_transfers transfers;
	struct bench_volume stored, counted, checkpoint;
};

/* Everything of one case. pairs: page-aligned, pinned where the engine pins; several, taken in turn. */
struct bench_run {
	const struct bench_options *options;
	const struct bench_case *subject;
	struct sx_settings settings;
	struct sx_context_config config;
	struct sx_slots slots;
	struct sx_pair pairs[4]; /* one alone would stay in the cache as a camera's never does */
	int pair_count;
	struct sx_engine engine;
	struct sx_context *contexts[BENCH_CONTEXTS_MAX];
	int context_count;
	char device[160]; /* the backend's own words */
	char volume[256]; /* what became of engine.volume and why; empty: the engine has no choice */
	void *record;	  /* where the finished frame is copied to, as the daemon copies it into the ring */
	size_t record_bytes;
};

/* A sentence on stderr; returns code. */
int bench_fail(int code, const char *text, const char *detail);

/* -ENOMEM. finish accepts a zeroed or half-made one. */
int bench_result_init(struct bench_result *r, int frames);
void bench_result_finish(struct bench_result *r);
void bench_summarize(struct bench_result *r);

/* 0, or an exit code after a sentence. BENCH_SKIPPED: the case needs the cuda engine and there is none. */
#define BENCH_SKIPPED (-1)
int bench_run_open(struct bench_run *b, const struct bench_options *o, const struct bench_case *c);
int bench_run_measure(struct bench_run *b, struct bench_result *r);
/* Replaces the contexts. asleep: who waits sleeps (sx_context_config). 0, or an exit code after a message. */
int bench_run_contexts(struct bench_run *b, int count, bool time_stages, bool asleep);
/* The finished record into memory that is not the engine's: part of what is measured. */
int bench_run_copy(struct bench_run *b, const struct sx_result *r);
/* Accepts a zeroed or half-made one. */
void bench_run_close(struct bench_run *b);

/* Frames from a capture thread through all contexts: into options->timeline, as CSV, and bars on to.
 * 0 or an exit code. */
int bench_timeline(struct bench_run *b, FILE *to);

/* The standard table. */
extern const struct bench_case bench_cases[];
extern const int bench_case_count;
/* Every case of it. 0, or the first exit code. */
int bench_table(const struct bench_options *o);

/* "list", then the names of predict/boards.h, and NULL. */
extern const char *const bench_board_words[];
/* Predicts a board instead of measuring this machine, or lists them. 0 or an exit code. */
int bench_board(const struct bench_options *o);

struct sx_text;
struct sx_predict_device;
/* Member key: what is predicted for the size and settings of b, by stages, on a device that is called so. */
void bench_add_prediction(struct sx_text *t, const char *key, const struct sx_predict_device *d,
			  const char *title, const struct bench_run *b);

/* The standard cases on every engine, and the machine: into options->report. 0 or an exit code. */
int bench_file(const struct bench_options *o);

/* Text, or one JSON object. */
void bench_print_text(const struct bench_run *b, const struct bench_result *r, FILE *to);
/* to: "[" and "," around several objects are the caller's. -EOVERFLOW. */
int bench_print_json(const struct bench_run *b, const struct bench_result *r, FILE *to);
/* Its members alone. */
void bench_add_result(struct sx_text *t, const struct bench_run *b, const struct bench_result *r);
void bench_print_row_head(FILE *to);
void bench_print_row(const struct bench_run *b, const struct bench_result *r, FILE *to);

#endif
