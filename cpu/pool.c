/*
 * Worker threads: a queue of jobs, and a parallel for over small tasks inside the running job.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/pool.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/thread.h"

/*
 * How long an idle worker polls for the next loop before it sleeps, ns. Loops of one frame follow each other
 * within a few microseconds, and waking a thread costs about 50 us. Between frames every worker sleeps.
 */
#define SPIN_NS 40000

struct worker {
	struct sx_pool *pool;
	pthread_t thread;
	int index;
	bool started;
};

/*
 * The loop in progress. The low half of ticket is the number of tasks left; a worker claims a task by
 * subtracting one. The high half counts loops, so that a late worker cannot claim a task of the next loop by
 * mistake. fn, arg and count change only while no task is left or running, so a worker that has claimed a
 * task may read them. The loop ends when done reaches count. It does not wait for workers without a task.
 */
struct loop {
	_Atomic uint64_t ticket;
	_Atomic uint32_t done;
	sx_pool_task_fn *fn;
	void *arg;
	uint32_t count;
};

struct sx_pool {
	struct worker workers[SX_POOL_THREADS_MAX];
	int threads;
	struct loop loop;
	_Atomic uint32_t sleepers;

	pthread_mutex_t mutex;
	pthread_cond_t loop_begun; /* helpers wait for it */
	pthread_cond_t loop_done;  /* the first worker waits for it */
	pthread_cond_t job_come;   /* the first worker waits for it */
	pthread_cond_t idle;	   /* sx_pool_drain() waits for it */
	struct sx_pool_job *first, *last;
	bool busy, stop; /* guarded by mutex */
	_Atomic bool leader_sleeps;
};

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

#define PAUSES 100 /* takes a few microseconds */

void sx_pool_pause(unsigned turn)
{
	if (turn < PAUSES)
		pause_briefly();
	else
		sched_yield();
}

static uint32_t tasks_left(uint64_t ticket)
{
	return (uint32_t)ticket;
}

/* Runs tasks until none is left. Returns true if it ran the last task of the loop to end. */
static bool run_tasks(struct sx_pool *p, int worker)
{
	struct loop *l = &p->loop;
	uint64_t ticket = atomic_load_explicit(&l->ticket, memory_order_acquire);
	bool ended = false;

	while (tasks_left(ticket) > 0) {
		uint32_t count;

		if (!atomic_compare_exchange_weak_explicit(&l->ticket, &ticket, ticket - 1,
							   memory_order_acq_rel, memory_order_acquire))
			continue;
		count = l->count;
		l->fn(l->arg, (int)(count - tasks_left(ticket)), worker);
		/* after this addition the loop may be over and l may hold the next one */
		ended = atomic_fetch_add(&l->done, 1) + 1 == count;
		ticket = atomic_load_explicit(&l->ticket, memory_order_acquire);
	}
	return ended;
}

static void end_loop(struct sx_pool *p)
{
	if (!atomic_load(&p->leader_sleeps))
		return;
	pthread_mutex_lock(&p->mutex);
	pthread_cond_signal(&p->loop_done);
	pthread_mutex_unlock(&p->mutex);
}

static void wait_for_others(struct sx_pool *p)
{
	struct loop *l = &p->loop;
	int64_t give_up = sx_now_ns() + SPIN_NS;

	while (atomic_load(&l->done) < l->count) {
		pause_briefly();
		if (sx_now_ns() < give_up)
			continue;
		pthread_mutex_lock(&p->mutex);
		/*
		 * Uses an exchange because of QEMU: on arm64 it lets a load pass the preceding store, even
		 * with seq_cst.
		 */
		atomic_exchange(&p->leader_sleeps, true);
		while (atomic_load(&l->done) < l->count)
			pthread_cond_wait(&p->loop_done, &p->mutex);
		atomic_store(&p->leader_sleeps, false);
		pthread_mutex_unlock(&p->mutex);
	}
}

void sx_pool_for(struct sx_pool *p, int count, sx_pool_task_fn *fn, void *arg)
{
	struct loop *l = &p->loop;
	uint64_t loops;

	if (count <= 0)
		return;
	loops = atomic_load_explicit(&l->ticket, memory_order_relaxed) >> 32;
	l->fn = fn;
	l->arg = arg;
	l->count = (uint32_t)count;
	atomic_store(&l->done, 0);
	atomic_store(&l->ticket, (loops + 1) << 32 | (uint32_t)count);
	if (count > 1 && atomic_load(&p->sleepers) > 0) {
		pthread_mutex_lock(&p->mutex);
		pthread_cond_broadcast(&p->loop_begun);
		pthread_mutex_unlock(&p->mutex);
	}
	run_tasks(p, 0);
	wait_for_others(p);
}

