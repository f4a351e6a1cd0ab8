/*
 * Controls of a camera.
 *
 * Source:  the kernel's Video for Linux API, "User Controls", "Camera Control Reference" (exposure in units
 * of 100 us)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/v4l2/v4l2_controls.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "capture/v4l2/v4l2_io.h"

#define EXPOSURE_UNIT_MS 0.1
#define NAME_BYTES 64
#define LIST_BYTES 512 /* length of a value in the configuration */

/*
 * Queries a control. Returns 1: answered; 0: no such control, or no further one; negative: the device fails.
 */
static int query(const struct sx_v4l2_device *d, struct v4l2_query_ext_ctrl *q, struct sx_why *why)
{
	int r = sx_v4l2_ioctl(d->fd, VIDIOC_QUERY_EXT_CTRL, q);

	if (r == 0)
		return 1;
	if (r == -EINVAL || r == -ENOTTY)
		return 0;
	return sx_why_fail(r, why, "%s: its controls cannot be read: %s", d->path, strerror(-r));
}

/*
 * Reads the driver's description of a control. Returns 1; 0: no control with this id, or it is disabled;
 * negative: the device fails.
 */
static int find_id(const struct sx_v4l2_device *d, uint32_t id, struct v4l2_query_ext_ctrl *ret,
		   struct sx_why *why)
{
	int r;

	*ret = (struct v4l2_query_ext_ctrl){.id = id};
	r = query(d, ret, why);
	return r > 0 && ret->flags & V4L2_CTRL_FLAG_DISABLED ? 0 : r;
}

/* Converts "White Balance, Automatic" to white_balance_automatic, as v4l2-ctl does. */
static void plain_name(const char *name, char plain[NAME_BYTES])
{
	size_t n = 0;
	bool gap = false;

	for (; *name && n + 2 < NAME_BYTES; name++) {
		if (!isalnum((unsigned char)*name)) {
			gap = n > 0;
			continue;
		}
		if (gap)
			plain[n++] = '_';
		gap = false;
		plain[n++] = (char)tolower((unsigned char)*name);
	}
	sx_must(n, <, NAME_BYTES);
	plain[n] = 0;
}

/* Finds a control by its name. Returns as find_id(). Controls that are not numbers are ignored. */
static int find_name(const struct sx_v4l2_device *d, const char *wanted, struct v4l2_query_ext_ctrl *ret,
		     struct sx_why *why)
{
	char plain[NAME_BYTES];
	int r;

	*ret = (struct v4l2_query_ext_ctrl){.id = V4L2_CTRL_FLAG_NEXT_CTRL};
	while ((r = query(d, ret, why)) > 0) {
		plain_name(ret->name, plain);
		if (!(ret->flags & V4L2_CTRL_FLAG_DISABLED) && ret->type != V4L2_CTRL_TYPE_STRING &&
		    !strcmp(plain, wanted))
			return 1;
		ret->id |= V4L2_CTRL_FLAG_NEXT_CTRL;
	}
	return r;
}

/* Stores the current value of a control. If the driver does not report it, there is nothing to restore. */
static int remember(const struct sx_v4l2_device *d, const struct v4l2_query_ext_ctrl *q,
		    struct sx_v4l2_undo *undo, struct sx_why *why)
{
	struct v4l2_ext_control c = {.id = q->id};
	struct v4l2_ext_controls all = {.which = V4L2_CTRL_WHICH_CUR_VAL, .count = 1, .controls = &c};

	sx_must_index(undo->count, SX_V4L2_UNDO_MAX + 1);
	if (undo->count == SX_V4L2_UNDO_MAX)
		return sx_why_fail(-EINVAL, why, "%s: more than %d controls at once", d->path,
				   SX_V4L2_UNDO_MAX);
	if (sx_v4l2_ioctl(d->fd, VIDIOC_G_EXT_CTRLS, &all) == 0) {
		undo->was[undo->count].id = q->id;
		undo->was[undo->count].wide = q->type == V4L2_CTRL_TYPE_INTEGER64;
		undo->was[undo->count].value = undo->was[undo->count].wide ? c.value64 : c.value;
		undo->count++;
	}
	return 0;
}

