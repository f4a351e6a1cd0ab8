/*
 * Chain of motion, see chain.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/motion/filter/chain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stages/motion/view.h"

int sx_motion_chain_init(struct sx_motion_chain *ret, const struct sx_camera *camera, int width, int height,
			 uint32_t most, bool filters)
{
	struct sx_motion_chain c = {.filters = filters, .learned = sx_motion_nothing_learned()};
	int r = 0;

	sx_motion_ring_init(&c.ring);
	for (int i = 0; i < SX_MOTION_CHAIN_VIEWS && r == 0; i++)
		r = sx_motion_view_take(&c.views[i], width, height);
	if (r == 0 && filters)
		r = sx_motion_filter_init(&c.filter, camera, width, height, most);
	if (r < 0)
		sx_motion_chain_finish(&c);
	else
		*ret = c;
	return r;
}

void sx_motion_chain_finish(struct sx_motion_chain *c)
{
	for (int i = 0; i < SX_MOTION_CHAIN_VIEWS; i++)
		sx_motion_view_finish(&c->views[i]);
	sx_motion_filter_finish(&c->filter);
	*c = (struct sx_motion_chain){0};
}

size_t sx_motion_chain_bytes(const struct sx_motion_chain *c)
{
	return SX_MOTION_CHAIN_VIEWS * sx_motion_view_bytes(&c->views[0]) +
	       (c->filters ? sx_motion_filter_bytes(&c->filter) : 0);
}

int sx_motion_found_init(struct sx_motion_found *ret, const struct sx_camera *camera, int width, int height,
			 uint32_t most)
{
	struct sx_motion_found found = {.object_of = calloc((size_t)most + 1, sizeof(uint32_t))};
	int r = found.object_of ? sx_motion_pair_init(&found.pair, camera, width, height, most) : -ENOMEM;

	if (r < 0)
		sx_motion_found_finish(&found);
	else
		*ret = found;
	return r;
}

void sx_motion_found_finish(struct sx_motion_found *found)
{
	sx_motion_pair_finish(&found->pair);
	free(found->object_of);
	*found = (struct sx_motion_found){.object_of = NULL};
}

size_t sx_motion_found_bytes(const struct sx_motion_found *found)
{
	return sx_motion_pair_bytes(&found->pair) + found->pair.most * sizeof(*found->object_of);
}

void sx_motion_ring_init(struct sx_motion_ring *ring)
{
	*ring = (struct sx_motion_ring){.kept = 0};
	for (int i = 0; i < SX_MOTION_CHAIN_VIEWS; i++)
		ring->place[i] = i;
}

/* Returns the place of the kept view whose age is nearest to the wanted one; of two the older. -1: none. */
static int find_before(const struct sx_motion_ring *r, int64_t now_ns)
{
	int64_t nearest = INT64_MAX;
	int found = -1;

	for (int i = 0; i < r->kept; i++) {
		const int64_t age = now_ns - r->captured_ns[r->place[i]],
			      apart = llabs(age - SX_MOTION_SPAN_NS);

		if (age < SX_MOTION_SPAN_LEAST_NS || age > SX_MOTION_SPAN_MOST_NS || apart > nearest)
			continue;
		nearest = apart;
		found = r->place[i];
	}
	return found;
}

/* Keeps the view at the place of this frame, which is behind the kept ones, if none of them is nearly as new. */
static void keep(struct sx_motion_ring *r, int64_t now_ns)
{
	const int now = r->place[r->kept];

	if (r->kept && now_ns - r->captured_ns[r->place[0]] < SX_MOTION_KEEP_NS)
		return;
	for (int i = r->kept; i > 0; i--)
		r->place[i] = r->place[i - 1];
	r->place[0] = now;
	r->captured_ns[now] = now_ns;
	if (r->kept < SX_MOTION_CHAIN_VIEWS - 1)
		r->kept++;
}

struct sx_motion_turn sx_motion_ring_next(struct sx_motion_ring *r, int64_t captured_ns)
{
	struct sx_motion_turn t = {.captured_ns = captured_ns};

	t.restarts = r->kept && captured_ns <= r->captured_ns[r->place[0]];
	if (t.restarts)
		r->kept = 0;
	t.now = r->place[r->kept];
	t.before = find_before(r, captured_ns);
	t.span_ns = t.before < 0 ? 0 : captured_ns - r->captured_ns[t.before];
	keep(r, captured_ns);
	return t;
}

/* Says that a frame tells nothing about the objects: they are as they were `since` s before. */
static void grow_older(struct sx_motion_objects *os, double since)
{
	for (uint32_t k = 0; k < os->count; k++) {
		struct sx_motion_object *o = &os->objects[k];

		o->state = SX_MOTION_STATE_UNKNOWN;
		o->age += since;
		o->unseen += since;
		o->still += since;
		o->core = 0;
		o->stixels = 0;
	}
}

/* Filters what a pair says. */
static void filter(struct sx_motion_chain *c, const struct sx_motion_by *by,
		   const struct sx_motion_frame *frame, const struct sx_motion_view *before, int64_t now_ns,
		   struct sx_motion_found *found)
{
	const double since = c->filter_runs ? (double)(now_ns - c->last_ns) / 1e9 : 0.0;
	const bool took = sx_motion_filter_next(&c->filter, by, frame, before, &found->pair, since);

	if (took) {
		c->filter_runs = true;
		c->last_ns = now_ns;
	}
	memcpy(found->pair.velocities, c->filter.velocities,
	       frame->stixel_count * sizeof(*found->pair.velocities));
	memcpy(&found->objects, &c->filter.objects, sizeof(found->objects));
	if (!took)
		grow_older(&found->objects, since);
	for (uint32_t i = 0; i < frame->stixel_count; i++) {
		const struct sx_motion_object *o =
			took ? sx_motion_objects_shown(&c->filter.objects, c->filter.beliefs[i].object)
			     : NULL;

		found->object_of[i] = o ? o->id : 0;
	}
}

void sx_motion_chain_run(struct sx_motion_chain *c, const struct sx_motion_by *by,
			 const struct sx_motion_input *in, struct sx_motion_found *found)
{
	struct sx_motion_pair *pair = &found->pair;
	struct sx_motion_learned *learned = &c->learned;
	const struct sx_motion_range prior = sx_motion_range_next(&learned->range);
	const struct sx_motion_turn turn = sx_motion_ring_next(&c->ring, in->captured_ns);
	struct sx_motion_view *view = &c->views[turn.now];
	const struct sx_motion_view *before = turn.before < 0 ? NULL : &c->views[turn.before];
	const struct sx_motion_frame frame = {.view = view,
					      .stixels = in->stixels,
					      .stixel_count = in->stixel_count,
					      .stixel_width = in->stixel_width,
					      .seconds = (double)turn.span_ns / 1e9,
					      .road = in->road};

	if (turn.restarts) {
		learned->has_step = 0;
		if (c->filters)
			sx_motion_filter_reset(&c->filter);
		c->filter_runs = false;
	}
	by->view(by->arg, view, in->left, in->disparity);
	pair->span_ns = turn.span_ns;
	by->pair(by->arg, pair, &frame, before, learned->has_step ? &learned->step : NULL, &prior);
	sx_motion_learn(learned, &pair->ego, in->captured_ns);
	if (c->filters)
		filter(c, by, &frame, before, in->captured_ns, found);
	else
		memset(found->object_of, 0, in->stixel_count * sizeof(*found->object_of));
}
