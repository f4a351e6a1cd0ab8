/*
 * Controls of a camera: exposure, gain, and any other control by its name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_V4L2_V4L2_CONTROLS_H
#define SX_CAPTURE_V4L2_V4L2_CONTROLS_H

#include "base/why.h"
#include "capture/v4l2/v4l2_device.h"

/* Exposure and gain that the driver has set; negative: not requested, or automatic. */
struct sx_v4l2_exposure {
	double exposure_ms, gain;
};

#define SX_V4L2_UNDO_MAX 64

/* Values of controls before they were changed, in that order. Zeroed: empty. */
struct sx_v4l2_undo {
	struct {
		uint32_t id;
		bool wide; /* the value has 64 bits */
		int64_t value;
	} was[SX_V4L2_UNDO_MAX];
	int count;
};

/*
 * Sets the controls of p: exposure, gain, then p->controls in their order. Names are the driver's names in
 * small letters, with an underscore for any other character ("white_balance_automatic"). Returns -EINVAL with
 * a message if the camera lacks a control, a value is out of range, or the text is no list of name=value;
 * otherwise the driver's errno. A locked (inactive) control is set as well: the driver reports an error if it
 * must not be set. undo (may be NULL) receives the values from before. Allocates nothing.
 */
int sx_v4l2_controls_set(const struct sx_v4l2_device *d, const struct sx_source_params *p,
			 struct sx_v4l2_exposure *ret, struct sx_v4l2_undo *undo, struct sx_why *why);
/* Restores the values, newest first, and empties undo. */
void sx_v4l2_controls_restore(const struct sx_v4l2_device *d, struct sx_v4l2_undo *undo);

#endif
