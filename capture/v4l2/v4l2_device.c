/*
 * One V4L2 capture device.
 *
 * Source:  the kernel's Video for Linux API, part I (VIDIOC_QUERYCAP, VIDIOC_ENUM_FRAMESIZES, VIDIOC_S_FMT,
 * ...)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/v4l2/v4l2_device.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/contract.h"
#include "capture/v4l2/v4l2_io.h"

static int device_fail(const struct sx_v4l2_device *d, int r, const char *what, struct sx_why *why)
{
	sx_why_set(why, "%s: %s: %s", d->path, what, strerror(-r));
	return r == -EINVAL ? -EIO : r; /* the request was valid, so the driver fails */
}

static const char *permission_hint(int r)
{
	return r == -EACCES || r == -EPERM ? " (is the user in group video?)" : "";
}

static int look_at_capabilities(struct sx_v4l2_device *d, struct sx_why *why)
{
	struct v4l2_capability c = {0};
	uint32_t can;
	int r = sx_v4l2_ioctl(d->fd, VIDIOC_QUERYCAP, &c);

	if (r == -ENOTTY || r == -EINVAL)
		return sx_why_fail(-EINVAL, why,
				   "%s: not a V4L2 device; cameras stand in /dev/v4l/by-path, and "
				   "stixelctl doctor lists them",
				   d->path);
	if (r < 0)
		return device_fail(d, r, "VIDIOC_QUERYCAP", why);
	can = c.capabilities & V4L2_CAP_DEVICE_CAPS ? c.device_caps : c.capabilities;
	if (!(can & (V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_VIDEO_CAPTURE_MPLANE)) ||
	    !(can & V4L2_CAP_STREAMING)) {
		/* a loopback device has this capability only while a program feeds it */
		return sx_why_fail(-ENODEV, why,
				   "%s (%s) is not a video capture device, or not at the moment", d->path,
				   (const char *)c.card);
	}
	d->mplane = !(can & V4L2_CAP_VIDEO_CAPTURE);
	d->type = d->mplane ? V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE : V4L2_BUF_TYPE_VIDEO_CAPTURE;
	snprintf(d->card, sizeof(d->card), "%.31s", (const char *)c.card);
	snprintf(d->bus, sizeof(d->bus), "%.31s", (const char *)c.bus_info);
	snprintf(d->driver, sizeof(d->driver), "%.15s", (const char *)c.driver);
	return 0;
}

int sx_v4l2_device_open(struct sx_v4l2_device *d, const char *path, struct sx_why *why)
{
	int r;

	*d = (struct sx_v4l2_device){.path = path, .fd = -1};
	r = sx_v4l2_open(path);
	if (r < 0)
		return sx_why_fail(r, why, "%s: %s%s", path, strerror(-r), permission_hint(r));
	sx_must(d->fd, ==, -1);
	d->fd = r;
	r = look_at_capabilities(d, why);
	if (r < 0)
		sx_v4l2_device_close(d);
	return r;
}

void sx_v4l2_device_close(struct sx_v4l2_device *d)
{
	if (d->path && d->fd >= 0)
		sx_v4l2_close(d->fd);
	d->fd = -1;
}

/* Returns true if an answer means the end of a list, or no list. Other errors mean that the device fails. */
static bool is_end(int r)
{
	return r == -EINVAL || r == -ENOTTY;
}

/* Plausible rates of a driver, images per second. Other rates count as not reported. */
#define RATE_MIN 0.001
#define RATE_MAX 1e6

/* Returns the rate; 0: the driver does not report it. */
static double rate_of(const struct v4l2_fract *interval)
{
	double fps = interval->numerator ? (double)interval->denominator / interval->numerator : 0;

	return fps >= RATE_MIN && fps <= RATE_MAX ? fps : 0;
}

/* Finds the highest rate. *best 0: not reported. A range of intervals starts with the shortest. */
static int highest_rate(const struct sx_v4l2_device *d, uint32_t fourcc, int width, int height, double *best)
{
	sx_must_be(width > 0 && height > 0);
	*best = 0;
	for (uint32_t i = 0;; i++) {
		struct v4l2_frmivalenum e = {.index = i,
					     .pixel_format = fourcc,
					     .width = (uint32_t)width,
					     .height = (uint32_t)height};
		int r = sx_v4l2_ioctl(d->fd, VIDIOC_ENUM_FRAMEINTERVALS, &e);
		double fps;

		if (r < 0)
			return is_end(r) ? 1 : r;
		fps = rate_of(e.type == V4L2_FRMIVAL_TYPE_DISCRETE ? &e.discrete : &e.stepwise.min);
		*best = fps > *best ? fps : *best;
		if (e.type != V4L2_FRMIVAL_TYPE_DISCRETE)
			return 1;
	}
}

