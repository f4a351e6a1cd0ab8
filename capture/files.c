/*
 * Source "files": reads pairs of image files (see file_list.h) in the capture thread on request.
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
#include "capture/source_kinds.h"

/* largest time for which a file may be incomplete while a program rewrites it */
#define TIMEOUT_NS SX_NS_PER_S

struct files {
	struct sx_file_list list;
	struct sx_slots slots;
	bool loop;
	size_t at;
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
	r = sx_slots_init(&own->slots, slots, p->layout, width, height, pixel, why);
	if (r == 0)
		r = own->list.ns[0] ? sx_slots_pace_by_hand(&own->slots, why)
				    : sx_slots_pace(&own->slots, p->fps, why);
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

/* Goes on to the next pair. The first pair of a new loop comes one mean interval after the last one. */
static void recorded_advance(struct files *own)
{
	const int64_t *ns = own->list.ns[0];
	const size_t last = own->list.count - 1;

	if (own->at++ == last && own->loop) {
		own->at = 0;
		own->base_ns += ns[last] - ns[0] + (ns[last] - ns[0]) / (int64_t)last;
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

/* Takes a slot for the pair that is due. Skips pairs whose successor is due as well, so that none is old. */
static struct sx_slot *recorded_slot(struct sx_source *s)
{
	struct files *own = s->own;
	const uint64_t missed = own->slots.missed;
	struct sx_slot *slot = sx_source_slot(s, &own->slots);
	const int64_t now = sx_now_ns();

	if (!own->begun && (slot || own->slots.missed > missed)) {
		own->base_ns = now - own->list.ns[0][0];
		own->begun = true;
	}
	if (!slot && own->slots.missed > missed) {
		recorded_skip(s, true);
		recorded_arm(own);
	}
	while (slot && own->at + 1 < own->list.count && due_ns(own, 0, own->at + 1) <= now)
		recorded_skip(s, false);
	return slot;
}

/* ---- */

static struct sx_slot *files_slot(struct sx_source *s)
{
	struct files *own = s->own;

	if (own->list.ns[0])
		return recorded_slot(s);
	return sx_source_slot(s, &own->slots);
}

/*
 * Reads the pair into the slot, and delivers it. The next pair is the one after it, whether it can be read or
 * not.
 */
static int give_pair(struct sx_source *s, struct sx_slot *slot, struct sx_pair *pair, struct sx_why *why)
{
	struct files *own = s->own;
	const bool recorded = own->list.ns[0];
	const int r = read_pair(s, slot, why);

	if (r == 0)
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
	}
	return r;
}

/* Thread: capture. A missing or unreadable file counts as corrupt, whatever the reason. */
static int files_next(struct sx_source *s, struct sx_pair *pair, struct sx_why *why)
{
	struct files *own = s->own;
	struct sx_slot *slot;

	sx_must(own->at, <=, own->list.count);
	if (is_lost(own))
		return sx_why_fail(-ENODATA, why, "no image file can be read any more (%zu pair%s): %s",
				   own->list.count, own->list.count == 1 ? "" : "s", own->last.text);
	if (own->at == own->list.count && !own->loop) {
		sx_why_clear(why);
		return -ENODATA;
	}
	own->at %= own->list.count;
	slot = files_slot(s);
	if (!slot)
		return 0;
	if (give_pair(s, slot, pair, why) < 0) {
		note_unreadable(own, why->text);
		s->number++;
		atomic_fetch_add_explicit(&s->corrupt, 1, memory_order_relaxed);
		sx_slots_release(&own->slots, slot);
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
