/*
 * FAKE_TIMES: time passes this many times as fast for a program linked with this file (--wrap): clock, timers
 * and waits. What the daemon does within minutes then takes seconds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>

#define NS INT64_C(1000000000)

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __real_poll(struct pollfd *fds, nfds_t count, int ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int ms);
int __wrap___poll_chk(struct pollfd *fds, nfds_t count, int ms, size_t bytes);
int __real_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *t, const sigset_t *mask);
int __wrap_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *t, const sigset_t *mask);
int __wrap___ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *t, const sigset_t *mask,
		       size_t bytes);
int __real_timerfd_settime(int fd, int flags, const struct itimerspec *t, struct itimerspec *old);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *t, struct itimerspec *old);

/* Set once, before main(). */
static int64_t times = 1, begun_ns;

static int64_t ns_of(struct timespec t)
{
	return t.tv_sec * NS + t.tv_nsec;
}

static struct timespec time_of(int64_t ns)
{
	return (struct timespec){.tv_sec = ns / NS, .tv_nsec = ns % NS};
}

/* Rounds up, so that a short time does not become 0, which means "never" or "at once". */
static struct timespec shortened(struct timespec t)
{
	return time_of((ns_of(t) + times - 1) / times);
}

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("FAKE_TIMES");
	struct timespec t;

	__real_clock_gettime(CLOCK_MONOTONIC, &t);
	begun_ns = ns_of(t);
	times = text ? strtol(text, NULL, 10) : 1;
	if (times < 1)
		abort();
}

int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	const int r = __real_clock_gettime(id, t);

	if (r == 0 && id == CLOCK_MONOTONIC)
		*t = time_of(begun_ns + (ns_of(*t) - begun_ns) * times);
	return r;
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int ms)
{
	return __real_poll(fds, count, ms > 0 ? (int)((ms + times - 1) / times) : ms);
}

/*
 * Replaces poll() in a build with _FORTIFY_SOURCE. `bytes` is the size of fds, which the real function
 * checks.
 */
int __wrap___poll_chk(struct pollfd *fds, nfds_t count, int ms, size_t bytes)
{
	return __wrap_poll(fds, count, ms);
}

int __wrap_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *t, const sigset_t *mask)
{
	const struct timespec soon = t ? shortened(*t) : (struct timespec){0};

	return __real_ppoll(fds, count, t ? &soon : NULL, mask);
}

int __wrap___ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *t, const sigset_t *mask,
		       size_t bytes)
{
	return __wrap_ppoll(fds, count, t, mask);
}

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *t, struct itimerspec *old)
{
	const struct itimerspec soon = {shortened(t->it_interval), shortened(t->it_value)};

	return __real_timerfd_settime(fd, flags, flags & TFD_TIMER_ABSTIME ? t : &soon, old);
}
