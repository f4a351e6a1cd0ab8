/*
 * Worker threads of the CPU engine. One job (a frame) runs at a time, on the first worker. Inside the job
 * sx_pool_for() spreads a stage over all workers. Other jobs wait in order of arrival.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_POOL_H
#define SX_CPU_POOL_H

#include <stdbool.h>

#define SX_POOL_THREADS_MAX 64

struct sx_pool;

/* A job. The caller owns it and keeps it until run has returned. next belongs to the pool. */
struct sx_pool_job {
	void (*run)(void *arg);
	void *arg;
	struct sx_pool_job *next;
};

/*
 * A task. index: 0 .. count-1. Tasks begin in this order, so a task may wait for an earlier one by
 * sx_pool_pause(). worker: 0 .. threads-1, different for tasks that run at the same time.
 */
typedef void sx_pool_task_fn(void *arg, int index, int worker);

/* Returns the CPUs that this process may use, 1..SX_POOL_THREADS_MAX. */
int sx_pool_available_cpus(void);

/*
 * Starts a pool. threads: 1..SX_POOL_THREADS_MAX, named "sx-cpu-0" and so on. Returns 0, -EINVAL, -ENOMEM or
 * -EAGAIN.
 */
int sx_pool_create(struct sx_pool **ret, int threads);
/* Finishes the submitted jobs, then joins the threads. Accepts NULL. */
void sx_pool_destroy(struct sx_pool *p);
int sx_pool_threads(const struct sx_pool *p);

/* Submits a job and returns at once. Thread: any except a running job. */
void sx_pool_submit(struct sx_pool *p, struct sx_pool_job *job);
/* Waits until no job runs or waits. Thread: any except a running job. */
void sx_pool_drain(struct sx_pool *p);

/* Backoff while a task polls another task: spins at first, then yields. turn counts from 0. */
void sx_pool_pause(unsigned turn);

/*
 * Calls fn for every index and returns when all calls have returned. Their writes are then visible to the
 * caller and to every later task. Thread: only the running job. Allocates nothing.
 */
void sx_pool_for(struct sx_pool *p, int count, sx_pool_task_fn *fn, void *arg);

#endif
