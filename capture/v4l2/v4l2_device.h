/*
 * One V4L2 capture device: its identity, its formats and its settings.
 *
 * Functions return 0 or a negative errno, with a message in why that begins with the device's path. -EINVAL:
 * trying again is useless (no such format). Other errors: the device is absent, busy or failing.
 * Thread: one at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_V4L2_V4L2_DEVICE_H
#define SX_CAPTURE_V4L2_V4L2_DEVICE_H

#include <linux/videodev2.h>

#include "base/why.h"
#include "capture/v4l2/v4l2_format.h"

struct sx_v4l2_device {
	const char *path; /* owned by the caller */
	int fd;		  /* -1: not open */
	bool mplane;	  /* the device has the multi-planar interface; one plane is used */
	enum v4l2_buf_type type;
	char card[32], bus[32], driver[16];

	/* settings that the driver returned to set_format and set_rate */
	const struct sx_v4l2_format *format;
	int width, height; /* size of the whole image, px */
	size_t pitch;	   /* bytes per row; 0 for compressed formats */
	size_t image_bytes;
	double fps; /* 0: not reported by the driver */
};

int sx_v4l2_device_open(struct sx_v4l2_device *d, const char *path, struct sx_why *why);
/* Closes a device. Accepts a zeroed or closed device. */
void sx_v4l2_device_close(struct sx_v4l2_device *d);

/*
 * Returns 1 if the device offers the format in any size, otherwise 0; or the errno of a device that does not
 * answer.
 */
int sx_v4l2_device_lists(const struct sx_v4l2_device *d, const struct sx_v4l2_format *f);
/*
 * Returns 1 if the device offers this format and size, with its highest rate in *fps (0: not reported);
 * otherwise 0; or the errno of a device that does not answer.
 */
int sx_v4l2_device_rate(const struct sx_v4l2_device *d, const struct sx_v4l2_format *f, int width, int height,
			double *fps);
/* Returns the size that the device is set to. */
int sx_v4l2_device_size(const struct sx_v4l2_device *d, int *width, int *height, struct sx_why *why);

/*
 * Sets format and size. Pitch and image bytes are accepted as the driver reports them. If the driver sets
 * another format or size, or interlaced images, the result is -EINVAL.
 */
int sx_v4l2_device_set_format(struct sx_v4l2_device *d, const struct sx_v4l2_format *f, int width, int height,
			      struct sx_why *why);
/* Sets the rate. fps 0: leaves it unchanged. Drivers choose their nearest rate, which is then in d->fps. */
int sx_v4l2_device_set_rate(struct sx_v4l2_device *d, double fps, struct sx_why *why);

#endif
