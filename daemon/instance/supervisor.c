/*
 * Starts, watches and ends the instances of a process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/instance/supervisor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/log.h"
#include "base/wake.h"
#include "daemon/instance/signals.h"

#define START_NS (90 * SX_NS_PER_S)  /* longest time for a start, as TimeoutStartSec= of the unit */
#define RELOAD_NS (30 * SX_NS_PER_S) /* longest time that the manager waits for a reload */
#define PAUSE_NS (2 * SX_NS_PER_S)   /* pause before the first restart, as RestartSec= of the unit */
#define PAUSE_MOST_NS (60 * SX_NS_PER_S)
#define SLEEP_MS 250
/* Rings of the log: two real-time threads, once more while the lines of a rebuilt pipeline are printed. */
#define RINGS_EACH 4

struct supervisor {
	struct sx_supervised *list;
	int count;
	struct sx_service service;
	int signal_fd, report_fd;
	bool ready, stop, hurry, deaf;
	bool untold;		 /* a status has changed, and the manager does not know it */
	int stop_code;		 /* first failure of an instance after the order to stop */
	int64_t reload_until_ns; /* 0: no reload */
	int64_t next_ping_ns;
};

/* Returns true if a new start may help. The unit has the other codes in RestartPreventExitStatus=. */
static bool may_restart(int code)
{
	return code == EX_UNAVAILABLE || code == EX_SOFTWARE || code == EX_CANTCREAT;
}

static void *run_member(void *supervised)
{
	struct sx_supervised *d = supervised;
	char name[16]; /* longest name of a thread */
	int code;

	snprintf(name, sizeof(name), "%s", d->member.log.name);
	pthread_setname_np(pthread_self(), name);
	sx_log_join(&d->member.log);
	code = d->run(d->user, &d->member, d->starts > 1);
	sx_member_tell_end(&d->member, code);
	return NULL;
}

static void plan_restart(struct sx_supervised *d)
{
	const int64_t now = sx_now_ns();

	/* an instance that has run for a while begins with the shortest pause again */
	if (d->pause_ns == 0 || now - d->started_ns > PAUSE_MOST_NS)
		d->pause_ns = PAUSE_NS;
	else
		d->pause_ns = 2 * d->pause_ns < PAUSE_MOST_NS ? 2 * d->pause_ns : PAUSE_MOST_NS;
	d->restart_ns = now + d->pause_ns;
}

/* Notes the end of an instance, and says what follows. */
static void note_end(struct supervisor *s, struct sx_supervised *d)
{
	const char *name = d->member.log.name;
	char status[SX_MEMBER_STATUS_BYTES];

	d->restart_ns = 0;
	if (s->stop) {
		s->stop_code = s->stop_code ? s->stop_code : d->code;
		return;
	}
	if (d->lost) {
		snprintf(status, sizeof(status), "lost (exit code %d)", d->code);
		sx_log(DAEMON, ERROR,
		       "%s has ended with exit code %d, and a frame in flight did not finish: it can start "
		       "again in a new process only",
		       name, d->code);
	} else if (may_restart(d->code)) {
		plan_restart(d);
		snprintf(status, sizeof(status), "failed (exit code %d)", d->code);
		sx_log(DAEMON, ERROR, "%s has ended with exit code %d: it starts again in %lld s", name,
		       d->code, (long long)(d->pause_ns / SX_NS_PER_S));
	} else if (d->code) {
		snprintf(status, sizeof(status), "failed (exit code %d)", d->code);
		sx_log(DAEMON, ERROR, "%s has ended with exit code %d: a reload (SIGHUP) starts it again",
		       name, d->code);
	} else {
		snprintf(status, sizeof(status), "ended");
		sx_log(DAEMON, NOTICE, "%s has ended in order", name);
	}
	sx_member_tell_status(&d->member, status);
}

static void start(struct supervisor *s, struct sx_supervised *d)
{
	const int64_t now = sx_now_ns();
	int r;

	sx_must_be(!d->running && !d->lost);
	d->restart_ns = 0;
	d->started_ns = now;
	d->hang_logged = false;
	d->starts++;
	sx_member_begin(&d->member, now + START_NS);
	r = pthread_create(&d->thread, NULL, run_member, d);
	if (r == 0) {
		d->running = true;
		return;
	}
	sx_log(DAEMON, ERROR, "%s: no thread: %s", d->member.log.name, strerror(r));
	d->code = EX_SOFTWARE;
	note_end(s, d);
}

/* Joins the threads of instances that have ended. */
static void collect(struct supervisor *s)
{
	for (int i = 0; i < s->count; i++) {
		struct sx_supervised *d = &s->list[i];

		if (!d->running || atomic_load(&d->member.state) != SX_MEMBER_ENDED)
			continue;
		pthread_join(d->thread, NULL);
		d->running = false;
		d->lost = atomic_load(&d->member.abandoned);
		d->code = atomic_load(&d->member.code);
		atomic_store(&d->member.reloading, false);
		note_end(s, d);
	}
}

