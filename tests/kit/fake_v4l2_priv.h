/*
 * What the parts of the fake driver share, and the machine under it: its memory and descriptors. For most tests that is
 * tests/kit/fake_v4l2_calls.c; a test with a kernel of its own (tests/simulate/camera.c) defines the fake_host_
 * functions and fake_abort() itself. The driver has no data but the cameras, which may lie anywhere.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_KIT_FAKE_V4L2_PRIV_H
#define SX_TESTS_KIT_FAKE_V4L2_PRIV_H

#include "tests/kit/fake_abort.h"
#include "tests/kit/fake_v4l2.h"

#define FAKE_OFFSET_STEP 0x10000u /* of buffers in the space that mmap's offset names */

/* --- the machine --- */

/* Sets data of a buffer that the program may map, of its length, and its dmabuf, if the camera exports. */
void fake_host_take(struct fake_camera *c, uint32_t index);
void fake_host_give_back(struct fake_camera *c, struct fake_buffer *b);
/* One more picture lies ready for the descriptor that has the buffers; count of them do no longer. */
void fake_host_filled(const struct fake_camera *c);
void fake_host_taken(const struct fake_camera *c, uint32_t count);

/* --- the driver --- */

/* A camera that says that it does everything; modes: up to one whose fourcc is 0. */
void fake_init(struct fake_camera *c, const char *path, const struct fake_mode *modes);
/* Ends streaming, and takes all buffers back; none may be mapped. */
void fake_forget_buffers(struct fake_camera *c);
/* Answers an ioctl of this descriptor: 0 or a positive errno. */
int fake_answer(struct fake_camera *c, int fd, unsigned long request, void *argument);

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
