/*
 * Descriptors of the simulated kernel: events, timers, signals, epolls, and sleeping on them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "tests/simulate/camera.h"
#include "tests/simulate/sim.h"
#include "tests/simulate/wrap.h"

static int fail(int error)
{
	errno = error;
	return -1;
}

bool sim_fault(void)
{
	return sim->current && sim_once_in(sim->current->process->random_faults);
}

static void timer_fires(void *user)
{
	struct sim_fd *f = user;

	f->count++;
	sim_fd_changed(f);
	if (f->every)
		sim_arm(&f->timer, sim->now + f->every);
}

int sim_fd_make(enum sim_kind kind)
{
	for (int i = 0; i < SIM_FDS; i++) {
		struct sim_fd *f = &sim->fd[i];

		if (f->kind != SIM_NONE)
			continue;
		memset(f, 0, sizeof(*f));
		f->kind = kind;
		f->process = sim->current ? sim->current->process : NULL;
		f->peer = -1;
		f->timer = (struct sim_timer){SIM_NEVER, timer_fires, f, 0};
		sim->fds = i < sim->fds ? sim->fds : i + 1;
		return SIM_FD_FIRST + i;
	}
	return fail(EMFILE);
}

void sim_fd_changed(struct sim_fd *f)
{
	uint64_t wake = f->waiters;

	f->waiters = 0;
	for (uint64_t e = f->epolls; e; e &= e - 1) {
		struct sim_fd *set = &sim->fd[__builtin_ctzll(e)];

		wake |= set->waiters;
		set->waiters = 0;
	}
	for (; wake; wake &= wake - 1)
		sim_task_wake(&sim->task[__builtin_ctzll(wake)]);
}

static uint32_t other_events(const struct sim_fd *f);

/* Returns what poll() would report, as bits of EPOLL*. Most descriptors have a count. */
static inline uint32_t events_of(const struct sim_fd *f)
{
	if (f->kind == SIM_EVENT || f->kind == SIM_TIMERFD)
		return f->count ? EPOLLIN : 0;
	return f->kind == SIM_CAMERA ? camera_events(f) : other_events(f);
}

static uint32_t other_events(const struct sim_fd *f)
{
	switch (f->kind) {
	case SIM_INOTIFY:
		return f->count ? EPOLLIN : 0;
	case SIM_SIGNAL:
		return f->signals ? EPOLLIN : 0;
	case SIM_EPOLL:
		for (int i = 0; i < f->members; i++)
			if (events_of(f->member[i].is) & (f->member[i].event.events | EPOLLERR | EPOLLHUP))
				return EPOLLIN;
		return 0;
	case SIM_LISTEN:
		return f->pending ? EPOLLIN : 0;
	case SIM_SOCKET: {
		const struct sim_fd *peer = sim_fd(f->peer);
		uint32_t e = f->packets || f->hung_up ? EPOLLIN : 0;

		if (f->hung_up)
			return e | EPOLLHUP | EPOLLOUT;
		/* as in Linux: EPOLLOUT only if three quarters of the send buffer are free */
		return e |
		       (peer && 4 * peer->queued <= f->send_bytes && peer->packets < SIM_PACKETS ? EPOLLOUT
												 : 0);
	}
	case SIM_PIDFD:
		return f->watched->alive ? 0 : EPOLLIN;
	default:
		break;
	}
	return 0;
}

int sim_fds_of(const struct sim_process *p)
{
	int n = 0;

	for (int i = 0; i < sim->fds; i++)
		n += sim->fd[i].kind != SIM_NONE && sim->fd[i].process == p;
	return n;
}

static void leave_epolls(int fd)
{
	for (int i = 0; i < sim->fds; i++) {
		struct sim_fd *f = &sim->fd[i];

		for (int k = 0; f->kind == SIM_EPOLL && k < f->members; k++)
			if (f->member[k].fd == fd)
				f->member[k--] = f->member[--f->members];
	}
}

static void socket_close(struct sim_fd *f)
{
	struct sim_fd *peer = sim_fd(f->peer);

	for (int i = 0; i < f->packets; i++)
		sim->packet_free[sim->packets_free++] = f->packet[i];
	if (peer && peer->peer >= 0) {
		peer->hung_up = true;
		peer->peer = -1;
		sim_fd_changed(peer);
	}
}

void sim_fd_close(int fd)
{
	struct sim_fd *f = sim_fd(fd);

	sim_disarm(&f->timer);
	if (f->epolls)
		leave_epolls(fd);
	if (f->kind == SIM_EPOLL)
		for (int i = 0; i < f->members; i++) {
			struct sim_fd *m = sim_fd(f->member[i].fd);

			if (m)
				m->epolls &= ~(UINT64_C(1) << (fd - SIM_FD_FIRST));
		}
	if (f->kind == SIM_SOCKET)
		socket_close(f);
	if (f->kind == SIM_LISTEN)
		for (int i = 0; i < f->pending; i++)
			if (sim_fd(f->backlog[i]))
				sim_fd_close(f->backlog[i]);
	if (f->kind == SIM_CAMERA)
		camera_close(f, fd);
	sim_fd_changed(f);
	f->kind = SIM_NONE;
}

