/*
 * stixelctl: looks at a running instance, as a client like any other. What its sub-commands share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_CTL_H
#define SX_TOOLS_CTL_CTL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#define SX_PROGRAM "stixelctl"

/* Nothing to be had: no such instance, it ended, no frame in time. Everything else is <sysexits.h>. */
#define CTL_NOTHING 1
/* The instance where none is named and none runs. */
#define CTL_DEFAULT "default"

enum ctl_image { CTL_IMAGE_LEFT, CTL_IMAGE_DISPARITY, CTL_IMAGE_NONE };

/* Budgets of endurance; -1: as usual. */
struct ctl_budget {
	int first_s;	   /* from the start to the first frame */
	int rate;	   /* percent of source.fps by which pairs come faster or slower */
	int jitter;	   /* percent of the interval, 99 % of the intervals */
	int dropped, lost; /* pairs that the daemon dropped, frames that this reader lost */
	int latency_ms;	   /* 0: none */
	int cpu;	   /* percent of a core */
	int memory;	   /* growth, KiB */
	int descriptors;   /* growth */
	int log;	   /* lines a minute */
};

/* The command line, whole: options that a sub-command does not know were refused before it is called. */
struct ctl {
	const char *instance;
	bool named; /* the instance was, by -i */
	bool json, watch, once;
	int interval_ms;
	int frames;	      /* -1: not given */
	int timeout_ms;	      /* -1: not given */
	int duration_ms;      /* 0: no limit */
	const char *config;   /* doctor: configuration file; NULL: the instance's */
	const char *textfile; /* metrics: NULL: standard output */
	int image;	      /* snapshot: enum ctl_image */
	bool bird;
	char **operands; /* as many as the command's row allows */
	int operand_count;
	/* record, replay, export */
	const char *images;  /* NULL: as they come */
	const char *rate;    /* NULL: as it was recorded */
	int start_ms, slots; /* 0: not given */
	bool compress, max, loop, no_scene;
	bool force;  /* an existing file is overwritten */
	int minutes; /* endurance; 0: not given */
	struct ctl_budget budget;
};

/* Set by SIGINT, SIGTERM: loops end in order. */
extern volatile sig_atomic_t ctl_stopped;
/* For sx_recording_on_wait(): -EINTR once asked to stop. */
int ctl_unless_stopped(void *user, int fd);

/* Each returns the exit code after a sentence on stderr, or 0. */
int ctl_list(const struct ctl *c);
int ctl_status(const struct ctl *c);
int ctl_metrics(const struct ctl *c);
int ctl_set(const struct ctl *c);
int ctl_get(const struct ctl *c);
int ctl_save(const struct ctl *c);
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

/* What is wrong with the words of a command, whatever runs: 0, or the exit code after a sentence. */
int ctl_set_words(const struct ctl *c);
int ctl_snapshot_words(const struct ctl *c);
int ctl_endurance_words(const struct ctl *c);
int ctl_record_words(const struct ctl *c);

/* "no stixeld runs as instance ...; running: front, rear"; returns the exit code. */
int ctl_absent(const struct ctl *c);
/*
 * Where no instance is named (c has CTL_DEFAULT): the one that runs with c->config, if that is given; else
 * CTL_DEFAULT if it runs; else the only one that runs. Where several run, NAME of c->config if that is
 * NAME.conf; where none runs, CTL_DEFAULT. *how: in words why it is not CTL_DEFAULT, or NULL. 0, or the
 * exit code after a sentence: several run.
 */
int ctl_choose(const struct ctl *c, const char **how, char *name, size_t bytes);
/* A sentence on stderr why libstixel gave this error; returns the exit code. */
int ctl_explain(const struct ctl *c, int error);
/* The same after waiting so long for a frame: also -ETIMEDOUT. */
int ctl_no_frame(const struct ctl *c, int r, int timeout_ms);

struct stixel_reader;
/* --timeout, or its default. */
int ctl_timeout_ms(const struct ctl *c);
/* 1: a frame is there; 0: stopped by a signal; negative: error, -ETIMEDOUT. Says soon why it waits. */
int ctl_wait_for_frame(const struct ctl *c, struct stixel_reader *reader, int timeout_ms);

/* A sentence that path already exists; returns the exit code. */
int ctl_exists(const char *path);
/* 0: there is no such file, or it may be overwritten; else as ctl_exists(). */
int ctl_check_new(const struct ctl *c, const char *path);

/* "stixelctl: ..." on stderr; returns code. */
int ctl_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Exit code for a recording that cannot be read: not damaged where memory or descriptors are short. */
int ctl_reading_code(int error);

#endif
