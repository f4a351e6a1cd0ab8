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

static void reference_view(void *arg, struct sx_motion_view *view, const struct sx_image *grey,
			   const struct sx_image *disparity)
{
	(void)arg;
	sx_motion_view_fill(view, grey, disparity);
}

static void reference_pair(void *arg, struct sx_motion_pair *pair, const struct sx_motion_frame *now,
			   const struct sx_motion_view *before, const struct sx_motion_step *expected,
			   const struct sx_motion_range *prior)
{
	(void)arg;
	sx_motion_pair(pair, now, before, expected, prior);
}

const struct sx_motion_by sx_motion_by_reference = {NULL, reference_view, reference_pair};

int sx_motion_chain_init(struct sx_motion_chain *ret, const struct sx_camera *camera, int width, int height,
			 uint32_t most, bool filters)
{
	struct sx_motion_chain c = {
		.filters = filters, .range = SX_MOTION_RANGE_FIRST, .range_ns = INT64_MIN};
	int r = 0;

	for (int i = 0; i < SX_MOTION_CHAIN_VIEWS && r == 0; i++) {
		c.place[i] = i;
		r = sx_motion_view_take(&c.views[i], width, height);
	}
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

/* Returns the place of the kept view whose age is nearest to the wanted one; of two the older. -1: none. */
static int find_before(const struct sx_motion_chain *c, int64_t now_ns)
{
	int64_t nearest = INT64_MAX;
	int found = -1;

	for (int i = 0; i < c->kept; i++) {
		const int64_t age = now_ns - c->captured_ns[c->place[i]],
			      apart = llabs(age - SX_MOTION_SPAN_NS);

		if (age < SX_MOTION_SPAN_LEAST_NS || age > SX_MOTION_SPAN_MOST_NS || apart > nearest)
			continue;
		nearest = apart;
		found = c->place[i];
	}
	return found;
}

/* Keeps the view at the place of this frame, which is behind the kept ones, if none of them is nearly as new. */
static void keep(struct sx_motion_chain *c, int64_t now_ns)
{
	const int now = c->place[c->kept];

	if (c->kept && now_ns - c->captured_ns[c->place[0]] < SX_MOTION_KEEP_NS)
		return;
	for (int i = c->kept; i > 0; i--)
		c->place[i] = c->place[i - 1];
	c->place[0] = now;
	c->captured_ns[now] = now_ns;
	if (c->kept < SX_MOTION_CHAIN_VIEWS - 1)
		c->kept++;
}

/* Takes over what this frame says about the step and the range. */
static void learn(struct sx_motion_chain *c, const struct sx_motion_ego *ego, int64_t now_ns)
{
	c->has_step = ego->verdict == SX_MOTION_STEP_FOUND;
	c->step = ego->step;
	if (!c->has_step || ego->offset_verdict != SX_MOTION_OFFSET_FOUND)
		return;
	if (c->range_ns != INT64_MIN && now_ns >= c->range_ns && now_ns - c->range_ns < SX_MOTION_COUNT_NS)
		return;
	c->range = ego->range;
	c->range_ns = now_ns;
}

/* Filters what a pair says. */
static void filter(struct sx_motion_chain *c, const struct sx_motion_frame *frame,
		   const struct sx_motion_view *before, int64_t now_ns, struct sx_motion_found *found)
{
	const double since = c->filter_runs ? (double)(now_ns - c->last_ns) / 1e9 : 0.0;
	const bool took = sx_motion_filter_next(&c->filter, frame, before, &found->pair, since);

	if (took) {
		c->filter_runs = true;
		c->last_ns = now_ns;
	}
	memcpy(found->pair.velocities, c->filter.velocities,
	       frame->stixel_count * sizeof(*found->pair.velocities));
	memcpy(&found->objects, &c->filter.objects, sizeof(found->objects));
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
	const struct sx_motion_range prior = sx_motion_range_next(&c->range);
	struct sx_motion_frame frame = {.stixels = in->stixels,
					.stixel_count = in->stixel_count,
					.stixel_width = in->stixel_width,
					.road = in->road};
	struct sx_motion_view *view;
	int before;

	if (c->kept && in->captured_ns <= c->captured_ns[c->place[0]]) {
		c->kept = 0;
		c->has_step = false;
		if (c->filters)
			sx_motion_filter_reset(&c->filter);
		c->filter_runs = false;
	}
	view = &c->views[c->place[c->kept]];
	frame.view = view;
	by->view(by->arg, view, in->left, in->disparity);
	before = find_before(c, in->captured_ns);
	pair->span_ns = before < 0 ? 0 : in->captured_ns - c->captured_ns[before];
	frame.seconds = (double)pair->span_ns / 1e9;
	by->pair(by->arg, pair, &frame, before < 0 ? NULL : &c->views[before], c->has_step ? &c->step : NULL,
		 &prior);
	learn(c, &pair->ego, in->captured_ns);
	if (c->filters)
		filter(c, &frame, before < 0 ? NULL : &c->views[before], in->captured_ns, found);
	else
		memset(found->object_of, 0, in->stixel_count * sizeof(*found->object_of));
	keep(c, in->captured_ns);
}
