/*
 * Fake V4L2 drivers: formats, sizes, rates and controls of a camera.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/kit/fake_v4l2_priv.h"

/* --- formats --- */

/* Returns the bits of a pixel in a row. 0: a compressed format. */
static uint32_t pixel_bits(uint32_t fourcc)
{
	switch (fourcc) {
	case V4L2_PIX_FMT_GREY:
	case V4L2_PIX_FMT_NV12:
	case V4L2_PIX_FMT_SRGGB8:
	case V4L2_PIX_FMT_SGRBG8:
	case V4L2_PIX_FMT_SGBRG8:
	case V4L2_PIX_FMT_SBGGR8:
		return 8;
	case V4L2_PIX_FMT_SRGGB10P:
	case V4L2_PIX_FMT_SGRBG10P:
	case V4L2_PIX_FMT_SGBRG10P:
	case V4L2_PIX_FMT_SBGGR10P:
		return 10;
	case V4L2_PIX_FMT_RGB24:
	case V4L2_PIX_FMT_Y12I:
		return 24;
	case V4L2_PIX_FMT_MJPEG:
		return 0;
	}
	return 16;
}

uint32_t fake_row_bytes(const struct fake_camera *c)
{
	const uint32_t bits = pixel_bits(c->format.fmt.pix.pixelformat);

	if (bits == 10) /* four pixels share five bytes */
		return (c->format.fmt.pix.width + 3) / 4 * 5;
	return c->format.fmt.pix.width * bits / 8;
}

uint32_t fake_image_bytes(const struct fake_camera *c)
{
	const struct v4l2_pix_format *p = &c->format.fmt.pix;
	uint32_t bytes = (fake_row_bytes(c) + c->wider_by) * p->height;

	if (p->pixelformat == V4L2_PIX_FMT_MJPEG)
		return p->width * p->height;
	return (p->pixelformat == V4L2_PIX_FMT_NV12 ? bytes + bytes / 2 : bytes) + c->data_offset;
}

static bool has_mode(const struct fake_camera *c, const struct v4l2_pix_format *p)
{
	for (int i = 0; i < c->mode_count; i++) {
		const struct fake_mode *m = &c->modes[i];
		int w = (int)p->width, h = (int)p->height;

		if (m->fourcc != p->pixelformat)
			continue;
		if ((w == m->width && h == m->height) ||
		    (c->ranges && w >= 32 && h >= 32 && w <= m->width && h <= m->height && w % 2 == 0))
			return true;
	}
	return false;
}

/* Changes a format as the driver does: to the mode that it names, or to the first mode. */
static void adjust(const struct fake_camera *c, struct v4l2_format *f)
{
	struct v4l2_pix_format p = f->fmt.pix;
	struct fake_camera set = *c;

	if (c->mplane)
		p = (struct v4l2_pix_format){.width = f->fmt.pix_mp.width,
					     .height = f->fmt.pix_mp.height,
					     .pixelformat = f->fmt.pix_mp.pixelformat};
	if (!has_mode(c, &p)) {
		p.pixelformat = c->modes[0].fourcc;
		p.width = (uint32_t)c->modes[0].width;
		p.height = (uint32_t)c->modes[0].height;
	}
	if (c->gives_width)
		p.width = (uint32_t)c->gives_width;
	set.format.fmt.pix = p;
	p.bytesperline = pixel_bits(p.pixelformat) ? fake_row_bytes(&set) + c->wider_by : 0;
	p.sizeimage = fake_image_bytes(&set);
	p.field = c->field ? c->field : V4L2_FIELD_NONE;
	if (!c->mplane) {
		f->fmt.pix = p;
		return;
	}
	memset(&f->fmt.pix_mp, 0, sizeof(f->fmt.pix_mp));
	f->fmt.pix_mp.width = p.width;
	f->fmt.pix_mp.height = p.height;
	f->fmt.pix_mp.pixelformat = p.pixelformat;
	f->fmt.pix_mp.field = p.field;
	f->fmt.pix_mp.num_planes = (uint8_t)(c->planes ? c->planes : 1);
	f->fmt.pix_mp.plane_fmt[0].bytesperline = p.bytesperline;
	f->fmt.pix_mp.plane_fmt[0].sizeimage = p.sizeimage;
}

