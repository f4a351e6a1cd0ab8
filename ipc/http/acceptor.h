/*
 * The acceptor of an HTTP server. Accepts the connections of a listening Unix socket, and passes those that
 * the limiter admits (limiter.h) to libmicrohttpd. libmicrohttpd could accept connections itself, but then
 * each connection would become a full connection of the server. If one process has 500 connections in the
 * queue, the server would process all of them before it sees the next process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_HTTP_ACCEPTOR_H
#define SX_IPC_HTTP_ACCEPTOR_H

#include <microhttpd.h>
#include <pthread.h>

#include "ipc/http/limiter.h"

struct sx_acceptor {
	int listen_fd, stop_fd;
	struct MHD_Daemon *http;
	struct sx_limiter *limiter;
	pthread_t thread;
};

/*
 * Starts the acceptor thread. Makes listen_fd non-blocking; the descriptor remains the caller's. http: a
 * server started without a listening socket. Returns negative errno: no descriptor, no thread.
 */
int sx_acceptor_open(struct sx_acceptor *d, int listen_fd, struct MHD_Daemon *http,
		     struct sx_limiter *limiter);
/* Stops accepting. Call before the server is stopped. */
void sx_acceptor_close(struct sx_acceptor *d);

#endif
