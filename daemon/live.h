/*
 * Live changes of the configuration, without a gap in the frames. One change at a time runs through these
 * steps, in this order:
 *
 * 	decide	 main reads the new values, finds out what they need, checks them and predicts their cost
 * 		 (change.h)
 * 	build	 a separate thread makes new contexts beside the current ones, while main continues to serve
 * 	controls  the capture thread sets the cameras' controls
 * 	swap	 the frame thread switches to the new contexts between two frames and returns the old ones
 * 	end	 main updates settings, pages and log, and answers the request
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

#include "daemon/change.h"
#include "daemon/channels/requests.h"
#include "daemon/core.h"
#include "daemon/image_health.h"

struct sx_run;

enum sx_live_step { SX_LIVE_IDLE, SX_LIVE_BUILD, SX_LIVE_CONTROLS, SX_LIVE_SWAP };

/* Changes since the start, for pages, log and status. */
struct sx_live_history {
	unsigned long changes;	   /* number of changes of settings */
	unsigned long corrections; /* number of row corrections */
	uint64_t frame;		   /* first frame of the last change that affected frames; 0: no change did */
	int64_t camera_ns;	   /* time of the last change of the camera; 0: never */
	char camera_why[160];	   /* reason in the status for SX_CAMERA_CHANGED_NS after that change */
};

/* The thread that makes contexts. It owns all fields from its start until main has joined it. */
struct sx_live_builder {
	pthread_t thread;
	const struct sx_engine *engine;
	struct sx_contexts_plan plan;
	const struct sx_contexts *before; /* contexts that the new ones replace */
	struct sx_contexts *new_contexts; /* result; main's after the join */
	int main_fd, result;
	atomic_bool built;
	struct sx_why why;
};

struct sx_live {
	struct sx_requests requests;
	struct sx_origins *origins;  /* origins of the current settings; owned by the caller of sx_run() */
	bool reload;		     /* SIGHUP came */
	bool row_correction_refused; /* the last row correction was refused, and that was logged */
	struct sx_live_history history;
	struct sx_frame_cost cost; /* measured cost of frames, to predict the cost of other settings */
	/*
	 * Values of each key in files and command line when they were last read, in the format of a
	 * configuration file.
	 */
	char configured[SX_OPTION_MAX][SX_OPTION_TEXT_BYTES];

	/* the change in progress */
	enum sx_live_step step;
	struct sx_change change;
	struct sx_live_builder builder;
	struct sx_camera_controls controls;
};

struct sx_run;

/* Takes the next step of a change, or begins a waiting one. Never blocks. */
void sx_live_look(struct sx_run *run);
/* Answers a change in progress with this sentence. Called when the threads of the pipeline have ended. */
void sx_live_abandon(struct sx_run *run, const char *why);
/* Measures on the newest frame how long this machine takes for a frame. Called once a tick. */
void sx_live_see_cost(struct sx_live *l, const struct sx_core *core);
/*
 * Stores the current settings as the ones that a reload restores. Called when the settings come from files
 * and command line.
 */
void sx_live_note_configured(struct sx_live *l, const struct sx_settings *settings);

/* live_text.c: writes pages, log and answer. */
void sx_live_tell_pages(const struct sx_live *l, const struct sx_settings *settings,
			const struct sx_options *options, struct sx_pages *pages);
/*
 * Returns the text of the answer to a request, or NULL. frame: first frame with the change; 0: unknown. Call
 * it before the change is applied to the current settings. The caller frees it.
 */
char *sx_live_done_text(const struct sx_change *c, const struct sx_settings *now, uint64_t frame);
void sx_live_tell_done(const struct sx_change *c, uint64_t frame, const char *text);
/* Reports a refused change of settings. */
void sx_live_tell_refused(const struct sx_change *c, int r, const struct sx_errors *errors);
/* Logs the row correction that is applied from this frame on. now: the control that it replaces. */
void sx_live_log_row_correction(const struct sx_change *c, const struct sx_row_control *now, uint64_t frame);

#endif