/* Sleeps until there are tasks. Returns false when the pool ends. */
static bool wait_for_loop(struct sx_pool *p)
{
	int64_t give_up = sx_now_ns() + SPIN_NS;
	bool stop;

	do {
		if (tasks_left(atomic_load_explicit(&p->loop.ticket, memory_order_relaxed)) > 0)
			return true;
		pause_briefly();
	} while (sx_now_ns() < give_up);
	pthread_mutex_lock(&p->mutex);
	atomic_fetch_add(&p->sleepers,
			 /*
			  * must precede the read of ticket: sx_pool_for() stores ticket, then reads this
			  * counter
			  */
			 1);
	while (!p->stop && tasks_left(atomic_load(&p->loop.ticket)) == 0)
		pthread_cond_wait(&p->loop_begun, &p->mutex);
	atomic_fetch_sub(&p->sleepers, 1);
	stop = p->stop;
	pthread_mutex_unlock(&p->mutex);
	return !stop;
}

static void *help(void *arg)
{
	struct worker *w = arg;

	while (wait_for_loop(w->pool))
		if (run_tasks(w->pool, w->index))
			end_loop(w->pool);
	return NULL;
}

static struct sx_pool_job *next_job(struct sx_pool *p)
{
	struct sx_pool_job *job;

	pthread_mutex_lock(&p->mutex);
	p->busy = false;
	while (!p->first && !p->stop) {
		pthread_cond_broadcast(&p->idle);
		pthread_cond_wait(&p->job_come, &p->mutex);
	}
	job = p->first;
	if (job) {
		p->first = job->next;
		p->busy = true;
	}
	pthread_mutex_unlock(&p->mutex);
	return job;
}

static void *lead(void *arg)
{
	struct worker *w = arg;
	struct sx_pool *p = w->pool;
	struct sx_pool_job *job;

	while ((job = next_job(p)))
		job->run(job->arg);
	return NULL;
}

void sx_pool_submit(struct sx_pool *p, struct sx_pool_job *job)
{
	job->next = NULL;
	pthread_mutex_lock(&p->mutex);
	if (p->first)
		p->last->next = job;
	else
		p->first = job;
	p->last = job;
	pthread_cond_signal(&p->job_come);
	pthread_mutex_unlock(&p->mutex);
}

void sx_pool_drain(struct sx_pool *p)
{
	pthread_mutex_lock(&p->mutex);
	while (p->first || p->busy)
		pthread_cond_wait(&p->idle, &p->mutex);
	pthread_mutex_unlock(&p->mutex);
}

int sx_pool_available_cpus(void)
{
	const int n = sx_processors();

	return n > SX_POOL_THREADS_MAX ? SX_POOL_THREADS_MAX : n;
}

int sx_pool_threads(const struct sx_pool *p)
{
	return p->threads;
}

static int start_worker(struct sx_pool *p, int index)
{
	struct worker *w = &p->workers[index];
	char name[16];
	int r;

	w->pool = p;
	w->index = index;
	r = sx_thread_start(&w->thread, index == 0 ? lead : help, w);
	if (r < 0)
		return r;
	w->started = true;
	snprintf(name, sizeof(name), "sx-cpu-%u", (unsigned)index % 1000u);
	pthread_setname_np(w->thread, name);
	return 0;
}

int sx_pool_create(struct sx_pool **ret, int threads)
{
	struct sx_pool *p;
	int r = 0;

	if (threads < 1 || threads > SX_POOL_THREADS_MAX)
		return -EINVAL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->threads = threads;
	pthread_mutex_init(&p->mutex, NULL);
	pthread_cond_init(&p->loop_begun, NULL);
	pthread_cond_init(&p->loop_done, NULL);
	pthread_cond_init(&p->job_come, NULL);
	pthread_cond_init(&p->idle, NULL);
	for (int i = 0; i < threads && r == 0; i++)
		r = start_worker(p, i);
	if (r < 0) {
		sx_pool_destroy(p);
		return r;
	}
	*ret = p;
	return 0;
}

void sx_pool_destroy(struct sx_pool *p)
{
	if (!p)
		return;
	if (p->workers[0].started)
		sx_pool_drain(p); /* the last jobs still need the helpers */
	pthread_mutex_lock(&p->mutex);
	p->stop = true;
	pthread_cond_broadcast(&p->job_come);
	pthread_cond_broadcast(&p->loop_begun);
	pthread_mutex_unlock(&p->mutex);
	for (int i = 0; i < p->threads; i++)
		if (p->workers[i].started)
			pthread_join(p->workers[i].thread, NULL);
	pthread_cond_destroy(&p->idle);
	pthread_cond_destroy(&p->job_come);
	pthread_cond_destroy(&p->loop_done);
	pthread_cond_destroy(&p->loop_begun);
	pthread_mutex_destroy(&p->mutex);
	free(p);
}
