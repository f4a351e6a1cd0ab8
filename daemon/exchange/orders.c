/*
 * Queue of orders for main.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/exchange/orders.h"

#include <string.h>

#include "base/contract.h"
#include "base/wake.h"

#define UNAVAILABLE 503

static void order_refuse(struct sx_status_order *order, bool ends)
{
	sx_status_order_answer(order, UNAVAILABLE,
			       ends ? "the daemon ends: nothing was changed\n"
				    : "too many changes wait already: nothing was changed\n");
}

void sx_orders_init(struct sx_orders *o, int main_fd)
{
	*o = (struct sx_orders){.main_fd = main_fd};
	pthread_mutex_init(&o->lock, NULL);
}

void sx_orders_put(struct sx_orders *o, struct sx_status_order *order)
{
	bool taken, closed;

	pthread_mutex_lock(&o->lock);
	sx_must(o->count, <=, SX_STATUS_ORDERS);
	closed = o->closed;
	taken = !closed && o->count < SX_STATUS_ORDERS;
	if (taken)
		o->waiting[o->count++] = order;
	pthread_mutex_unlock(&o->lock);
	if (taken)
		sx_wake(o->main_fd);
	else
		order_refuse(order, closed);
}

struct sx_status_order *sx_orders_take(struct sx_orders *o)
{
	struct sx_status_order *order = NULL;

	pthread_mutex_lock(&o->lock);
	sx_must(o->count, <=, SX_STATUS_ORDERS);
	if (o->count > 0) {
		order = o->waiting[0];
		o->count--;
		memmove(o->waiting, o->waiting + 1, (size_t)o->count * sizeof(o->waiting[0]));
	}
	pthread_mutex_unlock(&o->lock);
	return order;
}

void sx_orders_close(struct sx_orders *o)
{
	struct sx_status_order *order;

	pthread_mutex_lock(&o->lock);
	o->closed = true;
	pthread_mutex_unlock(&o->lock);
	while ((order = sx_orders_take(o)))
		order_refuse(order, true);
}

void sx_orders_finish(struct sx_orders *o)
{
	sx_must(o->count, ==, 0);
	pthread_mutex_destroy(&o->lock);
}
