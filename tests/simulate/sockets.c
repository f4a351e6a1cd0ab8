/*
 * Simulated Unix sockets that keep packet boundaries. Their names in the file system are real, so that all
 * other operations on them are real.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/simulate/sim.h"
#include "tests/simulate/wrap.h"

#define SEND_BYTES_LEAST 4608
#define SEND_BYTES_MOST 425984 /* twice net.core.wmem_max */

static int fail(int error)
{
	errno = error;
	return -1;
}

static int make_socket(void)
{
	int fd = sim_fd_make(SIM_SOCKET);

	if (fd >= 0)
		sim_fd(fd)->send_bytes = SEND_BYTES_MOST;
	return fd;
}

int __wrap_socket(int domain, int type, int protocol)
{
	sim_seam("socket", type);
	return make_socket();
}

int __wrap_socketpair(int domain, int type, int protocol, int pair[2])
{
	sim_seam("socketpair", type);
	pair[0] = make_socket();
	pair[1] = make_socket();
	if (pair[0] < 0 || pair[1] < 0)
		return -1;
	sim_fd(pair[0])->peer = pair[1];
	sim_fd(pair[1])->peer = pair[0];
	return 0;
}

int __wrap_setsockopt(int fd, int level, int option, const void *value, socklen_t bytes)
{
	int asked;

	sim_seam("setsockopt", option);
	if (option == SO_SNDBUFFORCE)
		return fail(EPERM);
	memcpy(&asked, value, sizeof(asked));
	if (option == SO_SNDBUF) {
		size_t b = 2 * (size_t)asked;

		sim_fd(fd)->send_bytes = b < SEND_BYTES_LEAST  ? SEND_BYTES_LEAST
					 : b > SEND_BYTES_MOST ? SEND_BYTES_MOST
							       : b;
	}
	return 0;
}

int __wrap_getsockopt(int fd, int level, int option, void *value, socklen_t *bytes)
{
	sim_seam("getsockopt", option);
	if (option == SO_PEERCRED) {
		const struct sim_fd *peer = sim_fd(sim_fd(fd)->peer);
		struct ucred who = {.pid = peer && peer->process ? peer->process->pid : 0, .uid = geteuid()};

		memcpy(value, &who, *bytes < sizeof(who) ? *bytes : sizeof(who));
		return 0;
	}
	if (option == SO_SNDBUF) {
		int b = (int)sim_fd(fd)->send_bytes;

		memcpy(value, &b, sizeof(b));
		return 0;
	}
	return fail(ENOPROTOOPT);
}

int __wrap_bind(int fd, const struct sockaddr *address, socklen_t bytes)
{
	const struct sockaddr_un *a = (const struct sockaddr_un *)address;

	sim_seam("bind", fd);
	if (mknod(a->sun_path, S_IFSOCK | 0755, 0) < 0)
		return fail(errno == EEXIST ? EADDRINUSE : errno);
	snprintf(sim_fd(fd)->path, sizeof(sim_fd(fd)->path), "%s", a->sun_path);
	return 0;
}

int __wrap_listen(int fd, int backlog)
{
	sim_seam("listen", fd);
	sim_fd(fd)->kind = SIM_LISTEN;
	return 0;
}

int __wrap_connect(int fd, const struct sockaddr *address, socklen_t bytes)
{
	const struct sockaddr_un *a = (const struct sockaddr_un *)address;
	struct sim_fd *listener = NULL;
	int other;

	sim_seam("connect", fd);
	if (access(a->sun_path, F_OK) < 0)
		return fail(ENOENT);
	for (int i = 0; i < sim->fds && !listener; i++)
		if (sim->fd[i].kind == SIM_LISTEN && !strcmp(sim->fd[i].path, a->sun_path))
			listener = &sim->fd[i];
	if (!listener)
		return fail(ECONNREFUSED);
	if (listener->pending == (int)(sizeof(listener->backlog) / sizeof(listener->backlog[0])))
		return fail(EAGAIN);
	other = make_socket();
	if (other < 0)
		return -1;
	sim_fd(other)->process = listener->process;
	sim_fd(other)->peer = fd;
	sim_fd(fd)->peer = other;
	listener->backlog[listener->pending++] = other;
	sim_fd_changed(listener);
	return 0;
}

int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *bytes, int flags)
{
	struct sim_fd *f = sim_fd(fd);
	int other;

	sim_seam("accept4", fd);
	if (!f->pending || sim_breaks(BREAK_ACCEPT))
		return fail(EAGAIN);
	if (sim_fault())
		return fail(sim_once_in(2) ? EMFILE : ECONNABORTED);
	other = f->backlog[0];
	memmove(f->backlog, f->backlog + 1, (size_t)--f->pending * sizeof(f->backlog[0]));
	return other;
}

ssize_t __wrap_send(int fd, const void *from, size_t bytes, int flags)
{
	struct sim_fd *f, *peer;
	int at;

	sim_seam("send", (int64_t)bytes);
	f = sim_fd(fd);
	if (!f || f->kind != SIM_SOCKET)
		return fail(f ? ENOTSOCK : EBADF);
	if (sim_fault())
		return fail(sim_once_in(2) ? ENOBUFS : EINTR);
	peer = sim_fd(f->peer);
	if (!peer)
		return fail(EPIPE);
	if (bytes > SIM_PACKET_BYTES)
		sim_fail("simulation: a packet of %zu bytes", bytes);
	if (peer->queued + bytes > f->send_bytes || peer->packets == SIM_PACKETS)
		return fail(EAGAIN);
	SIM_MUST(sim->packets_free > 0, "simulation: no room for packets");
	at = sim->packet_free[--sim->packets_free];
	memcpy(sim->packet[at], from, bytes);
	sim->packet_bytes[at] = (uint16_t)bytes;
	peer->packet[peer->packets++] = at;
	peer->queued += bytes;
	sim_fd_changed(peer);
	return (ssize_t)bytes;
}

ssize_t sim_socket_read(struct sim_fd *f, void *to, size_t bytes, int flags)
{
	struct sim_fd *peer;
	size_t is, got;
	int at;

	if (f->packets == 0)
		return f->hung_up ? 0 : fail(EAGAIN);
	if (sim_fault())
		return fail(sim_once_in(2) ? EAGAIN : EINTR);
	at = f->packet[0];
	is = sim->packet_bytes[at];
	got = is < bytes ? is : bytes;
	memcpy(to, sim->packet[at], got);
	if (!(flags & MSG_PEEK)) {
		memmove(f->packet, f->packet + 1, (size_t)--f->packets * sizeof(f->packet[0]));
		sim->packet_free[sim->packets_free++] = at;
		f->queued -= is;
		peer = sim_fd(f->peer);
		if (peer)
			sim_fd_changed(peer);
	}
	return (ssize_t)(flags & MSG_TRUNC ? is : got);
}

ssize_t __wrap_recv(int fd, void *to, size_t bytes, int flags)
{
	sim_seam("recv", fd);
	return sim_socket_read(sim_fd(fd), to, bytes, flags);
}
