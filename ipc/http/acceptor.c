/*
 * Accepts connections in a separate thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/http/acceptor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/thread.h"

#define LEAVING_MS 1   /* time that the server needs to release closed connections */
#define SHORTAGE_MS 50 /* time for others to give back descriptors or memory */

/*
 * Waits at most `ms`, ms. listens: also ends the wait when a connection comes. True: the acceptor has to
 * close.
 */
static bool acceptor_waits(const struct sx_acceptor *d, bool listens, int ms)
{
	struct pollfd fds[] = {{.fd = d->stop_fd, .events = POLLIN}, {.fd = d->listen_fd, .events = POLLIN}};

	sx_must(d->stop_fd, >=, 0);
	return poll(fds, listens ? 2 : 1, ms) > 0 && fds[0].revents;
}

/* Admits a connection and passes it to the server, or closes it. True: the acceptor has to close. */
static bool let_in(const struct sx_acceptor *d, int fd)
{
	const struct sockaddr_storage nobody = {.ss_family = AF_UNIX};
	char byte;
	int r = 0;

	sx_must(fd, >=, 0);
	/* a client that has left without a request needs no slot */
	if (recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0)
		while ((r = sx_limiter_admit(d->limiter, fd)) == -EAGAIN)
			if (acceptor_waits(d, false, LEAVING_MS))
				break;
	if (r <= 0) {
		close(fd);
		return r < 0;
	}
	/* the descriptor belongs to the server, also after a failure */
	if (MHD_add_connection(d->http, fd, (const struct sockaddr *)&nobody, sizeof(sa_family_t)) != MHD_YES)
		sx_limiter_forget(d->limiter, fd);
	return false;
}

static void *acceptor_run(void *user)
{
	const struct sx_acceptor *d = user;
	bool closes = false;
	int fd;

	pthread_setname_np(pthread_self(), "status-door");
	while (!closes) {
		fd = accept4(d->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd >= 0)
			closes = let_in(d, fd);
		else if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
			closes = acceptor_waits(d, true, -1);
		else
			closes = acceptor_waits(d, false, SHORTAGE_MS);
	}
	return NULL;
}

int sx_acceptor_open(struct sx_acceptor *d, int listen_fd, struct MHD_Daemon *http,
		     struct sx_limiter *limiter)
{
	int r;

	sx_must(listen_fd, >=, 0);
	*d = (struct sx_acceptor){.listen_fd = listen_fd, .http = http, .limiter = limiter};
	if (fcntl(listen_fd, F_SETFL, fcntl(listen_fd, F_GETFL) | O_NONBLOCK) < 0)
		return -errno;
	d->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (d->stop_fd < 0)
		return -errno;
	r = sx_thread_start(&d->thread, acceptor_run, d);
	if (r < 0)
		close(d->stop_fd);
	return r;
}

void sx_acceptor_close(struct sx_acceptor *d)
{
	const uint64_t one = 1;

	sx_must(d->stop_fd, >=, 0);
	if (write(d->stop_fd, &one, sizeof(one)) != (ssize_t)sizeof(one))
		return; /* cannot happen: the eventfd is written only once */
	pthread_join(d->thread, NULL);
	close(d->stop_fd);
}