static void restart_due(struct supervisor *s)
{
	for (int i = 0; i < s->count && !s->stop; i++) {
		struct sx_supervised *d = &s->list[i];

		if (d->restart_ns && sx_now_ns() >= d->restart_ns)
			start(s, d);
	}
}

static void order_stop(struct supervisor *s)
{
	s->hurry = s->stop;
	s->stop = true;
	if (!s->hurry)
		sx_service_stopping(&s->service);
	for (int i = 0; i < s->count; i++) {
		struct sx_member *m = &s->list[i].member;

		s->list[i].restart_ns = 0;
		if (s->hurry)
			atomic_store(&m->hurry, true);
		atomic_store(&m->stop, true);
		sx_member_order(m);
	}
}

/* Lets every instance read its configuration again. Starts the instances that have failed. */
static void order_reload(struct supervisor *s)
{
	if (s->stop)
		return;
	sx_service_reloading(&s->service);
	s->reload_until_ns = sx_now_ns() + RELOAD_NS;
	for (int i = 0; i < s->count; i++) {
		struct sx_supervised *d = &s->list[i];

		if (d->running) {
			atomic_store(&d->member.reloading, true);
			atomic_store(&d->member.reload, true);
			sx_member_order(&d->member);
		} else if (d->code && !d->lost) {
			start(s, d);
		}
	}
}

static void read_signals(struct supervisor *s)
{
	struct signalfd_siginfo i;
	ssize_t n;

	while ((n = read(s->signal_fd, &i, sizeof(i))) == (ssize_t)sizeof(i)) {
		if (i.ssi_signo == SIGHUP) {
			order_reload(s);
			continue;
		}
		if (!s->stop)
			sx_log(DAEMON, INFO, "%s: finishing the frames in flight, then exiting",
			       i.ssi_signo == SIGTERM ? "SIGTERM" : "SIGINT");
		order_stop(s);
	}
	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		sx_log(DAEMON, ERROR, "signals cannot be read: %s: ending", strerror(errno));
		s->deaf = true;
		order_stop(s);
	}
}

/*
 * Sends READY=1 when each instance has begun to serve, or has failed, and one at least serves; and after a
 * reload, when each instance has finished it.
 */
static void tell_ready(struct supervisor *s)
{
	int serving = 0, starting = 0, reloading = 0;

	for (int i = 0; i < s->count; i++) {
		const struct sx_supervised *d = &s->list[i];
		const enum sx_member_state state = atomic_load(&d->member.state);

		serving += d->running && state == SX_MEMBER_SERVING;
		starting += d->running && state == SX_MEMBER_STARTING && d->starts == 1;
		reloading += d->running && atomic_load(&d->member.reloading);
	}
	if (!s->ready && serving > 0 && starting == 0) {
		s->ready = true;
		sx_service_ready(&s->service, NULL);
	}
	if (!s->ready || !s->reload_until_ns || (reloading > 0 && sx_now_ns() < s->reload_until_ns))
		return;
	if (reloading > 0)
		sx_log(DAEMON, WARNING,
		       "%d of the instances have not reread their configuration within %lld s", reloading,
		       (long long)(RELOAD_NS / SX_NS_PER_S));
	s->reload_until_ns = 0;
	sx_service_ready(&s->service, NULL);
}

/* Sends the states of all instances as one line, if one has changed. */
static void tell_status(struct supervisor *s)
{
	char text[480], status[SX_MEMBER_STATUS_BYTES];
	size_t used = 0;

	text[0] = 0;
	for (int i = 0; i < s->count; i++) {
		struct sx_member *m = &s->list[i].member;

		s->untold |= sx_member_status(m, status);
		if (used < sizeof(text))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s: %s", i ? "; " : "",
						 m->log.name, status);
	}
	if (!s->untold || s->stop || s->reload_until_ns)
		return;
	s->untold = false;
	sx_service_status(&s->service, "%s", text);
}

/*
 * Returns true if the process deserves a ping: every main loop is alive, and at least one instance has had a
 * reason for a ping. An engine that hangs in one instance does not end the others; if it hangs in all, the
 * manager starts the process again.
 */
static bool may_ping(struct supervisor *s)
{
	const int64_t now = sx_now_ns(), period = s->service.watchdog_ns;
	bool one = false;

	for (int i = 0; i < s->count; i++) {
		const struct sx_supervised *d = &s->list[i];

		if (!d->running || atomic_load(&d->member.state) == SX_MEMBER_ENDING)
			continue;
		if (now > atomic_load(&d->member.alive_ns))
			return false;
		one |= now - atomic_load(&d->member.pinged_ns) < period / 2;
	}
	return one;
}