uint32_t fake_type(const struct fake_camera *c)
{
	return c->mplane ? V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE : V4L2_BUF_TYPE_VIDEO_CAPTURE;
}

int fake_do_format(struct fake_camera *c, unsigned long request, struct v4l2_format *f)
{
	struct v4l2_pix_format *p = &c->format.fmt.pix;

	if (f->type != fake_type(c))
		return EINVAL;
	if (request == VIDIOC_G_FMT && c->mplane) {
		f->fmt.pix_mp.width = p->width;
		f->fmt.pix_mp.height = p->height;
		f->fmt.pix_mp.pixelformat = p->pixelformat;
	} else if (request == VIDIOC_G_FMT) {
		f->fmt.pix = *p;
	}
	if (request == VIDIOC_S_FMT && c->owner >= 0)
		return EBUSY;
	adjust(c, f);
	if (request != VIDIOC_S_FMT)
		return 0;
	p->width = c->mplane ? f->fmt.pix_mp.width : f->fmt.pix.width;
	p->height = c->mplane ? f->fmt.pix_mp.height : f->fmt.pix.height;
	p->pixelformat = c->mplane ? f->fmt.pix_mp.pixelformat : f->fmt.pix.pixelformat;
	return 0;
}

int fake_list_formats(const struct fake_camera *c, struct v4l2_fmtdesc *e)
{
	uint32_t n = 0;

	if (e->type != fake_type(c))
		return EINVAL;
	for (int i = 0; i < c->mode_count; i++) {
		bool again = i > 0 && c->modes[i].fourcc == c->modes[i - 1].fourcc;

		if (again || n++ != e->index)
			continue;
		e->pixelformat = c->modes[i].fourcc;
		return 0;
	}
	return EINVAL;
}

int fake_list_sizes(const struct fake_camera *c, struct v4l2_frmsizeenum *e)
{
	uint32_t n = 0;

	if (c->no_sizes)
		return ENOTTY;
	for (int i = 0; i < c->mode_count; i++) {
		const struct fake_mode *m = &c->modes[i];

		if (m->fourcc != e->pixel_format || n++ != e->index)
			continue;
		e->type = c->ranges ? V4L2_FRMSIZE_TYPE_STEPWISE : V4L2_FRMSIZE_TYPE_DISCRETE;
		if (c->ranges)
			e->stepwise = (struct v4l2_frmsize_stepwise){32, (uint32_t)m->width,  2,
								     32, (uint32_t)m->height, 1};
		else
			e->discrete = (struct v4l2_frmsize_discrete){(uint32_t)m->width, (uint32_t)m->height};
		return 0;
	}
	return EINVAL;
}

static struct v4l2_fract interval_of(const struct fake_mode *m)
{
	return m->interval.denominator ? m->interval : (struct v4l2_fract){1, (uint32_t)m->fps};
}

int fake_list_rates(const struct fake_camera *c, struct v4l2_frmivalenum *e)
{
	const struct v4l2_pix_format p = {
		.width = e->width, .height = e->height, .pixelformat = e->pixel_format};
	uint32_t n = 0;

	if (c->no_rates || c->no_rate_at_all)
		return ENOTTY;
	for (int i = 0; i < c->mode_count; i++) {
		const struct fake_mode *m = &c->modes[i];
		bool same =
			m->fourcc == p.pixelformat && m->width == (int)p.width && m->height == (int)p.height;

		if (c->ranges ? !has_mode(c, &p) || m->fourcc != p.pixelformat : !same || !m->fps)
			continue;
		if (n++ != e->index)
			continue;
		e->type = c->ranges ? V4L2_FRMIVAL_TYPE_STEPWISE : V4L2_FRMIVAL_TYPE_DISCRETE;
		if (c->ranges)
			e->stepwise =
				(struct v4l2_frmival_stepwise){{1, (uint32_t)m->fps}, {1, 1}, {1, 1000}};
		else
			e->discrete = interval_of(m);
		return 0;
	}
	return EINVAL;
}

