/*
 * Which correction of rows the pictures ask for (camera.row_correction): slow, so that single scenes do not
 * count. Knows no clock and no thread, so that tests/daemon/rows/test_row_control.c can try every case.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_ROWS_ROW_CONTROL_H
#define SX_DAEMON_ROWS_ROW_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/rows/row_correction.h"
#include "daemon/telemetry/pictures.h"

#define SX_ROW_CONTROL_WINDOW 240    /* samples, of ticks: a minute where every one has a new frame */
#define SX_ROW_CONTROL_ENOUGH 120    /* of them that know the rows of both outer thirds */
#define SX_ROW_CONTROL_ENOUGH_FAR 40 /* the same, for an error above SX_ROW_CONTROL_FAR */
#define SX_ROW_CONTROL_FAR 0.5	     /* px */
#define SX_ROW_CONTROL_STEP 0.15     /* px: smaller errors stay */
#define SX_ROW_CONTROL_SPREAD 1.5    /* px: places of a third that agree less say nothing */
#define SX_ROW_CONTROL_SHIFT 3.0     /* px: more is not corrected */
#define SX_ROW_CONTROL_ROTATION 0.5  /* degrees, likewise */
#define SX_ROW_CONTROL_BEYOND 0.5    /* px in the middle of an outer third that limits leave: why says so, */
#define SX_ROW_CONTROL_BEYOND_NO_MORE 0.3
#define SX_ROW_CONTROL_WHY_BYTES 192

/*
 * What is left of the error is measured with the correction that is applied, by medians over the window of
 * each third: a shift, and a rotation, which is the difference between the outer ones. A new correction is
 * the applied one and that. It is wanted when it moves the middle of an outer third by more than
 * SX_ROW_CONTROL_STEP, and never beyond the limits: what would be is cut, and why says so where it is half a
 * row. Frames that
 * another correction was applied to do not count, so there is no second change before there are enough
 * samples with the first. Without votes nothing changes.
 *
 * Thread: main. Zeroed: nothing is known or applied.
 */
struct sx_row_control {
	struct sx_row_correction applied;
	uint64_t first;				/* frame with that correction */
	uint64_t last;				/* frame that was looked at */
	float sample[SX_ROW_CONTROL_WINDOW][3]; /* row error of the thirds, px; NAN */
	unsigned taken;				/* samples with that correction */
	bool wants;				/* another correction, which is: */
	struct sx_row_correction wanted;	/* within the limits */
	double left, right;			/* px that are left of the error, when that was found */
	bool beyond;				/* the limits leave much, until it is little */
	char why[SX_ROW_CONTROL_WHY_BYTES];	/* what is beyond the limits; empty: nothing is */
};

/* Once a tick: newest frame, a sample if it is another one than the last. width: of the image, px. */
void sx_row_control_see(struct sx_row_control *c, const struct sx_pictures *newest, int width);
/* From this frame on a correction is applied; may be the one that was. */
void sx_row_control_apply(struct sx_row_control *c, const struct sx_row_correction *applied, uint64_t frame);
/* What was wanted could not be done: measured anew before it is tried again. */
void sx_row_control_refused(struct sx_row_control *c);

#endif
