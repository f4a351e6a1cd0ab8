/*
 * The system calls of V4L2 devices.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/v4l2/v4l2_io.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

int sx_v4l2_open(const char *path)
{
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

void sx_v4l2_close(int fd)
{
	close(fd);
}

int sx_v4l2_ioctl(int fd, unsigned long request, void *argument)
{
	int r;

	do
		r = ioctl(fd, request, argument);
	while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : r;
}

void *sx_v4l2_mmap(int fd, size_t bytes, unsigned offset)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);

	return memory == MAP_FAILED ? NULL : memory;
}

void sx_v4l2_munmap(void *memory, size_t bytes)
{
	munmap(memory, bytes);
}
