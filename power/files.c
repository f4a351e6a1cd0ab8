/*
 * Reads small files of /sys and /proc.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "power/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool sx_file_path(char path[SX_FILE_PATH_BYTES], const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(path, SX_FILE_PATH_BYTES, format, args);
	va_end(args);
	if (n >= 0 && n < SX_FILE_PATH_BYTES)
		return true;
	*path = '\0';
	return false;
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

int sx_file_text(const char *path, char *to, size_t bytes)
{
	/* Non-blocking, because the path could be a pipe in a tree that is not a sysfs. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), r = 0;
	size_t begin = 0, end;
	ssize_t n;

	*to = '\0';
	if (fd < 0)
		return -errno;
	n = read(fd, to, bytes - 1);
	if (n < 0)
		r = -errno;
	close(fd);
	to[n < 0 ? 0 : n] = '\0';
	end = strcspn(to, "\n");
	while (begin < end && blank(to[begin]))
		begin++;
	while (end > begin && blank(to[end - 1]))
		end--;
	memmove(to, to + begin, end - begin);
	to[end - begin] = '\0';
	return r;
}

int sx_file_number(const char *path, int64_t min, int64_t max, int64_t *ret, struct sx_why *why)
{
	char text[64], *end;
	int64_t value;
	int r = sx_file_text(path, text, sizeof(text));

	if (r < 0)
		return sx_why_fail(r, why, "%s: %s", path, strerror(-r));
	errno = 0;
	value = strtoll(text, &end, 10);
	if (end == text || *end || errno)
		return sx_why_fail(-EINVAL, why, "%s: found '%s', expected a whole number", path, text);
	if (value < min || value > max)
		return sx_why_fail(-EINVAL, why, "%s: %" PRId64 " is out of range %" PRId64 "..%" PRId64,
				   path, value, min, max);
	*ret = value;
	return 0;
}

int sx_file_names(const char *folder, const char *prefix, char (*names)[SX_FILE_NAME_BYTES], int most)
{
	struct dirent **found;
	int count = scandir(folder, &found, NULL, versionsort), kept = 0;

	if (count < 0)
		return 0;
	for (int i = 0; i < count; i++) {
		const char *name = found[i]->d_name;

		if (*name != '.' && strncmp(name, prefix, strlen(prefix)) == 0 &&
		    strlen(name) < SX_FILE_NAME_BYTES && kept < most)
			memcpy(names[kept++], name, strlen(name) + 1);
		free(found[i]);
	}
	free(found);
	return kept;
}
