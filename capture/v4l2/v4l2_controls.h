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

/*
 * Sets what p asks for: exposure, gain, then p->controls in their order. Names are those of the driver in
 * small letters, all else an underscore ("white_balance_automatic"). -EINVAL and a sentence for a control
 * that the camera does not have, a value out of its range, or text that is no list of name=value; the
 * driver's errno otherwise. A locked (inactive) control is set
 * all the same: drivers say whether they mind.
 */
int sx_v4l2_controls_set(const struct sx_v4l2_device *d, const struct sx_source_params *p,
			 struct sx_v4l2_exposure *ret, char *why, size_t why_bytes);

#endif
