/*
 * Reads a small text file as a whole.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/text/file.h"

static int read_whole(int fd, char *text, size_t max, size_t *size)
{
	size_t n = 0;

	while (n <= max) {
		ssize_t got = read(fd, text + n, max + 1 - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		n += (size_t)got;
	}
	*size = n;
	return n > max ? -EFBIG : 0;
}

/*
 * Opens a regular file. The kind of the file is checked before it is opened: opening a device may have
 * effects (it starts a watchdog), and opening a FIFO would block. Returns a descriptor or a negative errno;
 * -EINVAL: not a regular file.
 */
static int open_regular(const char *path, off_t *bytes)
{
	int place = open(path, O_PATH | O_CLOEXEC), fd;
	char self[32];
	struct stat st;

	if (place < 0 || fstat(place, &st) < 0) {
		fd = -errno;
	} else if (!S_ISREG(st.st_mode)) {
		fd = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	} else {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", place);
		fd = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0 && errno == ENOENT) /* no /proc on this system */
			fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		fd = fd < 0 ? -errno : fd;
		*bytes = st.st_size;
	}
	if (place >= 0)
		close(place);
	return fd;
}

int sx_file_read(const char *path, size_t max, char **text, size_t *size, struct sx_why *why)
{
	off_t bytes = 0;
	int fd = open_regular(path, &bytes), r = fd < 0 ? fd : 0;
	char *buf = NULL;

	if (r < 0)
		goto fail;
	if ((size_t)bytes > max) {
		r = -EFBIG;
		goto fail;
	}
	max = (size_t)bytes + 4096 < max ? (size_t)bytes + 4096 : max;
	buf = malloc(max + 2);
	if (!buf) {
		r = -ENOMEM;
		goto fail;
	}
	r = read_whole(fd, buf, max, size);
	if (r < 0)
		goto fail;
	buf[*size] = 0;
	close(fd);
	*text = buf;
	return 0;
fail:
	if (r == -EFBIG)
		sx_why_set(why, "longer than %zu bytes", max);
	else
		sx_why_set(why, "%s", r == -EINVAL ? "not a regular file" : strerror(-r));
	free(buf);
	if (fd >= 0)
		close(fd);
	return r;
}
