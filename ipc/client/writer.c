/*
 * Rings of programs that write for stixeld: creates them and gives them to the group that reads them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/client/writer.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>

#include "base/contract.h"
#include "ipc/feed/feed_dirs.h"
#include "ipc/frame.h"
#include "ipc/instance.h"
#include "ipc/writers.h"

/*
 * Finds the group for the ring. stixeld reads objects of the group of writers, and only members can give an
 * object to that group. -1: the caller's own group, which is right for a daemon of the same user.
 */
static int group_of_writers(gid_t *ret)
{
	gid_t group;
	int e = sx_writers_group(&group);

	if (e == 0 && group)
		e = sx_writers_member(group);
	*ret = e == 1 ? group : (gid_t)-1;
	return e < 0 ? e : 0;
}

static bool slots_are_good(uint32_t slots)
{
	return slots >= 2 && slots <= STIXEL_SCORES_SLOTS_MAX && !(slots & (slots - 1));
}

int sx_writer_init(struct sx_writer *w, const struct sx_writer_params *p)
{
	struct sx_ring_params ring = {
		.prefix = p->prefix, .magic = p->magic, .instance = p->name, .quiet = true};
	char folder[PATH_MAX];
	int r;

	*w = (struct sx_writer){.epoch = sx_epoch_new()};
	if (sx_instance_check(p->name, NULL) < 0 || !slots_are_good(p->slots))
		return -EINVAL;
	sx_must_or(return -EINVAL, p->bytes, >, 0);
	if (!p->folder)
		sx_feed_writers_dir(folder, sizeof(folder));
	ring.shm_dir = p->folder ? p->folder : folder;
	ring.epoch = w->epoch;
	ring.slots = (int)p->slots;
	ring.frame_bytes = p->bytes;
	if (ring.frame_bytes < sizeof(struct stixel_frame_header))
		ring.frame_bytes = sizeof(struct stixel_frame_header); /* least size of any ring */
	r = group_of_writers(&ring.group);
	if (r == 0)
		r = sx_ring_create(&w->ring, &ring, NULL);
	if (r == 0)
		sx_ring_set_state(w->ring, STIXEL_STATE_RUNNING);
	return r;
}

void sx_writer_finish(struct sx_writer *w)
{
	sx_ring_destroy(w->ring);
	*w = (struct sx_writer){0};
}

int sx_writer_begin(struct sx_writer *w)
{
	if (sx_ring_replaced(w->ring))
		return -ESTALE;
	w->slot = sx_ring_begin(w->ring, &w->number);
	return 0;
}

void sx_writer_commit(struct sx_writer *w, size_t bytes)
{
	sx_must_or(return, w->slot != NULL, ==, true);
	sx_ring_commit(w->ring, bytes);
	w->slot = NULL;
}
