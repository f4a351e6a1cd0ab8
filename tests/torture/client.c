/*
 * Requests to the status socket, one of which changes settings, and a reader of frames.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/torture/client.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/runtime_dirs.h"

#define TIMEOUT_S 4

static int stream_fd = -1;

static int client_connect(const char *name, int type)
{
	const struct timeval timeout_s = {.tv_sec = TIMEOUT_S};
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s/%s/%s", getenv("RUNTIME_DIRECTORY"),
		 getenv("TORTURE_INSTANCE"), name);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout_s, sizeof(timeout_s));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout_s, sizeof(timeout_s));
	if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int client_ask(const char *request, const char *file)
{
	static char answer[1 << 18];
	size_t have = 0;
	ssize_t n = -1;
	int fd = client_connect(SX_STATUS_SOCKET, SOCK_STREAM), code = 0;
	const char *body;

	if (fd < 0)
		return 0;
	if (send(fd, request, strlen(request), MSG_NOSIGNAL) > 0)
		while (have < sizeof(answer) - 1 &&
		       (n = recv(fd, answer + have, sizeof(answer) - 1 - have, 0)) > 0)
			have += (size_t)n;
	close(fd);
	answer[have] = '\0';
	body = strstr(answer, "\r\n\r\n");
	if (!body || sscanf(answer, "HTTP/1.1 %d", &code) != 1)
		return 0;
	if (file) {
		FILE *f = fopen(file, "w");

		if (!f || fputs(body + 4, f) < 0 || fclose(f) != 0)
			abort();
	}
	return code;
}

int client_get(const char *page, const char *file)
{
	char request[256];

	snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", page);
	return client_ask(request, file);
}

int client_order(const char *line)
{
	char request[256];

	snprintf(request, sizeof(request),
		 "POST /settings HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s\n",
		 strlen(line) + 1, line);
	return client_ask(request, NULL);
}

void client_stream(int frames)
{
	static char frame[1 << 20];

	for (int tries = 0; tries < 2; tries++) {
		if (stream_fd < 0)
			stream_fd = client_connect(SX_FRAMES_SOCKET, SOCK_SEQPACKET);
		while (stream_fd >= 0 && frames > 0 && recv(stream_fd, frame, sizeof(frame), 0) > 0)
			frames--;
		if (frames == 0)
			return;
		client_hang_up();
	}
}

void client_hang_up(void)
{
	if (stream_fd >= 0)
		close(stream_fd);
	stream_fd = -1;
}
