/*
 * Preloaded library: calls of the function named in FAIL_CALL fail, as without free descriptors or on a
 * broken file system.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>

static bool fails(const char *call, int error)
{
	const char *name = getenv("FAIL_CALL");

	if (!name || strcmp(name, call) != 0)
		return false;
	errno = error;
	return true;
}

int timerfd_create(clockid_t clock, int flags)
{
	int (*real)(int, int);

	*(void **)&real = dlsym(RTLD_NEXT, "timerfd_create");
	return fails("timerfd_create", EMFILE) ? -1 : real(clock, flags);
}

int signalfd(int fd, const sigset_t *mask, int flags)
{
	int (*real)(int, const sigset_t *, int);

	*(void **)&real = dlsym(RTLD_NEXT, "signalfd");
	return fails("signalfd", ENFILE) ? -1 : real(fd, mask, flags);
}

int chmod(const char *path, mode_t mode)
{
	int (*real)(const char *, mode_t);

	*(void **)&real = dlsym(RTLD_NEXT, "chmod");
	return fails("chmod", EIO) ? -1 : real(path, mode);
}

int listen(int fd, int backlog)
{
	int (*real)(int, int);

	*(void **)&real = dlsym(RTLD_NEXT, "listen");
	return fails("listen", EIO) ? -1 : real(fd, backlog);
}

/* Everything is built with a 64-bit off_t, so open() resolves to this function. */
int open64(const char *path, int flags, ...)
{
	int (*real)(const char *, int, ...);
	const size_t n = strlen(path);
	mode_t mode = 0;
	va_list args;

	*(void **)&real = dlsym(RTLD_NEXT, "open64");
	if ((strcmp(path, "/dev/null") == 0 && fails("open_null", EMFILE)) ||
	    (n > 5 && strcmp(path + n - 5, ".conf") == 0 && fails("open_conf", EMFILE)))
		return -1;
	va_start(args, flags);
	if (flags & O_CREAT)
		mode = va_arg(args, mode_t);
	va_end(args);
	return real(path, flags, mode);
}
