/*
 * Camera controls (exposure, gain, driver controls) and the fault of synthetic cameras, sent from main to the
 * capture thread, which returns them with their result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_CHANNELS_CAMERA_CONTROLS_H
#define SX_DAEMON_CHANNELS_CAMERA_CONTROLS_H

#include "base/why.h"
#include "capture/source.h"

#define SX_CAMERA_CONTROLS_TEXT_BYTES 512 /* maximum length of a value in the configuration */

struct sx_camera_controls {
	/* controls and fault point to the arrays below, because main may change its own texts meanwhile */
	struct sx_source_params params;
	char text[SX_CAMERA_CONTROLS_TEXT_BYTES], fault[SX_CAMERA_CONTROLS_TEXT_BYTES];
	int result; /* result of sx_source_change_controls(); -ENODEV: the camera is absent */
	struct sx_why why;
};

/* Copies the parameters. Texts other than controls and fault still belong to the settings. */
void sx_camera_controls_set(struct sx_camera_controls *t, const struct sx_source_params *p);
/* Copies from p only exposure, gain, controls and fault. All other texts of t stay. */
void sx_camera_controls_update(struct sx_camera_controls *t, const struct sx_source_params *p);

#endif