static bool in_steps(uint32_t value, uint32_t min, uint32_t max, uint32_t step)
{
	return value >= min && value <= max && (step <= 1 || (value - min) % step == 0);
}

/* Returns 1: the size is offered; 0: it is not; or a negative errno. *none: the driver lists no sizes. */
static int lists_size(const struct sx_v4l2_device *d, uint32_t fourcc, int width, int height, bool *none)
{
	const uint32_t w = (uint32_t)width, h = (uint32_t)height;

	for (uint32_t i = 0;; i++) {
		struct v4l2_frmsizeenum e = {.index = i, .pixel_format = fourcc};

		int r = sx_v4l2_ioctl(d->fd, VIDIOC_ENUM_FRAMESIZES, &e);

		*none = i == 0 && is_end(r);
		if (r < 0)
			return is_end(r) ? 0 : r;
		if (e.type != V4L2_FRMSIZE_TYPE_DISCRETE)
			return in_steps(w, e.stepwise.min_width, e.stepwise.max_width,
					e.stepwise.step_width) &&
			       in_steps(h, e.stepwise.min_height, e.stepwise.max_height,
					e.stepwise.step_height);
		if (e.discrete.width == w && e.discrete.height == h)
			return 1;
	}
}

int sx_v4l2_device_lists(const struct sx_v4l2_device *d, const struct sx_v4l2_format *f)
{
	for (uint32_t i = 0;; i++) {
		struct v4l2_fmtdesc e = {.index = i, .type = d->type};

		int r = sx_v4l2_ioctl(d->fd, VIDIOC_ENUM_FMT, &e);

		if (r < 0)
			return is_end(r) ? 0 : r;
		if (e.pixelformat == f->fourcc)
			return 1;
	}
}

static void fill_format(const struct sx_v4l2_device *d, struct v4l2_format *f, uint32_t fourcc, int width,
			int height)
{
	sx_must_be(width > 0 && height > 0);
	memset(f, 0, sizeof(*f));
	f->type = d->type;
	if (d->mplane) {
		f->fmt.pix_mp.pixelformat = fourcc;
		f->fmt.pix_mp.width = (uint32_t)width;
		f->fmt.pix_mp.height = (uint32_t)height;
		f->fmt.pix_mp.field = V4L2_FIELD_NONE;
		f->fmt.pix_mp.num_planes = 1;
	} else {
		f->fmt.pix.pixelformat = fourcc;
		f->fmt.pix.width = (uint32_t)width;
		f->fmt.pix.height = (uint32_t)height;
		f->fmt.pix.field = V4L2_FIELD_NONE;
	}
}

/* Format in the driver's answer. The two interfaces have the same values in different members. */
struct answer {
	uint32_t fourcc, field, pitch, bytes, planes;
	int width, height;
};

static struct answer read_format(const struct sx_v4l2_device *d, const struct v4l2_format *f)
{
	const struct v4l2_pix_format *p = &f->fmt.pix;
	const struct v4l2_pix_format_mplane *m = &f->fmt.pix_mp;

	if (d->mplane)
		return (struct answer){m->pixelformat,
				       m->field,
				       m->plane_fmt[0].bytesperline,
				       m->plane_fmt[0].sizeimage,
				       m->num_planes,
				       (int)m->width,
				       (int)m->height};
	return (struct answer){p->pixelformat, p->field,      p->bytesperline, p->sizeimage, 1,
			       (int)p->width,  (int)p->height};
}

/* Returns 1 if the driver would set this format and size without a change. */
static int tries(const struct sx_v4l2_device *d, const struct sx_v4l2_format *f, int width, int height)
{
	struct v4l2_format try;
	struct answer a;
	int r;

	fill_format(d, &try, f->fourcc, width, height);
	r = sx_v4l2_ioctl(d->fd, VIDIOC_TRY_FMT, &try);
	if (r < 0)
		return is_end(r) ? 1 : r; /* the driver does not answer */
	a = read_format(d, &try);
	return a.fourcc == f->fourcc && a.width == width && a.height == height;
}

