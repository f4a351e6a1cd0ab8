/*
 * Threads that wake the readers of rings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/ringer.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/thread.h"
#include "base/wake.h"

#define FEW 8		/* readers that the kernel wakes in one call */
#define BELL_MOST 64	/* readers of one ring; the crowd thread wakes the others */
#define CROWD_MOST 4096 /* readers of one ring; a limit, as woken readers may sleep again at once */
#define REST_MOST_NS 10000000

/* Waits for the thread's eventfd. Returns false if the thread has to end. */
static bool ringer_wait(struct sx_ringer *g, const struct sx_ringer_thread *t)
{
	uint64_t rung;

	sx_must(t->fd, >=, 0);
	while (read(t->fd, &rung, sizeof(rung)) < 0)
		if (errno != EINTR)
			return false;
	return !atomic_load_explicit(&g->stop, memory_order_relaxed);
}

static void wake_first(const struct sx_ringer *g, struct sx_ring *ring)
{
	int woken = 0;

	while (woken < BELL_MOST && sx_ring_wake_few(ring))
		woken += FEW;
	if (woken >= BELL_MOST)
		sx_wake(g->crowd.fd);
}

static void *ringer_bell(void *user)
{
	struct sx_ringer *g = user;

	while (ringer_wait(g, &g->bell))
		for (int i = 0; i < g->count; i++)
			wake_first(g, g->rings[i]);
	return NULL;
}

/*
 * Wakes the remaining readers. Sleeps three times as long as it works, so it takes a quarter of one
 * processor. The systemd unit allows no lower priority.
 */
static void wake_crowd(const struct sx_ringer *g, struct sx_ring *ring)
{
	int woken = 0, few = FEW;

	while (few == FEW && woken < CROWD_MOST && !atomic_load_explicit(&g->stop, memory_order_relaxed)) {
		int64_t begun_ns = sx_now_ns(), rest_ns;

		few = sx_ring_wake(ring, FEW);
		woken += few;
		rest_ns = 3 * (sx_now_ns() - begun_ns);
		sx_must(rest_ns, >=, 0);
		rest_ns = rest_ns < REST_MOST_NS ? rest_ns : REST_MOST_NS;
		nanosleep(&(struct timespec){.tv_nsec = rest_ns}, NULL);
	}
}

static void *ringer_crowd(void *user)
{
	struct sx_ringer *g = user;

	while (ringer_wait(g, &g->crowd))
		for (int i = 0; i < g->count; i++)
			wake_crowd(g, g->rings[i]);
	return NULL;
}

static int ringer_thread(struct sx_ringer *g, struct sx_ringer_thread *t, void *(*run)(void *),
			 const char *name)
{
	int r;

	sx_must_be(!t->runs && !t->made);
	t->fd = eventfd(0, EFD_CLOEXEC);
	t->made = t->fd >= 0;
	if (!t->made)
		return -errno;
	r = sx_thread_start(&t->thread, run, g);
	t->runs = r == 0;
	if (t->runs)
		pthread_setname_np(t->thread, name);
	return r;
}

int sx_ringer_start(struct sx_ringer *g, struct sx_ring *first, struct sx_ring *second)
{
	struct sx_ring *const rings[SX_RINGER_RINGS] = {first, second};
	int r;

	*g = (struct sx_ringer){0};
	for (int i = 0; i < SX_RINGER_RINGS; i++)
		if (rings[i])
			g->rings[g->count++] = rings[i];
	if (g->count == 0)
		return 0;
	r = ringer_thread(g, &g->crowd, ringer_crowd, "crowd");
	if (r == 0)
		r = ringer_thread(g, &g->bell, ringer_bell, "bell");
	for (int i = 0; r == 0 && i < g->count; i++)
		sx_ring_set_bell(g->rings[i], g->bell.fd);
	return r;
}

void sx_ringer_stop(struct sx_ringer *g)
{
	struct sx_ringer_thread *const threads[] = {&g->bell, &g->crowd};

	atomic_store_explicit(&g->stop, true, memory_order_relaxed);
	for (int i = 0; i < 2; i++) {
		sx_must_be(threads[i]->made || !threads[i]->runs);
		if (threads[i]->runs) {
			sx_wake(threads[i]->fd);
			pthread_join(threads[i]->thread, NULL);
		}
		if (threads[i]->made)
			close(threads[i]->fd);
		*threads[i] = (struct sx_ringer_thread){0};
	}
}
