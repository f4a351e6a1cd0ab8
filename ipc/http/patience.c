/*
 * Times and slots of HTTP connections.
 *
 * The limiter closes a connection by shutdown(): the server sees its end and closes it. Until the server's
 * notification the descriptor belongs to the connection, because MHD closes it only after the notification.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/http/patience.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/contract.h"
#include "ipc/http/peer.h"

/*
 * Limits that make a flood of connections from one process cheap to refuse. A process may have at most
 * ARRIVING_MAX connections that the server has not yet taken. The process with the most connections may
 * replace one of its own connections only if it is older than STORM_NS.
 */
#define ARRIVING_MAX 16
#define STORM_NS (SX_NS_PER_S / 10)

int sx_patience_init(struct sx_patience *p, size_t places, size_t crowd, int64_t limit_ns)
{
	struct sx_patience_place *place = calloc(places, sizeof(*place));

	sx_must(crowd, <=, places);
	if (!place)
		return -ENOMEM;
	*p = (struct sx_patience){.place = place, .count = places, .crowd = crowd, .limit_ns = limit_ns};
	for (size_t i = 0; i < places; i++)
		place[i].fd = -1;
	pthread_mutex_init(&p->lock, NULL);
	return 0;
}

void sx_patience_finish(struct sx_patience *p)
{
	if (!p->place)
		return;
	pthread_mutex_destroy(&p->lock);
	free(p->place);
	*p = (struct sx_patience){0};
}

static void patience_let_go(struct sx_patience_place *w)
{
	sx_must_be(w->fd >= 0 && !w->gone);
	shutdown(w->fd, SHUT_RDWR);
	w->gone = true;
}

static struct sx_patience_place *patience_place(struct sx_patience *p, int fd)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->place[i].fd == fd)
			return &p->place[i];
	return NULL;
}

/* ---- too many connections ---- */

static bool stays(const struct sx_patience_place *w)
{
	return w->fd >= 0 && !w->gone;
}

struct share {
	size_t user, process; /* number of connections of the user, and of the process */
};

static struct share share_of(const struct sx_patience *p, const struct sx_patience_place *w)
{
	struct share n = {0, 0};

	for (size_t i = 0; i < p->count; i++) {
		const struct sx_patience_place *x = &p->place[i];
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
static bool may_go(const struct sx_patience_place *w)
{
	sx_must_be(stays(w) && !w->ours);
	return !w->arriving;
}

/*
 * Chooses the connection to close: the oldest one, by since_ns, of the process with the most connections.
 * Chooses an arriving connection only if all connections of that process are arriving: the server has to take
 * it first. A connection with a request in progress cannot be closed, and so does not count for its process.
 */
static struct sx_patience_place *find_greedy(struct sx_patience *p)
{
	struct sx_patience_place *best = NULL;
	struct share most = {0, 0};

	for (size_t i = 0; i < p->count; i++) {
		struct sx_patience_place *w = &p->place[i];
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
static size_t arriving_with(const struct sx_patience *p, const struct sx_patience_place *w)
{
	size_t n = 0;

	for (size_t i = 0; i < p->count; i++) {
		const struct sx_patience_place *x = &p->place[i];

		n += stays(x) && x->arriving && x->uid == w->uid && x->pid == w->pid;
	}
	return n;
}

/* Makes room for w, which has just come. Returns as sx_patience_admit(). */
static int make_room(struct sx_patience *p, const struct sx_patience_place *w)
{
	struct sx_patience_place *greedy;
	size_t n = 0;

	sx_must_be(stays(w));
	if (arriving_with(p, w) > ARRIVING_MAX)
		return 0;
	for (size_t i = 0; i < p->count; i++)
		n += stays(&p->place[i]);
	if (n <= p->crowd)
		return 1;
	greedy = find_greedy(p);
	if (greedy->uid == w->uid && greedy->pid == w->pid && w->since_ns - greedy->since_ns < STORM_NS)
		return 0;
	if (!may_go(greedy))
		return -EAGAIN;
	patience_let_go(greedy);
	return 1;
}

int sx_patience_admit(struct sx_patience *p, int fd)
{
	struct sx_patience_place new = {.fd = fd, .arriving = true, .since_ns = sx_now_ns()}, *w;
	int r = -EAGAIN;

	sx_peer_process(fd, &new.uid, &new.pid);
	pthread_mutex_lock(&p->lock);
	w = patience_place(p, -1);
	if (w) {
		*w = new;
		r = make_room(p, w);
		if (r <= 0)
			w->fd = -1;
	}
	pthread_mutex_unlock(&p->lock);
	return r;
}

static void free_place(struct sx_patience *p, int fd)
{
	struct sx_patience_place *w = patience_place(p, fd);

	if (w)
		w->fd = -1;
}

void sx_patience_forget(struct sx_patience *p, int fd)
{
	pthread_mutex_lock(&p->lock);
	free_place(p, fd);
	pthread_mutex_unlock(&p->lock);
}

/* ---- connections ---- */

static void take_place(struct sx_patience *p, int fd, void **context)
{
	struct sx_patience_place *w = patience_place(p, fd); /* the slot that it got when it was admitted */

	if (!w) {
		w = patience_place(p, -1);
		if (!w)
			return;
		*w = (struct sx_patience_place){.fd = fd};
	}
	w->arriving = false;
	w->waiting = true;
	w->since_ns = sx_now_ns();
	*context = w;
}

void sx_patience_notify(void *user, struct MHD_Connection *c, void **context,
			enum MHD_ConnectionNotificationCode code)
{
	struct sx_patience *p = user;
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

	pthread_mutex_lock(&p->lock);
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		*context = NULL;
		if (info)
			take_place(p, info->connect_fd, context);
	} else if (*context) {
		((struct sx_patience_place *)*context)->fd = -1;
	}
	pthread_mutex_unlock(&p->lock);
}

static void patience_set(struct sx_patience *p, struct MHD_Connection *c, bool waiting, bool ours)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct sx_patience_place *w;

	if (!info || !info->socket_context)
		return;
	w = info->socket_context;
	pthread_mutex_lock(&p->lock);
	/*
	 * The slot may be free: while a new door replaces an old one, the other door may have freed this
	 * descriptor number.
	 */
	if (w->fd >= 0) {
		w->waiting = waiting;
		w->ours = ours;
		w->since_ns = sx_now_ns();
	}
	pthread_mutex_unlock(&p->lock);
}

void sx_patience_wait(struct sx_patience *p, struct MHD_Connection *c)
{
	patience_set(p, c, true, false);
}

void sx_patience_rest(struct sx_patience *p, struct MHD_Connection *c)
{
	patience_set(p, c, false, false);
}

void sx_patience_hold(struct sx_patience *p, struct MHD_Connection *c)
{
	patience_set(p, c, false, true);
}

void sx_patience_tick(struct sx_patience *p)
{
	const int64_t before_ns = sx_now_ns() - p->limit_ns;

	sx_must(p->limit_ns, >, 0);
	pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < p->count; i++) {
		struct sx_patience_place *w = &p->place[i];

		if (!stays(w) || w->since_ns >= before_ns)
			continue;
		if (w->waiting)
			patience_let_go(w);
		else if (w->arriving)
			w->fd = -1; /* the server did not take it, and has no way to report this */
	}
	pthread_mutex_unlock(&p->lock);
}
