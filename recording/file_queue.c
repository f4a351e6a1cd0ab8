/*
 * A queue that writes a file in a thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recording/file_queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/thread.h"

#define TIMEOUT_NS (5 * SX_NS_PER_S)

struct sx_file_queue {
	int fd;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint8_t *memory;
	size_t room, begin, count; /* count bytes wait, from begin on, in a ring */
	uint64_t written;
	int error;
	bool closing;
	/* touched: another process may have written to the file, according to its modification time */
	bool guarded, touched;
	struct timespec modified; /* modification time of the guarded file after this queue's last write */
	const volatile sig_atomic_t *stop;
	int64_t progress_ns; /* time since which the file has taken no bytes though some wait */
};

/*
 * Waits until something changes. Once the program asks to stop, gives up a file that has taken no bytes for
 * five seconds.
 */
static void wait_change(struct sx_file_queue *q)
{
	struct timespec until;

	sx_must(q->count, <=, q->room);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += 200000000;
	until.tv_sec += until.tv_nsec / SX_NS_PER_S;
	until.tv_nsec %= SX_NS_PER_S;
	pthread_cond_timedwait(&q->changed, &q->lock, &until);
	if (q->stop && *q->stop && !q->error && sx_now_ns() - q->progress_ns > TIMEOUT_NS)
		q->error = -ETIMEDOUT;
}

/* Returns the length of the longest contiguous piece that waits. */
static size_t piece(const struct sx_file_queue *q)
{
	sx_must_index(q->begin, q->room);
	return q->begin + q->count > q->room ? q->room - q->begin : q->count;
}

static void took(struct sx_file_queue *q, size_t bytes)
{
	sx_must(bytes, <=, q->count);
	q->written += bytes;
	q->progress_ns = sx_now_ns();
	q->count -= bytes;
	q->begin = (q->begin + bytes) % q->room;
	if (!q->count)
		/*
		 * begin at the start again, so that the queue uses the same pages as long as the disk keeps
		 * up
		 */
		q->begin = 0;
}

/*
 * Checks a guarded file. Returns 0, or the reason why nothing more may be written. Called by the thread, or
 * while nothing waits.
 */
static int guard_look(struct sx_file_queue *q)
{
	struct stat st;

	if (!q->guarded)
		return 0;
	if (fstat(q->fd, &st) < 0)
		return -errno;
	if (st.st_nlink == 0)
		return -ENOENT;
	if ((uint64_t)st.st_size != q->written)
		return -ESTALE;
	if (st.st_mtim.tv_sec != q->modified.tv_sec || st.st_mtim.tv_nsec != q->modified.tv_nsec)
		q->touched = true;
	return 0;
}

/* Notes the modification time after a write of this queue, or before the first one. */
static void guard_note(struct sx_file_queue *q)
{
	struct stat st;

	if (q->guarded && fstat(q->fd, &st) == 0)
		q->modified = st.st_mtim;
}

static ssize_t guarded_write(struct sx_file_queue *q, const uint8_t *from, size_t bytes)
{
	ssize_t n = guard_look(q);

	if (n < 0)
		return n;
	n = write(q->fd, from, bytes);
	n = n < 0 ? -errno : n;
	guard_note(q);
	return n;
}

static void *queue_run(void *user)
{
	struct sx_file_queue *q = user;

	pthread_mutex_lock(&q->lock);
	for (;;) {
		const uint8_t *from = q->memory + q->begin;
		size_t bytes = piece(q);
		ssize_t n;

		if (!bytes || q->error) {
			if (q->closing || q->error)
				break;
			pthread_cond_wait(&q->changed, &q->lock);
			continue;
		}
		pthread_mutex_unlock(&q->lock);
		n = guarded_write(q, from, bytes);
		pthread_mutex_lock(&q->lock);
		if (n >= 0)
			took(q, (size_t)n);
		else if (n != -EINTR)
			q->error = (int)n;
		pthread_cond_broadcast(&q->changed);
	}
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

int sx_file_queue_create(struct sx_file_queue **ret, int fd, size_t room, const volatile sig_atomic_t *stop)
{
	struct sx_file_queue *q = calloc(1, sizeof(*q));
	int r;

	if (!q)
		return -ENOMEM;
	sx_must(room, >, 0);
	q->fd = fd;
	q->room = room;
	q->stop = stop;
	q->progress_ns = sx_now_ns();
	q->memory = malloc(room);
	if (!q->memory) {
		free(q);
		return -ENOMEM;
	}
	/* allocates the pages now, not while the disk is slow; with 0 the compiler would use calloc() */
	memset(q->memory, 1, room);
	pthread_mutex_init(&q->lock, NULL);
	sx_cond_init(&q->changed);
	r = sx_thread_start(&q->thread, queue_run, q);
	if (r < 0) {
		free(q->memory);
		free(q);
		return r;
	}
	*ret = q;
	return 0;
}

void sx_file_queue_guard(struct sx_file_queue *q)
{
	pthread_mutex_lock(&q->lock);
	sx_must_be(!q->written && !q->count);
	q->guarded = true;
	guard_note(q);
	pthread_mutex_unlock(&q->lock);
}

bool sx_file_queue_touched(struct sx_file_queue *q)
{
	bool touched;

	pthread_mutex_lock(&q->lock);
	touched = q->touched;
	pthread_mutex_unlock(&q->lock);
	return touched;
}

static void copy_in(struct sx_file_queue *q, const uint8_t *data, size_t bytes)
{
	size_t at = (q->begin + q->count) % q->room;
	size_t first = bytes < q->room - at ? bytes : q->room - at;

	sx_must(bytes, <=, q->room - q->count);
	memcpy(q->memory + at, data, first);
	memcpy(q->memory, data + first, bytes - first);
	q->count += bytes;
}

int sx_file_queue_put(struct sx_file_queue *q, const void *data, size_t bytes)
{
	const uint8_t *from = data;
	int r;

	pthread_mutex_lock(&q->lock);
	while (bytes && !q->error) {
		size_t n = q->room - q->count < bytes ? q->room - q->count : bytes;

		if (!n) {
			wait_change(q);
			continue;
		}
		if (!q->count) /* the queue was empty until now, so the file was not slow */
			q->progress_ns = sx_now_ns();
		copy_in(q, from, n);
		from += n;
		bytes -= n;
		pthread_cond_broadcast(&q->changed);
	}
	r = q->error;
	pthread_mutex_unlock(&q->lock);
	return r;
}

int sx_file_queue_flush(struct sx_file_queue *q)
{
	int r;

	pthread_mutex_lock(&q->lock);
	while (q->count && !q->error)
		wait_change(q);
	if (!q->error)
		q->error = guard_look(q);
	r = q->error;
	pthread_mutex_unlock(&q->lock);
	return r;
}

uint64_t sx_file_queue_written(struct sx_file_queue *q)
{
	uint64_t n;

	pthread_mutex_lock(&q->lock);
	n = q->written;
	pthread_mutex_unlock(&q->lock);
	return n;
}

void sx_file_queue_destroy(struct sx_file_queue *q)
{
	if (!q)
		return;
	pthread_mutex_lock(&q->lock);
	sx_must_be(!q->closing);
	q->closing = true;
	if (q->error == -ETIMEDOUT)
		pthread_cancel(q->thread); /* the thread is in write(), and does not hold the lock */
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
	pthread_join(q->thread, NULL);
	pthread_cond_destroy(&q->changed);
	pthread_mutex_destroy(&q->lock);
	free(q->memory);
	free(q);
}
