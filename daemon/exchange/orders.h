/*
 * Queue of orders from the status socket, between the HTTP thread and main. The pipeline never takes its
 * lock.
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
/* Thread: HTTP. Queues an order. If the queue is full, answers it at once. */
void sx_orders_put(struct sx_orders *o, struct sx_status_order *order);
/* Thread: main. Returns the oldest order, which main answers, or NULL. */
struct sx_status_order *sx_orders_take(struct sx_orders *o);
/* Thread: main. Answers all queued and later orders that the daemon ends. */
void sx_orders_close(struct sx_orders *o);
/* Call it after the server has been stopped. */
void sx_orders_finish(struct sx_orders *o);

#endif
