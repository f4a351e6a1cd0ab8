/*
 * The worker threads of the cpu engine. One job (a frame) runs at a time, on the first worker; inside it
 * sx_pool_for() spreads a stage over all workers. Jobs that come meanwhile wait in order of arrival.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_POOL_H
#define SX_CPU_POOL_H

#include <stdbool.h>

#define SX_POOL_THREADS_MAX 64

struct sx_pool;

/* Owned by the caller; must stay until run has returned. next belongs to the pool. */
struct sx_pool_job {
	void (*run)(void *arg);
	void *arg;
	struct sx_pool_job *next;
};

/*
 * index: 0 .. count-1, begun in this order, so that a task may wait for one before it, by sx_pool_pause().
 * worker: 0 .. threads-1, no two tasks at a time have the same.
 */
typedef void sx_pool_task_fn(void *arg, int index, int worker);

/* CPUs that this process may use, 1..SX_POOL_THREADS_MAX. */
int sx_pool_available_cpus(void);

/* threads: 1..SX_POOL_THREADS_MAX, named "sx-cpu-0" and so on. -EINVAL, -ENOMEM, -EAGAIN. */
int sx_pool_create(struct sx_pool **ret, int threads);
/* Finishes the jobs that were submitted, then joins the threads. NULL is accepted. */
void sx_pool_destroy(struct sx_pool *p);
int sx_pool_threads(const struct sx_pool *p);

/* Thread: any, but not a job. Returns at once. */
void sx_pool_submit(struct sx_pool *p, struct sx_pool_job *job);
/* Waits until no job runs or waits. Thread: any, but not a job. */
void sx_pool_drain(struct sx_pool *p);

/* What a task does between looks at another's work, turn 0, 1, ...: little at first, then it gives way. */
void sx_pool_pause(unsigned turn);

/*
 * Calls fn for every index and returns when all calls have returned; their writes are then visible to the
 * caller and to every later task. Thread: the running job only. Allocates nothing.
 */
void sx_pool_for(struct sx_pool *p, int count, sx_pool_task_fn *fn, void *arg);

#endif
