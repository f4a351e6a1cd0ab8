/*
 * Reads image files before their pairs are due.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/read_ahead.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "base/contract.h"
#include "base/thread.h"
#include "base/wake.h"
#include "capture/image/image_io.h"

/* Most memory of all pairs that are read at once. It does not limit the first AHEAD_LEAST pairs. */
#define AHEAD_BYTES_MAX (256u << 20)
#define AHEAD_LEAST 2
/* Pairs that wait for their turn while all decoders are busy with others. */
#define AHEAD_WAITING 2

/* A place for a pair. slot NULL: the place is free. */
struct place {
	struct sx_slot *slot;
	uint64_t turn;
	struct sx_decode_task tasks[2];
	bool open[2]; /* the task is in the queue, or a decoder has it */
};

struct sx_read_ahead {
	const struct sx_file_list *list;
	struct sx_slots *slots;
	struct sx_decoders *decoders;
	int images; /* files of a pair: 1 or 2 */
	int count, held;
	struct place places[SX_READ_AHEAD_MAX];
};

static int files_of_pair(const struct sx_file_list *list)
{
	return list->right ? 2 : 1;
}

struct sx_read_ahead_size sx_read_ahead_choose(const struct sx_file_list *list, size_t pair_bytes)
{
	const int files = files_of_pair(list);
	struct sx_read_ahead_size size = {.decoders = sx_processors()};

	sx_must(pair_bytes, >, 0);
	if (size.decoders > SX_DECODERS_MAX)
		size.decoders = SX_DECODERS_MAX;
	if ((size_t)size.decoders > list->count * (size_t)files)
		size.decoders = (int)list->count * files;
	size.pairs = (size.decoders + files - 1) / files + AHEAD_WAITING;
	while (size.pairs > AHEAD_LEAST && (size_t)size.pairs > AHEAD_BYTES_MAX / pair_bytes)
		size.pairs--;
	return size;
}

/* Reads a file (sx_decode_fn). */
static int read_file(const void *path, const struct sx_image *to, struct sx_file_bytes *bytes,
		     struct sx_image_notes *notes, struct sx_why *why)
{
	return sx_image_read_into(path, to, bytes, notes, why);
}

int sx_read_ahead_open(struct sx_read_ahead **ret, const struct sx_file_list *list, struct sx_slots *slots,
		       struct sx_read_ahead_size size, struct sx_why *why)
{
	struct sx_read_ahead *r;
	int result;

	sx_must_index(size.pairs - 1, SX_READ_AHEAD_MAX);
	sx_must(slots->spare, ==, size.pairs);
	r = calloc(1, sizeof(*r));
	if (!r)
		return sx_why_fail(-ENOMEM, why, "no memory for the source");
	r->list = list;
	r->slots = slots;
	r->images = files_of_pair(list);
	r->count = size.pairs;
	result = sx_decoders_create(&r->decoders, size.decoders, why);
	if (result < 0) {
		free(r);
		return result;
	}
	*ret = r;
	return 0;
}

/* Closes a task that is done, or that no decoder has begun. Returns false if a decoder is at it. */
static bool close_task(struct sx_read_ahead *r, struct place *place, int i)
{
	struct sx_decode_task *task = &place->tasks[i];

	if (place->open[i] && (atomic_load_explicit(&task->done, memory_order_acquire) ||
			       sx_decoders_cancel(r->decoders, task)))
		place->open[i] = false;
	return !place->open[i];
}

/* Frees a place and its slot, unless a decoder still writes to the slot. */
static void drop_place(struct sx_read_ahead *r, struct place *place)
{
	bool closed = true;

	for (int i = 0; i < r->images; i++)
		closed = close_task(r, place, i) && closed;
	if (!closed)
		return;
	sx_slots_unreserve(r->slots, place->slot);
	place->slot = NULL;
	r->held--;
}

void sx_read_ahead_drop(struct sx_read_ahead *r, uint64_t turn)
{
	for (int i = 0; i < r->count; i++)
		if (r->places[i].slot && r->places[i].turn < turn)
			drop_place(r, &r->places[i]);
}

void sx_read_ahead_close(struct sx_read_ahead *r)
{
	if (!r)
		return;
	sx_read_ahead_drop(r, UINT64_MAX);
	sx_decoders_destroy(r->decoders);
	r->decoders = NULL;
	sx_read_ahead_drop(r, UINT64_MAX);
	sx_must(r->held, ==, 0);
	free(r);
}

int sx_read_ahead_held(const struct sx_read_ahead *r)
{
	return r->held;
}

static struct place *find_turn(struct sx_read_ahead *r, uint64_t turn)
{
	for (int i = 0; i < r->count; i++)
		if (r->places[i].slot && r->places[i].turn == turn)
			return &r->places[i];
	return NULL;
}

static struct place *find_free(struct sx_read_ahead *r)
{
	for (int i = 0; i < r->count; i++)
		if (!r->places[i].slot)
			return &r->places[i];
	return NULL;
}

bool sx_read_ahead_begin(struct sx_read_ahead *r, uint64_t turn, size_t at)
{
	char *const files[2] = {r->list->left[at], r->list->right ? r->list->right[at] : NULL};
	struct place *place;

	sx_must_index(at, r->list->count);
	if (find_turn(r, turn))
		return true;
	place = find_free(r);
	if (place)
		place->slot = sx_slots_reserve(r->slots);
	if (!place || !place->slot)
		return false;
	r->held++;
	place->turn = turn;
	for (int i = 0; i < r->images; i++) {
		struct sx_decode_task *task = &place->tasks[i];

		task->decode = read_file;
		task->input = files[i];
		task->to = place->slot->whole[i];
		place->open[i] = true;
		sx_decoders_submit(r->decoders, task);
	}
	return true;
}

/* Sleeps until a decoder has done a task since the last call. */
static void wait_for_decoders(struct sx_read_ahead *r)
{
	struct pollfd fd = {.fd = sx_decoders_fd(r->decoders), .events = POLLIN};

	if (poll(&fd, 1, -1) > 0)
		sx_wake_clear(fd.fd);
}

static bool is_read(const struct sx_read_ahead *r, const struct place *place)
{
	for (int i = 0; i < r->images; i++)
		if (!atomic_load_explicit(&place->tasks[i].done, memory_order_acquire))
			return false;
	return true;
}

const struct sx_decode_task *sx_read_ahead_take(struct sx_read_ahead *r, uint64_t turn, size_t at,
						struct sx_slot **slot)
{
	struct place *place;

	/* there is no room only while a decoder is at a dropped pair in every place */
	while (!sx_read_ahead_begin(r, turn, at)) {
		wait_for_decoders(r);
		sx_read_ahead_drop(r, turn);
	}
	place = find_turn(r, turn);
	sx_must_be(place);
	while (!is_read(r, place))
		wait_for_decoders(r);
	*slot = place->slot;
	place->slot = NULL;
	place->open[0] = place->open[1] = false;
	r->held--;
	return place->tasks;
}