/* Sets the nearest rate that the mode has. */
int fake_do_rate(struct fake_camera *c, unsigned long request, struct v4l2_streamparm *s)
{
	const struct v4l2_pix_format *p = &c->format.fmt.pix;
	const struct v4l2_fract *t = &s->parm.capture.timeperframe;
	double asked = t->numerator ? (double)t->denominator / t->numerator : 0, best = 1e9;

	if (c->no_rate_at_all)
		return ENOTTY;
	if (s->type != fake_type(c))
		return EINVAL;
	for (int i = 0; request == VIDIOC_S_PARM && i < c->mode_count; i++) {
		const struct fake_mode *m = &c->modes[i];
		double far = asked > m->fps ? asked - m->fps : m->fps - asked;

		if (m->fourcc != p->pixelformat || m->width != (int)p->width || m->height != (int)p->height ||
		    far >= best)
			continue;
		best = far;
		c->fps = m->fps;
	}
	memset(&s->parm, 0, sizeof(s->parm));
	s->parm.capture.capability = V4L2_CAP_TIMEPERFRAME;
	s->parm.capture.timeperframe =
		c->odd.numerator || c->odd.denominator ? c->odd : (struct v4l2_fract){1, (uint32_t)c->fps};
	return 0;
}

/* --- controls --- */

int fake_query_control(struct fake_camera *c, struct v4l2_query_ext_ctrl *q)
{
	const uint32_t flags = V4L2_CTRL_FLAG_NEXT_CTRL | V4L2_CTRL_FLAG_NEXT_COMPOUND;
	const struct fake_control *found = NULL;
	uint32_t id = q->id & ~flags;

	for (int i = 0; i < c->control_count; i++) {
		const struct fake_control *k = &c->controls[i];

		if (q->id & flags ? k->id > id && (!found || k->id < found->id) : k->id == id)
			found = k;
	}
	if (!found)
		return EINVAL;
	*q = (struct v4l2_query_ext_ctrl){.id = found->id,
					  .type = found->type ? found->type : V4L2_CTRL_TYPE_INTEGER,
					  .minimum = found->minimum,
					  .maximum = found->maximum,
					  .step = 1,
					  .flags = found->flags};
	snprintf(q->name, sizeof(q->name), "%s", found->name);
	return 0;
}

int fake_set_controls(struct fake_camera *c, struct v4l2_ext_controls *all)
{
	struct fake_control *k;
	bool wide;

	if (all->count != 1 || all->which != V4L2_CTRL_WHICH_CUR_VAL)
		fake_abort("%s: controls are set one by one", c->path);
	k = fake_control(c, all->controls[0].id);
	if (!k || k->flags & V4L2_CTRL_FLAG_DISABLED)
		return EINVAL;
	if (k->flags & V4L2_CTRL_FLAG_READ_ONLY)
		return EACCES;
	if (k->type == V4L2_CTRL_TYPE_STRING)
		return ENOSPC; /* the caller gave no memory for the string */
	wide = k->type == V4L2_CTRL_TYPE_INTEGER64;
	k->value = wide ? all->controls[0].value64 : all->controls[0].value;
	if (k->most_taken && k->value > k->most_taken)
		k->value = k->most_taken;
	if (wide)
		all->controls[0].value64 = k->value;
	else
		all->controls[0].value = (int32_t)k->value;
	return 0;
}

int fake_get_controls(struct fake_camera *c, struct v4l2_ext_controls *all)
{
	const struct fake_control *k;

	if (all->count != 1 || all->which != V4L2_CTRL_WHICH_CUR_VAL)
		fake_abort("%s: controls are read one by one", c->path);
	k = fake_control(c, all->controls[0].id);
	if (!k || k->flags & V4L2_CTRL_FLAG_DISABLED)
		return EINVAL;
	if (k->flags & V4L2_CTRL_FLAG_WRITE_ONLY)
		return EACCES;
	if (k->type == V4L2_CTRL_TYPE_STRING)
		return ENOSPC;
	if (k->type == V4L2_CTRL_TYPE_INTEGER64)
		all->controls[0].value64 = k->value;
	else
		all->controls[0].value = (int32_t)k->value;
	return 0;
}