bool sim_fd_signal(struct sim_process *p, int signal)
{
	bool is_new = false;

	if (sim->broken == BREAK_SIGNAL)
		return true;
	for (int i = 0; i < sim->fds; i++)
		if (sim->fd[i].kind == SIM_SIGNAL && sim->fd[i].process == p) {
			is_new = is_new || !(sim->fd[i].signals & 1u << signal);
			sim->fd[i].signals |= 1u << signal;
			sim_fd_changed(&sim->fd[i]);
		}
	return is_new;
}

void sim_fd_inotify(struct sim_process *p)
{
	for (int i = 0; i < sim->fds; i++)
		if (sim->fd[i].kind == SIM_INOTIFY && sim->fd[i].process == p) {
			sim->fd[i].count++;
			sim_fd_changed(&sim->fd[i]);
		}
}

/* ---- creating descriptors ---- */

int __wrap_eventfd(unsigned value, int flags)
{
	int fd;

	sim_seam("eventfd", value);
	fd = sim_fd_make(SIM_EVENT);
	if (fd >= 0) {
		sim_fd(fd)->count = value;
		sim_fd(fd)->blocks = !(flags & EFD_NONBLOCK);
	}
	return fd;
}

int __wrap_timerfd_create(clockid_t clock, int flags)
{
	sim_seam("timerfd_create", 0);
	return sim_fd_make(SIM_TIMERFD);
}

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *new, struct itimerspec *old)
{
	struct sim_fd *f = sim_fd(fd);
	int64_t first = new->it_value.tv_sec *SIM_S + new->it_value.tv_nsec;

	sim_seam("timerfd_settime", fd);
	f->every = new->it_interval.tv_sec *SIM_S + new->it_interval.tv_nsec;
	f->count = 0;
	sim_arm(&f->timer, first ? sim->now + first : SIM_NEVER);
	return 0;
}

int __wrap_signalfd(int fd, const sigset_t *mask, int flags)
{
	sim_seam("signalfd", fd);
	return sim_fd_make(SIM_SIGNAL);
}

int __wrap_inotify_init1(int flags)
{
	sim_seam("inotify_init1", 0);
	return sim_fd_make(SIM_INOTIFY);
}

int __wrap_inotify_add_watch(int fd, const char *path, uint32_t mask)
{
	sim_seam("inotify_add_watch", fd);
	return 1;
}

int __wrap_epoll_create1(int flags)
{
	int fd;

	sim_seam("epoll_create1", 0);
	fd = sim_fd_make(SIM_EPOLL);
	if (fd >= SIM_FD_FIRST + 64)
		sim_fail("simulation: an epoll has number %d", fd);
	return fd;
}

int __wrap_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
	struct sim_fd *e = sim_fd(epoll), *f = sim_fd(fd);
	int at = 0;

	sim_seam("epoll_ctl", fd);
	if (!e || !f || e->kind != SIM_EPOLL)
		return fail(EBADF);
	while (at < e->members && e->member[at].fd != fd)
		at++;
	if (op == EPOLL_CTL_ADD) {
		if (at < e->members)
			return fail(EEXIST);
		if (at == SIM_MEMBERS)
			return fail(ENOSPC);
		e->members++;
		f->epolls |= UINT64_C(1) << (epoll - SIM_FD_FIRST);
	} else if (at == e->members) {
		return fail(ENOENT);
	}
	e->member[at].fd = fd;
	e->member[at].is = f;
	e->member[at].event = *event;
	sim_fd_changed(f);
	return 0;
}

int __wrap_epoll_wait(int epoll, struct epoll_event *events, int most, int timeout_ms)
{
	struct sim_fd *e = sim_fd(epoll);
	int n = 0, first;

	sim_seam("epoll_wait", epoll);
	if (timeout_ms != 0)
		sim_fail("simulation: epoll_wait() with a timeout");
	if (sim_fault())
		return fail(EINTR);
	/* in random order, because callers may not rely on any order */
	first = (int)sim_below((uint64_t)(e->members ? e->members : 1));
	for (int i = 0, at = first; i < e->members && n < most; i++, at = at + 1 == e->members ? 0 : at + 1) {
		const struct epoll_event *wants = &e->member[at].event;
		const uint32_t is = events_of(e->member[at].is) & (wants->events | EPOLLERR | EPOLLHUP);

		if (is)
			events[n++] = (struct epoll_event){.events = is, .data = wants->data};
	}
	return n;
}

/* ---- sleeping ---- */

/* Counts the ready descriptors. Negative descriptors are ignored. */
static int look(struct pollfd *fds, nfds_t count)
{
	int ready = 0;

	for (struct pollfd *p = fds; p < fds + count; p++) {
		const struct sim_fd *f;

		p->revents = 0;
		if (p->fd < 0)
			continue;
		f = sim_fd(p->fd);
		p->revents =
			f ? (short)(events_of(f) & ((uint32_t)p->events | EPOLLERR | EPOLLHUP)) : POLLNVAL;
		ready += p->revents != 0;
	}
	return ready;
}

