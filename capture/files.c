/*
 * Source "files": pairs of image files (see file_list.h), which threads read before they are due.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/contract.h"
#include "capture/file_list.h"
#include "capture/image/image_io.h"
#include "capture/read_ahead.h"
#include "capture/source_kinds.h"

/* largest time for which a file may be incomplete while a program rewrites it */
#define TIMEOUT_NS SX_NS_PER_S

/*
 * Longest time between reading a file and the time at which its pair is due by its rate or time stamp. A
 * program may rewrite files while they are played.
 */
#define AHEAD_NS SX_NS_PER_S

struct files {
	struct sx_file_list list;
	struct sx_slots slots;
	struct sx_read_ahead *ahead;
	int pairs; /* pairs that are read at once, with the one that is due */
	bool loop;
	size_t at;
	uint64_t turn;	     /* number of pairs before the next one, in all loops */
	int64_t interval_ns; /* time between pairs with a rate; 0: without a rate */
	int64_t base_ns;   /* CLOCK_MONOTONIC at time 0 of the time stamps; for pairs with time stamps only */
	bool begun;	   /* base_ns is set */
	size_t unreadable; /* number of unreadable pairs in a row, limited to the number of pairs */
	int64_t unreadable_since; /* time of the first of these unreadable pairs, ns */
	struct sx_why last;	  /* reason why the last of them is unreadable */
};

/* Computes the size of one image of a pair from the size of the file. */
static int split(const char *path, enum sx_layout layout, const struct sx_image *whole, int *width,
		 int *height, struct sx_why *why)
{
	sx_must_be(!sx_layout_is_interleaved(layout));
	*width = whole->width;
	*height = whole->height;
	if (layout == SX_LAYOUT_SIDE_BY_SIDE)
		*width /= 2;
	else if (layout == SX_LAYOUT_TOP_BOTTOM)
		*height /= 2;
	if ((layout == SX_LAYOUT_SIDE_BY_SIDE && whole->width % 2) ||
	    (layout == SX_LAYOUT_TOP_BOTTOM && whole->height % 2))
		return sx_why_fail(-EINVAL, why, "%s: %dx%d pixels cannot be halved", path, whole->width,
				   whole->height);
	return sx_source_check_size(path, *width, *height, why);
}

/* Reads the first pair to get size and format. Checks that both images agree. */
static int look_at_first(const struct sx_file_list *list, const struct sx_source_params *p, int *width,
			 int *height, enum sx_pixel *pixel, struct sx_why *why)
{
	struct sx_image left = {0}, right = {0};
	int r;

	sx_must(list->count, >, 0);
	r = sx_image_read(list->left[0], &left, why);
	if (r == 0)
		r = split(list->left[0], p->layout, &left, width, height, why);
	if (r == 0 && list->right)
		r = sx_image_read(list->right[0], &right, why);
	if (r == 0 && list->right &&
	    (left.width != right.width || left.height != right.height || left.pixel != right.pixel)) {
		sx_why_set(why, "%s is %dx%d %s, but %s is %dx%d %s", list->left[0], left.width, left.height,
			   sx_pixel_name(left.pixel), list->right[0], right.width, right.height,
			   sx_pixel_name(right.pixel));
		r = -EINVAL;
	}
	if (r == 0 && ((p->width && p->width != *width) || (p->height && p->height != *height))) {
		sx_why_set(why, "size %dx%d is asked for, but %s gives %dx%d", p->width, p->height,
			   list->left[0], *width, *height);
		r = -EINVAL;
	}
	*pixel = left.pixel;
	sx_image_finish(&left);
	sx_image_finish(&right);
	return r;
}

/*
 * Allocates the slots, sets their pace, and starts the threads that read. slots: number of slots that the
 * caller may hold.
 */
static int take_slots(struct files *own, const struct sx_source_params *p, int slots, int width, int height,
		      enum sx_pixel pixel, struct sx_why *why)
{
	const size_t pair_bytes = 2 * (size_t)width * (size_t)height * sx_pixel_bytes(pixel);
	const struct sx_read_ahead_size size = sx_read_ahead_choose(&own->list, pair_bytes);
	int r = sx_slots_init(&own->slots, slots + size.pairs, p->layout, width, height, pixel, why);

	if (r < 0)
		return r;
	own->pairs = own->slots.spare = size.pairs;
	r = own->list.ns[0] ? sx_slots_pace_by_hand(&own->slots, why)
			    : sx_slots_pace(&own->slots, p->fps, why);
	if (r < 0)
		return r;
	if (own->slots.paced && !own->list.ns[0])
		own->interval_ns = (int64_t)((double)SX_NS_PER_S / p->fps);
	return sx_read_ahead_open(&own->ahead, &own->list, &own->slots, size, why);
}

