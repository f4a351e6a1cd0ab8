/*
 * One change of the configuration, from its text to the decision about it. The steps go in one direction, and
 * none has an effect on what runs:
 *
 * 	read	  reads the new values: from the files, a request of the status socket, or the row correction
 * 	classify  finds what the changed keys need, by the option rows: new contexts, camera controls
 * 	check	  refuses values that are wrong or do not fit the pipeline
 * 	predict	  refuses values with which frames take too long, and contexts without memory for them
 *
 * live.h applies a change that was not refused. Thread: main.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_CHANGE_H
#define SX_DAEMON_CHANGE_H

#include "config/config.h"
#include "config/option.h"
#include "daemon/options.h"
#include "daemon/pipeline.h"
#include "daemon/row_error/row_control.h"

/* Source of a change. If several changes wait, the lowest value goes first. */
enum sx_change_from { SX_FROM_FILES, SX_FROM_REQUEST, SX_FROM_ROW_CORRECTION };

struct sx_change {
	enum sx_change_from from;
	struct sx_status_request *request; /* NULL unless the change comes from a request */
	struct sx_settings settings;	   /* current settings with the change */
	struct sx_origins origins;
	struct sx_settings_diff diff;
	bool builds, changes_controls;
	bool changes_camera;		     /* a key of [camera] changes */
	bool recalibrates;		     /* images are rectified and measured in another way */
	struct sx_row_correction correction; /* row correction with the change */
};

/* Running settings and pipeline, to which the change is compared. */
struct sx_running {
	const struct sx_settings *settings;
	const struct sx_origins *origins;
	const struct sx_pipeline *pipeline;
	const struct sx_row_control *row_control;
	const struct sx_frame_cost *cost; /* measured on the current frames */
	int64_t limit_ns;		  /* after this time without a frame the watchdog ends the daemon */
};

/*
 * Reads the new values into the change. The caller has set its from and request. options: names of the files.
 * On refusal returns a negative errno, with sentences in errors. The caller ends the settings with
 * sx_settings_finish() in any case.
 */
int sx_change_read(struct sx_change *c, const struct sx_running *now, const struct sx_options *options,
		   struct sx_errors *errors);
/*
 * Sets builds, changes_controls, recalibrates, changes_camera and correction. Calibrations are compared by
 * their meaning.
 */
void sx_change_classify(struct sx_change *c, const struct sx_running *now);
/* Returns 0, or a negative errno with a sentence in errors: the values are wrong, or they need a restart. */
int sx_change_check(const struct sx_change *c, const struct sx_running *now, struct sx_errors *errors);
/*
 * Predicts time and memory of frames of the new contexts, which have configuration next. Returns as
 * sx_change_check().
 */
int sx_change_predict(const struct sx_change *c, const struct sx_context_config *next,
		      const struct sx_running *now, struct sx_errors *errors);

/* Returns true if a change that recalibrates has the same calibration file name as before. */
bool sx_change_same_file(const struct sx_change *c, const struct sx_settings *now);
/*
 * Returns true if these settings correct rows: row_correction is auto, there is a camera model, and the
 * daemon matches the pairs itself.
 */
bool sx_corrects_rows(const struct sx_settings *s, const struct sx_source_info *info);

#endif
