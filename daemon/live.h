/*
 * Live changes of the configuration, without a gap in the frames. One change at a time runs through these
 * steps:
 *
 * 	read	 main reads the new values: from the files (SIGHUP), an order of the status socket, or the
 * 		 correction of rows (rows/row_control.h)
 * 	build	 a separate thread makes new contexts beside the current ones, while main continues to serve
 * 	tune	 the capture thread sets the cameras' controls
 * 	swap	 the frame thread switches to the new contexts between two frames and returns the old ones
 * 	finish	 main updates settings, pages and log, and answers the order
 *
 * Until the swap each step can refuse the change, with a sentence and nothing changed. After the swap nothing
 * can fail.
 *
 * Thread: main.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_LIVE_H
#define SX_DAEMON_LIVE_H

#include "base/why.h"
#include "config/config.h"
#include "config/option.h"
#include "daemon/cost.h"
#include "daemon/exchange/orders.h"
#include "daemon/pipeline.h"
#include "daemon/rows/row_correction.h"

struct sx_run;

enum sx_live_step { SX_LIVE_IDLE, SX_LIVE_BUILD, SX_LIVE_TUNE, SX_LIVE_SWAP };
/* Source of a change. If several changes wait, the lowest value goes first. */
enum sx_live_from { SX_LIVE_FILES, SX_LIVE_ORDER, SX_LIVE_ROWS };

struct sx_live {
	struct sx_orders orders;
	struct sx_origins *origins; /* origins of the current settings; owned by the caller of sx_run() */
	bool reload;		    /* SIGHUP came */
	unsigned long changes;	    /* number of changes of settings since the start */
	unsigned long corrections;  /* number of corrections of rows since the start */
	bool rows_refused;	    /* the last correction of rows was refused, and that was logged */
	uint64_t frame;		   /* first frame of the last change that affected frames; 0: no change did */
	int64_t camera_ns;	   /* time of the last change of the camera; 0: never */
	char camera_why[160];	   /* reason in the status for SX_CAMERA_CHANGED_NS after that change */
	struct sx_frame_cost cost; /* measured cost of frames, to predict the cost of other settings */
	/*
	 * Values of each key in files and command line when they were last read, in the format of a
	 * configuration file.
	 */
	char configured[SX_OPTION_MAX][SX_OPTION_TEXT_BYTES];

	/* the change in progress */
	enum sx_live_step step;
	enum sx_live_from from;
	struct sx_status_order *order; /* NULL unless the change comes from an order */
	struct sx_settings settings;   /* current settings with the change */
	struct sx_origins settings_origins;
	struct sx_settings_diff diff;
	bool builds, tunes;
	bool changes_camera;		     /* a key of [camera] changes */
	bool recalibrates;		     /* images are rectified and measured in another way */
	struct sx_row_correction correction; /* correction of rows with the change */
	struct sx_contexts_plan plan;
	struct sx_contexts *made;
	struct sx_tune tune;

	/*
	 * Data of the thread that makes contexts. main owns the fields again after it has joined the thread.
	 */
	pthread_t builder;
	struct sx_engine *engine;
	int main_fd, result;
	atomic_bool built;
	struct sx_why why;
};

/* Takes the next step of a change, or begins a waiting one. Never blocks. */
void sx_live_look(struct sx_run *run);
/* Measures on the newest frame how long this machine takes for a frame. Called once a tick. */
void sx_live_see_cost(struct sx_run *run);
/* Answers a change in progress with this sentence. Called when the threads of the pipeline have ended. */
void sx_live_abandon(struct sx_run *run, const char *why);

/*
 * live_read.c: reads the values of a change into live->settings. On refusal returns a negative errno, with
 * sentences in errors.
 */
int sx_live_read(struct sx_run *run, struct sx_errors *errors);
/* Returns all that decides how long a frame takes: these settings, for the image size of the pipeline. */
struct sx_frame_cost_case sx_live_cost_case(const struct sx_run *run, const struct sx_settings *s);
/*
 * Returns true if these settings correct rows: row_correction is auto, there is a camera model, and the
 * daemon matches the pairs itself.
 */
bool sx_live_corrects_rows(const struct sx_run *run, const struct sx_settings *s);
/* Returns true if a change that recalibrates has the same calibration file name as before. */
bool sx_live_same_file(const struct sx_run *run);
/*
 * Stores the current settings as the ones that a reload restores. Called when the settings come from files
 * and command line.
 */
void sx_live_note_configured(struct sx_run *run);
/* live_text.c: writes pages, log and answer. */
void sx_live_tell_pages(struct sx_run *run);
/*
 * Returns the text of the answer to an order, or NULL. Call it before the change is applied. The caller frees
 * it.
 */
char *sx_live_done_text(const struct sx_run *run);
void sx_live_tell_done(struct sx_run *run, const char *text);
void sx_live_tell_refused(struct sx_run *run, int r, const struct sx_errors *errors);
/*
 * Logs the correction of rows that is applied from this frame on, if it differs from the current one. Call it
 * before the correction is applied.
 */
void sx_live_tell_rows(struct sx_run *run, uint64_t frame);

#endif
