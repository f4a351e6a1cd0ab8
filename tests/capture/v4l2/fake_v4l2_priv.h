/*
 * What the parts of the fake driver share. The answers to ioctls are positive errno.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_CAPTURE_V4L2_FAKE_V4L2_PRIV_H
#define SX_TESTS_CAPTURE_V4L2_FAKE_V4L2_PRIV_H

#include "tests/capture/v4l2/fake_v4l2.h"

void fake_abort(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

uint32_t fake_type(const struct fake_camera *c);
/* Of the format that is set: bytes of a row's pixels, and of a buffer. */
uint32_t fake_row_bytes(const struct fake_camera *c);
uint32_t fake_image_bytes(const struct fake_camera *c);

int fake_do_format(struct fake_camera *c, unsigned long request, struct v4l2_format *f);
int fake_list_formats(const struct fake_camera *c, struct v4l2_fmtdesc *e);
int fake_list_sizes(const struct fake_camera *c, struct v4l2_frmsizeenum *e);
int fake_list_rates(const struct fake_camera *c, struct v4l2_frmivalenum *e);
int fake_do_rate(struct fake_camera *c, unsigned long request, struct v4l2_streamparm *s);
int fake_query_control(struct fake_camera *c, struct v4l2_query_ext_ctrl *q);
int fake_set_controls(struct fake_camera *c, struct v4l2_ext_controls *all);
int fake_get_controls(struct fake_camera *c, struct v4l2_ext_controls *all);

#endif
