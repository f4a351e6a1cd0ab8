/*
 * Decoders without threads, linked instead of capture/decoders.c. A task runs when the input orders it,
 * or at the end. It always runs at the same place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/capture/v4l2/fuzz_decoders.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

struct sx_decoders {
	int fd;
	struct sx_decode_task *first, **last;
};

static struct sx_decoders *all; /* there is one source at a time */

int __wrap_sx_decoders_create(struct sx_decoders **ret, int threads, struct sx_why *why);
int __wrap_sx_decoders_create(struct sx_decoders **ret, int threads, struct sx_why *why)
{
	struct sx_decoders *d = calloc(1, sizeof(*d));
	int r;

	if (threads < 1 || all)
		fuzz_fail("%d decoders", threads);
	sx_why_set(why, "no memory");
	if (!d)
		return -ENOMEM;
	d->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	d->last = &d->first;
	r = d->fd < 0 ? -errno : 0;
	if (r < 0) {
		sx_why_set(why, "no decoders: %s", strerror(-r));
		if (d->fd >= 0)
			close(d->fd);
		free(d);
		return r;
	}
	*ret = all = d;
	return 0;
}

void __wrap_sx_decoders_submit(struct sx_decoders *d, struct sx_decode_task *task);
void __wrap_sx_decoders_submit(struct sx_decoders *d, struct sx_decode_task *task)
{
	task->next = NULL;
	atomic_store(&task->done, false);
	*d->last = task;
	d->last = &task->next;
}

int __wrap_sx_decoders_fd(const struct sx_decoders *d);
int __wrap_sx_decoders_fd(const struct sx_decoders *d)
{
	return d->fd;
}

void fuzz_decode(int count)
{
	const uint64_t one = 1;

	while (all && all->first && count-- > 0) {
		struct sx_decode_task *task = all->first;

		all->first = task->next;
		if (!all->first)
			all->last = &all->first;
		task->notes = (struct sx_image_notes){0};
		task->result = task->decode(task->input, &task->to, NULL, &task->notes, &task->why);
		atomic_store(&task->done, true);
		if (write(all->fd, &one, sizeof(one)) < 0)
			fuzz_fail("eventfd");
	}
}

void __wrap_sx_decoders_destroy(struct sx_decoders *d);
void __wrap_sx_decoders_destroy(struct sx_decoders *d)
{
	if (!d)
		return;
	if (d != all)
		fuzz_fail("decoders that are not there");
	fuzz_decode(INT_MAX);
	close(d->fd);
	free(d);
	all = NULL;
}
