/*
 * Threads that decode images.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/decoders.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/thread.h"
#include "base/wake.h"

struct decoder {
	struct sx_decoders *all;
	pthread_t thread;
	struct sx_file_bytes bytes;
};

struct sx_decoders {
	int running, fd;
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct sx_decode_task *first, **last; /* queue, protected by lock */
	bool ending;
	struct decoder decoders[SX_DECODERS_MAX];
};

/* Waits for the next task. NULL: the thread must end. */
static struct sx_decode_task *next_task(struct sx_decoders *d)
{
	struct sx_decode_task *task;

	pthread_mutex_lock(&d->lock);
	while (!d->first && !d->ending)
		pthread_cond_wait(&d->more, &d->lock);
	task = d->first;
	if (task) {
		d->first = task->next;
		if (!d->first)
			d->last = &d->first;
	}
	pthread_mutex_unlock(&d->lock);
	return task;
}

static void *decoder_run(void *decoder)
{
	struct decoder *own = decoder;
	struct sx_decode_task *task;

	while ((task = next_task(own->all))) {
		task->notes = (struct sx_image_notes){0};
		task->result = task->decode(task->input, &task->to, &own->bytes, &task->notes, &task->why);
		atomic_store_explicit(&task->done, true, memory_order_release);
		sx_wake(own->all->fd);
	}
	sx_file_bytes_finish(&own->bytes);
	return NULL;
}

int sx_decoders_create(struct sx_decoders **ret, int threads, struct sx_why *why)
{
	struct sx_decoders *d = calloc(1, sizeof(*d));
	int r = 0;

	sx_must(threads, >, 0);
	sx_why_set(why, "no memory for decoders");
	if (!d)
		return -ENOMEM;
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->more, NULL);
	d->last = &d->first;
	d->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (d->fd < 0)
		r = -errno;
	for (; r == 0 && d->running < threads && d->running < SX_DECODERS_MAX; d->running += r == 0) {
		struct decoder *own = &d->decoders[d->running];

		own->all = d;
		r = sx_thread_start(&own->thread, decoder_run, own);
		if (r == 0)
			pthread_setname_np(own->thread, "decoder");
		else
			sx_why_set(why, "cannot start a thread that decodes: %s", strerror(-r));
	}
	if (r < 0) {
		sx_decoders_destroy(d);
		return r;
	}
	*ret = d;
	return 0;
}

void sx_decoders_destroy(struct sx_decoders *d)
{
	if (!d)
		return;
	pthread_mutex_lock(&d->lock);
	sx_must_be(!d->ending);
	d->ending = true;
	pthread_cond_broadcast(&d->more);
	pthread_mutex_unlock(&d->lock);
	for (int i = 0; i < d->running; i++)
		pthread_join(d->decoders[i].thread, NULL);
	sx_must_be(!d->first);
	if (d->fd >= 0)
		close(d->fd);
	pthread_cond_destroy(&d->more);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

void sx_decoders_submit(struct sx_decoders *d, struct sx_decode_task *task)
{
	sx_must_be(!d->ending);
	task->next = NULL;
	atomic_store_explicit(&task->done, false, memory_order_relaxed);
	pthread_mutex_lock(&d->lock);
	*d->last = task;
	d->last = &task->next;
	pthread_cond_signal(&d->more);
	pthread_mutex_unlock(&d->lock);
}

bool sx_decoders_cancel(struct sx_decoders *d, struct sx_decode_task *task)
{
	struct sx_decode_task **at;
	bool found;

	pthread_mutex_lock(&d->lock);
	for (at = &d->first; *at && *at != task; at = &(*at)->next)
		;
	found = *at != NULL;
	if (found) {
		*at = task->next;
		if (!*at)
			d->last = at;
	}
	pthread_mutex_unlock(&d->lock);
	return found;
}

int sx_decoders_fd(const struct sx_decoders *d)
{
	return d->fd;
}
