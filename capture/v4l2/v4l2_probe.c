/*
 * Lists the modes of a V4L2 device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/v4l2/v4l2_probe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "capture/v4l2/v4l2_device.h"
#include "capture/v4l2/v4l2_io.h"

/* Adds the sizes of one format. Returns the new number of modes, or a negative errno. */
static int add_sizes(const struct sx_v4l2_device *d, const struct sx_v4l2_format *f,
		     struct sx_v4l2_mode *modes, int count, int max)
{
	for (uint32_t i = 0; count < max; i++) {
		struct v4l2_frmsizeenum e = {.index = i, .pixel_format = f->fourcc};
		struct sx_v4l2_mode m = {.format = f->name, .interleaved = f->interleaved};
		int r;

		r = sx_v4l2_ioctl(d->fd, VIDIOC_ENUM_FRAMESIZES, &e);
		if (r < 0)
			return r == -EINVAL || r == -ENOTTY ? count : r; /* end of the list, or no list */
		m.width = m.width_max = (int)e.discrete.width;
		m.height = m.height_max = (int)e.discrete.height;
		if (e.type != V4L2_FRMSIZE_TYPE_DISCRETE) {
			m.width = (int)e.stepwise.min_width;
			m.height = (int)e.stepwise.min_height;
			m.width_max = (int)e.stepwise.max_width;
			m.height_max = (int)e.stepwise.max_height;
		}
		r = sx_v4l2_device_rate(d, f, m.width, m.height, &m.fps);
		if (r < 0)
			return r;
		modes[count++] = m;
		if (e.type != V4L2_FRMSIZE_TYPE_DISCRETE)
			return count;
	}
	return count;
}

int sx_v4l2_probe(const char *path, struct sx_v4l2_mode *modes, int max, char *name, size_t name_bytes,
		  struct sx_why *why)
{
	struct sx_v4l2_device d;
	int count = 0, listed;
	int r = sx_v4l2_device_open(&d, path, why);

	if (r < 0)
		return r;
	snprintf(name, name_bytes, "%s", d.card);
	for (int i = 0; i < SX_V4L2_FORMATS && count >= 0; i++) {
		listed = sx_v4l2_device_lists(&d, &sx_v4l2_formats[i]);
		if (listed > 0)
			count = add_sizes(&d, &sx_v4l2_formats[i], modes, count, max);
		else if (listed < 0)
			count = listed;
	}
	if (count < 0)
		sx_why_set(why, "%s: its formats cannot be read: %s", path, strerror(-count));
	sx_v4l2_device_close(&d);
	return count;
}
