/*
 * Lists what a V4L2 device offers, for programs that show it to users.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_V4L2_V4L2_PROBE_H
#define SX_CAPTURE_V4L2_V4L2_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/why.h"

/* A mode: one capture format in one size, at its highest rate. */
struct sx_v4l2_mode {
	const char *format; /* value for source.format, such as "YUYV" */
	int width, height;  /* px; the smallest if the driver offers a range */
	int width_max, height_max;
	double fps;	  /* 0: not reported by the driver */
	bool interleaved; /* both images of a pair in one, for interleaved layouts */
};

/*
 * Lists at most max modes of the device at path, cheapest format first, sizes in the driver's order. Writes
 * the device's name into name. Opens and closes the device and changes nothing. Returns the number of modes,
 * or a negative errno with a message in why: -ENOENT, -EACCES, -ENODEV (no capture device), -EINVAL (not a
 * V4L2 device). -EBUSY comes only from drivers that allow a single user.
 */
int sx_v4l2_probe(const char *path, struct sx_v4l2_mode *modes, int max, char *name, size_t name_bytes,
		  struct sx_why *why);

#endif