static int files_open(struct sx_source *s, const struct sx_source_params *p, int slots, struct sx_why *why)
{
	struct files *own = calloc(1, sizeof(*own));
	enum sx_pixel pixel = SX_PIXEL_U8;
	int width = 0, height = 0, r;

	if (!own)
		return sx_why_fail(-ENOMEM, why, "no memory for the source");
	s->own = own;
	own->loop = p->loop;
	r = sx_file_list_find(&own->list, p, why);
	if (r < 0)
		return r;
	r = look_at_first(&own->list, p, &width, &height, &pixel, why);
	if (r < 0)
		return r;
	r = take_slots(own, p, slots, width, height, pixel, why);
	if (r < 0)
		return r;
	s->info = (struct sx_source_info){
		.width = width,
		.height = height,
		.pixel = pixel,
		.memory = "read",
		.cameras = own->list.right ? 2 : 1,
		.path = {p->path && *p->path ? p->path : p->left, !own->list.right	? NULL
								  : p->path && *p->path ? p->path
											: p->right},
		.paced = own->slots.paced,
	};
	_Static_assert(sizeof(s->info.note) >= sizeof(own->list.text), "the sentence fits");
	memcpy(s->info.note, own->list.text, sizeof(own->list.text));
	return 0;
}

static void files_close(struct sx_source *s)
{
	struct files *own = s->own;

	if (!own)
		return;
	sx_read_ahead_close(own->ahead); /* ends the threads first, because they write to the slots */
	sx_slots_finish(&own->slots);
	sx_file_list_finish(&own->list);
	free(own);
}

static bool files_block(const struct sx_source *s, int index, struct sx_block *ret)
{
	const struct files *own = s->own;

	return sx_slots_block(&own->slots, index, ret);
}

static int files_fd(const struct sx_source *s)
{
	const struct files *own = s->own;

	return own->slots.fd;
}

/* Reads a pair that is due in this thread. */
static int read_pair(struct sx_source *s, struct sx_slot *slot, struct sx_why *why)
{
	const struct files *own = s->own;
	const struct sx_file_list *list = &own->list;
	int r = 0;

	sx_must_index(own->at, list->count);
	for (int side = 0; side < (list->right ? 2 : 1) && r == 0; side++) {
		const char *path = (side ? list->right : list->left)[own->at];
		struct sx_image_notes notes;

		r = sx_image_read_into(path, &slot->whole[side], NULL, &notes, why);
		if (r == 0)
			sx_source_notes(s, side, path, &notes);
	}
	return r;
}

/*
 * Returns true if the source gives no pair any more: as many pairs in a row were unreadable as there are
 * pairs. With `loop`, this must have lasted for TIMEOUT_NS.
 */
static bool is_lost(const struct files *own)
{
	sx_must(own->unreadable, <=, own->list.count);
	if (own->unreadable < own->list.count)
		return false;
	return !own->loop || sx_now_ns() - own->unreadable_since >= TIMEOUT_NS;
}

static void note_unreadable(struct files *own, const char *why)
{
	if (own->unreadable == 0)
		own->unreadable_since = sx_now_ns();
	if (own->unreadable < own->list.count)
		own->unreadable++;
	sx_why_set(&own->last, "%s", why);
}

/* ---- pairs that come at the intervals of their time stamps ---- */

/* Returns the time at which pair `at` is due, ns of CLOCK_MONOTONIC. */
static int64_t due_ns(const struct files *own, int side, size_t at)
{
	sx_must_index(at, own->list.count);
	return own->base_ns + own->list.ns[side][at];
}

/* Returns the time from the last pair of a loop to the first of the next: the mean interval. */
static int64_t mean_ns(const struct files *own)
{
	const int64_t *ns = own->list.ns[0];
	const size_t last = own->list.count - 1;

	return (ns[last] - ns[0]) / (int64_t)last;
}

/* Goes on to the next pair. The first pair of a new loop comes one mean interval after the last one. */
static void recorded_advance(struct files *own)
{
	const int64_t *ns = own->list.ns[0];
	const size_t last = own->list.count - 1;

	own->turn++;
	if (own->at++ == last && own->loop) {
		own->at = 0;
		own->base_ns += ns[last] - ns[0] + mean_ns(own);
	}
}

/* Says when the next pair is due. After the last one, the end is due: at once. */
static void recorded_arm(struct files *own)
{
	sx_slots_due(&own->slots, own->at < own->list.count ? due_ns(own, 0, own->at) : sx_now_ns());
}

/* Counts a pair that was not taken in time as a camera would: it has a number, and is lost. */
static void recorded_skip(struct sx_source *s, bool counted)
{
	s->number++;
	for (int side = 0; side < 2 && !counted; side++) {
		atomic_fetch_add_explicit(&s->captured[side], 1, memory_order_relaxed);
		atomic_fetch_add_explicit(&s->dropped[side][SX_DROP_OVERLOAD], 1, memory_order_relaxed);
	}
	recorded_advance(s->own);
}

