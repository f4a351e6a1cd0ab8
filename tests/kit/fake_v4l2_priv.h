/*
 * Shared declarations of the fake driver's source files, and the machine below it: its memory and
 * descriptors. For most tests tests/kit/fake_v4l2_calls.c is this machine. A test with its own kernel
 * (tests/simulate/camera.c) defines the fake_host_ functions and fake_abort() itself. The driver has no data
 * except the cameras, which may lie anywhere in memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_KIT_FAKE_V4L2_PRIV_H
#define SX_TESTS_KIT_FAKE_V4L2_PRIV_H

#include "tests/kit/fake_abort.h"
#include "tests/kit/fake_v4l2.h"

#define FAKE_OFFSET_STEP 0x10000u /* distance of buffers in the address space of mmap's offset, bytes */

/* --- the machine --- */

/*
 * Allocates memory for a buffer that the program may map: sets its data and length, and its dmabuf if the
 * camera exports.
 */
void fake_host_take(struct fake_camera *c, uint32_t index);
void fake_host_give_back(struct fake_camera *c, struct fake_buffer *b);
/*
 * fake_host_filled: one more picture is ready on the descriptor that has the buffers. fake_host_taken:
 * `count` pictures are not ready any more.
 */
void fake_host_filled(const struct fake_camera *c);
void fake_host_taken(const struct fake_camera *c, uint32_t count);

/* --- the driver --- */

/* Initializes a camera that reports all capabilities. modes: ends with a mode whose fourcc is 0. */
void fake_init(struct fake_camera *c, const char *path, const struct fake_mode *modes);
/* Ends streaming and takes all buffers back. No buffer may be mapped. */
void fake_forget_buffers(struct fake_camera *c);
/* Executes an ioctl of this descriptor. Returns 0 or a positive errno. */
int fake_answer(struct fake_camera *c, int fd, unsigned long request, void *argument);

uint32_t fake_type(const struct fake_camera *c);
/* Return the bytes of a row's pixels, and of a buffer, in the current format. */
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
