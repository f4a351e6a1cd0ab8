/*
 * Detects when a frame is done. A thread per context sleeps in the driver (on an event with blocking
 * synchronisation) and writes the eventfd. A host function at the end of the stream would need no thread. But
 * CUDA does not call it if the device has failed, so the failure would never be noticed.
 *
 * Two threads wake one after the other, which takes time: there is an interrupt, and processors may sleep.
 *  Therefore the caller also learns when the frame should be done (the shortest time of the last
 * frames) and may poll the device around that time (engine.spin_us). If polling is sooner, the thread's
 * message brings nothing new.
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

	for (uint32_t frame = 1;; frame++) {
		while (sem_wait(&c->submitted) < 0)
			; /* a debugger interrupted; signals are blocked */
		if (atomic_load_explicit(&c->stop, memory_order_acquire))
			return NULL;
		if (!e)
			e = cudaEventSynchronize(c->event);
		c->reported.error = e;
		c->reported.finished_ns = sx_now_ns();
		atomic_store_explicit(&c->reported.frame, frame, memory_order_release);
		n = write(c->fd, &one, sizeof(one)); /* cannot fail: the counter is far from full */
		(void)n;
	}
}

static int completion_start(struct sx_completion *c)
{
	sigset_t all, before;
	int r;

	sigfillset(&all); /* the program's own threads handle signals */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&c->thread, NULL, completion_watch, c);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r)
		return -r;
	c->running = true;
	pthread_setname_np(c->thread, "sx-cuda");
	return 0;
}

int sx_completion_init(struct sx_completion *c, const struct sx_device *d, bool busy_wait, struct sx_why *why)
{
	cudaError_t e;
	int r;

	*c = (struct sx_completion){
		.device = d, .busy_wait = busy_wait, .spin_ns = d->spin_us * INT64_C(1000)};
	c->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->fd < 0) {
		r = -errno;
		return sx_why_fail(r, why, "engine cuda: no eventfd: %s", strerror(-r));
	}
	c->has_semaphore = sem_init(&c->submitted, 0, 0) == 0;
	e = cudaEventCreateWithFlags(&c->event, cudaEventBlockingSync | cudaEventDisableTiming);
	if (e)
		return sx_cuda_complain(why, e, "no event");
	if (busy_wait)
		return 0;
	r = completion_start(c);
	if (r < 0)
		sx_why_set(why, "engine cuda: no thread: %s", strerror(-r));
	return r;
}

void sx_completion_finish(struct sx_completion *c)
{
	if (c->running) {
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

	if (e)
		return e;
	c->frame++;
	c->submitted_ns = sx_now_ns();
	if (!c->busy_wait)
		sem_post(&c->submitted);
	return cudaSuccess;
}

static int found_done(struct sx_completion *c, cudaError_t e, int64_t now_ns)
{
	c->error = e;
	c->finished_ns = now_ns;
	c->took_ns[c->frame % SX_COMPLETION_FRAMES] = now_ns - c->submitted_ns;
	return 1;
}

bool sx_completion_nearly(const struct sx_completion *c, int64_t *from_ns, int64_t *until_ns)
{
	int64_t least_ns = INT64_MAX;

	for (int i = 0; i < SX_COMPLETION_FRAMES; i++)
		least_ns = c->took_ns[i] < least_ns ? c->took_ns[i] : least_ns;
	*from_ns = c->submitted_ns + least_ns - c->spin_ns;
	*until_ns = c->submitted_ns + least_ns + c->spin_ns;
	return c->spin_ns > 0 && least_ns > 0;
}

/* Returns 1 if the frame is done, 0 if not; does not wait. Asks the thread first, then the device. */
static int ask(struct sx_completion *c)
{
	cudaError_t e = cudaErrorNotReady;

	if (!c->busy_wait && atomic_load_explicit(&c->reported.frame, memory_order_acquire) == c->frame)
		return found_done(c, c->reported.error, c->reported.finished_ns);
	if (c->busy_wait || c->spin_ns > 0)
		e = cudaEventQuery(c->event);
	return e == cudaErrorNotReady ? 0 : found_done(c, e, sx_now_ns());
}

/* Waits for the eventfd. Also drains stale messages of frames that polling had already completed. */
static int wait_asleep(struct sx_completion *c, int timeout_ms)
{
	struct pollfd pfd = {.fd = c->fd, .events = POLLIN};
	uint64_t count;
	int r = poll(&pfd, 1, timeout_ms);

	if (r < 0)
		return errno == EINTR ? 0 : -errno;
	if (r > 0 && read(c->fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return -errno;
	return r;
}

int sx_completion_wait(struct sx_completion *c, int timeout_ms)
{
	const int64_t until_ns = timeout_ms < 0 ? INT64_MAX : sx_now_ns() + timeout_ms * INT64_C(1000000);
	int r = wait_asleep(c, 0), done;

	if (r < 0)
		return r;
	while (!(done = ask(c))) {
		const int64_t left_ns = until_ns - sx_now_ns();

		if (left_ns <= 0)
			return 0;
		if (c->busy_wait)
			continue;
		r = wait_asleep(c, timeout_ms < 0 ? -1 : (int)((left_ns + 999999) / 1000000));
		if (r < 0)
			return r;
	}
	return done;
}
