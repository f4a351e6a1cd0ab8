/*
 * A small text file, read whole.
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

#include "config/file.h"

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

int sx_file_read(const char *path, size_t max, char **text, size_t *size, char *why, size_t why_bytes)
{
	/* not blocking: a FIFO in place of a file must not hang the start */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), r = 0;
	struct stat st;
	char *buf = NULL;

	if (fd < 0 || fstat(fd, &st) < 0) {
		r = -errno;
		goto fail;
	}
	if (!S_ISREG(st.st_mode)) {
		r = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
		goto fail;
	}
	if ((size_t)st.st_size > max) {
		r = -EFBIG;
		goto fail;
	}
	max = (size_t)st.st_size + 4096 < max ? (size_t)st.st_size + 4096 : max;
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
		snprintf(why, why_bytes, "longer than %zu bytes", max);
	else
		snprintf(why, why_bytes, "%s", r == -EINVAL ? "not a regular file" : strerror(-r));
	free(buf);
	if (fd >= 0)
		close(fd);
	return r;
}