/* Logs once that an instance has had no reason for a ping for a period, while the process gets its pings. */
static void tell_hung(struct supervisor *s)
{
	for (int i = 0; i < s->count; i++) {
		struct sx_supervised *d = &s->list[i];
		const int64_t silent = sx_now_ns() - atomic_load(&d->member.pinged_ns);

		if (!d->running || atomic_load(&d->member.state) != SX_MEMBER_SERVING)
			continue;
		if (silent > s->service.watchdog_ns && !d->hang_logged)
			sx_log(DAEMON, ERROR,
			       "%s makes no progress, and the other instances go on: if it does not recover, "
			       "only a restart of the process can help",
			       d->member.log.name);
		d->hang_logged = silent > s->service.watchdog_ns;
	}
}

static void ping(struct supervisor *s)
{
	const int64_t now = sx_now_ns();

	if (!s->service.watchdog_ns || now < s->next_ping_ns)
		return;
	s->next_ping_ns = now + s->service.watchdog_ns / 4;
	if (!may_ping(s))
		return;
	sx_service_ping(&s->service);
	tell_hung(s);
}

static int sleep_ms(const struct supervisor *s)
{
	const int64_t ping_ms = s->service.watchdog_ns ? (s->next_ping_ns - sx_now_ns()) / 1000000 : SLEEP_MS;

	return ping_ms < 0 ? 0 : ping_ms < SLEEP_MS ? (int)ping_ms + 1 : SLEEP_MS;
}

static bool any_runs(const struct supervisor *s)
{
	for (int i = 0; i < s->count; i++)
		if (s->list[i].running)
			return true;
	return false;
}

static void watch(struct supervisor *s)
{
	struct pollfd fds[] = {
		{.fd = s->deaf ? -1 : s->signal_fd, .events = POLLIN},
		{.fd = s->report_fd, .events = POLLIN},
		{.fd = sx_log_fd(), .events = POLLIN},
	};

	if (poll(fds, sizeof(fds) / sizeof(fds[0]), sleep_ms(s)) > 0) {
		if (fds[1].revents)
			sx_wake_clear(s->report_fd);
		if (fds[2].revents)
			sx_log_drain();
		if (fds[0].revents)
			read_signals(s);
	}
	collect(s);
	restart_due(s);
	tell_ready(s);
	tell_status(s);
	ping(s);
}

/* Opens what the supervisor waits for. The threads of instances inherit the mask of the signals. */
static int open_all(struct supervisor *s)
{
	s->signal_fd = sx_signals_open();
	if (s->signal_fd < 0)
		return s->signal_fd;
	s->report_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->report_fd < 0)
		return -errno;
	if (sx_log_fd() < 0)
		return sx_log_fd();
	return sx_log_add_rings(RINGS_EACH * s->count);
}

static void tell_unused_sockets(void)
{
	if (sx_service_listen_fd("status") >= 0 || sx_service_listen_fd("frames") >= 0)
		sx_log(DAEMON, WARNING,
		       "sockets of the service manager are not used: they are for a process with one instance");
}

static int init_members(struct supervisor *s)
{
	int r = 0;

	for (int i = 0; i < s->count && r == 0; i++) {
		s->list[i].member.report_fd = s->report_fd;
		s->list[i].member.watchdog_ns = s->service.watchdog_ns;
		s->list[i].member.order_fd = -1;
		r = sx_member_init(&s->list[i].member);
	}
	return r;
}

static int first_code(const struct supervisor *s)
{
	for (int i = 0; i < s->count; i++)
		if (s->list[i].code)
			return s->list[i].code;
	return 0;
}

static void close_all(struct supervisor *s)
{
	for (int i = 0; i < s->count; i++)
		sx_member_finish(&s->list[i].member);
	close(s->signal_fd);
	close(s->report_fd);
}

int sx_supervise(struct sx_supervised *list, int count, bool *abandoned)
{
	struct supervisor s = {.list = list, .count = count, .signal_fd = -1, .report_fd = -1};
	struct sx_why why;
	int r;

	*abandoned = false;
	if (sx_service_init(&s.service, &why) < 0)
		sx_log(DAEMON, WARNING, "%s", why.text);
	tell_unused_sockets();
	r = open_all(&s);
	if (r == 0)
		r = init_members(&s);
	if (r < 0) {
		sx_log(DAEMON, ERROR, "cannot create what the instances share: %s", strerror(-r));
		return EX_SOFTWARE;
	}
	s.next_ping_ns = sx_now_ns();
	for (int i = 0; i < count; i++)
		start(&s, &list[i]);
	while (any_runs(&s))
		watch(&s);
	sx_log_drain();
	for (int i = 0; i < count; i++)
		*abandoned |= list[i].lost;
	if (!*abandoned)
		close_all(&s);
	if (s.deaf)
		return EX_SOFTWARE;
	return s.stop ? s.stop_code : first_code(&s);
}