void sx_v4l2_controls_restore(const struct sx_v4l2_device *d, struct sx_v4l2_undo *undo)
{
	sx_must(undo->count, <=, SX_V4L2_UNDO_MAX);
	while (undo->count > 0) {
		struct v4l2_ext_control c = {.id = undo->was[--undo->count].id};
		struct v4l2_ext_controls all = {.which = V4L2_CTRL_WHICH_CUR_VAL, .count = 1, .controls = &c};

		if (undo->was[undo->count].wide)
			c.value64 = undo->was[undo->count].value;
		else
			c.value = (int32_t)undo->was[undo->count].value;
		/* values that cannot be restored stay changed */
		sx_v4l2_ioctl(d->fd, VIDIOC_S_EXT_CTRLS, &all);
	}
}

/* Sets a control. *value: the requested value, then the value that the driver has set. */
static int set(const struct sx_v4l2_device *d, const struct v4l2_query_ext_ctrl *q, int64_t *value,
	       struct sx_v4l2_undo *undo, struct sx_why *why)
{
	struct v4l2_ext_control c = {.id = q->id};
	struct v4l2_ext_controls all = {.which = V4L2_CTRL_WHICH_CUR_VAL, .count = 1, .controls = &c};
	bool wide = q->type == V4L2_CTRL_TYPE_INTEGER64;
	int r = undo ? remember(d, q, undo, why) : 0;

	sx_must_be(!undo || undo->count <= SX_V4L2_UNDO_MAX);
	if (r < 0)
		return r;
	if (*value < q->minimum || *value > q->maximum)
		return sx_why_fail(-EINVAL, why, "%s: %s = %lld: the camera takes %lld to %lld", d->path,
				   q->name, (long long)*value, (long long)q->minimum, (long long)q->maximum);
	if (wide)
		c.value64 = *value;
	else
		c.value = (int32_t)*value;
	r = sx_v4l2_ioctl(d->fd, VIDIOC_S_EXT_CTRLS, &all);
	if (r < 0) {
		sx_why_set(why, "%s: %s = %lld: %s", d->path, q->name, (long long)*value, strerror(-r));
		return r == -ERANGE || r == -EACCES ? -EINVAL : r; /* read-only, or a gap in the range */
	}
	*value = wide ? c.value64 : c.value;
	return 0;
}

/* Sets a switch that some cameras lack because they are always in that state. */
static int set_if_there(const struct sx_v4l2_device *d, uint32_t id, int64_t value, struct sx_v4l2_undo *undo,
			struct sx_why *why)
{
	struct v4l2_query_ext_ctrl q;
	int r = find_id(d, id, &q, why);

	if (r <= 0 || value < q.minimum || value > q.maximum)
		return r < 0 ? r : 0;
	return set(d, &q, &value, undo, why);
}

static int missing(const struct sx_v4l2_device *d, const char *what, struct sx_why *why)
{
	return sx_why_fail(-EINVAL, why, "%s: the camera has no %s", d->path, what);
}

static int set_exposure(const struct sx_v4l2_device *d, double ms, double *ret, struct sx_v4l2_undo *undo,
			struct sx_why *why)
{
	struct v4l2_query_ext_ctrl q;
	int64_t value = (int64_t)(ms / EXPOSURE_UNIT_MS + 0.5);
	int r;

