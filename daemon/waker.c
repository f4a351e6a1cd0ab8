/*
 * Threads that wake the readers of rings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/waker.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/thread.h"
#include "base/wake.h"

#define FEW 8	      /* one system call wakes up to FEW readers */
#define FIRST_MOST 64 /* readers of one ring that the first thread wakes; the second thread wakes the rest */
/* most readers of one ring that the second thread wakes: a woken reader may sleep again at once */
#define REST_MOST 4096
#define REST_MOST_NS 10000000

/* Waits for the thread's eventfd. Returns false if the thread has to end. */
static bool waker_wait(struct sx_waker *g, const struct sx_waker_thread *t)
{
	uint64_t count;

	sx_must(t->fd, >=, 0);
	while (read(t->fd, &count, sizeof(count)) < 0)
		if (errno != EINTR)
			return false;
	return !atomic_load_explicit(&g->stop, memory_order_relaxed);
}

static void wake_first(const struct sx_waker *g, struct sx_ring *ring)
{
	int woken = 0;

	while (woken < FIRST_MOST && sx_ring_wake_few(ring))
		woken += FEW;
	if (woken >= FIRST_MOST)
		sx_wake(g->rest.fd);
}

static void *waker_first(void *user)
{
	struct sx_waker *g = user;

	while (waker_wait(g, &g->first))
		for (int i = 0; i < g->count; i++)
			wake_first(g, g->rings[i]);
	return NULL;
}

/*
 * Wakes the remaining readers. Sleeps three times as long as it works, so it takes a quarter of one
 * processor. The systemd unit allows no lower priority.
 */
static void wake_rest(const struct sx_waker *g, struct sx_ring *ring)
{
	int woken = 0, few = FEW;

	while (few == FEW && woken < REST_MOST && !atomic_load_explicit(&g->stop, memory_order_relaxed)) {
		int64_t begun_ns = sx_now_ns(), rest_ns;

		few = sx_ring_wake(ring, FEW);
		woken += few;
		rest_ns = 3 * (sx_now_ns() - begun_ns);
		sx_must(rest_ns, >=, 0);
		rest_ns = rest_ns < REST_MOST_NS ? rest_ns : REST_MOST_NS;
		nanosleep(&(struct timespec){.tv_nsec = rest_ns}, NULL);
	}
}

static void *waker_rest(void *user)
{
	struct sx_waker *g = user;

	while (waker_wait(g, &g->rest))
		for (int i = 0; i < g->count; i++)
			wake_rest(g, g->rings[i]);
	return NULL;
}

static int waker_thread(struct sx_waker *g, struct sx_waker_thread *t, void *(*run)(void *), const char *name)
{
	int r;

	sx_must_be(!t->running && !t->created);
	t->fd = eventfd(0, EFD_CLOEXEC);
	t->created = t->fd >= 0;
	if (!t->created)
		return -errno;
	r = sx_thread_start(&t->thread, run, g);
	t->running = r == 0;
	if (t->running)
		pthread_setname_np(t->thread, name);
	return r;
}

int sx_waker_start(struct sx_waker *g, struct sx_ring *first, struct sx_ring *second)
{
	struct sx_ring *const rings[SX_WAKER_RINGS] = {first, second};
	int r;

	*g = (struct sx_waker){0};
	for (int i = 0; i < SX_WAKER_RINGS; i++)
		if (rings[i])
			g->rings[g->count++] = rings[i];
	if (g->count == 0)
		return 0;
	r = waker_thread(g, &g->rest, waker_rest, "crowd");
	if (r == 0)
		r = waker_thread(g, &g->first, waker_first, "bell");
	for (int i = 0; r == 0 && i < g->count; i++)
		sx_ring_set_waker(g->rings[i], g->first.fd);
	return r;
}

void sx_waker_stop(struct sx_waker *g)
{
	struct sx_waker_thread *const threads[] = {&g->first, &g->rest};

	atomic_store_explicit(&g->stop, true, memory_order_relaxed);
	for (int i = 0; i < 2; i++) {
		sx_must_be(threads[i]->created || !threads[i]->running);
		if (threads[i]->running) {
			sx_wake(threads[i]->fd);
			pthread_join(threads[i]->thread, NULL);
		}
		if (threads[i]->created)
			close(threads[i]->fd);
		*threads[i] = (struct sx_waker_thread){0};
	}
}
