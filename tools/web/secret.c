/*
 * Reads files with secrets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/web/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECRET_BYTES = 256 * 1024 };

static int read_all(struct web_secret *ret, int fd)
{
	ssize_t n;

	ret->text = malloc(SECRET_BYTES + 1);
	if (!ret->text)
		return -ENOMEM;
	do {
		n = read(fd, ret->text + ret->bytes, SECRET_BYTES + 1 - ret->bytes);
		if (n > 0)
			ret->bytes += (size_t)n;
	} while ((n > 0 && ret->bytes <= SECRET_BYTES) || (n < 0 && errno == EINTR));
	if (n < 0)
		return -errno;
	if (ret->bytes > SECRET_BYTES || memchr(ret->text, 0, ret->bytes))
		return -EBADMSG;
	ret->text[ret->bytes] = '\0';
	return 0;
}

static int check_mode(int fd, bool closed)
{
	struct stat s;

	if (fstat(fd, &s) < 0)
		return -errno;
	if (S_ISDIR(s.st_mode))
		return -EISDIR;
	if (!S_ISREG(s.st_mode))
		return -EINVAL;
	return closed && s.st_mode & S_IRWXO ? -EPERM : 0;
}

int web_secret_read(struct web_secret *ret, const char *path, bool closed, struct sx_why *why)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int r = fd < 0 ? -errno : check_mode(fd, closed);

	*ret = (struct web_secret){0};
	if (r == -EPERM && fd >= 0)
		sx_why_set(why, "%s: every user may read or change it: chmod o= %s", path, path);
	if (r == 0) {
		r = read_all(ret, fd);
		if (r < 0)
			web_secret_finish(ret);
	}
	if (r == -EBADMSG)
		sx_why_set(why, "%s: not a text of at most %d kB", path, SECRET_BYTES / 1024);
	else if (r < 0 && (r != -EPERM || fd < 0))
		sx_why_set(why, "cannot read %s: %s", path, strerror(-r));
	if (fd >= 0)
		close(fd);
	return r;
}

void web_secret_finish(struct web_secret *s)
{
	if (s->text)
		explicit_bzero(s->text, s->bytes);
	free(s->text);
	*s = (struct web_secret){0};
}
