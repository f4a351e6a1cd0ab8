/*
 * The system calls of V4L2 devices, in one place, so that tests can replace the driver.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_V4L2_V4L2_IO_H
#define SX_CAPTURE_V4L2_V4L2_IO_H

#include <stddef.h>

/*
 * Like the system calls of the same names, but with a negative errno on failure. ioctl is repeated after a
 * signal.
 */
int sx_v4l2_open(const char *path);
void sx_v4l2_close(int fd);
int sx_v4l2_ioctl(int fd, unsigned long request, void *argument);
void *sx_v4l2_mmap(int fd, size_t bytes, unsigned offset); /* NULL on failure, with errno */
void sx_v4l2_munmap(void *memory, size_t bytes);

#endif
