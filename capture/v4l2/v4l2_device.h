/*
 * One V4L2 capture device: what it is, what it offers, and what it is set to.
 *
 * Functions leave one sentence in why that begins with the device's path, and return 0 or negative errno:
 * -EINVAL for what no repetition will mend (no such format), anything else for a device that is absent, busy
 * or failing.
 * Thread: one at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_V4L2_V4L2_DEVICE_H
#define SX_CAPTURE_V4L2_V4L2_DEVICE_H

#include <linux/videodev2.h>

#include "capture/v4l2/v4l2_format.h"

struct sx_v4l2_device {
	const char *path; /* the caller's */
	int fd;		  /* -1: not open */
	bool mplane;	  /* multi-planar interface, one plane of it */
	enum v4l2_buf_type type;
	char card[32], bus[32], driver[16];

	/* what the driver answered to set_format and set_rate */
	const struct sx_v4l2_format *format;
	int width, height; /* of the whole image */
	size_t pitch;	   /* bytes; 0 for compressed formats */
	size_t image_bytes;
	double fps; /* 0: it does not say */
};

int sx_v4l2_device_open(struct sx_v4l2_device *d, const char *path, char *why, size_t why_bytes);
/* Accepts a zeroed device and one that is closed. */
void sx_v4l2_device_close(struct sx_v4l2_device *d);

/* Whether the device offers the format in any size: 1, 0, or the errno of a device that does not answer. */
int sx_v4l2_device_lists(const struct sx_v4l2_device *d, const struct sx_v4l2_format *f);
/*
 * Whether the device offers this format and size: 1, and the highest rate of it in *fps (0 when it does not
 * say); 0; or the errno of a device that does not answer.
 */
int sx_v4l2_device_rate(const struct sx_v4l2_device *d, const struct sx_v4l2_format *f, int width, int height,
			double *fps);
/* The size that it is set to. */
int sx_v4l2_device_size(const struct sx_v4l2_device *d, int *width, int *height, char *why, size_t why_bytes);

/*
 * Pitch and bytes are believed whatever they are; another format or size than asked for is refused (-EINVAL),
 * as are interlaced images.
 */
int sx_v4l2_device_set_format(struct sx_v4l2_device *d, const struct sx_v4l2_format *f, int width, int height,
			      char *why, size_t why_bytes);
/* fps 0: leaves the rate as it is. Drivers choose the nearest rate they have, which d->fps then is. */
int sx_v4l2_device_set_rate(struct sx_v4l2_device *d, double fps, char *why, size_t why_bytes);

#endif
