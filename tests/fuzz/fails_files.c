/*
 * Makes reading of files fail. Linked in place of the real calls (-Wl,--wrap).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/fails_call.h"

FAILS_CALL(int, fstat64, (int fd, struct stat *st), (fd, st))
FAILS_CALL(off_t, lseek64, (int fd, off_t to, int from), (fd, to, from))
FAILS_CALL(ssize_t, pread64, (int fd, void *to, size_t bytes, off_t at), (fd, to, bytes, at))
FAILS_CALL(ssize_t, read, (int fd, void *to, size_t bytes), (fd, to, bytes))

/* Fails opens of existing files. */
int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
	mode_t mode;
	va_list args;

	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	return fails_now(FAILS_SYSTEM) ? -1 : __real_open64(path, flags, mode);
}