int sx_v4l2_device_rate(const struct sx_v4l2_device *d, const struct sx_v4l2_format *f, int width, int height,
			double *fps)
{
	bool no_list;
	int r = sx_v4l2_device_lists(d, f);

	*fps = 0;
	if (r <= 0)
		return r;
	r = lists_size(d, f->fourcc, width, height, &no_list);
	if (r == 0 && no_list)
		r = tries(d, f, width, height);
	return r <= 0 ? r : highest_rate(d, f->fourcc, width, height, fps);
}

int sx_v4l2_device_size(const struct sx_v4l2_device *d, int *width, int *height, struct sx_why *why)
{
	struct v4l2_format f = {.type = d->type};
	struct answer a;
	int r = sx_v4l2_ioctl(d->fd, VIDIOC_G_FMT, &f);

	if (r < 0)
		return device_fail(d, r, "VIDIOC_G_FMT", why);
	a = read_format(d, &f);
	*width = a.width;
	*height = a.height;
	return 0;
}

/* Checks whether the format that the driver has set is the requested one and can be used. */
static int judge(struct sx_v4l2_device *d, const struct sx_v4l2_format *f, int width, int height,
		 const struct answer *a, struct sx_why *why)
{
	char fourcc[5];
	size_t least;

	sx_v4l2_fourcc_text(a->fourcc, fourcc);
	if (a->fourcc != f->fourcc || a->width != width || a->height != height)
		return sx_why_fail(-EINVAL, why, "%s: %dx%d %s is asked for, the camera gives %dx%d %s",
				   d->path, width, height, f->name, a->width, a->height, fourcc);
	if (a->planes != 1)
		return sx_why_fail(-EINVAL, why, "%s: %s in %u planes; one is possible", d->path, f->name,
				   a->planes);
	if (a->field != V4L2_FIELD_NONE && a->field != V4L2_FIELD_ANY)
		return sx_why_fail(-EINVAL, why,
				   "%s: interlaced images (field order %u); progressive ones are needed",
				   d->path, a->field);
	sx_must_be(width > 0 && height > 0);
	d->format = f;
	d->width = width;
	d->height = height;
	least = sx_v4l2_format_pitch(f, width);
	d->pitch = f->compressed ? 0 : a->pitch > least ? a->pitch : least;
	least = sx_v4l2_format_bytes(f, d->pitch, height);
	/* sx_layout_half() reads a byte more of interleaved images */
	d->image_bytes = (a->bytes > least ? a->bytes : least) + f->interleaved;
	return 0;
}

int sx_v4l2_device_set_format(struct sx_v4l2_device *d, const struct sx_v4l2_format *f, int width, int height,
			      struct sx_why *why)
{
	struct v4l2_format set;
	struct answer a;
	char what[64];
	int r;

	fill_format(d, &set, f->fourcc, width, height);
	r = sx_v4l2_ioctl(d->fd, VIDIOC_S_FMT, &set);
	if (r < 0) {
		snprintf(what, sizeof(what), "%dx%d %s cannot be set", width, height, f->name);
		return device_fail(d, r, what, why);
	}
	a = read_format(d, &set);
	return judge(d, f, width, height, &a, why);
}

/*
 * Returns the period as a fraction: 1/fps for whole rates, otherwise in microseconds, the unit of camera
 * drivers.
 */
static struct v4l2_fract period_of(double fps)
{
	double whole = floor(fps + 0.5);

	sx_must_be(fps > 0);
	if (fabs(fps - whole) < 1e-6)
		return (struct v4l2_fract){1, (uint32_t)whole};
	return (struct v4l2_fract){(uint32_t)(1e6 / fps + 0.5), 1000000};
}

int sx_v4l2_device_set_rate(struct sx_v4l2_device *d, double fps, struct sx_why *why)
{
	struct v4l2_streamparm p = {.type = d->type};
	int r = sx_v4l2_ioctl(d->fd, VIDIOC_G_PARM, &p);

	d->fps = 0;
	if (r == -ENOTTY || r == -EINVAL)
		return 0; /* a camera without its own rate: triggered, or a loopback device */
	if (r == 0 && fps > 0 && p.parm.capture.capability & V4L2_CAP_TIMEPERFRAME) {
		p.parm.capture.timeperframe = period_of(fps);
		r = sx_v4l2_ioctl(d->fd, VIDIOC_S_PARM, &p);
	}
	if (r < 0)
		return device_fail(d, r, "the rate cannot be set", why);
	d->fps = rate_of(&p.parm.capture.timeperframe);
	return 0;
}
