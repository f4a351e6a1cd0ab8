/*
 * Queue of requests from the status socket, between the HTTP thread and main. The pipeline never takes its
 * lock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_CHANNELS_REQUESTS_H
#define SX_DAEMON_CHANNELS_REQUESTS_H

#include <pthread.h>
#include <stdbool.h>

#include "ipc/http/status.h"

struct sx_requests {
	pthread_mutex_t lock;
	struct sx_status_request *waiting[SX_STATUS_REQUESTS]; /* oldest first */
	int count;
	bool closed;
	int main_fd; /* eventfd that wakes main */
};

void sx_requests_init(struct sx_requests *o, int main_fd);
/* Thread: HTTP. Queues a request. If the queue is full, answers it at once. */
void sx_requests_put(struct sx_requests *o, struct sx_status_request *request);
/* Thread: main. Returns the oldest request, which main answers, or NULL. */
struct sx_status_request *sx_requests_take(struct sx_requests *o);
/* Thread: main. Answers all queued requests, and later ones at once: the daemon ends. */
void sx_requests_close(struct sx_requests *o);
/* Call it after the server has been stopped. */
void sx_requests_finish(struct sx_requests *o);

#endif
