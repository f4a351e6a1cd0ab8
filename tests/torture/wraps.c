/*
 * The layer between the project's objects and the libraries. Each call is counted, and the selected one fails
 * as the real call would, with a documented error. meson.build passes the names to the linker. A name that is
 * missing in either file does not link.
 *
 * These do not fail: calls that cannot fail (pthread_mutex_lock, getpid, eventfds that exist, fcntl with
 * flags, ...), calls that undo something (free, munmap, unlink at the end), and writes to stderr, to which
 * the sentence about a failure goes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "tests/torture/torture.h"

/* Counts this call. error: 0, or the error with which it must fail. */
#define COUNT(kind, name, ...)                        \
	static const int errors[] = {__VA_ARGS__, 0}; \
	const int error = torture_call(TORTURE_##kind, #name, errors, __builtin_return_address(0))

/* Wraps a function that returns this value and sets errno. */
#define WRAP(kind, type, name, parameters, arguments, failed, ...) \
	type __real_##name parameters;                             \
	type __wrap_##name parameters;                             \
	type __wrap_##name parameters                              \
	{                                                          \
		COUNT(kind, name, __VA_ARGS__);                    \
                                                                   \
		if (error) {                                       \
			errno = error;                             \
			return failed;                             \
		}                                                  \
		return __real_##name arguments;                    \
	}

/* Wraps a function that returns the error. */
#define WRAP_CODE(kind, name, parameters, arguments, ...)       \
	int __real_##name parameters;                           \
	int __wrap_##name parameters;                           \
	int __wrap_##name parameters                            \
	{                                                       \
		COUNT(kind, name, __VA_ARGS__);                 \
                                                                \
		return error ? error : __real_##name arguments; \
	}

/* Wraps a function that moves bytes, or only half of them. */
#define WRAP_BYTES(kind, name, parameters, arguments, half, ...) \
	ssize_t __real_##name parameters;                        \
	ssize_t __wrap_##name parameters;                        \
	ssize_t __wrap_##name parameters                         \
	{                                                        \
		COUNT(kind, name, __VA_ARGS__, TORTURE_SHORT);   \
                                                                 \
		if (error == TORTURE_SHORT && bytes > 1)         \
			return __real_##name half;               \
		if (error > 0) {                                 \
			errno = error;                           \
			return -1;                               \
		}                                                \
		return __real_##name arguments;                  \
	}

/*
 * True for an eventfd. A write to an eventfd that does not block fails only if its counter is full, and then
 * its reader has been woken already. A read fails only if the counter is 0. Neither failure is simulated.
 */
#define FDS 1024
static atomic_bool is_eventfd[FDS];

static bool is_counter(int fd)
{
	return fd >= 0 && fd < FDS && is_eventfd[fd];
}

/* Memory. */
WRAP(MALLOC, void *, malloc, (size_t bytes), (bytes), NULL, ENOMEM)
WRAP(MALLOC, void *, calloc, (size_t count, size_t bytes), (count, bytes), NULL, ENOMEM)
WRAP(MALLOC, void *, realloc, (void *p, size_t bytes), (p, bytes), NULL, ENOMEM)
WRAP(MALLOC, void *, aligned_alloc, (size_t alignment, size_t bytes), (alignment, bytes), NULL, ENOMEM)
WRAP(MALLOC, char *, strdup, (const char *text), (text), NULL, ENOMEM)
WRAP(MALLOC, FILE *, open_memstream, (char **text, size_t *bytes), (text, bytes), NULL, ENOMEM)

int __wrap_asprintf(char **ret, const char *format, ...);
int __wrap_asprintf(char **ret, const char *format, ...)
{
	COUNT(MALLOC, asprintf, ENOMEM);
	va_list args;
	int n;

	if (error) {
		errno = error;
		return -1; /* *ret is undefined then */
	}
	va_start(args, format);
	n = vasprintf(ret, format, args);
	va_end(args);
	return n;
}

WRAP(MMAP, void *, mmap64, (void *at, size_t bytes, int protect, int flags, int fd, off_t offset),
     (at, bytes, protect, flags, fd, offset), MAP_FAILED, ENOMEM, EACCES)
WRAP(MMAP, int, mlock, (const void *p, size_t bytes), (p, bytes), -1, ENOMEM, EPERM)
WRAP(MMAP, int, mlockall, (int flags), (flags), -1, ENOMEM, EPERM)
WRAP(MMAP, int, madvise, (void *p, size_t bytes, int advice), (p, bytes, advice), -1, EINVAL)

/* Descriptors with a name. */
int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
	COUNT(OPEN, open64, EMFILE, EACCES);
	mode_t mode = 0;

	if (error) {
		errno = error;
		return -1;
	}
	if (flags & (O_CREAT | O_TMPFILE)) {
		va_list args;

		va_start(args, flags);
		mode = va_arg(args, mode_t);
		va_end(args);
	}
	return __real_open64(path, flags, mode);
}