/* Checks whether a pair is due. Skips pairs whose successor is due as well, so that none is old. */
static bool recorded_is_due(struct sx_source *s)
{
	struct files *own = s->own;
	const uint64_t missed = own->slots.missed;
	const bool due = sx_source_is_due(s, &own->slots, sx_read_ahead_held(own->ahead));
	const int64_t now = sx_now_ns();

	if (!own->begun && (due || own->slots.missed > missed)) {
		own->base_ns = now - own->list.ns[0][0];
		own->begun = true;
	}
	if (!due && own->slots.missed > missed) {
		recorded_skip(s, true);
		recorded_arm(own);
	}
	while (due && own->at + 1 < own->list.count && due_ns(own, 0, own->at + 1) <= now)
		recorded_skip(s, false);
	return due;
}

/* ---- */

static bool files_is_due(struct sx_source *s)
{
	struct files *own = s->own;

	if (own->list.ns[0])
		return recorded_is_due(s);
	return sx_source_is_due(s, &own->slots, sx_read_ahead_held(own->ahead));
}

/* Returns the time from the pair that is due to the pair that follows `later` pairs after it, ns. */
static int64_t later_ns(const struct files *own, size_t later)
{
	const int64_t *ns = own->list.ns[0];
	const size_t count = own->list.count, at = own->at + later, loops = at / count;

	if (!ns)
		return (int64_t)later * own->interval_ns;
	return ns[at % count] - ns[own->at] + (int64_t)loops * (ns[count - 1] - ns[0] + mean_ns(own));
}

/* Lets the threads read the pair that is due and the pairs after it. */
static void read_ahead(struct files *own)
{
	sx_read_ahead_drop(own->ahead, own->turn);
	for (size_t i = 0; i < (size_t)own->pairs; i++) {
		if ((own->at + i >= own->list.count && !own->loop) || later_ns(own, i) > AHEAD_NS)
			return;
		if (!sx_read_ahead_begin(own->ahead, own->turn + i, (own->at + i) % own->list.count))
			return;
	}
}

/*
 * Takes the pair that is due from the threads. If they could not read one of its files, this thread reads the
 * pair
 * again: another program may have finished writing it. *slot: belongs to the caller, also on failure.
 */
static int take_read(struct sx_source *s, struct sx_slot **slot, struct sx_why *why)
{
	const struct files *own = s->own;
	char *const *files[2] = {own->list.left, own->list.right};
	const struct sx_decode_task *tasks = sx_read_ahead_take(own->ahead, own->turn, own->at, slot);

	if (tasks[0].result < 0 || (own->list.right && tasks[1].result < 0))
		return read_pair(s, *slot, why);
	for (int side = 0; side < (own->list.right ? 2 : 1); side++)
		sx_source_notes(s, side, files[side][own->at], &tasks[side].notes);
	return 0;
}

/* Delivers the pair that is due. The next pair is the one after it, whether it can be read or not. */
static int give_pair(struct sx_source *s, struct sx_pair *pair, struct sx_why *why)
{
	struct files *own = s->own;
	const bool recorded = own->list.ns[0];
	struct sx_slot *slot;
	int r;

	read_ahead(own);
	r = take_read(s, &slot, why);
	if (r < 0)
		sx_slots_release(&own->slots, slot);
	else
		sx_source_deliver(s, slot, pair);
	if (r == 0 && recorded) {
		pair->left_ns = due_ns(own, 0, own->at);
		pair->right_ns = due_ns(own, 1, own->at);
	}
	if (recorded) {
		recorded_advance(own);
		recorded_arm(own);
	} else {
		own->at++;
		own->turn++;
	}
	return r;
}

/* Thread: capture. A missing or unreadable file counts as corrupt, whatever the reason. */
static int files_next(struct sx_source *s, struct sx_pair *pair, struct sx_why *why)
{
	struct files *own = s->own;

	sx_must(own->at, <=, own->list.count);
	if (is_lost(own))
		return sx_why_fail(-ENODATA, why, "no image file can be read any more (%zu pair%s): %s",
				   own->list.count, own->list.count == 1 ? "" : "s", own->last.text);
	if (own->at == own->list.count && !own->loop) {
		sx_why_clear(why);
		return -ENODATA;
	}
	own->at %= own->list.count;
	if (!files_is_due(s))
		return 0;
	if (give_pair(s, pair, why) < 0) {
		note_unreadable(own, why->text);
		s->number++;
		atomic_fetch_add_explicit(&s->corrupt, 1, memory_order_relaxed);
		return -EBADMSG;
	}
	own->unreadable = 0;
	return 1;
}

static void files_release(struct sx_source *s, const struct sx_pair *pair)
{
	struct files *own = s->own;

	sx_slots_release(&own->slots, pair->slot);
}

const struct sx_source_ops sx_files_ops = {
	.open = files_open,
	.close = files_close,
	.block = files_block,
	.fd = files_fd,
	.next = files_next,
	.release = files_release,
};
