/*
 * What a V4L2 device offers, for those who want to tell people.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_V4L2_V4L2_PROBE_H
#define SX_CAPTURE_V4L2_V4L2_PROBE_H

#include <stdbool.h>
#include <stddef.h>

/* One of the formats that can be captured, in one size, at its highest rate. */
struct sx_v4l2_mode {
	const char *format; /* "YUYV", the word of source.format */
	int width, height;  /* px; the smallest where a range is offered */
	int width_max, height_max;
	double fps;	  /* 0: the driver does not say */
	bool interleaved; /* both images of a pair, of layouts that are so */
};

/*
 * The modes of the device at path, cheapest format first, sizes as the driver lists them, at most max of
 * them; its name into name. Opens and closes the device and changes nothing. The number of modes, or negative
 * errno and a sentence in why: -ENOENT, -EACCES, -ENODEV (no capture device), -EINVAL (not a V4L2 device).
 * -EBUSY only from drivers that admit one user.
 */
int sx_v4l2_probe(const char *path, struct sx_v4l2_mode *modes, int max, char *name, size_t name_bytes,
		  char *why, size_t why_bytes);

#endif
