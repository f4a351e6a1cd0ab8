/*
 * Declarations of stixelctl endurance. A reader follows every frame in the main thread. Another thread asks
 * for the status and looks at the process, so that no request delays the reader. endurance_judge() then makes
 * the report's rows from the results of both threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_ENDURANCE_ENDURANCE_H
#define SX_TOOLS_CTL_ENDURANCE_ENDURANCE_H

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/statistics/histogram.h"
#include "base/why.h"
#include "stixel.h"
#include "tools/ctl/ctl.h"

/*
 * Number of intervals whose median is the nominal interval. The interval of source.fps is taken instead if it
 * is within 1 % of the median.
 */
#define ENDURANCE_FIRST_INTERVALS 15
/* Counters of pairs that did not become frames. Every frame header has them. */
enum endurance_drop { ENDURANCE_OVERLOAD, ENDURANCE_UNPAIRED, ENDURANCE_CORRUPT, ENDURANCE_DROPS };

/* Counts of the reader. Thread: main. */
struct endurance_frames {
	uint64_t frames, epoch, number; /* epoch, number: of the previous frame; 0: none */
	uint64_t lost;			/* frames that were overwritten before this reader took them */
	/* frame numbers that the reader skipped without counting them as lost */
	uint64_t missing;
	uint64_t back;			   /* numbers that did not rise within an epoch */
	uint64_t restarts, damaged;	   /* damaged: frames with a wrong checksum */
	uint64_t dropped[ENDURANCE_DROPS]; /* pairs dropped since the first frame, from the headers */
	uint64_t dropped_before;	   /* pairs dropped between the two previous frames */
	struct stixel_frame_header before;
	int64_t first_ns[ENDURANCE_FIRST_INTERVALS]; /* first intervals, until nominal_ns is known */
	int first;
	int64_t nominal_ns; /* nominal interval, ns; 0: not known yet */
	bool as_reported;   /* the interval comes from source.fps and not from the median */
	int64_t span_ns;    /* sum of the capture time between frames of one epoch, ns */
	uint64_t intervals; /* number of intervals in span_ns */
	/* ns: |interval - nominal interval|; age when read; time from capture to result */
	struct sx_histogram jitter, age, latency;
	int64_t longest_ns;	 /* longest time between two publications, ns */
	enum stixel_state state; /* first state of the ring other than running, else running */
	int64_t stalled_ns; /* longest time without a heartbeat while the publisher was "stalled", ns; 0: never */
};

/* Straight line through points, by least squares. */
struct endurance_line {
	uint64_t n;
	double x, y, xx, xy;
};

/* Values of a process from /proc. Negative: the value cannot be read. */
struct endurance_process {
	double cpu_s;		/* user and system time since the start of the process, s */
	int64_t memory;		/* anonymous resident memory, bytes: it grows with a leak */
	int descriptors;	/* number of open descriptors */
	uint64_t started_ticks; /* start time after boot, clock ticks */
};

/* Results from the status and /proc. Thread: the asking thread; main after its end. */
struct endurance_status {
	uint64_t asked, answered, running;
	int64_t slowest_ns;
	char unanswered[256];	     /* reason of the first question without an answer */
	char state[24], reason[256]; /* first state other than running, with its reason */
	int64_t unbalanced; /* largest difference of captured pairs and the sum of their parts; 0: none */
	int64_t no_map
		[2]; /* pairs dropped for want of a disparity map, which headers do not count: first, last */
	int64_t pid, cores;
	bool camera_late; /* before the first frame some answers said that the daemon waits for cameras */
	double uptime_s;  /* uptime at the first answer, s; NAN: unknown */
	/* process that owns the ring; read again if the status comes from another process */
	uint64_t owner, owner_namespace, owner_ticks;
	struct sx_why not_seen;	   /* why the process cannot be measured; empty: it is measured */
	int64_t first_ns, last_ns; /* times of the first and last look at the process, after the warm-up */
	struct endurance_process first, last;
	struct endurance_line memory;
	/* minimum number of descriptors without the readers': in the first and the last third of the run */
	int least[2];
	int64_t lines_ns, lines[2], lost_lines[2]; /* lines of the log: first, last; -1: unknown */
	int64_t lines_first_ns;
	double first_frame_s, fps; /* NAN: unknown; fps: source.fps, 0: as fast as possible */
	char backend[16], source[16], version[32];
};

struct endurance {
	const struct ctl *c;
	int64_t began_ns, planned_ns, ended_ns, warm_ns; /* warm_ns: start of judging the process */
	bool paced; /* the source has its own rate, as cameras always have */
	struct stixel_reader *reader;
	struct endurance_frames frames;
	struct endurance_status status;
	pthread_t asker;
	atomic_bool done;
	int wake_fd; /* readable after done is set */
};

enum endurance_verdict { ENDURANCE_GOOD, ENDURANCE_BAD, ENDURANCE_NOT_JUDGED };

/* Line of the report. */
struct endurance_row {
	const char *check, *unit; /* unit: of value and budget, in JSON */
	enum endurance_verdict verdict;
	double value, budget; /* NAN: none */
	char figure[320], limit[64];
};
#define ENDURANCE_ROWS 20

/*
 * Asks once for the properties and the rate of the daemon. Returns 0, or prints an error and returns the exit
 * code.
 */
int endurance_meet(struct endurance *e);
/* Starts a thread that asks once per interval. Returns 0 or a negative errno. */
int endurance_ask_begin(struct endurance *e);
/* Ends the thread, which asks a last time. */
void endurance_ask_end(struct endurance *e);

/* Counts a frame that the reader took; lost: from stixel_next(). */
void endurance_count(struct endurance *e, const struct stixel_frame_header *h, uint64_t lost);

/* Returns an integer of the status, or -1. */
int64_t endurance_whole(json_t *j, const char *path);
/*
 * Checks the sum of the pairs in a status. Returns the number of captured pairs that are neither published,
 * nor dropped by overload or for want of a map, nor in flight. Negative: these parts exceed the captured
 * pairs. 0: the numbers agree. Images that made no pair count in none of the numbers.
 */
int64_t endurance_unbalanced(json_t *j);

/*
 * Reads the present values of process pid. Returns 0; otherwise why has a sentence, and the process cannot be
 * seen.
 */
int endurance_process_look(struct endurance_process *p, int64_t pid, struct sx_why *why);

void endurance_line_add(struct endurance_line *l, double x, double y);
/* Returns the slope of the line; 0 for fewer than two points. */
double endurance_line_slope(const struct endurance_line *l);

/*
 * Cuts the text at the first byte that is not valid UTF-8, because a buffer may have ended within a
 * character.
 */
void endurance_cut(char *text);
/* Makes the rows of the report. Returns their number. */
int endurance_judge(const struct endurance *e, struct endurance_row rows[ENDURANCE_ROWS]);
/* Prints the report as text or JSON. Returns the exit code. */
int endurance_report(const struct endurance *e, const struct endurance_row *rows, int count);

#endif
