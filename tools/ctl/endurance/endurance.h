/*
 * stixelctl endurance: parts of it. A reader follows every frame in the main thread; another thread asks for
 * the status and looks at the process, so that no question makes the reader late; judge() then makes rows of
 * what both have seen.
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

#include "base/histogram.h"
#include "stixel.h"
#include "tools/ctl/ctl.h"

/* The nominal interval is the median of so many, or that of source.fps where it is within 1 % of it. */
#define ENDURANCE_FIRST_INTERVALS 15
/* Counters of pairs that did not become frames, in the header of every frame. */
enum endurance_drop { ENDURANCE_OVERLOAD, ENDURANCE_UNPAIRED, ENDURANCE_CORRUPT, ENDURANCE_DROPS };

/* What the reader has seen. Thread: main. */
struct endurance_frames {
	uint64_t frames, epoch, number;	   /* epoch, number: of the frame before; 0: none */
	uint64_t lost;			   /* by this reader: overwritten before it took them */
	uint64_t missing;		   /* numbers that nobody had and nobody counts */
	uint64_t back;			   /* numbers that did not rise within an epoch */
	uint64_t restarts, damaged;	   /* damaged: frames whose checksum did not fit */
	uint64_t dropped[ENDURANCE_DROPS]; /* pairs, by the headers, since the first frame */
	uint64_t dropped_before;	   /* pairs, between the two frames before */
	struct stixel_frame_header before;
	int64_t first_ns[ENDURANCE_FIRST_INTERVALS]; /* intervals, until the nominal one is known */
	int first;
	int64_t nominal_ns;			  /* 0: not known yet */
	bool as_told;				  /* it is that of source.fps */
	int64_t span_ns;			  /* capture time between frames of one epoch, all together */
	uint64_t intervals;			  /* in span_ns */
	struct sx_histogram jitter, age, latency; /* |interval - nominal|; when read; capture to result */
	int64_t longest_ns;			  /* between two publications */
	enum stixel_state state;		  /* the ring's first that was not running, else running */
	int64_t stalled_ns; /* longest time without a heartbeat that made the publisher "stalled"; 0: none */
};

/* A straight line through points, by least squares. */
struct endurance_line {
	uint64_t n;
	double x, y, xx, xy;
};

/* What the process is like, from /proc. Values are negative where they cannot be read. */
struct endurance_process {
	double cpu_s;		/* user and system time since its start */
	int64_t memory;		/* anonymous resident memory, bytes: what a leak takes */
	int descriptors;	/* open ones */
	uint64_t started_ticks; /* after boot */
};

/* What the status and /proc have said. Thread: the asker's, and main after it has ended. */
struct endurance_status {
	uint64_t asked, answered, running;
	int64_t slowest_ns;
	char unanswered[256];	     /* why, the first time */
	char state[24], reason[256]; /* the first that was not running */
	int64_t unbalanced;	     /* largest difference between captured and its parts; 0: none */
	int64_t no_map
		[2]; /* pairs dropped for want of a disparity map, which headers do not count: first, last */
	int64_t pid, cores;
	bool camera_late; /* there were answers that waited for cameras before the first frame */
	double uptime_s;  /* when it was met; NAN: unknown */
	/* whose ring it is; asked for again where the status is of another process */
	uint64_t owner, owner_namespace, owner_ticks;
	char not_seen[128];	   /* why there are no figures of the process; empty: there are */
	int64_t first_ns, last_ns; /* of the process, behind the warm-up */
	struct endurance_process first, last;
	struct endurance_line memory;
	int least[2]; /* descriptors but those of readers: the fewest of the first third, of the last */
	int64_t lines_ns, lines[2], lost_lines[2]; /* of the log: first, last; -1 unknown */
	int64_t lines_first_ns;
	double first_frame_s, fps; /* NAN: unknown; fps: source.fps, 0: as fast as possible */
	char backend[16], source[16], version[32];
};

struct endurance {
	const struct ctl *c;
	int64_t began_ns, planned_ns, ended_ns, warm_ns; /* warm_ns: since when the process is judged */
	bool paced; /* the source has a rate of its own: cameras always have */
	struct stixel_reader *reader;
	struct endurance_frames frames;
	struct endurance_status status;
	pthread_t asker;
	atomic_bool done;
	int wake_fd; /* readable when done */
};

enum endurance_verdict { ENDURANCE_GOOD, ENDURANCE_BAD, ENDURANCE_NOT_JUDGED };

/* A line of the report. */
struct endurance_row {
	const char *check, *unit; /* unit: of value and budget in JSON */
	enum endurance_verdict verdict;
	double value, budget; /* NAN: none */
	char figure[320], limit[64];
};
#define ENDURANCE_ROWS 20

/* Asks once: what the daemon is, its rate. 0, or the exit code after a sentence. */
int endurance_meet(struct endurance *e);
/* Begins to ask once an interval, in a thread of its own. Negative errno. */
int endurance_ask_begin(struct endurance *e);
/* Asks a last time, and ends. */
void endurance_ask_end(struct endurance *e);

/* A frame that was taken; lost: as stixel_next() says. */
void endurance_count(struct endurance *e, const struct stixel_frame_header *h, uint64_t lost);

/* An integer of the status, or -1. */
int64_t endurance_whole(json_t *j, const char *path);
/*
 * Of a status: captured pairs that are neither published, nor dropped by overload or for want of a map, nor
 * in flight; negative: more of these than were captured. 0: it adds up. Images that made no pair are in none.
 */
int64_t endurance_unbalanced(json_t *j);

/* Of process pid now. 0, or a sentence in why: it cannot be seen. */
int endurance_process_look(struct endurance_process *p, int64_t pid, char *why, size_t why_bytes);

void endurance_line_add(struct endurance_line *l, double x, double y);
/* Its slope; 0 for fewer than two points. */
double endurance_line_slope(const struct endurance_line *l);

/* Cuts a text where it is no UTF-8 any more: a buffer may have ended within a letter. */
void endurance_cut(char *text);
/* Rows of the report; returns how many. */
int endurance_judge(const struct endurance *e, struct endurance_row rows[ENDURANCE_ROWS]);
/* Prints it as text or JSON; returns the exit code. */
int endurance_report(const struct endurance *e, const struct endurance_row *rows, int count);

#endif
