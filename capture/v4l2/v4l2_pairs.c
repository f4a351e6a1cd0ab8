/*
 * Source "v4l2": chooses the buffers of a pair, and returns them to the driver.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/contract.h"
#include "capture/v4l2/v4l2_priv.h"

static struct sx_image image_in(const struct sx_v4l2_camera *c, int index)
{
	const struct sx_v4l2_device *d = &c->device;

	sx_must_be(!c->queue.buffers[index].queued);
	return (struct sx_image){.data = (char *)c->queue.buffers[index].data + c->filled[index].offset,
				 .width = d->width,
				 .height = d->height,
				 .pitch = d->pitch,
				 .pixel = d->format->pixel};
}

static struct sx_v4l2_lease *free_lease(struct sx_v4l2 *v)
{
	sx_must(v->lease_count, <=, SX_V4L2_PAIRS_MAX);
	for (int i = 0; i < v->lease_count; i++)
		if (v->leases[i].state == SX_LEASE_FREE)
			return &v->leases[i];
	return NULL;
}

/* Refuses two cameras whose time stamps have different meanings, so that their images cannot be paired. */
static int check_stamps(struct sx_v4l2 *v, const struct sx_pairing_image pair[2], struct sx_why *why)
{
	static const char *const names[] = {"at the start of exposure", "at the end of the frame",
					    "not at all"};
	const struct sx_v4l2_camera *l = &v->cameras[0], *r = &v->cameras[1];
	enum stixel_stamp a = l->filled[pair[0].index].stamp, b = r->filled[pair[1].index].stamp;

	sx_must(v->count, ==, 2);
	if (a == b)
		return 0;
	return sx_why_fail(-ENODEV, why, "%s takes the time %s, %s %s: they cannot be paired", l->device.path,
			   names[a], r->device.path, names[b]);
}

void sx_v4l2_deliver(struct sx_source *s, struct sx_v4l2_lease *t, struct sx_pair *pair)
{
	struct sx_v4l2 *v = s->own;
	struct sx_image left, right;

	sx_must_be(t->slot || v->direct);
	if (t->slot) {
		left = t->slot->left;
		right = t->slot->right;
	} else {
		left = image_in(&v->cameras[0], t->index[0]);
		right = v->count == 2 ? image_in(&v->cameras[1], t->index[1])
				      : sx_layout_half(&left, v->layout, v->width, v->height, 1);
		left = v->count == 2 ? left : sx_layout_half(&left, v->layout, v->width, v->height, 0);
	}
	sx_must(t->state, <, SX_LEASE_LENT);
	t->state = SX_LEASE_LENT;
	*pair = (struct sx_pair){.left = left,
				 .right = right,
				 .number = ++s->number,
				 .left_ns = t->ns[0],
				 .right_ns = t->ns[1],
				 .clock = t->clock,
				 .stamp = t->stamp,
				 .slot = t};
}

/* Copies both images into the slot. The buffers go back to the driver at once. */
static int copy_pair(struct sx_v4l2 *v, struct sx_v4l2_lease *t, struct sx_why *why)
{
	int r = 0;

	for (int i = 0; i < v->count && r == 0; i++) {
		struct sx_image from = image_in(&v->cameras[i], t->index[i]);

		sx_image_copy(&t->slot->whole[i], &from);
		r = sx_v4l2_queue_put(&v->cameras[i].queue, t->index[i], why);
	}
	return r;
}

int sx_v4l2_begin_pair(struct sx_source *s, const struct sx_pairing_image found[2], struct sx_pair *pair,
		       struct sx_why *why)
{
	struct sx_v4l2 *v = s->own;
	struct sx_v4l2_lease *t = free_lease(v);
	int r = 0;

	if (!t) {
		v->last_pair_ns = sx_now_ns(); /* a pair did arrive: the consumer is slow, not the camera */
		for (int i = 0; i < v->count; i++)
			sx_v4l2_drop(s, i, found[i].index, SX_DROP_OVERLOAD, &r, why);
		return r;
	}
	for (int i = 0; i < 2; i++) {
		t->index[i] = found[i].index;
		t->ns[i] = found[i].ns;
	}
	sx_must_index(found[0].index, v->cameras[0].queue.count);
	t->stamp = v->cameras[0].filled[found[0].index].stamp;
	t->clock = v->cameras[0].filled[found[0].index].clock;
	if (v->decoders) {
		sx_v4l2_decode(v, t);
		return 0;
	}
	if (t->slot)
		r = copy_pair(v, t, why);
	if (r < 0)
		return r; /* a camera was lost before both copies were made; the slot is freed with the source */
	sx_v4l2_deliver(s, t, pair);
	return 1;
}

int sx_v4l2_find_pair(struct sx_source *s, struct sx_pairing_image found[2], struct sx_why *why)
{
	struct sx_v4l2 *v = s->own;
	struct sx_pairing_result result;
	int r = 0;

	if (v->count == 1) {
		int n = v->pairing.side[0].count;

		for (int i = 0; i + 1 < n; i++)
			sx_v4l2_drop(s, 0, v->pairing.side[0].images[i].index, SX_DROP_OVERLOAD, &r, why);
		if (n == 0 || r < 0)
			return r;
		found[0] = found[1] = v->pairing.side[0].images[n - 1];
		v->pairing.side[0].count = 0;
		return 1;
	}
	sx_must(v->count, ==, 2);
	sx_pairing_take(&v->pairing, &result);
	for (int i = 0; i < result.dropped_count; i++)
		sx_v4l2_drop(s, result.dropped[i].side, result.dropped[i].index,
			     result.dropped[i].fate == SX_PAIRING_OVERLOAD ? SX_DROP_OVERLOAD
									   : SX_DROP_UNPAIRED,
			     &r, why);
	if (r < 0 || !result.found)
		return r;
	memcpy(found, result.pair, sizeof(result.pair));
	r = check_stamps(v, found, why);
	return r < 0 ? r : 1;
}

void sx_v4l2_release(struct sx_source *s, const struct sx_pair *pair)
{
	struct sx_v4l2 *v = s->own;
	struct sx_v4l2_lease *t = pair->slot;

	sx_must(t->state, ==, SX_LEASE_LENT);
	t->state = SX_LEASE_FREE;
	for (int i = 0; i < v->count && !t->slot && v->lost == 0; i++)
		v->lost = sx_v4l2_queue_put(&v->cameras[i].queue, t->index[i], &v->lost_why);
}
