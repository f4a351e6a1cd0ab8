/*
 * One life of the daemon: state and functions that run.c, which sets it up, and loop.c, which runs it, share.
 * Thread: main.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_RUN_PRIV_H
#define SX_DAEMON_RUN_PRIV_H

#include "base/why.h"
#include "daemon/health.h"
#include "daemon/live.h"
#include "daemon/pages.h"
#include "daemon/pipeline.h"
#include "daemon/rows/row_control.h"
#include "daemon/run.h"
#include "daemon/service_manager.h"
#include "engines/select.h"
#include "power/sampler.h"

#define SX_RUN_PATH_BYTES 256
#define SX_RUN_STATUS_MODE 0660 /* mode of the status socket */

struct sx_run {
	const struct sx_options *options;
	struct sx_settings *settings;
	struct sx_stixel_params start; /* stixel parameters at the start */
	char folder[4096];	       /* working directory at the start */
	char dir[SX_RUN_PATH_BYTES], status_path[SX_RUN_PATH_BYTES], stream_path[SX_RUN_PATH_BYTES];
	bool status_made; /* this process has made the socket at status_path and removes it */
	int stream_fd;	  /* socket from systemd, or -1 */
	int lock_fd, signal_fd, main_fd;
	struct sx_service service;
	struct sx_engine engine;
	struct sx_telemetry *telemetry;
	struct sx_pages *pages;
	struct sx_sampler *power; /* NULL: power is not measured, or its thread cannot be started */
	unsigned power_told;	  /* sensor changes that were logged */
	bool others_told;	  /* logged that other processes use the GPU */
	struct sx_pipeline *pipeline;
	struct sx_live live;
	struct sx_health health;
	char absent_why[SX_ABSENT_BYTES];  /* health input: why the camera is absent */
	char map_why[SX_FEED_WHY_BYTES];   /* health input: why disparity maps are missing */
	struct sx_pictures_watch pictures; /* health input: what is wrong with the images */
	struct sx_row_control rows;	   /* health input: residual row error */
	char unit_why[SX_WHY_BYTES];	   /* health input: wrong unit of the baseline */
	/* why a ring has no name, for as long as the daemon cannot make a ring with that name again */
	struct sx_why names_why;
	bool rows_told;		      /* logged why rows are not corrected */
	struct sx_health_logged told; /* last logged state and reason, and the state that readers see */
	unsigned ticks;
	int64_t next_tick_ns, next_ping_ns;
	bool stopping;	    /* a signal or the end of the pipeline has ordered the stop */
	bool hurry;	    /* a second stop signal came */
	bool deaf;	    /* signals can no longer be read */
	int64_t stop_by_ns; /* deadline for the frame in flight */
};

/*
 * Makes the folder of the instance, run->dir, and locks it. Returns the lock. Negative errno with a sentence.
 */
int sx_run_claim_folder(struct sx_run *run, struct sx_why *why);
/*
 * Makes the folder of the instance, its lock and the status socket again if they were removed. On an error,
 * returns a negative errno with a sentence and keeps what the daemon holds.
 */
int sx_run_hold_folder(struct sx_run *run, struct sx_why *why);
/*
 * Returns true if the lock file on disk is still the lock that this daemon holds. If it is not, the sockets
 * beside it may belong to another daemon.
 */
bool sx_run_holds_folder(const struct sx_run *run);
/* Returns the longest time without a frame, ns. After it the watchdog, if there is one, ends the daemon. */
int64_t sx_run_limit_ns(const struct sx_run *run);
/* Logs why and returns code, the exit code. */
int sx_run_refuse(int code, const char *why);
/*
 * Makes the pipeline for this source (NULL: the camera is absent) and starts it. Returns the exit code, 0 on
 * success. Logs the error.
 */
int sx_run_build(struct sx_run *run, struct sx_source *source);
/* Serves until the daemon has to end, then waits for the frames in flight. Returns the exit code. */
int sx_run_loop(struct sx_run *run);
/* Writes memory and properties of the current contexts to the status report. */
void sx_run_tell_engine(struct sx_run *run);
/*
 * Logs the camera and the questions about it and writes them to the status report: at the start, with another
 * source, and when the settings change. known: the source is open, so the size of its images is known.
 */
void sx_run_tell_camera(struct sx_run *run, bool known);
/* Updates run->unit_why, what the road says about the unit of the baseline. Called once a tick. */
void sx_run_watch_unit(struct sx_run *run);
/* Sends the current state to the service manager as STATUS=. */
void sx_run_tell_manager(struct sx_run *run);
/* Starts the measurement of power if it is configured. The daemon runs without a sensor, too. */
void sx_run_power_start(struct sx_run *run);
/* Logs that a power sensor was found or lost. Called once a tick. */
void sx_run_power_tell(struct sx_run *run);

#endif
