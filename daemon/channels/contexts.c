/*
 * A set of contexts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/channels/contexts.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/contract.h"

/*
 * Several instances of a process may make contexts at once. The CUDA engine sets properties of kernels that the
 * whole process shares (shared memory of a block), and uses them at once: one context at a time.
 */
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

/* Takes memory for what frames say about motion. False: there is not enough. */
static bool take_room(struct sx_contexts *s)
{
	const struct sx_motion_params *motion = &s->plan.config.params.motion;
	const size_t most = sx_context_stixels(&s->plan.config);

	s->records = calloc(most, sizeof(*s->records));
	if (motion->range == SX_RANGE_OFFSET_APPLY)
		s->corrected = calloc(most, sizeof(*s->corrected));
	if (motion->mode == SX_MOTION_MODE_FILTER) {
		s->objects = calloc(1, sizeof(*s->objects));
		if (s->objects)
			s->objects->object_of = calloc(most, 1);
	}
	return s->records && (s->corrected || motion->range != SX_RANGE_OFFSET_APPLY) &&
	       ((s->objects && s->objects->object_of) || motion->mode != SX_MOTION_MODE_FILTER);
}

/* Takes the chain of the contexts before, or creates one. Sets plan.config.chain. */
static int take_chain(struct sx_contexts *s, struct sx_device *device, const struct sx_contexts *before,
		      struct sx_why *why)
{
	int r = 0;

	if (before && before->chain && sx_chain_fits(&before->plan.config, &s->plan.config)) {
		s->chain = before->chain;
	} else if (s->plan.config.params.motion.mode != SX_MOTION_MODE_OFF) {
		s->chain = calloc(1, sizeof(*s->chain));
		if (!s->chain)
			return sx_why_fail(-ENOMEM, why, "not enough memory for the motion of frames");
		r = sx_chain_create(&s->chain->chain, s->backend, device, &s->plan.config, why);
	}
	if (!s->chain)
		return 0;
	atomic_fetch_add(&s->chain->users, 1);
	s->plan.config.chain = s->chain->chain;
	if (r < 0)
		return r;
	return take_room(s) ? 0 : sx_why_fail(-ENOMEM, why, "not enough memory for the motion of frames");
}

static void leave_chain(struct sx_contexts *s)
{
	if (!s->chain || atomic_fetch_sub(&s->chain->users, 1) > 1)
		return;
	if (s->chain->chain)
		s->backend->chain_destroy(s->chain->chain);
	free(s->chain);
}

int sx_contexts_create(struct sx_contexts **ret, const struct sx_backend *backend, struct sx_device *device,
		       const struct sx_contexts_plan *plan, const struct sx_contexts *before,
		       struct sx_why *why)
{
	struct sx_contexts *s = calloc(1, sizeof(*s));
	int r = s ? 0 : -ENOMEM;

	sx_must_index(plan->count - 1, SX_CONTEXTS_MAX);
	if (s) {
		s->backend = backend;
		s->plan = *plan;
		r = sx_road_unit_init(&s->unit, &plan->config.params, plan->config.width,
				      plan->config.height);
		if (r == 0 && plan->offered)
			r = sx_context_maps_init(s->map, &plan->config);
	}
	if (r < 0)
		sx_why_set(why, "not enough memory for contexts");
	if (r == 0)
		r = take_chain(s, device, before, why);
	for (; r == 0 && s->count < plan->count; s->count += r == 0) {
		pthread_mutex_lock(&making);
		r = backend->context_create(&s->context[s->count], device, &s->plan.config, why);
		pthread_mutex_unlock(&making);
		if (r == 0 && backend->context_memory)
			s->bytes += backend->context_memory(s->context[s->count]);
	}
	if (r < 0)
		sx_contexts_destroy(s);
	else
		*ret = s;
	return r < 0 ? r : 0;
}

void sx_contexts_fill(const struct sx_contexts *s, struct stixel_frame_header *h)
{
	const struct sx_camera *camera = &s->plan.config.params.camera;
	const struct stixel_vehicle vehicle = sx_vehicle_of(&s->plan.config.params.vehicle, camera->height_m);

	sx_must(s->count, ==, s->plan.count);
	h->flags = s->plan.rectified ? STIXEL_FRAME_RECTIFIED : 0;
	h->column_width = (uint32_t)s->plan.config.params.stixels.width;
	h->fx = camera->fx;
	h->fy = camera->fy;
	h->cx = camera->cx;
	h->cy = camera->cy;
	h->baseline_m = camera->baseline_m;
	h->vehicle_low_m = vehicle.low_m;
	h->vehicle_high_m = vehicle.high_m;
}

void sx_contexts_destroy(struct sx_contexts *s)
{
	if (!s)
		return;
	sx_must(s->count, <=, SX_CONTEXTS_MAX);
	for (int i = 0; i < s->count; i++)
		s->backend->context_destroy(s->context[i]);
	leave_chain(s);
	free(s->records);
	free(s->corrected);
	if (s->objects)
		free(s->objects->object_of);
	free(s->objects);
	sx_road_unit_finish(&s->unit);
	for (int side = 0; side < 2; side++)
		sx_rectify_map_finish(&s->map[side]);
	free(s);
}
