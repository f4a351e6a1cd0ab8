/*
 * Declarations that the sub-commands of stixelctl share. stixelctl looks at a running instance as a client
 * like any other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_CTL_H
#define SX_TOOLS_CTL_CTL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#define SX_PROGRAM "stixelctl"

/*
 * Exit code for nothing found: no such instance, the instance ended, or no frame in time. The other exit
 * codes are those of <sysexits.h>.
 */
#define CTL_NOTHING 1
/* Name of the instance if the command line names none and none runs. */
#define CTL_DEFAULT "default"

enum ctl_image { CTL_IMAGE_LEFT, CTL_IMAGE_DISPARITY, CTL_IMAGE_NONE };

/* Budgets of `stixelctl endurance`. -1: the default. */
struct ctl_budget {
	int first_s;	   /* s, from the start to the first frame */
	int rate;	   /* percent of source.fps by which the rate of pairs may differ, up or down */
	int jitter;	   /* percent of the interval, for 99 % of the intervals */
	int dropped, lost; /* pairs that the daemon dropped, frames that this reader lost */
	int latency_ms;	   /* 0: no budget */
	int cpu;	   /* percent of a core */
	int memory;	   /* growth, KiB */
	int descriptors;   /* growth */
	int log;	   /* lines per minute */
};

/* The whole command line. The parser has refused options that the sub-command does not know. */
struct ctl {
	const char *instance;
	bool named; /* -i named the instance */
	bool json, watch, once;
	int interval_ms;
	int frames;	      /* -1: not given */
	int timeout_ms;	      /* -1: not given */
	int duration_ms;      /* 0: no limit */
	const char *config;   /* doctor: configuration file; NULL: the instance's file */
	const char *textfile; /* metrics: NULL: standard output */
	int image;	      /* snapshot: enum ctl_image */
	bool bird, classes;
	double near_m, far_m; /* snapshot, top, record, export: ends of the colours; 0: from the scene */
	char **operands;      /* operands, at most as many as the command table allows */
	int operand_count;
	/* record, replay, export */
	const char *images;  /* NULL: left and right */
	const char *rate;    /* NULL: the recorded rate */
	int start_ms, slots; /* 0: not given */
	bool compress, max, loop, no_scene, raw, stixels_only;
	int quality; /* record: quality of JPEG images; 0: the default */
	bool force;  /* overwrite an existing file */
	int minutes; /* endurance; 0: not given */
	struct ctl_budget budget;
};

/* Set by SIGINT and SIGTERM. Loops then end in order. */
extern volatile sig_atomic_t ctl_stopped;
/* Callback of sx_recording_on_wait(). Returns -EINTR after a stop was requested. */
int ctl_unless_stopped(void *user, int fd);

/* Sub-commands. Each returns 0, or prints an error to stderr and returns the exit code. */
int ctl_list(const struct ctl *c);
int ctl_status(const struct ctl *c);
int ctl_metrics(const struct ctl *c);
int ctl_set(const struct ctl *c);
int ctl_get(const struct ctl *c);
int ctl_save(const struct ctl *c);
int ctl_presets(const struct ctl *c);
int ctl_dump(const struct ctl *c);
int ctl_wait(const struct ctl *c);
int ctl_top(const struct ctl *c);
int ctl_watch(const struct ctl *c);
int ctl_snapshot(const struct ctl *c);
int ctl_doctor(const struct ctl *c);
int ctl_endurance(const struct ctl *c);
int ctl_record(const struct ctl *c);
int ctl_replay(const struct ctl *c);
int ctl_info(const struct ctl *c);
int ctl_export(const struct ctl *c);

/*
 * Check the operands and options of a command before it does anything. Each returns 0, or prints an error and
 * returns the exit code.
 */
int ctl_set_words(const struct ctl *c);
int ctl_snapshot_words(const struct ctl *c);
int ctl_endurance_words(const struct ctl *c);
int ctl_record_words(const struct ctl *c);

/* Prints "no stixeld runs as instance ...; running: front, rear". Returns the exit code. */
int ctl_absent(const struct ctl *c);
/*
 * Chooses the instance if the command line names none (c has CTL_DEFAULT). Takes the first of these that
 * exists: the instance that runs with the file c->config, CTL_DEFAULT if it runs, the only instance that
 * runs. If several other instances run, takes NAME if c->config is NAME.conf. If no instance runs, takes
 * CTL_DEFAULT. *how: the reason in words if the choice is not CTL_DEFAULT, else NULL. Returns 0. If several
 * run and none can be chosen, prints an error and returns the exit code.
 */
int ctl_choose(const struct ctl *c, const char **how, char *name, size_t bytes);
/* Prints an error of libstixel to stderr. Returns the exit code. */
int ctl_explain(const struct ctl *c, int error);
/* Prints an error as ctl_explain(), after waiting timeout_ms for a frame. Accepts -ETIMEDOUT too. */
int ctl_no_frame(const struct ctl *c, int r, int timeout_ms);

struct stixel_reader;
/* Returns --timeout, or its default. */
int ctl_timeout_ms(const struct ctl *c);
/*
 * Waits for a frame. Returns 1 if there is one, 0 if a signal stopped the wait, or a negative error
 * (-ETIMEDOUT). In a long wait, prints after 1 s why it waits.
 */
int ctl_wait_for_frame(const struct ctl *c, struct stixel_reader *reader, int timeout_ms);

/* Prints an error: path already exists. Returns the exit code. */
int ctl_exists(const char *path);
/* Returns 0 if there is no such file or --force allows overwriting it. Otherwise acts as ctl_exists(). */
int ctl_check_new(const struct ctl *c, const char *path);

/* Prints "stixelctl: ..." to stderr. Returns code. */
int ctl_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/*
 * Returns the exit code for a recording that cannot be read. Lack of memory or descriptors does not count as
 * a damaged recording.
 */
int ctl_reading_code(int error);

#endif
