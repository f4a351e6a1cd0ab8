/*
 * When a frame is done. A thread for each context sleeps in the driver (an event with blocking
 * synchronisation) and writes the eventfd. A host function at the stream's end would need no thread, but CUDA
 * does not call it when the device has failed, and then nobody would ever learn that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "gpu/host/engine_priv.h"

static void *completion_watch(void *completion)
{
	struct sx_completion *c = completion;
	const uint64_t one = 1;
	cudaError_t e = sx_cuda_enter(c->device);
	ssize_t n;

	for (;;) {
		while (sem_wait(&c->submitted) < 0)
			; /* interrupted by a debugger: signals are blocked */
		if (atomic_load_explicit(&c->stop, memory_order_acquire))
			return NULL;
		if (!e)
			e = cudaEventSynchronize(c->event);
		atomic_store_explicit(&c->finished_ns, sx_now_ns(), memory_order_relaxed);
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

	*c = (struct sx_completion){.device = d, .busy_wait = busy_wait};
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

	if (!e && !c->busy_wait)
		sem_post(&c->submitted);
	return e;
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
