/*
 * Changing a configuration that runs, without a gap in the frames: one change at a time, in these steps.
 *
 *	read	 the new values, from the files (SIGHUP), an order of the status socket, or the pictures' rows
 *		 (rows/row_control.h)
 *	build	 contexts beside those that compute, by a thread of its own: main goes on serving
 *	tune	 the capture thread sets the cameras' controls
 *	swap	 the frame thread goes over to them between two frames, and gives back the old ones
 *	finish	 settings, pages and log learn of it; the order is answered
 *
 * Until the swap everything can be refused, with a sentence and nothing changed; after it nothing can fail.
 *
 * Thread: main.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_LIVE_H
#define SX_DAEMON_LIVE_H

#include "config/config.h"
#include "config/option.h"
#include "daemon/cost.h"
#include "daemon/exchange/orders.h"
#include "daemon/pipeline.h"
#include "daemon/rows/row_correction.h"

struct sx_run;

enum sx_live_step { SX_LIVE_IDLE, SX_LIVE_BUILD, SX_LIVE_TUNE, SX_LIVE_SWAP };
/* Who wants a change; of several who wait the first of these. */
enum sx_live_from { SX_LIVE_FILES, SX_LIVE_ORDER, SX_LIVE_ROWS };

struct sx_live {
	struct sx_orders orders;
	struct sx_origins *origins; /* of the settings that run; the caller's */
	bool reload;		    /* SIGHUP came */
	unsigned long changes;	    /* of settings, since the start */
	unsigned long corrections;  /* of rows, likewise */
	bool rows_refused;	    /* the last of them: told */
	uint64_t frame;		    /* the first frame of the last change that changed frames; 0: none did */
	int64_t camera_ns;	    /* when the camera was changed last; 0: never */
	char camera_why[160];	    /* what the status says of it for a while */
	struct sx_frame_cost cost;  /* of frames, as they are and would be */
	/* what files and command line said of each key when they were read last, as a file takes it */
	char configured[SX_OPTION_MAX][SX_OPTION_TEXT_BYTES];

	/* the change in progress */
	enum sx_live_step step;
	enum sx_live_from from;
	struct sx_status_order *order; /* where it comes from one */
	struct sx_settings settings;   /* those that run, with the change */
	struct sx_origins settings_origins;
	struct sx_settings_diff diff;
	bool builds, tunes;
	bool changes_camera;		     /* any key of [camera] */
	bool recalibrates;		     /* images are rectified and measured in another way */
	struct sx_row_correction correction; /* with the change */
	struct sx_contexts_plan plan;
	struct sx_contexts *made;
	struct sx_tune tune;

	/* the thread that makes contexts: the rest is main's again when it has been joined */
	pthread_t builder;
	struct sx_engine *engine;
	int main_fd, result;
	atomic_bool built;
	char why[SX_WHY_BYTES];
};

/* Takes the next step of a change, or begins one that waits. Never waits itself. */
void sx_live_look(struct sx_run *run);
/* Once a tick: learns from the newest frame what this machine takes. */
void sx_live_see_cost(struct sx_run *run);
/* When the threads of the pipeline have ended: a change in progress is answered with this sentence. */
void sx_live_abandon(struct sx_run *run, const char *why);

/* live_read.c: the values of a change into live->settings. Negative: refused, errors has the sentences. */
int sx_live_read(struct sx_run *run, struct sx_errors *errors);
/* What decides how long a frame takes: these settings, for the images of the pipeline. */
struct sx_frame_cost_case sx_live_cost_case(const struct sx_run *run, const struct sx_settings *s);
/* Whether rows are corrected with these settings: wanted, by a camera model, and no other process matches. */
bool sx_live_corrects_rows(const struct sx_run *run, const struct sx_settings *s);
/* Of a change that recalibrates: the calibration file has its old name. */
bool sx_live_same_file(const struct sx_run *run);
/* Settings that come from files and command line run now: they are what a reload brings back. */
void sx_live_note_configured(struct sx_run *run);
/* live_text.c: pages, log and answer. */
void sx_live_tell_pages(struct sx_run *run);
/* The answer to an order, before it is taken over. Own memory, or NULL. */
char *sx_live_done_text(const struct sx_run *run);
void sx_live_tell_done(struct sx_run *run, const char *text);
void sx_live_tell_refused(struct sx_run *run, int r, const struct sx_errors *errors);
/* The correction that contexts have from frame on, if it is another one; before it is taken over. */
void sx_live_tell_rows(struct sx_run *run, uint64_t frame);

#endif