WRAP(OPEN, FILE *, fopen64, (const char *path, const char *mode), (path, mode), NULL, EMFILE, ENOMEM)
WRAP(OPEN, FILE *, fdopen, (int fd, const char *mode), (fd, mode), NULL, ENOMEM)
WRAP(OPEN, DIR *, opendir, (const char *path), (path), NULL, EMFILE, ENOMEM)
WRAP(OPEN, int, mkostemp64, (char *pattern, int flags), (pattern, flags), -1, EMFILE, EACCES)

/* Descriptors without a name. */
int __real_eventfd(unsigned value, int flags);
int __wrap_eventfd(unsigned value, int flags);
int __wrap_eventfd(unsigned value, int flags)
{
	COUNT(DESCRIPTOR, eventfd, EMFILE, ENOMEM);
	int fd = -1;

	if (error)
		errno = error;
	else
		fd = __real_eventfd(value, flags);
	if (fd >= 0 && fd < FDS)
		is_eventfd[fd] = true;
	return fd;
}

WRAP(DESCRIPTOR, int, timerfd_create, (int clock, int flags), (clock, flags), -1, EMFILE)
WRAP(DESCRIPTOR, int, epoll_create1, (int flags), (flags), -1, EMFILE)
WRAP(DESCRIPTOR, int, inotify_init1, (int flags), (flags), -1, EMFILE)
WRAP(DESCRIPTOR, int, signalfd, (int fd, const sigset_t *set, int flags), (fd, set, flags), -1, EMFILE)
WRAP(DESCRIPTOR, int, socket, (int domain, int type, int protocol), (domain, type, protocol), -1, EMFILE)
WRAP(DESCRIPTOR, int, socketpair, (int domain, int type, int protocol, int *ends),
     (domain, type, protocol, ends), -1, EMFILE)
WRAP(DESCRIPTOR, int, memfd_create, (const char *name, unsigned flags), (name, flags), -1, EMFILE)
WRAP(DESCRIPTOR, int, pipe2, (int *ends, int flags), (ends, flags), -1, EMFILE)
WRAP(DESCRIPTOR, int, dup2, (int from, int to), (from, to), -1, EMFILE)

int __real_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...)
{
	static const int errors[] = {EMFILE, 0};
	const int error = command != F_DUPFD_CLOEXEC ? 0
						     : torture_call(TORTURE_DESCRIPTOR, "fcntl64", errors,
								    __builtin_return_address(0));
	va_list args;
	void *argument;

	if (error) {
		errno = error;
		return -1;
	}
	va_start(args, command);
	argument = va_arg(args, void *);
	va_end(args);
	return __real_fcntl64(fd, command, argument);
}

/* Sockets. */
WRAP(SOCKET, int, bind, (int fd, const struct sockaddr *to, socklen_t bytes), (fd, to, bytes), -1, EADDRINUSE,
     ENOSPC)
WRAP(SOCKET, int, listen, (int fd, int backlog), (fd, backlog), -1, EADDRINUSE)
WRAP(SOCKET, int, connect, (int fd, const struct sockaddr *to, socklen_t bytes), (fd, to, bytes), -1,
     ECONNREFUSED, EAGAIN, EINTR)
WRAP(SOCKET, int, accept4, (int fd, struct sockaddr *from, socklen_t *bytes, int flags),
     (fd, from, bytes, flags), -1, EMFILE, ECONNABORTED, EINTR)
WRAP(SOCKET, int, setsockopt, (int fd, int level, int name, const void *value, socklen_t bytes),
     (fd, level, name, value, bytes), -1, ENOMEM)
WRAP(SOCKET, int, getsockopt, (int fd, int level, int name, void *value, socklen_t *bytes),
     (fd, level, name, value, bytes), -1, ENOBUFS)
WRAP(SOCKET, int, getsockname, (int fd, struct sockaddr *name, socklen_t *bytes), (fd, name, bytes), -1,
     ENOBUFS)
WRAP(SOCKET, int, shutdown, (int fd, int how), (fd, how), -1, ENOTCONN)

/* Threads and their locks. */
WRAP_CODE(THREAD, pthread_create,
	  (pthread_t * thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument),
	  (thread, attributes, start, argument), EAGAIN)
