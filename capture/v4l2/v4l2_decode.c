/*
 * Source "v4l2" with MJPG and raw pixels: passes pairs through the decoders.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/contract.h"
#include "capture/image/jpeg.h"
#include "capture/v4l2/v4l2_priv.h"

/* Returns the raw pixels of one side (0 left, 1 right) in an image of a camera. */
static struct sx_raw raw_side(const struct sx_v4l2 *v, const struct sx_v4l2_camera *c, const uint8_t *data,
			      int side)
{
	const struct sx_v4l2_format *f = c->device.format;
	struct sx_raw raw = {.data = data,
			     .pitch = c->device.pitch,
			     .packing = f->packing,
			     .red_x = f->red_x,
			     .red_y = f->red_y,
			     .second = side != (v->layout == SX_LAYOUT_RIGHT_FIRST)};

	sx_must_index(side, 2);
	if (side && v->layout == SX_LAYOUT_SIDE_BY_SIDE)
		raw.data += sx_raw_row_bytes(f->packing, v->width);
	if (side && v->layout == SX_LAYOUT_TOP_BOTTOM)
		raw.data += raw.pitch * (size_t)v->height;
	return raw;
}

/* Converts an image of a camera to grey (sx_decode_fn). */
static int decode_input(const void *input, const struct sx_image *to, struct sx_file_bytes *bytes,
			struct sx_image_notes *notes, struct sx_why *why)
{
	const struct sx_v4l2_input *own = input;

	if (own->raw.packing == SX_RAW_NONE)
		return sx_jpeg_decode(own->data, own->bytes, to, notes, why);
	sx_raw_grey(&own->raw, to);
	return 0;
}

void sx_v4l2_decode(struct sx_v4l2 *v, struct sx_v4l2_lease *t)
{
	sx_must_index(v->decoding_count, SX_V4L2_PAIRS_MAX);
	sx_must(t->state, ==, SX_LEASE_FREE);
	t->state = SX_LEASE_DECODING;
	v->decoding[v->decoding_count++] = t;
	for (int i = 0; i < v->task_count; i++) {
		const struct sx_v4l2_camera *c = &v->cameras[v->count == 2 ? i : 0];
		const struct sx_v4l2_filled *f = &c->filled[t->index[v->count == 2 ? i : 0]];

		t->inputs[i].data = (const uint8_t *)c->queue.buffers[f->index].data + f->offset;
		t->inputs[i].bytes = f->bytes;
		t->inputs[i].raw = raw_side(v, c, t->inputs[i].data, i);
		t->tasks[i].decode = decode_input;
		t->tasks[i].input = &t->inputs[i];
		t->tasks[i].to = t->slot->whole[i];
		sx_decoders_submit(v->decoders, &t->tasks[i]);
	}
}

static bool is_done(const struct sx_v4l2 *v, const struct sx_v4l2_lease *t)
{
	sx_must(v->task_count, >, 0);
	for (int i = 0; i < v->task_count; i++)
		if (!atomic_load_explicit(&t->tasks[i].done, memory_order_acquire))
			return false;
	return true;
}

/* Drops a decoded pair: each image for its own reason, or because a newer pair exists. */
static int give_up(struct sx_source *s, struct sx_v4l2_lease *t, bool broken, struct sx_why *why)
{
	struct sx_v4l2 *v = s->own;
	int r = 0;

	sx_must(t->state, ==, SX_LEASE_DECODING);
	for (int i = 0; i < v->count; i++)
		sx_v4l2_drop(s, i, t->index[i],
			     t->tasks[i].result < 0 ? SX_DROP_BROKEN
			     : broken		    ? SX_DROP_UNPAIRED
						    : SX_DROP_OVERLOAD,
			     &r, why);
	t->state = SX_LEASE_FREE;
	return r;
}

static bool is_broken(struct sx_v4l2 *v, const struct sx_v4l2_lease *t)
{
	bool broken = false;

	for (int i = 0; i < v->count; i++) {
		if (t->tasks[i].result >= 0)
			continue;
		broken = true;
		sx_why_set(&v->damage, "%s: %s", v->cameras[i].device.path, t->tasks[i].why.text);
	}
	return broken;
}

int sx_v4l2_decoded(struct sx_source *s, struct sx_v4l2_lease **ret, struct sx_why *why)
{
	struct sx_v4l2 *v = s->own;
	struct sx_v4l2_lease *newest = NULL;
	int n = 0, r = 0;

	sx_must(v->decoding_count, <=, SX_V4L2_PAIRS_MAX);
	/* process pairs in order: a pair decoded before an older one waits for it */
	for (; n < v->decoding_count && is_done(v, v->decoding[n]) && r == 0; n++) {
		struct sx_v4l2_lease *t = v->decoding[n];
		bool broken = is_broken(v, t);

		for (int i = 0; i < v->count; i++)
			if (t->tasks[i].result >= 0)
				sx_source_notes(s, i, v->cameras[i].device.path, &t->tasks[i].notes);
		if (broken)
			r = give_up(s, t, true, why);
		if (broken)
			continue;
		if (newest)
			r = give_up(s, newest, false, why);
		newest = t;
	}
	v->decoding_count -= n;
	memmove(v->decoding, v->decoding + n, (size_t)v->decoding_count * sizeof(v->decoding[0]));
	for (int i = 0; newest && i < v->count && r == 0; i++)
		r = sx_v4l2_queue_put(&v->cameras[i].queue, newest->index[i], why);
	if (r < 0)
		return -ENODEV; /* the cameras are opened again; closing the source frees the slots */
	*ret = newest;
	return newest != NULL;
}
