/*
 * What the images of the newest frames say about the cameras: faults of the images, and the residual row
 * error, which the daemon may correct. Thread: main. Zeroed: no image was seen yet.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_IMAGE_HEALTH_H
#define SX_DAEMON_IMAGE_HEALTH_H

#include "daemon/row_error/row_control.h"
#include "daemon/telemetry/image_stats.h"

struct sx_image_health {
	struct sx_image_watch image_watch;
	struct sx_row_control row_control;
	bool row_correction_logged; /* the log has the reason why rows are not corrected */
};

#endif
