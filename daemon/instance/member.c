/*
 * Orders and reports between the supervisor and one instance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/instance/member.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/wake.h"

int sx_member_init(struct sx_member *m)
{
	m->order_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (m->order_fd < 0)
		return -errno;
	pthread_mutex_init(&m->lock, NULL);
	return 0;
}

void sx_member_finish(struct sx_member *m)
{
	close(m->order_fd);
	pthread_mutex_destroy(&m->lock);
}

void sx_member_begin(struct sx_member *m, int64_t until_ns)
{
	sx_wake_clear(m->order_fd);
	atomic_store(&m->stop, false);
	atomic_store(&m->hurry, false);
	atomic_store(&m->reload, false);
	for (int t = 0; t < SX_LOG_TOPICS; t++)
		atomic_store(&m->log.levels[t], 0); /* the levels of its configuration follow */
	atomic_store(&m->reloading, false);
	atomic_store(&m->alive_ns, until_ns);
	atomic_store(&m->pinged_ns, until_ns);
	atomic_store(&m->state, SX_MEMBER_STARTING);
	sx_member_tell_status(m, "starting");
}

void sx_member_order(struct sx_member *m)
{
	sx_wake(m->order_fd);
}

bool sx_member_status(struct sx_member *m, char status[SX_MEMBER_STATUS_BYTES])
{
	const bool changed = atomic_exchange(&m->status_changed, false);

	pthread_mutex_lock(&m->lock);
	memcpy(status, m->status, SX_MEMBER_STATUS_BYTES);
	pthread_mutex_unlock(&m->lock);
	return changed;
}

void sx_member_tell_state(struct sx_member *m, enum sx_member_state state)
{
	atomic_store(&m->state, state);
	sx_wake(m->report_fd);
}

void sx_member_tell_end(struct sx_member *m, int code)
{
	atomic_store(&m->code, code);
	sx_member_tell_state(m, SX_MEMBER_ENDED);
}

void sx_member_tell_status(struct sx_member *m, const char *status)
{
	pthread_mutex_lock(&m->lock);
	snprintf(m->status, sizeof(m->status), "%s", status);
	pthread_mutex_unlock(&m->lock);
	atomic_store(&m->status_changed, true);
	sx_wake(m->report_fd);
}

void sx_member_tell_reloaded(struct sx_member *m)
{
	atomic_store(&m->reloading, false);
	sx_wake(m->report_fd);
}

void sx_member_tell_alive(struct sx_member *m, int64_t more_ns)
{
	atomic_store(&m->alive_ns, sx_now_ns() + m->watchdog_ns + more_ns);
}

void sx_member_tell_ping(struct sx_member *m, int64_t more_ns)
{
	atomic_store(&m->pinged_ns, sx_now_ns() + more_ns);
}
