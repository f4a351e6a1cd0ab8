/*
 * Connection limiter: times and slots of HTTP connections.
 *
 * The limiter closes a connection by shutdown(): the server sees the end of the connection and closes it.
 * Until the server's notification the descriptor belongs to the connection, because MHD closes it only after
 * the notification.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/http/limiter.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/contract.h"
#include "ipc/http/peer.h"

/*
 * Limits that make a flood of connections from one process cheap to refuse. A process may have at most
 * ARRIVING_MAX connections that the server has not yet taken. If the process with the most connections opens
 * another one, its oldest connection is replaced only if that is older than STORM_NS.
 */
#define ARRIVING_MAX 16
#define STORM_NS (SX_NS_PER_S / 10)

int sx_limiter_init(struct sx_limiter *p, size_t slots, size_t most, int64_t limit_ns)
{
	struct sx_limiter_slot *slot = calloc(slots, sizeof(*slot));

	sx_must(most, <=, slots);
	if (!slot)
		return -ENOMEM;
	*p = (struct sx_limiter){.slot = slot, .count = slots, .most = most, .limit_ns = limit_ns};
	for (size_t i = 0; i < slots; i++)
		slot[i].fd = -1;
	pthread_mutex_init(&p->lock, NULL);
	return 0;
}

void sx_limiter_finish(struct sx_limiter *p)
{
	if (!p->slot)
		return;
	pthread_mutex_destroy(&p->lock);
	free(p->slot);
	*p = (struct sx_limiter){0};
}

static void limiter_let_go(struct sx_limiter_slot *w)
{
	sx_must_be(w->fd >= 0 && !w->gone);
	shutdown(w->fd, SHUT_RDWR);
	w->gone = true;
}

static struct sx_limiter_slot *limiter_slot(struct sx_limiter *p, int fd)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->slot[i].fd == fd)
			return &p->slot[i];
	return NULL;
}

/* ---- too many connections ---- */

static bool stays(const struct sx_limiter_slot *w)
{
	return w->fd >= 0 && !w->gone;
}

struct share {
	size_t user, process; /* number of connections of the user, and of the process */
};

static struct share share_of(const struct sx_limiter *p, const struct sx_limiter_slot *w)
{
	struct share n = {0, 0};

	for (size_t i = 0; i < p->count; i++) {
		const struct sx_limiter_slot *x = &p->slot[i];
		const bool same = stays(x) && !x->ours && x->uid == w->uid;

		n.user += same;
		n.process += same && x->pid == w->pid;
	}
	return n;
}

static bool more(struct share a, struct share b)
{
	return a.user > b.user || (a.user == b.user && a.process > b.process);
}

/* True if w can be closed now. w must not have a request in progress. */
static bool may_go(const struct sx_limiter_slot *w)
{
	sx_must_be(stays(w) && !w->ours);
	return !w->arriving;
}

/*
 * Chooses the connection to close: the oldest one, by since_ns, of the process with the most connections.
 * Chooses an arriving connection only if all connections of that process are arriving: the server has to take
 * it first. A connection with a request in progress cannot be closed, and so does not count for its process.
 */
static struct sx_limiter_slot *find_greedy(struct sx_limiter *p)
{
	struct sx_limiter_slot *best = NULL;
	struct share most = {0, 0};

	for (size_t i = 0; i < p->count; i++) {
		struct sx_limiter_slot *w = &p->slot[i];
		struct share n;

		if (!stays(w) || w->ours)
			continue;
		n = share_of(p, w);
		if (best && !more(n, most) &&
		    (more(most, n) || may_go(best) > may_go(w) ||
		     (may_go(best) == may_go(w) && w->since_ns >= best->since_ns)))
			continue;
		best = w;
		most = n;
	}
	return best;
}

/* Returns the number of connections of w's process that the server has not yet taken, w included. */
static size_t arriving_with(const struct sx_limiter *p, const struct sx_limiter_slot *w)
{
	size_t n = 0;

	for (size_t i = 0; i < p->count; i++) {
		const struct sx_limiter_slot *x = &p->slot[i];

		n += stays(x) && x->arriving && x->uid == w->uid && x->pid == w->pid;
	}
	return n;
}

