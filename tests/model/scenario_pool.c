/*
 * The workers of the cpu engine: cpu/pool.c, a leader, a helper, and a caller that ends them when the job is
 * done.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "base/wake.h"
#include "cpu/pool.h"
#include "tests/model/explore.h"

#define TASKS 2

static struct sx_pool *pool;
static struct sx_pool_job job;
static int done_fd, second_fd;
static bool alone; /* true: the loop has only one task */
static int input, output[TASKS], sum;

/*
 * The first task waits for the second. If a helper sleeps on while there is a task, it is stuck together with
 * the leader.
 */
static void pool_task(void *arg, int index, int worker)
{
	struct pollfd fd = {.fd = second_fd, .events = POLLIN};

	if (index == 1)
		sx_wake(second_fd);
	else if (!alone && poll(&fd, 1, -1) > 0)
		sx_wake_clear(second_fd);
	output[index] = input + index;
}

/*
 * Runs a loop. Its tasks read what was written before it, and the caller reads what they wrote. No access is
 * atomic, so that a race is found.
 */
static void pool_loop(int tasks)
{
	input = 10 * (sum + 1);
	alone = tasks == 1;
	sx_pool_for(pool, tasks, pool_task, NULL);
	for (int k = 0; k < tasks; k++) {
		model_check(output[k] == input + k, "a task was not run, or its work is not seen");
		output[k] = 0;
	}
	sum++;
}

static void pool_job(void *arg)
{
	for (unsigned i = 0; i < model_count(1, 2); i++)
		pool_loop(TASKS);
	sx_wake(done_fd);
}

static void pool_setup(void)
{
	if (sx_pool_create(&pool, 2) < 0)
		abort();
	job.run = pool_job;
	sx_pool_submit(pool, &job);
	done_fd = eventfd(0, EFD_NONBLOCK);
	second_fd = eventfd(0, EFD_NONBLOCK);
	model_clock_runs();
}

static void pool_leader(void)
{
	model_run_started(0);
}

static void pool_helper(void)
{
	model_run_started(1);
}

static void pool_caller(void)
{
	struct pollfd fd = {.fd = done_fd, .events = POLLIN};

	poll(&fd, 1, -1);
	sx_pool_destroy(pool);
}

static void pool_end(void)
{
	model_check(sum == (int)model_count(1, 2), "the job was not done");
}

const struct model_scenario model_pool = {
	"pool", pool_setup, {pool_leader, pool_helper, pool_caller}, pool_end, NULL};

/* ---- a helper that looked for a task of one loop, and finds a task of the next ---- */

static void late_job(void *arg)
{
	for (int i = 0; i < 2; i++)
		pool_loop(1);
	sx_wake(done_fd);
}

static void late_setup(void)
{
	pool_setup();
	job.run = late_job;
}

static void late_end(void)
{
	model_check(sum == 2, "the job was not done");
}

const struct model_scenario model_pool_late = {
	"pool-late", late_setup, {pool_leader, pool_helper, pool_caller}, late_end, NULL};
