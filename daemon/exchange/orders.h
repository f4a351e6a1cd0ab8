/*
 * Orders that came to the status socket, on their way from the HTTP thread to main: a queue under a lock that
 * the pipeline never takes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_EXCHANGE_ORDERS_H
#define SX_DAEMON_EXCHANGE_ORDERS_H

#include <pthread.h>
#include <stdbool.h>

#include "ipc/http/status.h"

struct sx_orders {
	pthread_mutex_t lock;
	struct sx_status_order *waiting[SX_STATUS_ORDERS]; /* oldest first */
	int count;
	bool closed;
	int main_fd; /* eventfd that wakes main */
};

void sx_orders_init(struct sx_orders *o, int main_fd);
/* Thread: HTTP. Answers at once where too many wait. */
void sx_orders_put(struct sx_orders *o, struct sx_status_order *order);
/* Thread: main. The oldest, to be answered, or NULL. */
struct sx_status_order *sx_orders_take(struct sx_orders *o);
/* Thread: main. From now on all are answered that the daemon ends. */
void sx_orders_close(struct sx_orders *o);
/* When the server has been stopped. */
void sx_orders_finish(struct sx_orders *o);

#endif
