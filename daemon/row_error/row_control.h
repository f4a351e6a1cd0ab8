/*
 * Control of the row correction (camera.row_correction) from the measured row errors. It is slow, so that
 * single scenes do not count. It knows no clock and no thread, so that
 * tests/daemon/row_error/test_row_control.c can try every case.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_ROW_ERROR_ROW_CONTROL_H
#define SX_DAEMON_ROW_ERROR_ROW_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/row_error/row_correction.h"
#include "daemon/telemetry/image_stats.h"

#define SX_ROW_CONTROL_WINDOW 240    /* samples, one per tick: a minute if each tick has a new frame */
#define SX_ROW_CONTROL_ENOUGH 120    /* samples needed that know the row error of both outer thirds */
#define SX_ROW_CONTROL_ENOUGH_FAR 40 /* samples needed if the error is above SX_ROW_CONTROL_FAR */
#define SX_ROW_CONTROL_FAR 0.5	     /* px */
#define SX_ROW_CONTROL_STEP 0.15     /* px, smaller errors are not corrected */
#define SX_ROW_CONTROL_SPREAD 1.5    /* px, thirds with a larger spread of row errors are ignored */
#define SX_ROW_CONTROL_SHIFT 3.0     /* px, largest correction */
#define SX_ROW_CONTROL_ROTATION 0.5  /* degrees, largest correction */
#define SX_ROW_CONTROL_BEYOND 0.5    /* px left in an outer third by the limits: above it why is set */
#define SX_ROW_CONTROL_BEYOND_NO_MORE 0.3
#define SX_ROW_CONTROL_WHY_BYTES 192

/*
 * The remaining error is measured with the current correction applied, by the median of each third over the
 * window: a shift, and a rotation, which is the difference between the outer thirds. The new correction is
 * the current one plus the remaining error. It is wanted if it moves the middle of an outer third by more
 * than SX_ROW_CONTROL_STEP. It is cut to the limits, and why reports the cut if the limits leave more than
 * half a row. Frames with another correction do not count, so there is no second change before there are
 * enough samples with the first. Without samples nothing changes.
 *
 * Thread: main. Zeroed: no sample, and no correction is applied.
 */
struct sx_row_control {
	struct sx_row_correction applied;
	uint64_t first;				/* first frame with that correction */
	uint64_t last;				/* frame of the last sample */
	float sample[SX_ROW_CONTROL_WINDOW][3]; /* row error of each third, px; NAN: unknown */
	unsigned taken;				/* number of samples with that correction */
	bool wants;				/* wanted differs enough from applied */
	struct sx_row_correction wanted;	/* new correction, within the limits */
	double left, right; /* remaining row error of the outer thirds, px, at the last decision */
	bool beyond;	    /* the limits leave much error, until they leave little */
	char why[SX_ROW_CONTROL_WHY_BYTES]; /* what is beyond the limits; empty: nothing */
};

/*
 * Takes the row errors of the newest frame as a sample, if the frame is new. width: of the image, px. Called
 * once a tick.
 */
void sx_row_control_see(struct sx_row_control *c, const struct sx_image_stats *newest, int width);
/* Notes the correction that is applied from this frame on. It may equal the current one. */
void sx_row_control_apply(struct sx_row_control *c, const struct sx_row_correction *applied, uint64_t frame);
/*
 * Discards the samples, because the wanted correction could not be applied. The row error is measured again
 * before the next attempt.
 */
void sx_row_control_refused(struct sx_row_control *c);

#endif
