/*
 * The settings applied to an open source: its camera, its rig, and contexts for its images.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "config/config.h"

/* Returns true if the configuration has a camera. */
static bool has_camera(const struct sx_settings *s)
{
	return s->calibration || s->params.camera.fx > 0;
}

bool sx_settings_camera_of_source(const struct sx_settings *s, const struct sx_source_info *info)
{
	return info->camera && !(info->camera_yields && has_camera(s));
}

const struct sx_rig *sx_settings_rig(const struct sx_settings *s, const struct sx_source_info *info)
{
	if (info->rig && sx_settings_camera_of_source(s, info))
		return s->rectification.choice == SX_RECTIFY_NO ? NULL : info->rig;
	return s->rectify ? &s->rig : NULL;
}

struct sx_camera sx_settings_camera(const struct sx_settings *s, const struct sx_source_info *info)
{
	const struct sx_camera *mounted = &s->params.camera;
	struct sx_camera c;

	if (!sx_settings_camera_of_source(s, info))
		return *mounted;
	c = *info->camera;
	if (info->camera_yields) {
		c.height_m = mounted->height_m;
		c.pitch_deg = mounted->pitch_deg;
		c.roll_deg = mounted->roll_deg;
	}
	return c;
}

struct sx_context_config sx_settings_context(const struct sx_settings *s, const struct sx_source_info *info)
{
	const struct sx_rig *rig = sx_settings_rig(s, info);
	struct sx_context_config c = {
		.width = rig ? rig->width : info->width,
		.height = rig ? rig->height : info->height,
		.pixel = info->pixel,
		.params = s->params,
		.rectify = rig != NULL,
	};

	if (rig)
		c.rig = *rig;
	c.params.camera = sx_settings_camera(s, info);
	if (info->awaited && !has_camera(s)) {
		c.params.road.mode = SX_ROAD_PLANE;
		c.params.motion.mode = SX_MOTION_MODE_OFF;
	}
	return c;
}

bool sx_settings_tell_rectified(const struct sx_settings *s, const struct sx_source_info *info, char *text,
				size_t bytes)
{
	const struct sx_rig *rig = sx_settings_rig(s, info);

	if (!rig)
		return false;
	snprintf(text, bytes,
		 "images of %dx%d are rectified to %dx%d (fx %.6g px, baseline %.4g m), %s %.100s",
		 rig->raw_width, rig->raw_height, rig->width, rig->height, rig->fx, rig->baseline_m,
		 s->rectification.choice == SX_RECTIFY_YES ? "by" : "as they are raw by",
		 rig != info->rig      ? s->calibration
		 : info->camera_yields ? "the writer"
				       : "source.lenses");
	return true;
}
