/*
 * One life of the daemon: what run.c sets up and loop.c keeps going. Thread: main.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_RUN_PRIV_H
#define SX_DAEMON_RUN_PRIV_H

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
	struct sx_stixel_params start; /* of the settings of the start */
	char folder[4096];	       /* where the daemon was started */
	char dir[SX_RUN_PATH_BYTES], status_path[SX_RUN_PATH_BYTES], stream_path[SX_RUN_PATH_BYTES];
	bool status_made; /* status_path is ours to remove */
	int stream_fd;	  /* passed by systemd, or -1 */
	int lock_fd, signal_fd, main_fd;
	struct sx_service service;
	struct sx_engine engine;
	struct sx_telemetry *telemetry;
	struct sx_pages *pages;
	struct sx_sampler *power; /* NULL: not wanted, or without a thread */
	unsigned power_told;	  /* changes of it that the log knows */
	bool others_told;	  /* the log knows that other processes use the card */
	struct sx_pipeline *pipeline;
	struct sx_live live;
	struct sx_health health;
	char absent_why[SX_ABSENT_BYTES];  /* health looks at it, */
	char map_why[SX_FEED_WHY_BYTES];   /* at this, */
	struct sx_pictures_watch pictures; /* and at what this says, */
	struct sx_row_control rows;	   /* and this, */
	char unit_why[SX_WHY_BYTES];	   /* and this */
	char names_why[2 * SX_WHY_BYTES +
		       32];	      /* why a ring has no name, as long as it cannot have one again */
	bool rows_told;		      /* the log knows why they are not corrected */
	struct sx_health_logged told; /* state and reason that log and readers know */
	unsigned ticks;
	int64_t next_tick_ns, next_ping_ns;
	bool stopping;	    /* the stop was ordered, by a signal or by the pipeline's end */
	bool hurry;	    /* a second signal came */
	bool deaf;	    /* signals cannot be read any more */
	int64_t stop_by_ns; /* the frame in flight must be finished by then */
};

/* Makes the folder of the instance, run->dir, and returns its lock. Negative errno with a sentence. */
int sx_run_claim_folder(struct sx_run *run, char *why, size_t why_bytes);
/*
 * The folder of the instance with lock and status socket, again if it was removed. Negative errno with a
 * sentence; what is held stays.
 */
int sx_run_hold_folder(struct sx_run *run, char *why, size_t why_bytes);
/*
 * The lock that others would find is the one that is held. If it is not, the sockets beside it may be another
 * daemon's.
 */
bool sx_run_holds_folder(const struct sx_run *run);
/* Longest time without a frame, ns: after it the watchdog, if there is one, ends the daemon. */
int64_t sx_run_limit_ns(const struct sx_run *run);
/* Logs why, and returns the exit code. */
int sx_run_refuse(int code, const char *why);
/* Makes the pipeline for this source (NULL: absent camera) and starts it. Exit code, 0 on success; logs. */
int sx_run_build(struct sx_run *run, struct sx_source *source);
/* Serves until the daemon has to end, then waits for the frames in flight. Exit code. */
int sx_run_loop(struct sx_run *run);
/* The status learns what the contexts that compute take and do. */
void sx_run_tell_engine(struct sx_run *run);
/*
 * Camera and questions about it, for log and status: at the start, with another source, when the settings
 * change. known: the source is open, so that the size of its images is.
 */
void sx_run_tell_camera(struct sx_run *run, bool known);
/* Once a tick: what the road says of the baseline, in run->unit_why. */
void sx_run_watch_unit(struct sx_run *run);
/* STATUS= as it is now. */
void sx_run_tell_manager(struct sx_run *run);
/* Starts measuring power, unless it is not wanted. Without a sensor the daemon runs as well. */
void sx_run_power_start(struct sx_run *run);
/* Once a tick: the log learns that a sensor was found, or lost. */
void sx_run_power_tell(struct sx_run *run);

#endif
