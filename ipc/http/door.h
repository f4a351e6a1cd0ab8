/*
 * Who comes in: accepts the connections of a listening Unix socket, and hands those that are admitted
 * (patience.h) to libmicrohttpd. It could accept them itself, but each one would cost what a connection of it
 * costs, and a queue of 500 of one process would be worked off before the next process is seen.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_HTTP_DOOR_H
#define SX_IPC_HTTP_DOOR_H

#include <microhttpd.h>
#include <pthread.h>

#include "ipc/http/patience.h"

struct sx_door {
	int listen_fd, stop_fd;
	struct MHD_Daemon *http;
	struct sx_patience *patience;
	pthread_t thread;
};

/*
 * listen_fd is made non-blocking and stays the caller's. http: started without a listening socket. Negative
 * errno: no descriptor, no thread.
 */
int sx_door_open(struct sx_door *d, int listen_fd, struct MHD_Daemon *http, struct sx_patience *patience);
/* Nobody comes in any more. Before the server is stopped. */
void sx_door_close(struct sx_door *d);

#endif