/* Makes room for w, which has just come. Returns as sx_limiter_admit(). */
static int make_room(struct sx_limiter *p, const struct sx_limiter_slot *w)
{
	struct sx_limiter_slot *greedy;
	size_t n = 0;

	sx_must_be(stays(w));
	if (arriving_with(p, w) > ARRIVING_MAX)
		return 0;
	for (size_t i = 0; i < p->count; i++)
		n += stays(&p->slot[i]);
	if (n <= p->most)
		return 1;
	greedy = find_greedy(p);
	if (greedy->uid == w->uid && greedy->pid == w->pid && w->since_ns - greedy->since_ns < STORM_NS)
		return 0;
	if (!may_go(greedy))
		return -EAGAIN;
	limiter_let_go(greedy);
	return 1;
}

int sx_limiter_admit(struct sx_limiter *p, int fd)
{
	struct sx_limiter_slot new = {.fd = fd, .arriving = true, .since_ns = sx_now_ns()}, *w;
	int r = -EAGAIN;

	sx_peer_process(fd, &new.uid, &new.pid);
	pthread_mutex_lock(&p->lock);
	w = limiter_slot(p, -1);
	if (w) {
		*w = new;
		r = make_room(p, w);
		if (r <= 0)
			w->fd = -1;
	}
	pthread_mutex_unlock(&p->lock);
	return r;
}

static void free_slot(struct sx_limiter *p, int fd)
{
	struct sx_limiter_slot *w = limiter_slot(p, fd);

	if (w)
		w->fd = -1;
}

void sx_limiter_forget(struct sx_limiter *p, int fd)
{
	pthread_mutex_lock(&p->lock);
	free_slot(p, fd);
	pthread_mutex_unlock(&p->lock);
}

/* ---- connections ---- */

static void take_slot(struct sx_limiter *p, int fd, void **context)
{
	/* slot that the connection got when it was admitted; NULL: none */
	struct sx_limiter_slot *w = limiter_slot(p, fd);

	if (!w) {
		w = limiter_slot(p, -1);
		if (!w)
			return;
		*w = (struct sx_limiter_slot){.fd = fd};
	}
	w->arriving = false;
	w->waiting = true;
	w->since_ns = sx_now_ns();
	*context = w;
}

void sx_limiter_notify(void *user, struct MHD_Connection *c, void **context,
		       enum MHD_ConnectionNotificationCode code)
{
	struct sx_limiter *p = user;
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

	pthread_mutex_lock(&p->lock);
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		*context = NULL;
		if (info)
			take_slot(p, info->connect_fd, context);
	} else if (*context) {
		((struct sx_limiter_slot *)*context)->fd = -1;
	}
	pthread_mutex_unlock(&p->lock);
}

static void limiter_set(struct sx_limiter *p, struct MHD_Connection *c, bool waiting, bool ours)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct sx_limiter_slot *w;

	if (!info || !info->socket_context)
		return;
	w = info->socket_context;
	pthread_mutex_lock(&p->lock);
	/*
	 * The slot may be free: while a new acceptor replaces an old one, the other acceptor may have freed
	 * this descriptor number.
	 */
	if (w->fd >= 0) {
		w->waiting = waiting;
		w->ours = ours;
		w->since_ns = sx_now_ns();
	}
	pthread_mutex_unlock(&p->lock);
}

void sx_limiter_wait(struct sx_limiter *p, struct MHD_Connection *c)
{
	limiter_set(p, c, true, false);
}

void sx_limiter_rest(struct sx_limiter *p, struct MHD_Connection *c)
{
	limiter_set(p, c, false, false);
}

void sx_limiter_hold(struct sx_limiter *p, struct MHD_Connection *c)
{
	limiter_set(p, c, false, true);
}

void sx_limiter_tick(struct sx_limiter *p)
{
	const int64_t before_ns = sx_now_ns() - p->limit_ns;

	sx_must(p->limit_ns, >, 0);
	pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < p->count; i++) {
		struct sx_limiter_slot *w = &p->slot[i];

		if (!stays(w) || w->since_ns >= before_ns)
			continue;
		if (w->waiting)
			limiter_let_go(w);
		else if (w->arriving)
			w->fd = -1; /* the server did not take it, and has no way to report this */
	}
	pthread_mutex_unlock(&p->lock);
}
