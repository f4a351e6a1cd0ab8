/*
 * The explorer's mutexes, conditions and threads of POSIX.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdlib.h>

#include "tests/model/model.h"

#define FIRST (KERNEL_OBJECTS - MUTEXES) /* first kernel object that is a mutex */

struct start {
	void *(*run)(void *arg);
	void *arg;
};

static struct start starts[MODEL_THREADS]; /* threads started in setup */
static unsigned started;

/* Replaces base/thread.c. A thread of the scenario runs the function later. */
int __wrap_sx_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg);
int __wrap_sx_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	if (started == MODEL_THREADS)
		abort();
	*thread = pthread_self();
	starts[started++] = (struct start){run, arg};
	return 0;
}

void model_run_started(unsigned which)
{
	starts[which].run(starts[which].arg);
}

/* ---- mutexes ---- */

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __wrap_pthread_cond_signal(pthread_cond_t *condition);
int __wrap_pthread_cond_broadcast(pthread_cond_t *condition);
int __wrap_pthread_join(pthread_t thread, void **ret);

static struct mutex *lock_find(const pthread_mutex_t *mutex)
{
	for (int i = 0; i < MUTEXES; i++) {
		struct mutex *m = &model->mutex[i];

		if (!m->address)
			*m = (struct mutex){.address = (uintptr_t)mutex};
		if (m->address == (uintptr_t)mutex)
			return m;
	}
	explore_fail("too many mutexes");
}

static bool lock_is_free(const struct thread *t)
{
	return !t->mutex->locked && (!t->waits_at || t->woken);
}

static void lock_take(struct mutex *m)
{
	const unsigned object = FIRST + (unsigned)(m - model->mutex);

	explore_self()->mutex = m;
	explore_wait_system(1u << object, NULL, lock_is_free);
	m->locked = true;
	memory_system(object);
}

/* Unlocks without letting another thread run first, because no other thread could use the mutex until now. */
static void lock_give(struct mutex *m)
{
	memory_system(FIRST + (unsigned)(m - model->mutex));
	m->locked = false;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (explore_running())
		lock_take(lock_find(mutex));
	return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	if (explore_running())
		lock_give(lock_find(mutex));
	return 0;
}

/* ---- conditions, which are signalled with the mutex held ---- */

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	struct thread *t = explore_self();
	struct mutex *m = lock_find(mutex);

	t->waits_at = (uintptr_t)condition;
	t->woken = false;
	lock_give(m);
	explore_trace("waits for a condition");
	lock_take(m);
	t->waits_at = 0;
	return 0;
}

static void lock_wake(const pthread_cond_t *condition, bool all)
{
	struct thread *waiting[MODEL_THREADS];
	unsigned count = 0;

	if (!explore_running())
		return;
	for (int i = 0; i < model->threads; i++)
		if (model->thread[i].waits_at == (uintptr_t)condition && !model->thread[i].woken)
			waiting[count++] = &model->thread[i];
	explore_trace("signals a condition, %u wait", count);
	if (count && !all)
		waiting[explore_choose(count)]->woken = true;
	for (unsigned i = 0; all && i < count; i++)
		waiting[i]->woken = true;
}

int __wrap_pthread_cond_signal(pthread_cond_t *condition)
{
	lock_wake(condition, false);
	return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *condition)
{
	lock_wake(condition, true);
	return 0;
}

/* ---- the end ---- */

static bool lock_others_done(const struct thread *t)
{
	for (int i = 0; i < model->threads; i++)
		if (&model->thread[i] != t && model->thread[i].pending != PENDING_DONE)
			return false;
	return true;
}

/* Waits for all other threads. */
int __wrap_pthread_join(pthread_t thread, void **ret)
{
	if (explore_running())
		explore_wait_system(0, NULL, lock_others_done);
	return 0;
}
