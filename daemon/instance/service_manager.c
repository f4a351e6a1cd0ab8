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

#include "base/log.h"

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

void sx_service_extend(struct sx_service *n, int64_t more_ns)
{
	if (n->ready && n->watchdog_ns)
		sx_service_send(n, "WATCHDOG=1\nWATCHDOG_USEC=%lld",
				(long long)((n->watchdog_ns + more_ns) / 1000));
}

void sx_service_ready(struct sx_service *n, const char *status)
{
	n->ready = true;
	if (status)
		sx_service_send(n, "READY=1\nSTATUS=%s", status);
	else
		sx_service_send(n, "READY=1");
}
