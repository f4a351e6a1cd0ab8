/*
 * Controls of a camera: exposure, gain, and any other by name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_V4L2_V4L2_CONTROLS_H
#define SX_CAPTURE_V4L2_V4L2_CONTROLS_H

#include "capture/v4l2/v4l2_device.h"

/* What the driver made of exposure_ms and gain; negative: not asked for, or automatic. */
struct sx_v4l2_exposure {
	double exposure_ms, gain;
};

#define SX_V4L2_UNDO_MAX 64

/* What controls were before they were set, in that order; zeroed: nothing. */
struct sx_v4l2_undo {
	struct {
		uint32_t id;
		bool wide; /* 64 bits */
		int64_t value;
	} was[SX_V4L2_UNDO_MAX];
	int count;
};

/*
 * Sets what p asks for: exposure, gain, then p->controls in their order. Names are those of the driver in
 * small letters, all else an underscore ("white_balance_automatic"). -EINVAL and a sentence for a control
 * that the camera does not have, a value out of its range, or text that is no list of name=value; the
 * driver's errno otherwise. A locked (inactive) control is set
 * all the same: drivers say whether they mind. undo (may be NULL) learns what was there before. Allocates
 * nothing.
 */
int sx_v4l2_controls_set(const struct sx_v4l2_device *d, const struct sx_source_params *p,
			 struct sx_v4l2_exposure *ret, struct sx_v4l2_undo *undo, char *why,
			 size_t why_bytes);
/* Sets back, the newest first, and empties undo. */
void sx_v4l2_controls_restore(const struct sx_v4l2_device *d, struct sx_v4l2_undo *undo);

#endif
