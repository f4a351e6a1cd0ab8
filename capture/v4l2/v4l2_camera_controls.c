/*
 * Controls of all cameras: set when the cameras are opened, and changed while they stream.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>

#include "base/contract.h"
#include "capture/v4l2/v4l2_priv.h"

void sx_v4l2_exposure_text(const struct sx_v4l2_exposure *e, char text[SX_V4L2_EXPOSURE_BYTES])
{
	size_t n = 0;

	text[0] = 0;
	if (e->exposure_ms > 0)
		n = (size_t)snprintf(text, SX_V4L2_EXPOSURE_BYTES, "exposure %g ms", e->exposure_ms);
	sx_must(n, <, SX_V4L2_EXPOSURE_BYTES);
	if (e->gain >= 0)
		snprintf(text + n, SX_V4L2_EXPOSURE_BYTES - n, "%sgain %g", n ? ", " : "", e->gain);
}

int sx_v4l2_set_controls(struct sx_v4l2 *v, const struct sx_source_params *p, struct sx_v4l2_undo *undo,
			 struct sx_why *why)
{
	char left[SX_V4L2_EXPOSURE_BYTES], right[SX_V4L2_EXPOSURE_BYTES];
	struct sx_v4l2_exposure taken[2];
	int r = 0;

	sx_must_index(v->count - 1, 2);
	for (int i = 0; i < v->count && r == 0; i++)
		r = sx_v4l2_controls_set(&v->cameras[i].device, p, &taken[i], undo ? &undo[i] : NULL, why);
	if (r < 0)
		return r;
	if (v->count == 2 &&
	    (taken[0].exposure_ms != taken[1].exposure_ms || taken[0].gain != taken[1].gain)) {
		sx_v4l2_exposure_text(&taken[0], left);
		sx_v4l2_exposure_text(&taken[1], right);
		return sx_why_fail(-EINVAL, why, "%s takes %s, %s %s: both must be equal",
				   v->cameras[0].device.path, left, v->cameras[1].device.path, right);
	}
	for (int i = 0; i < v->count; i++)
		v->cameras[i].exposure = taken[i];
	return 0;
}

int sx_v4l2_change_controls(struct sx_source *s, const struct sx_source_params *p, struct sx_why *why)
{
	struct sx_v4l2_undo undo[2] = {0};
	struct sx_v4l2 *v = s->own;
	int r = sx_v4l2_set_controls(v, p, undo, why);

	for (int i = 0; r < 0 && i < v->count; i++)
		sx_v4l2_controls_restore(&v->cameras[i].device, &undo[i]);
	return r;
}
