/*
 * One life of the daemon: state and functions that its parts share. run.c sets it up and takes it down, run_build.c
 * makes the pipeline, loop.c serves, run_judge.c judges the health, run_end.c has the exit code.
 * Thread: main.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_RUN_PRIV_H
#define SX_DAEMON_RUN_PRIV_H

#include "daemon/core.h"
#include "daemon/health.h"
#include "daemon/image_health.h"
#include "daemon/instance/member.h"
#include "daemon/instance/run_folder.h"
#include "daemon/instance/service_manager.h"
#include "daemon/live.h"
#include "daemon/power.h"
#include "daemon/run.h"

/* State of the daemon's health, and the texts that sx_health_input points to. An empty text: no fault. */
struct sx_health_watch {
	struct sx_health now;
	struct sx_health_logged logged;	  /* last logged state and reason; readers see the same state */
	char absent_why[SX_ABSENT_BYTES]; /* why the camera is absent */
	char map_why[SX_FEED_WHY_BYTES];  /* why disparity maps are missing */
	char unit_why[SX_WHY_BYTES];	  /* wrong unit of the baseline */
	/* why a ring has no name, for as long as the daemon cannot make a ring with that name again */
	struct sx_why names_why;
	struct sx_condition pairs_lost;
};

/* Descriptors and counters of the main loop. */
struct sx_loop {
	int signal_fd; /* SIGTERM, SIGINT, SIGHUP; -1: the supervisor reads the signals */
	int main_fd;   /* eventfd for all threads */
	unsigned ticks;
	int64_t next_tick_ns, next_ping_ns;
};

/* The end of the daemon. */
struct sx_stop {
	bool ordered;  /* a signal or the end of the pipeline has ordered the stop */
	bool hurry;    /* a second stop signal came */
	bool deaf;     /* signals cannot be read any more */
	bool given_up; /* the frame in flight did not finish, and its threads go on */
	int64_t by_ns; /* deadline for the frame in flight */
};

/*
 * One life of the daemon. Only functions that lead through several of its parts take it. All others take the
 * parts that they need.
 */
struct sx_run {
	const struct sx_options *options;
	struct sx_core core;
	struct sx_run_folder folder;
	struct sx_service service;
	struct sx_power_watch power;
	struct sx_image_health images;
	struct sx_health_watch health;
	struct sx_live live;
	struct sx_loop loop;
	struct sx_stop stop;
};

/* Returns the longest time without a frame, ns. After it the watchdog, if there is one, ends the daemon. */
int64_t sx_run_limit_ns(const struct sx_service *service);
/* Logs why and returns code, the exit code. */
int sx_run_refuse(int code, const char *why);
/*
 * Makes the pipeline for this source (NULL: the camera is absent) and starts it. Returns the exit code, 0 on
 * success. Logs the error.
 */
int sx_run_build(struct sx_run *run, struct sx_source *source);
/* Serves until the daemon has to end, then waits for the frames in flight. Returns the exit code. */
int sx_run_loop(struct sx_run *run);
/*
 * Judges and reports the health: once a tick, and between two ticks when a thread of the pipeline has woken main.
 */
void sx_run_judge(struct sx_run *run, bool tick);
/* Returns true if a ping of the watchdog is justified (sx_health_may_ping()). */
bool sx_run_may_ping(struct sx_run *run);
/* Logs why and how the pipeline ended, after its threads have. Returns the exit code. */
int sx_run_end(const struct sx_run *run);
/*
 * Exits without waiting for any thread, because the frame in flight did not finish. Removes the names that
 * other processes see. In a process with several instances it sets given_up and returns the exit code: nothing
 * of this instance may be taken down, because its threads still use it.
 */
int sx_run_give_up(struct sx_run *run);
/* Prints the lines of real-time threads, unless the supervisor does it. */
void sx_run_drain_log(const struct sx_run *run);
/* Writes memory and properties of the current contexts to the status report. */
void sx_run_tell_engine(struct sx_core *core);
/*
 * Logs the camera and the questions about it and writes them to the status report: at the start, with another
 * source, and when the settings change. known: the source is open, so the size of its images is known.
 */
void sx_run_tell_camera(struct sx_core *core, bool known);
/* Sets why, what the road says about the unit of the baseline. Called once a tick. */
void sx_run_watch_unit(const struct sx_core *core, char why[SX_WHY_BYTES]);
/* Sends the state to the service manager as STATUS=. */
void sx_run_tell_manager(struct sx_service *service, const struct sx_health *h, struct sx_telemetry *t);

#endif
