/*
 * Queue of requests for main.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/channels/requests.h"

#include <string.h>

#include "base/contract.h"
#include "base/wake.h"

#define UNAVAILABLE 503

static void request_refuse(struct sx_status_request *request, bool ends)
{
	sx_status_request_answer(request, UNAVAILABLE,
				 ends ? "the daemon ends: nothing was changed\n"
				      : "too many changes wait already: nothing was changed\n");
}

void sx_requests_init(struct sx_requests *o, int main_fd)
{
	*o = (struct sx_requests){.main_fd = main_fd};
	pthread_mutex_init(&o->lock, NULL);
}

void sx_requests_put(struct sx_requests *o, struct sx_status_request *request)
{
	bool taken, closed;

	pthread_mutex_lock(&o->lock);
	sx_must(o->count, <=, SX_STATUS_REQUESTS);
	closed = o->closed;
	taken = !closed && o->count < SX_STATUS_REQUESTS;
	if (taken)
		o->waiting[o->count++] = request;
	pthread_mutex_unlock(&o->lock);
	if (taken)
		sx_wake(o->main_fd);
	else
		request_refuse(request, closed);
}

struct sx_status_request *sx_requests_take(struct sx_requests *o)
{
	struct sx_status_request *request = NULL;

	pthread_mutex_lock(&o->lock);
	sx_must(o->count, <=, SX_STATUS_REQUESTS);
	if (o->count > 0) {
		request = o->waiting[0];
		o->count--;
		memmove(o->waiting, o->waiting + 1, (size_t)o->count * sizeof(o->waiting[0]));
	}
	pthread_mutex_unlock(&o->lock);
	return request;
}

void sx_requests_close(struct sx_requests *o)
{
	struct sx_status_request *request;

	pthread_mutex_lock(&o->lock);
	o->closed = true;
	pthread_mutex_unlock(&o->lock);
	while ((request = sx_requests_take(o)))
		request_refuse(request, true);
}

void sx_requests_finish(struct sx_requests *o)
{
	sx_must(o->count, ==, 0);
	pthread_mutex_destroy(&o->lock);
}