WRAP_CODE(THREAD, pthread_mutex_init, (pthread_mutex_t * m, const pthread_mutexattr_t *a), (m, a), ENOMEM)
WRAP_CODE(THREAD, pthread_cond_init, (pthread_cond_t * c, const pthread_condattr_t *a), (c, a), ENOMEM)
WRAP_CODE(THREAD, pthread_attr_init, (pthread_attr_t * a), (a), ENOMEM)
WRAP_CODE(THREAD, pthread_condattr_init, (pthread_condattr_t * a), (a), ENOMEM)

/* Reading. */
ssize_t __real_read(int fd, void *to, size_t bytes);
ssize_t __wrap_read(int fd, void *to, size_t bytes);
ssize_t __wrap_read(int fd, void *to, size_t bytes)
{
	static const int errors[] = {EIO, EINTR, TORTURE_SHORT, 0};
	const int error =
		is_counter(fd) ? 0 : torture_call(TORTURE_READ, "read", errors, __builtin_return_address(0));

	if (error > 0) {
		errno = error;
		return -1;
	}
	return __real_read(fd, to, error && bytes > 8 ? bytes / 2 : bytes);
}

WRAP_BYTES(READ, pread64, (int fd, void *to, size_t bytes, off_t at), (fd, to, bytes, at),
	   (fd, to, bytes / 2, at), EIO, EINTR)
WRAP(READ, ssize_t, recv, (int fd, void *to, size_t bytes, int flags), (fd, to, bytes, flags), -1, ECONNRESET,
     EINTR, ENOMEM)
WRAP(READ, char *, fgets, (char *text, int bytes, FILE *from), (text, bytes, from), NULL, EIO)
WRAP(READ, struct dirent64 *, readdir64, (DIR * folder), (folder), NULL, EIO)
WRAP(READ, ssize_t, readlink, (const char *path, char *to, size_t bytes), (path, to, bytes), -1, EACCES)
WRAP(READ, off_t, lseek64, (int fd, off_t offset, int from), (fd, offset, from), -1, ESPIPE)

/* Writing. */
ssize_t __real_write(int fd, const void *from, size_t bytes);
ssize_t __wrap_write(int fd, const void *from, size_t bytes);
ssize_t __wrap_write(int fd, const void *from, size_t bytes)
{
	static const int errors[] = {ENOSPC, EINTR, TORTURE_SHORT, 0};
	const int error = fd == STDERR_FILENO || is_counter(fd)
				  ? 0
				  : torture_call(TORTURE_WRITE, "write", errors, __builtin_return_address(0));

	if (error > 0) {
		errno = error;
		return -1;
	}
	return __real_write(fd, from, error && bytes > 1 ? bytes / 2 : bytes);
}

WRAP_BYTES(WRITE, pwrite64, (int fd, const void *from, size_t bytes, off_t at), (fd, from, bytes, at),
	   (fd, from, bytes / 2, at), ENOSPC, EINTR)
WRAP(WRITE, ssize_t, send, (int fd, const void *from, size_t bytes, int flags), (fd, from, bytes, flags), -1,
     EAGAIN, EPIPE, ENOBUFS)
static const int no_space[] = {ENOSPC, 0};

size_t __real_fwrite(const void *from, size_t bytes, size_t count, FILE *to);
size_t __wrap_fwrite(const void *from, size_t bytes, size_t count, FILE *to);
size_t __wrap_fwrite(const void *from, size_t bytes, size_t count, FILE *to)
{
	if (to != stderr && torture_call(TORTURE_STREAM, "fwrite", no_space, __builtin_return_address(0))) {
		errno = ENOSPC;
		return 0;
	}
	return __real_fwrite(from, bytes, count, to);
}

int __real_fflush(FILE *to);
int __wrap_fflush(FILE *to);
int __wrap_fflush(FILE *to)
{
	if (to != stderr && torture_call(TORTURE_STREAM, "fflush", no_space, __builtin_return_address(0))) {
		errno = ENOSPC;
		return EOF;
	}
	return __real_fflush(to);
}

/* Both close the file, whatever they return. */
int __real_fclose(FILE *f);
int __wrap_fclose(FILE *f);
int __wrap_fclose(FILE *f)
{
	COUNT(STREAM, fclose, ENOSPC);
	const int r = __real_fclose(f);

	errno = error ? error : errno;
	return error ? EOF : r;
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
	COUNT(WRITE, close, EIO);
	int r;

	if (fd >= 0 && fd < FDS)
		is_eventfd[fd] = false;
	r = __real_close(fd);

	errno = error ? error : errno;
	return error ? -1 : r;
}

