/*
 * When a frame is done. A thread for each context waits for that and writes the eventfd. A host function at
 * the stream's end would need no thread, but CUDA does not call it when the device has failed, and then
 * nobody would ever learn that.
 *
 * Being woken by the driver (an event with blocking synchronisation) comes late: an interrupt, and a
 * processor that has gone to sleep. So the thread sleeps by the clock until shortly before the shortest of
 * the last frames was done, and then asks the device again and again (engine.spin_us); a frame that takes
 * much longer is slept for in the driver after all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "gpu/host/engine_priv.h"

#define TIMER_SLACK_NS 1000L /* the system's own is 50000 */

static void sleep_until(int64_t ns)
{
	const struct timespec at = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

/*
 * The shortest of the last frames: whoever sleeps longer than a frame takes is late. Frames that become
 * shorter are found done spin_ns earlier each time. 0: not known yet.
 */
static int64_t expected_ns(const struct sx_completion *c)
{
	int64_t least = INT64_MAX;

	for (int i = 0; i < SX_COMPLETION_FRAMES; i++)
		least = c->took_ns[i] < least ? c->took_ns[i] : least;
	return c->spin_ns > 0 ? least : 0;
}

/* Returns when the frame was found done. */
static int64_t wait_for_frame(struct sx_completion *c, cudaError_t *e)
{
	const int64_t submitted_ns = atomic_load_explicit(&c->submitted_ns, memory_order_relaxed);
	const int64_t expected = expected_ns(c), until_ns = submitted_ns + expected + c->spin_ns;
	int64_t now_ns;

	*e = cudaErrorNotReady;
	if (expected > 0) {
		sleep_until(submitted_ns + expected - c->spin_ns);
		do
			*e = cudaEventQuery(c->event);
		while (*e == cudaErrorNotReady && sx_now_ns() < until_ns);
	}
	if (*e == cudaErrorNotReady)
		*e = cudaEventSynchronize(c->event);
	now_ns = sx_now_ns();
	c->took_ns[c->frames++ % SX_COMPLETION_FRAMES] = now_ns - submitted_ns;
	return now_ns;
}

static void *completion_watch(void *completion)
{
	struct sx_completion *c = completion;
	const uint64_t one = 1;
	int64_t now_ns;
	cudaError_t e = sx_cuda_enter(c->device);
	ssize_t n;

	prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS, 0, 0, 0); /* without it only later */
	for (;;) {
		while (sem_wait(&c->submitted) < 0)
			; /* interrupted by a debugger: signals are blocked */
		if (atomic_load_explicit(&c->stop, memory_order_acquire))
			return NULL;
		now_ns = e ? sx_now_ns() : wait_for_frame(c, &e);
		atomic_store_explicit(&c->finished_ns, now_ns, memory_order_relaxed);
		atomic_store_explicit(&c->error, (int)e, memory_order_release);
		n = write(c->fd, &one, sizeof(one)); /* the counter is 0 here: cannot fail */
		(void)n;
	}
}

static int completion_start(struct sx_completion *c)
{
	sigset_t all, before;
	int r;

	sigfillset(&all); /* signals are for the threads of the program */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&c->thread, NULL, completion_watch, c);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r)
		return -r;
	c->runs = true;
	pthread_setname_np(c->thread, "sx-cuda");
	return 0;
}

int sx_completion_init(struct sx_completion *c, const struct sx_device *d, bool busy_wait, char *why,
		       size_t why_bytes)
{
	cudaError_t e;
	int r;

	*c = (struct sx_completion){
		.device = d, .busy_wait = busy_wait, .spin_ns = d->spin_us * INT64_C(1000)};
	c->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->fd < 0) {
		r = -errno;
		snprintf(why, why_bytes, "engine cuda: no eventfd: %s", strerror(-r));
		return r;
	}
	c->has_semaphore = sem_init(&c->submitted, 0, 0) == 0;
	e = cudaEventCreateWithFlags(&c->event, cudaEventBlockingSync | cudaEventDisableTiming);
	if (e)
		return sx_cuda_complain(why, why_bytes, e, "no event");
	if (busy_wait)
		return 0;
	r = completion_start(c);
	if (r < 0)
		snprintf(why, why_bytes, "engine cuda: no thread: %s", strerror(-r));
	return r;
}

void sx_completion_finish(struct sx_completion *c)
{
	if (c->runs) {
		atomic_store_explicit(&c->stop, true, memory_order_release);
		sem_post(&c->submitted);
		pthread_join(c->thread, NULL);
	}
	if (c->has_semaphore)
		sem_destroy(&c->submitted);
	if (c->event)
		cudaEventDestroy(c->event);
	if (c->fd >= 0)
		close(c->fd);
	*c = (struct sx_completion){.fd = -1};
}

cudaError_t sx_completion_submit(struct sx_completion *c, cudaStream_t stream)
{
	cudaError_t e = cudaEventRecord(c->event, stream);

	if (e || c->busy_wait)
		return e;
	atomic_store_explicit(&c->submitted_ns, sx_now_ns(), memory_order_relaxed);
	sem_post(&c->submitted);
	return cudaSuccess;
}

static int ask_until(struct sx_completion *c, int timeout_ms)
{
	const int64_t until_ns = timeout_ms < 0 ? INT64_MAX : sx_now_ns() + timeout_ms * INT64_C(1000000);
	cudaError_t e;

	while ((e = cudaEventQuery(c->event)) == cudaErrorNotReady)
		if (timeout_ms >= 0 && sx_now_ns() > until_ns)
			return 0;
	atomic_store_explicit(&c->finished_ns, sx_now_ns(), memory_order_relaxed);
	atomic_store_explicit(&c->error, (int)e, memory_order_release);
	return 1;
}

int sx_completion_wait(struct sx_completion *c, int timeout_ms)
{
	struct pollfd pfd = {.fd = c->fd, .events = POLLIN};
	uint64_t count;
	int r;

	if (c->busy_wait)
		return ask_until(c, timeout_ms);
	r = poll(&pfd, 1, timeout_ms);
	if (r < 0)
		return errno == EINTR ? 0 : -errno;
	if (r == 0)
		return 0;
	return read(c->fd, &count, sizeof(count)) == sizeof(count) ? 1 : -errno;
}
