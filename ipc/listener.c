/*
 * Creates or checks a listening socket.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/why.h"

int sx_listener_check(int fd, struct sx_why *why)
{
	int type = 0, domain = 0, listens = 0;
	socklen_t a = sizeof(type), b = sizeof(domain), c = sizeof(listens);

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &a) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &b) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &c) < 0)
		return sx_why_fail(-errno, why, "the frame socket passed in is not a socket: %s",
				   strerror(errno));
	if (domain != AF_UNIX || type != SOCK_SEQPACKET || !listens)
		return sx_why_fail(
			-EINVAL, why,
			"the frame socket passed in is not a listening Unix SOCK_SEQPACKET socket");
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0)
		return sx_why_fail(-errno, why, "cannot use the frame socket passed in: %s", strerror(errno));
	return 0;
}

/* Clears the path: removes the socket of a dead process. Fails if something else is there. */
static int clear_path(const struct sockaddr_un *address, struct sx_why *why)
{
	const char *path = address->sun_path;
	struct stat st;
	int fd, r;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : sx_why_fail(-errno, why, "%s: %s", path, strerror(errno));
	if (!S_ISSOCK(st.st_mode))
		return sx_why_fail(-EADDRINUSE, why, "%s exists and is not a socket", path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return sx_why_fail(-errno, why, "cannot create a socket: %s", strerror(errno));
	r = connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 ? -errno : 0;
	close(fd);
	if (r != -ECONNREFUSED && r != -ENOENT)
		return sx_why_fail(-EADDRINUSE, why, "another process listens on %s", path);
	if (r == -ECONNREFUSED && unlink(path) < 0)
		return sx_why_fail(-errno, why, "cannot remove the dead socket %s: %s", path,
				   strerror(errno));
	return 0;
}

static int bind_and_listen(int fd, const struct sockaddr_un *address, mode_t mode, gid_t group)
{
	const char *path = address->sun_path;
	int r;

	if (bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0)
		return -errno;
	/*
	 * A client can connect only after listen(), and the mode is set before. The queue is as long as the
	 * system allows: a reader that connects without blocking is refused (EAGAIN) if the queue is full,
	 * and a long queue costs us nothing.
	 */
	if ((group != (gid_t)-1 && chown(path, (uid_t)-1, group) < 0) || chmod(path, mode) < 0 ||
	    listen(fd, SOMAXCONN) < 0) {
		r = -errno;
		unlink(path);
		return r;
	}
	return 0;
}

int sx_listener_make(const char *path, mode_t mode, gid_t group, struct sx_why *why)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd, r;

	if (!path || strlen(path) >= sizeof(address.sun_path))
		return sx_why_fail(-ENAMETOOLONG, why,
				   "the path of the frame socket is too long (%zu are allowed): %s",
				   sizeof(address.sun_path) - 1, path ? path : "none");
	memcpy(address.sun_path, path, strlen(path) + 1);
	r = clear_path(&address, why);
	if (r < 0)
		return r;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return sx_why_fail(-errno, why, "cannot create a socket: %s", strerror(errno));
	r = bind_and_listen(fd, &address, mode, group);
	if (r < 0) {
		close(fd);
		return sx_why_fail(r, why, "cannot listen on %s: %s", path, strerror(-r));
	}
	return fd;
}