static int wait_until(struct pollfd *fds, nfds_t count, int64_t until)
{
	const bool interrupted = sim_fault();
	int ready;

	for (bool more = true;;) {
		ready = look(fds, count);
		if (ready || !more)
			return ready;
		if (interrupted)
			return fail(EINTR);
		if (until <= sim->now)
			sim->now += sim_between(300, 2000);
		for (nfds_t i = 0; i < count; i++)
			if (fds[i].fd >= 0)
				sim->fd[fds[i].fd - SIM_FD_FIRST].waiters |= UINT64_C(1)
									     << (sim->current - sim->task);
		more = sim_block(until);
	}
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	sim_seam("poll", timeout_ms);
	return wait_until(fds, count, timeout_ms < 0 ? SIM_NEVER : sim->now + timeout_ms * SIM_MS);
}

int __wrap_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *t, const sigset_t *mask)
{
	sim_seam("ppoll", t ? t->tv_nsec : -1);
	return wait_until(fds, count, t ? sim->now + t->tv_sec * SIM_S + t->tv_nsec : SIM_NEVER);
}

/* ---- reading and writing ---- */

static ssize_t read_count(struct sim_fd *f, void *to, size_t bytes)
{
	if (bytes < sizeof(f->count))
		return fail(EINVAL);
	if (!f->count)
		return fail(EAGAIN);
	memcpy(to, &f->count, sizeof(f->count));
	f->count = 0;
	return sizeof(f->count);
}

static ssize_t read_signal(struct sim_fd *f, void *to, size_t bytes)
{
	struct signalfd_siginfo s = {0};

	if (!f->signals)
		return fail(EAGAIN);
	s.ssi_signo = (uint32_t)__builtin_ctz(f->signals);
	f->signals &= f->signals - 1;
	memcpy(to, &s, sizeof(s));
	return sizeof(s);
}

static ssize_t read_inotify(struct sim_fd *f, void *to, size_t bytes)
{
	const struct inotify_event e = {.wd = 1, .mask = IN_CREATE, .len = 16};
	static const char name[16] = "video";

	if (!f->count)
		return fail(EAGAIN);
	f->count--;
	memcpy(to, &e, sizeof(e));
	memcpy((char *)to + sizeof(e), name, sizeof(name));
	return sizeof(e) + sizeof(name);
}

ssize_t __wrap_read(int fd, void *to, size_t bytes)
{
	struct sim_fd *f = sim_fd(fd);

	if (!f)
		return __real_read(fd, to, bytes);
	sim_seam("read", fd);
	if (f->blocks && !f->count) {
		struct pollfd one = {.fd = fd, .events = POLLIN};

		if (__wrap_poll(&one, 1, -1) < 0)
			return -1;
		f = sim_fd(fd);
	}
	switch (f->kind) {
	case SIM_EVENT:
	case SIM_TIMERFD:
		return read_count(f, to, bytes);
	case SIM_SIGNAL:
		return read_signal(f, to, bytes);
	case SIM_INOTIFY:
		return read_inotify(f, to, bytes);
	case SIM_SOCKET:
		return sim_socket_read(f, to, bytes, 0);
	default:
		return fail(EINVAL);
	}
}

ssize_t __wrap_write(int fd, const void *from, size_t bytes)
{
	struct sim_fd *f = sim_fd(fd);
	uint64_t add;

	if (sim && sim->current && fd == STDERR_FILENO) {
		sim_seam("log", (int64_t)bytes);
		sim_text(from, bytes);
		if (sim_fault()) /* a full pipe takes half of the bytes, or none */
			return sim_once_in(2) ? fail(EAGAIN) : (ssize_t)bytes / 2;
		return (ssize_t)bytes;
	}
	if (!f)
		return __real_write(fd, from, bytes);
	sim_seam("write", fd);
	f = sim_fd(fd);
	if (!f || f->kind != SIM_EVENT || bytes != sizeof(add))
		return fail(f ? EINVAL : EBADF);
	memcpy(&add, from, sizeof(add));
	f->count += add;
	sim_fd_changed(f);
	return sizeof(add);
}

int __wrap_close(int fd)
{
	if (!sim || !sim->current)
		return __real_close(fd);
	sim_seam("close", fd);
	if (sim_fd(fd) && sim_fd(fd)->kind == SIM_EVENT && sim_breaks(BREAK_CLOSE))
		return 0;
	if (sim_fd(fd)) {
		sim_fd_close(fd);
		return 0;
	}
	SIM_MUST(fd >= 0 && fd < SIM_FD_FIRST && sim->file[fd], "descriptor %d is closed, and is not open",
		 fd);
	sim->file[fd]->files--;
	sim->file[fd] = NULL;
	return __real_close(fd);
}

int __wrap_fcntl(int fd, int command, ...)
{
	va_list args;
	long a;

	va_start(args, command);
	a = va_arg(args, long);
	va_end(args);
	return sim_fd(fd) ? 0 : __real_fcntl(fd, command, a);
}
