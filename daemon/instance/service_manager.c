/*
 * Interface to the service manager, by libsystemd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/instance/service_manager.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "daemon/instance/member.h"

#ifdef SX_HAVE_SYSTEMD
#include <systemd/sd-daemon.h>

int sx_service_init(struct sx_service *n, struct sx_why *why)
{
	uint64_t watchdog_us = 0;

	(void)why;
	*n = (struct sx_service){0};
	if (sd_watchdog_enabled(0, &watchdog_us) > 0 && watchdog_us < INT64_MAX / 1000)
		n->watchdog_ns = (int64_t)watchdog_us * 1000;
	return 0;
}

void sx_service_send(struct sx_service *n, const char *format, ...)
{
	char text[512]; /* sd_notifyf() would allocate */
	va_list args;
	int bytes, r;

	va_start(args, format);
	bytes = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (bytes <= 0 || (size_t)bytes >= sizeof(text))
		return;
	r = sd_notify(0, text);
	if (r < 0 && !n->failed)
		sx_log(DAEMON, WARNING, "the daemon cannot notify the service manager: NOTIFY_SOCKET=%s: %s",
		       getenv("NOTIFY_SOCKET"), strerror(-r));
	n->failed = n->failed || r < 0;
}

int sx_service_listen_fd(const char *name)
{
	char **names = NULL;
	int count = sd_listen_fds_with_names(0, &names), fd = -1;

	for (int i = 0; i < count; i++) {
		if (fd < 0 && strcmp(names[i], name) == 0)
			fd = SD_LISTEN_FDS_START + i;
		free(names[i]);
	}
	if (count > 0)
		free(names);
	return fd;
}

#else

int sx_service_init(struct sx_service *n, struct sx_why *why)
{
	static const char *const variables[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "LISTEN_FDS"};

	*n = (struct sx_service){0};
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		if (!getenv(variables[i]))
			continue;
		return sx_why_fail(
			-ENOTSUP, why,
			"%s is set, but this stixeld is built without libsystemd: no readiness, no watchdog, "
			"no sockets of the service manager",
			variables[i]);
	}
	return 0;
}

void sx_service_send(struct sx_service *n, const char *format, ...)
{
	(void)n, (void)format;
}

int sx_service_listen_fd(const char *name)
{
	(void)name;
	return -1;
}

#endif

struct sx_service sx_service_of_member(struct sx_member *member)
{
	return (struct sx_service){.member = member, .watchdog_ns = member->watchdog_ns};
}

void sx_service_extend(struct sx_service *n, int64_t more_ns)
{
	if (!n->ready || !n->watchdog_ns)
		return;
	if (n->member) {
		sx_member_tell_alive(n->member, more_ns);
		sx_member_tell_ping(n->member, more_ns);
	} else {
		sx_service_send(n, "WATCHDOG=1\nWATCHDOG_USEC=%lld",
				(long long)((n->watchdog_ns + more_ns) / 1000));
	}
}

/* Tells the supervisor that the instance begins to serve, or that it has finished a reload. */
static void ready_member(struct sx_service *n, const char *status)
{
	if (!status) {
		sx_member_tell_reloaded(n->member);
		return;
	}
	sx_member_tell_alive(n->member, 0);
	sx_member_tell_ping(n->member, 0);
	sx_member_tell_status(n->member, status);
	sx_member_tell_state(n->member, SX_MEMBER_SERVING);
}

void sx_service_ready(struct sx_service *n, const char *status)
{
	n->ready = true;
	if (n->member)
		ready_member(n, status);
	else if (status)
		sx_service_send(n, "READY=1\nSTATUS=%s", status);
	else
		sx_service_send(n, "READY=1");
}

void sx_service_status(struct sx_service *n, const char *format, ...)
{
	char text[505]; /* 511 bytes with STATUS=, the limit of sx_service_send() */
	va_list args;
	int bytes;

	va_start(args, format);
	bytes = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (n->member)
		sx_member_tell_status(n->member, text);
	else if (bytes > 0 && (size_t)bytes < sizeof(text))
		sx_service_send(n, "STATUS=%s", text);
}

void sx_service_reloading(struct sx_service *n)
{
	/* Type=notify-reload needs the time; older managers ignore it. */
	if (!n->member)
		sx_service_send(n, "RELOADING=1\nMONOTONIC_USEC=%lld\nSTATUS=rereading the configuration",
				(long long)(sx_now_ns() / 1000));
}

void sx_service_stopping(struct sx_service *n)
{
	if (!n->member)
		sx_service_send(n, "STOPPING=1");
}

void sx_service_alive(struct sx_service *n)
{
	if (n->member)
		sx_member_tell_alive(n->member, 0);
}

void sx_service_ping(struct sx_service *n)
{
	if (n->member)
		sx_member_tell_ping(n->member, 0);
	else
		sx_service_send(n, "WATCHDOG=1");
}