/* Files and folders. */
WRAP(FILE, int, ftruncate64, (int fd, off_t bytes), (fd, bytes), -1, ENOSPC)
WRAP_CODE(FILE, posix_fallocate64, (int fd, off_t at, off_t bytes), (fd, at, bytes), ENOSPC, EINTR)
WRAP(FILE, int, rename, (const char *from, const char *to), (from, to), -1, ENOSPC)
WRAP(FILE, int, renameat2, (int a, const char *from, int b, const char *to, unsigned flags),
     (a, from, b, to, flags), -1, ENOSPC, EINVAL)
WRAP(FILE, int, mkdir, (const char *path, mode_t mode), (path, mode), -1, EACCES)
WRAP(FILE, int, chmod, (const char *path, mode_t mode), (path, mode), -1, EPERM)
WRAP(FILE, int, fchmod, (int fd, mode_t mode), (fd, mode), -1, EPERM)
WRAP(FILE, int, chown, (const char *path, uid_t owner, gid_t group), (path, owner, group), -1, EPERM)
WRAP(FILE, int, fchown, (int fd, uid_t owner, gid_t group), (fd, owner, group), -1, EPERM)
WRAP(FILE, int, flock, (int fd, int how), (fd, how), -1, ENOLCK, EINTR)
WRAP(FILE, int, fsync, (int fd), (fd), -1, EIO)
WRAP(FILE, int, fstat64, (int fd, struct stat64 *s), (fd, s), -1, EIO)
WRAP(FILE, int, stat64, (const char *path, struct stat64 *s), (path, s), -1, EACCES)
WRAP(FILE, int, lstat64, (const char *path, struct stat64 *s), (path, s), -1, EACCES)
WRAP(FILE, int, fstatat64, (int at, const char *path, struct stat64 *s, int flags), (at, path, s, flags), -1,
     EACCES)
WRAP(FILE, int, access, (const char *path, int mode), (path, mode), -1, EACCES)
WRAP(FILE, int, faccessat, (int at, const char *path, int mode, int flags), (at, path, mode, flags), -1,
     EACCES)
WRAP(FILE, char *, getcwd, (char *path, size_t bytes), (path, bytes), NULL, ERANGE)
WRAP(FILE, ssize_t, getrandom, (void *to, size_t bytes, unsigned flags), (to, bytes, flags), -1, EAGAIN,
     ENOSYS)
WRAP(FILE, int, inotify_add_watch, (int fd, const char *path, uint32_t mask), (fd, path, mask), -1, ENOSPC)

int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...)
{
	COUNT(IOCTL, ioctl, EIO, EINTR);
	va_list args;
	void *argument;

	if (error) {
		errno = error;
		return -1;
	}
	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	return __real_ioctl(fd, request, argument);
}

/* Clocks and waiting. */
WRAP(CLOCK, int, nanosleep, (const struct timespec *t, struct timespec *left), (t, left), -1, EINTR)

WRAP(WAIT, int, ppoll,
     (struct pollfd * fds, nfds_t count, const struct timespec *timeout, const sigset_t *signals),
     (fds, count, timeout, signals), -1, EINTR, ENOMEM)
#ifndef TORTURE_CAMERAS /* simulated drivers have their own */
WRAP_CODE(THREAD, pthread_setname_np, (pthread_t thread, const char *name), (thread, name), ERANGE)
WRAP(WAIT, int, poll, (struct pollfd * fds, nfds_t count, int timeout), (fds, count, timeout), -1, EINTR,
     ENOMEM)
WRAP(WAIT, int, epoll_ctl, (int epoll, int op, int fd, struct epoll_event *event), (epoll, op, fd, event), -1,
     ENOMEM)
WRAP(WAIT, int, epoll_wait, (int epoll, struct epoll_event *events, int most, int timeout),
     (epoll, events, most, timeout), -1, EINTR)
WRAP(CLOCK, int, clock_gettime, (clockid_t id, struct timespec *t), (id, t), -1, EPERM)
#endif

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
	COUNT(FUTEX, syscall, EINTR, EAGAIN, ENOSYS);
	va_list args;
	long a[6] = {0};

	if (error) {
		errno = error;
		return -1;
	}
	va_start(args, number);
	for (int i = 0; i < (number == SYS_futex ? 6 : 2); i++) /* SYS_pidfd_open has two arguments */
		a[i] = va_arg(args, long);
	va_end(args);
	return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