	if (ms < 0)
		return 0;
	if (ms == 0) {
		r = find_id(d, V4L2_CID_EXPOSURE_AUTO, &q, why);
		if (r <= 0)
			return r < 0 ? r : missing(d, "automatic exposure", why);
		/* UVC cameras without iris control know only aperture priority */
		value = V4L2_EXPOSURE_AUTO;
		r = set(d, &q, &value, undo, why);
		value = V4L2_EXPOSURE_APERTURE_PRIORITY;
		return r < 0 ? set(d, &q, &value, undo, why) : 0;
	}
	sx_must(value, >=, 0);
	r = find_id(d, V4L2_CID_EXPOSURE_ABSOLUTE, &q, why);
	if (r <= 0)
		return r < 0 ? r : missing(d, "exposure that can be set as a time", why);
	r = set_if_there(d, V4L2_CID_EXPOSURE_AUTO, V4L2_EXPOSURE_MANUAL, undo, why);
	if (r == 0)
		r = set(d, &q, &value, undo, why);
	*ret = (double)value * EXPOSURE_UNIT_MS;
	return r;
}

static int set_gain(const struct sx_v4l2_device *d, double gain, double *ret, struct sx_v4l2_undo *undo,
		    struct sx_why *why)
{
	struct v4l2_query_ext_ctrl q;
	int64_t value = (int64_t)(gain + 0.5);
	int r;

	if (gain < 0)
		return 0;
	sx_must(value, >=, 0);
	r = find_id(d, V4L2_CID_GAIN, &q, why);
	if (r == 0)
		r = find_id(d, V4L2_CID_ANALOGUE_GAIN, &q, why);
	if (r <= 0)
		return r < 0 ? r : missing(d, "gain that can be set", why);
	r = set_if_there(d, V4L2_CID_AUTOGAIN, 0, undo, why);
	if (r == 0)
		r = set(d, &q, &value, undo, why);
	*ret = (double)value;
	return r;
}

/* Sets one "name=value" of the list. */
static int set_named(const struct sx_v4l2_device *d, const char *text, struct sx_v4l2_undo *undo,
		     struct sx_why *why)
{
	const size_t length = strcspn(text, " =");
	const char *value = text + length + strspn(text + length, " ");
	struct v4l2_query_ext_ctrl q;
	char name[NAME_BYTES], *end = NULL;
	int64_t number = 0;
	int r;

	errno = 0;
	if (*value == '=')
		number = strtoll(value + 1, &end, 0);
	if (!end || end == value + 1 || end[strspn(end, " ")] || errno || length == 0 || length >= NAME_BYTES)
		return sx_why_fail(-EINVAL, why, "%s: controls: '%s' is not name=number", d->path, text);
	snprintf(name, sizeof(name), "%.*s", (int)length, text);
	r = find_name(d, name, &q, why);
	if (r < 0)
		return r;
	if (r == 0)
		return sx_why_fail(-EINVAL, why,
				   "%s: controls: the camera has no '%s' (v4l2-ctl --list-ctrls)", d->path,
				   name);
	return set(d, &q, &number, undo, why);
}

/* Sets a list of controls. The copy is on the stack, because a live change comes while the cameras stream. */
static int set_list(const struct sx_v4l2_device *d, const char *list, struct sx_v4l2_undo *undo,
		    struct sx_why *why)
{
	char copy[LIST_BYTES], *rest = NULL;
	int r = 0;

	if (snprintf(copy, sizeof(copy), "%s", list) >= (int)sizeof(copy))
		return sx_why_fail(-EINVAL, why, "%s: controls: longer than %d bytes", d->path,
				   LIST_BYTES - 1);
	for (char *item = strtok_r(copy, ",", &rest); item && r == 0; item = strtok_r(NULL, ",", &rest)) {
		item += strspn(item, " \t");
		if (*item)
			r = set_named(d, item, undo, why);
	}
	return r;
}

int sx_v4l2_controls_set(const struct sx_v4l2_device *d, const struct sx_source_params *p,
			 struct sx_v4l2_exposure *ret, struct sx_v4l2_undo *undo, struct sx_why *why)
{
	int r;

	*ret = (struct sx_v4l2_exposure){SX_CONTROL_KEEP, SX_CONTROL_KEEP};
	r = set_exposure(d, p->exposure_ms, &ret->exposure_ms, undo, why);
	if (r == 0)
		r = set_gain(d, p->gain, &ret->gain, undo, why);
	if (r == 0 && p->controls)
		r = set_list(d, p->controls, undo, why);
	return r;
}
