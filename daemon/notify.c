/*
 * systemd's readiness protocol: sd_notify(3), sd_listen_fds(3), sd_watchdog_enabled(3).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LISTEN_FIRST 3 /* SD_LISTEN_FDS_START */
#define LISTEN_MOST 64

/* An unsigned number from the environment, 0 if it is not set or not one. */
static unsigned long long from_environment(const char *name)
{
	const char *text = getenv(name);
	unsigned long long value;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return 0;
	errno = 0;
	value = strtoull(text, &end, 10);
	return *end || errno ? 0 : value;
}

/* A variable that names a process is meant for that process alone; without it the manager means us. */
static int is_for_us(const char *pid_name)
{
	return !getenv(pid_name) || from_environment(pid_name) == (unsigned long long)getpid();
}

int sx_notify_init(struct sx_notify *n, char *why, size_t why_bytes)
{
	const char *path = getenv("NOTIFY_SOCKET");
	unsigned long long watchdog_us = is_for_us("WATCHDOG_PID") ? from_environment("WATCHDOG_USEC") : 0;
	size_t bytes;

	*n = (struct sx_notify){.fd = -1};
	if (watchdog_us > 0 && watchdog_us < INT64_MAX / 1000)
		n->watchdog_ns = (int64_t)watchdog_us * 1000;
	if (!path || !*path)
		return 0;
	bytes = strlen(path);
	if ((path[0] != '/' && path[0] != '@') || bytes >= sizeof(n->to.sun_path)) {
		snprintf(why, why_bytes, "NOTIFY_SOCKET=%s is neither a path nor an abstract name", path);
		return -EINVAL;
	}
	n->to.sun_family = AF_UNIX;
	memcpy(n->to.sun_path, path, bytes);
	if (path[0] == '@')
		n->to.sun_path[0] = 0;
	n->to_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + bytes);
	n->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (n->fd < 0) {
		snprintf(why, why_bytes, "NOTIFY_SOCKET: %s", strerror(errno));
		return -EINVAL;
	}
	return 0;
}

void sx_notify_finish(struct sx_notify *n)
{
	if (n->to_bytes > 0 && n->fd >= 0)
		close(n->fd);
	*n = (struct sx_notify){.fd = -1};
}

void sx_notify_send(struct sx_notify *n, const char *format, ...)
{
	char text[512];
	va_list args;
	int bytes;

	if (n->fd < 0)
		return;
	va_start(args, format);
	bytes = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (bytes > 0 && (size_t)bytes < sizeof(text))
		(void)!sendto(n->fd, text, (size_t)bytes, MSG_NOSIGNAL, (struct sockaddr *)&n->to,
			      n->to_bytes);
}

int sx_notify_listen_fd(const char *name)
{
	unsigned long long count = from_environment("LISTEN_FDS");
	const char *names = getenv("LISTEN_FDNAMES");
	size_t bytes = strlen(name);

	if (!getenv("LISTEN_PID") || !is_for_us("LISTEN_PID") || !names || count > LISTEN_MOST)
		return -1;
	for (int i = 0; i < (int)count; i++) {
		size_t n = strcspn(names, ":");

		if (n == bytes && memcmp(names, name, n) == 0)
			return fcntl(LISTEN_FIRST + i, F_SETFD, FD_CLOEXEC) < 0 ? -1 : LISTEN_FIRST + i;
		if (!names[n])
			break;
		names += n + 1;
	}
	return -1;
}
