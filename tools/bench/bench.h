/*
 * stixel-bench: types and functions that its source files share.
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
	const char *images[2]; /* left and right image file, instead of the synthetic street; NULL: none */
	struct {
		int width, height;
	} size[BENCH_SIZES_MAX];
	int size_count; /* 0: one size, that of source.size or of the images */
	int frames, warm_up, sms;
	bool json, table, asleep;
	const char *timeline; /* path of the CSV file, or NULL */
	const char *report;   /* path of the report, or NULL */
	int board;	      /* index into bench_board_words; -1: no board, so the program measures */
};

/* Part of a frame's time that a row of the table shows. */
enum bench_part { BENCH_CHAIN, BENCH_MATCHER, BENCH_SEGMENT };

/* A case to measure. In a zeroed case the options and the settings decide everything. */
struct bench_case {
	const char *name; /* NULL: the case is no row of the table */
	int width, height, sms;
	const char *set[8]; /* settings in addition to the options' own settings */
	enum bench_part part;
};

/* Durations of one quantity over all frames, ms. */
struct bench_series {
	double *ms;
	double median, p99, max; /* median and percentiles by nearest rank, valid after bench_summarize() */
};

/* Cost of one way to keep path costs. Unknown (0) if the engine has only one way. */
struct bench_volume {
	size_t traffic_bytes, memory_bytes; /* per frame; 0: unknown */
};

/*
 * Result of one case.
 *
 * chain: time from the pair in host memory to the record in host memory, one frame at a time. engine: the
 * share of it between the engine's own start and end. part: the part that the case asks for. timed: the chain
 * while stages are measured, for an engine that measures stages only on demand. pipelined_ms: time from one
 * frame to the next with every context busy.
 */
struct bench_result {
	int frames;
	struct bench_series chain, engine, part, timed;
	struct bench_series stage[SX_STAGE_COUNT];
	bool staged;	  /* the engine reported the times of its stages */
	bool timed_apart; /* stages were measured in a separate pass, so `timed` is set */
	double pipelined_ms;
	size_t memory_bytes;
	struct sx_transfers transfers;
	struct bench_volume stored, counted, checkpoint;
};

/*
 * Everything that belongs to one case. pairs: several page-aligned pairs that the frames use in turn, pinned
 * if the engine pins memory.
 */
struct bench_run {
	const struct bench_options *options;
	const struct bench_case *subject;
	struct sx_settings settings;
	struct sx_context_config config;
	struct sx_slots slots;
	/* several, because a single pair would stay in the cache, unlike pairs of a camera */
	struct sx_pair pairs[4];
	int pair_count;
	int64_t submitted; /* number of frames so far, BENCH_PERIOD_NS apart */
	struct sx_engine engine;
	struct sx_chain *chain; /* NULL: motion.mode is off */
	struct sx_context *contexts[BENCH_CONTEXTS_MAX];
	struct sx_pair in_flight[BENCH_CONTEXTS_MAX];
	int context_count;
	char device[160]; /* description of the device by the backend */
	char volume[256]; /* the chosen engine.volume and the reason; empty: the engine has no choice */
	void *record;	  /* copy of the finished frame, as the daemon copies a frame into the ring */
	size_t record_bytes;
};

/* Submits the next pair to a context of the run: the pairs forwards, then backwards. Returns as submit(). */
int bench_run_submit(struct bench_run *b, int context);
#define BENCH_PERIOD_NS INT64_C(100000000)

/* Prints a sentence on stderr. Returns `code`. */
int bench_fail(int code, const char *text, const char *detail);

/*
 * Allocates the series. Returns 0 or -ENOMEM. bench_result_finish() accepts a zeroed or half-initialized
 * result.
 */
int bench_result_init(struct bench_result *r, int frames);
void bench_result_finish(struct bench_result *r);
void bench_summarize(struct bench_result *r);

/*
 * Both return 0, or an exit code after printing a sentence. BENCH_SKIPPED: the case needs the cuda engine and
 * there is none.
 */
#define BENCH_SKIPPED (-1)
int bench_run_open(struct bench_run *b, const struct bench_options *o, const struct bench_case *c);
int bench_run_measure(struct bench_run *b, struct bench_result *r);
/*
 * Replaces the contexts. asleep: a waiting thread sleeps (sx_context_config). Returns 0, or an exit code
 * after printing a sentence.
 */
int bench_run_contexts(struct bench_run *b, int count, bool time_stages, bool asleep);
/* Copies the finished record into memory outside the engine. The copy is part of the measured time. */
int bench_run_copy(struct bench_run *b, const struct sx_result *r);
/* Accepts a zeroed or half-initialized run. */
void bench_run_close(struct bench_run *b);

/*
 * Sends frames from a capture thread through all contexts. Writes their times as CSV to options->timeline and
 * draws bars on `to`. Returns 0 or an exit code.
 */
int bench_timeline(struct bench_run *b, FILE *to);

/* The cases of the standard table. */
extern const struct bench_case bench_cases[];
extern const int bench_case_count;
/* Measures every case of the standard table. Returns 0, or the first exit code. */
int bench_table(const struct bench_options *o);

/* "list", then the board names of predict/boards.h, then NULL. */
extern const char *const bench_board_words[];
/* Predicts a board instead of measuring this machine, or lists the boards. Returns 0 or an exit code. */
int bench_board(const struct bench_options *o);

struct sx_text;
struct sx_predict_device;
/*
 * Adds a member `key`: the predicted times, by stage, for the size and settings of b. The device is d and is
 * called `title`.
 */
void bench_add_prediction(struct sx_text *t, const char *key, const struct sx_predict_device *d,
			  const char *title, const struct bench_run *b);

/*
 * Measures the standard cases on every engine and writes them, with facts about the machine, to
 * options->report. Returns 0 or an exit code.
 */
int bench_file(const struct bench_options *o);

/* Prints the result as text. */
void bench_print_text(const struct bench_run *b, const struct bench_result *r, FILE *to);
/*
 * Prints the result as one JSON object. For several objects the caller prints "[", "," and "]". Returns 0 or
 * -EOVERFLOW.
 */
int bench_print_json(const struct bench_run *b, const struct bench_result *r, FILE *to);
/* Adds the members of the JSON object, without its braces. */
void bench_add_result(struct sx_text *t, const struct bench_run *b, const struct bench_result *r);
void bench_print_row_head(FILE *to);
void bench_print_row(const struct bench_run *b, const struct bench_result *r, FILE *to);

#endif
