/*
 * Filter, see filter.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/motion/filter/filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "stages/motion/filter/again.h"
#include "stages/motion/guess.h"

#define SX_MOTION_FILTER_TASK 32 /* stixels of a task */

int sx_motion_filter_init(struct sx_motion_filter *ret, const struct sx_camera *camera, int width, int height,
			  uint32_t most)
{
	const struct sx_motion_cells cells = sx_motion_cells(width, height);
	struct sx_motion_filter f = {.width = width,
				     .height = height,
				     .camera = *camera,
				     .most = most,
				     .cells = cells.columns * cells.rows};
	int r;

	if (!(camera->fx > 0 && camera->fy > 0 && camera->baseline_m > 0))
		return -EINVAL;
	r = sx_image_init(&f.owner, SX_PIXEL_U32, width, height);
	if (r == 0)
		r = sx_image_init(&f.before_owner, SX_PIXEL_U32, width, height);
	f.stixels = calloc((size_t)most + 1, sizeof(*f.stixels));
	f.before_stixels = calloc((size_t)most + 1, sizeof(*f.before_stixels));
	f.beliefs = calloc((size_t)most + 1, sizeof(*f.beliefs));
	f.before = calloc((size_t)most + 1, sizeof(*f.before));
	f.flows = calloc((size_t)f.cells + 1, sizeof(*f.flows));
	f.measured = calloc((size_t)most + 1, sizeof(*f.measured));
	f.velocities = calloc((size_t)most + 1, sizeof(*f.velocities));
	f.work = calloc(2 * (size_t)most + 1, sizeof(*f.work));
	if (r == 0 && (!f.stixels || !f.before_stixels || !f.beliefs || !f.before || !f.flows ||
		       !f.measured || !f.velocities || !f.work))
		r = -ENOMEM;
	if (r < 0) {
		sx_motion_filter_finish(&f);
		return r;
	}
	*ret = f;
	return 0;
}

size_t sx_motion_filter_bytes(const struct sx_motion_filter *f)
{
	const size_t stixel = 2 * (sizeof(*f->stixels) + sizeof(*f->beliefs) + sizeof(*f->velocities)) +
			      2 * sizeof(*f->work);

	return 2 * f->owner.pitch * (size_t)f->owner.height + (size_t)f->cells * sizeof(*f->flows) +
	       f->most * stixel;
}

void sx_motion_filter_finish(struct sx_motion_filter *f)
{
	sx_image_finish(&f->owner);
	sx_image_finish(&f->before_owner);
	free(f->stixels);
	free(f->before_stixels);
	free(f->beliefs);
	free(f->before);
	free(f->flows);
	free(f->measured);
	free(f->velocities);
	free(f->work);
	*f = (struct sx_motion_filter){0};
}

void sx_motion_filter_reset(struct sx_motion_filter *f)
{
	f->count = 0;
	f->objects.count = 0;
	f->rate_seconds = 0.0;
	f->lost = 0.0;
	f->memory = SX_MOTION_MEMORY_STARTS;
}

/* Returns the step of a part of the time. Turns of a pair are small, so that the vector's part is the turn's. */
static struct sx_motion_step part_of(const struct sx_motion_step *s, double part)
{
	const double x = part * s->q[1], y = part * s->q[2], z = part * s->q[3];
	const double norm = sqrt(((s->q[0] * s->q[0] + x * x) + y * y) + z * z);

	return (struct sx_motion_step){{s->q[0] / norm, x / norm, y / norm, z / norm},
				       {part * s->t[0], part * s->t[1], part * s->t[2]}};
}

static void take_frame(struct sx_motion_filter *f, const struct sx_motion_frame *now)
{
	const struct sx_image owner = f->owner;
	struct stixel *stixels = f->stixels;
	struct sx_motion_belief *beliefs = f->beliefs;

	sx_must(now->stixel_count, <=, f->most);
	f->owner = f->before_owner;
	f->before_owner = owner;
	f->stixels = f->before_stixels;
	f->before_stixels = stixels;
	f->beliefs = f->before;
	f->before = beliefs;
	f->before_count = f->count;
	f->count = now->stixel_count;
	if (f->count > 0) /* no stixels may come without an array */
		memcpy(f->stixels, now->stixels, (size_t)f->count * sizeof(*f->stixels));
	sx_motion_owners(f->stixels, f->count, now->stixel_width, &f->owner);
}

static void know_nothing(struct sx_motion_filter *f)
{
	for (uint32_t i = 0; i < f->count; i++) {
		f->beliefs[i] = (struct sx_motion_belief){.known = false};
		f->velocities[i] = (struct sx_motion_velocity){.state = SX_MOTION_STATE_UNKNOWN};
	}
	for (uint32_t k = 0; k < f->objects.count; k++) {
		f->objects.objects[k].state = SX_MOTION_STATE_UNKNOWN;
		f->objects.objects[k].core = 0;
		f->objects.objects[k].stixels = 0;
	}
}

/* Place of a stixel before: displacement, px, and disparity, 1/256 px. */
struct before {
	int dx, dy, disparity_q8;
	bool by_flow;
};

static struct before place_before(const struct sx_motion_filter *f, const struct sx_motion_frame *now,
				  const struct sx_motion_pair *pair, const struct stixel *s,
				  const struct sx_motion_step *step, double part)
{
	static const double stands[3] = {0.0, 0.0, 0.0};
	const struct sx_motion_cells cells = sx_motion_cells(f->width, f->height);
	const struct sx_motion_feature middle = {.x = s->column * now->stixel_width + now->stixel_width / 2,
						 .y = (s->row_top + s->row_bottom) / 2,
						 .disparity_q8 = 2 * s->disparity_q7};
	int32_t members[SX_MOTION_GROUP_MOST], v[3][SX_MOTION_GROUP_MOST];
	const int n =
		sx_motion_group_members(&cells, pair->features, f->flows, s, now->stixel_width, members);
	struct sx_motion_guess g;

	if (n < 2) {
		g = sx_motion_expect(&f->camera, step, &middle, pair->ego.used.px, stands);
		return (struct before){g.dx, g.dy, middle.disparity_q8, false};
	}
	for (int i = 0; i < n; i++) {
		const struct sx_motion_feature *a = &pair->features[members[i]];
		const struct sx_motion_flow *b = &f->flows[members[i]];

		v[0][i] = b->x_q6 - 64 * a->x;
		v[1][i] = b->y_q6 - 64 * a->y;
		v[2][i] = b->disparity_q8 - a->disparity_q8;
	}
	return (struct before){(int)rint(part * (double)sx_motion_median(v[0], n) / 64.0),
			       (int)rint(part * (double)sx_motion_median(v[1], n) / 64.0),
			       middle.disparity_q8 + (int)rint(part * (double)sx_motion_median(v[2], n)),
			       true};
}

static uint32_t find_predecessor(const struct sx_motion_filter *f, const struct stixel *s, int width,
				 const struct before *b)
{
	const int x = s->column * width + width / 2 + b->dx;
	const int top = s->row_top + b->dy > 0 ? s->row_top + b->dy : 0;
	const int bottom = s->row_bottom + b->dy < f->height ? s->row_bottom + b->dy : f->height - 1;
	uint32_t best = SX_MOTION_NO_OWNER, last = SX_MOTION_NO_OWNER;
	int most = 0, rows = 0;

	if (x < 0 || x >= f->width)
		return best;
	for (int y = top; y <= bottom; y++) {
		const uint32_t owner = ((const uint32_t *)sx_image_row(&f->before_owner, y))[x];

		rows = owner == last ? rows + 1 : 1;
		last = owner;
		if (owner == SX_MOTION_NO_OWNER || rows <= most ||
		    abs(2 * f->before_stixels[owner].disparity_q7 - b->disparity_q8) >
			    384 + b->disparity_q8 / 32)
			continue;
		most = rows;
		best = owner;
	}
	return best;
}

static double limited(double gain, double most)
{
	return gain < SX_MOTION_FILTER_GAIN_LEAST ? SX_MOTION_FILTER_GAIN_LEAST : gain > most ? most : gain;
}

static void begin(struct sx_motion_belief *b, const struct sx_motion_velocity *v)
{
	b->known = true;
	b->estimate = sx_motion_measured(v);
	b->gain = limited(v->gain, SX_MOTION_FILTER_GAIN_PAIR);
	b->idle = 0.0;
}

/* share: part of the pair's time that is new. */
static void carry_on(struct sx_motion_belief *b, const struct sx_motion_velocity *v,
		     const struct sx_motion_rotation *m, double since, double share)
{
	const struct sx_motion_estimate e = sx_motion_measured(v);
	const double gain = limited(v->gain - SX_MOTION_FILTER_FIT, SX_MOTION_FILTER_GAIN_PAIR);

	if (b->known)
		sx_motion_carry(
			&b->estimate, m,
			(b->state == SX_MOTION_STATE_MOVES ? SX_MOTION_FILTER_ACCEL : SX_MOTION_FILTER_CALM) *
				since);
	b->idle += since;
	if (!v->measured) {
		b->known = b->known && b->idle <= SX_MOTION_FILTER_IDLE_S;
	} else if (!b->known || sx_motion_apart(&b->estimate, &e, 0.0) > SX_MOTION_FILTER_GATE) {
		begin(b, v);
	} else {
		sx_motion_correct(&b->estimate, &e, 1.0 / share);
		b->gain = limited((1.0 - share * (1.0 - SX_MOTION_FILTER_KEEP)) * b->gain + share * gain,
				  SX_MOTION_FILTER_GAIN_MOST);
		b->idle = 0.0;
	}
}

/* Decides about a stixel alone. */
static void decide(const struct sx_motion_filter *f, const struct sx_motion_frame *now,
		   const struct stixel *s, double offset, const struct sx_motion_belief *b,
		   struct sx_motion_velocity *ret)
{
	const struct sx_camera *c = &f->camera;
	const double column = (double)(s->column * now->stixel_width) + 0.5 * (double)(now->stixel_width - 1);
	const double z = c->fx / ((double)s->disparity_q7 / 128.0 + offset);
	struct sx_motion_estimate e;

	if (!b->known)
		return;
	e = sx_motion_biased(&b->estimate, c, SX_MOTION_BIAS_PX, (column - c->cx) / c->fx, z, now->seconds);
	if (b->gain < SX_MOTION_GAIN) {
		e.vx = 0.0;
		e.vz = 0.0;
	}
	ret->measured = true;
	ret->vx = e.vx;
	ret->vz = e.vz;
	ret->raw_x = b->estimate.vx;
	ret->raw_z = b->estimate.vz;
	ret->sxx = e.sxx;
	ret->sxz = e.sxz;
	ret->szz = e.szz;
	ret->gain = b->gain;
	ret->state = sx_motion_decide(&e);
}

/* Measures the stixels again if more features were found. */
static void measure(struct sx_motion_filter *f, const struct sx_motion_by *by,
		    const struct sx_motion_frame *now, const struct sx_motion_view *before,
		    const struct sx_motion_pair *pair)
{
	memcpy(f->flows, pair->flows, (size_t)f->cells * sizeof(*f->flows));
	memcpy(f->measured, pair->velocities, (size_t)f->count * sizeof(*f->measured));
	if (sx_motion_again(&f->objects, by, pair, now, before, f->flows))
		by->group(by->arg, pair, now, f->flows, f->work, f->measured);
}

/* What the tasks of a step share. */
struct steps {
	struct sx_motion_filter *f;
	const struct sx_motion_frame *now;
	const struct sx_motion_pair *pair;
	struct sx_motion_step step;
	struct sx_motion_rotation rotation;
	double since, part, share; /* part: of the pair's time; share: part that is new */
	double least;		   /* disparity of the farthest stixel that is measured, px */
};

/* Carries SX_MOTION_FILTER_TASK stixels on from those before. */
static void step_stixels(void *context, int task)
{
	const struct steps *t = context;
	struct sx_motion_filter *f = t->f;
	const uint32_t first = (uint32_t)task * SX_MOTION_FILTER_TASK, end = first + SX_MOTION_FILTER_TASK;
	const double offset = t->pair->ego.used.px;

	for (uint32_t i = first; i < end && i < f->count; i++) {
		const struct stixel *s = &f->stixels[i];
		struct sx_motion_belief *b = &f->beliefs[i];
		struct before place;
		uint32_t from;

		if (s->kind != STIXEL_OBJECT || s->disparity_q7 == STIXEL_DISPARITY_UNKNOWN ||
		    (double)s->disparity_q7 / 128.0 + offset < t->least)
			continue;
		place = place_before(f, t->now, t->pair, s, &t->step, t->part);
		from = f->before_count ? find_predecessor(f, s, t->now->stixel_width, &place)
				       : SX_MOTION_NO_OWNER;
		if (from != SX_MOTION_NO_OWNER &&
		    (place.by_flow || f->before[from].state != SX_MOTION_STATE_MOVES))
			*b = f->before[from];
		carry_on(b, &f->measured[i], &t->rotation, t->since, t->share);
		decide(f, t->now, s, offset, b, &f->velocities[i]);
	}
}

static void take_step(struct sx_motion_filter *f, const struct sx_motion_by *by,
		      const struct sx_motion_frame *now, const struct sx_motion_view *before,
		      const struct sx_motion_pair *pair, double since)
{
	const double part = since / now->seconds;
	const struct sx_motion_step step = part_of(&pair->ego.step, part);
	struct steps t = {
		.f = f,
		.now = now,
		.pair = pair,
		.step = step,
		.rotation = sx_motion_rotation_of(&step),
		.since = since,
		.part = part,
		.share = part < 1.0 ? part : 1.0,
		.least = f->camera.fx * f->camera.baseline_m / sx_motion_farthest(&f->camera, now->seconds),
	};

	sx_motion_objects_predict(&f->objects, &f->camera, &step, since, now->seconds, f->width, f->height);
	measure(f, by, now, before, pair);
	by->each(by->arg, (int)((f->count + SX_MOTION_FILTER_TASK - 1) / SX_MOTION_FILTER_TASK), step_stixels,
		 &t);
	sx_motion_objects_next(&f->objects, &f->camera, now, f->measured, pair->ego.used.px, since, f->work,
			       f->beliefs, f->velocities);
	for (uint32_t i = 0; i < f->count; i++)
		f->beliefs[i].state = f->velocities[i].state;
}

bool sx_motion_filter_next(struct sx_motion_filter *f, const struct sx_motion_by *by,
			   const struct sx_motion_frame *now, const struct sx_motion_view *before,
			   const struct sx_motion_pair *pair, double since)
{
	const bool has_step = before && pair->ego.verdict == SX_MOTION_STEP_FOUND;

	if (f->rate_seconds > 0.0 && since >= 0.0 && since < SX_MOTION_FILTER_LEAST_S) {
		/* the frame before stays the one that the next frame is carried on from */
		f->memory = SX_MOTION_MEMORY_STALE;
		sx_must(now->stixel_count, <=, f->most);
		for (uint32_t i = 0; i < now->stixel_count; i++)
			f->velocities[i] = (struct sx_motion_velocity){.state = SX_MOTION_STATE_UNKNOWN};
		return false;
	}
	f->lost = has_step ? 0.0 : f->lost + since;
	if (!(since > 0.0) || since > SX_MOTION_FILTER_GAP_S || f->lost > SX_MOTION_FILTER_GAP_S ||
	    pair->ego.verdict == SX_MOTION_STEP_FIRST)
		sx_motion_filter_reset(f);
	take_frame(f, now);
	know_nothing(f);
	if (has_step) {
		f->memory = SX_MOTION_MEMORY_RUNS;
		f->rate = pair->ego.step;
		f->rate_seconds = now->seconds;
		take_step(f, by, now, before, pair, since);
	} else if (f->rate_seconds > 0.0) {
		/* the camera is thought to go on as before, so that objects can be found again */
		const struct sx_motion_step step = part_of(&f->rate, since / f->rate_seconds);

		f->memory = SX_MOTION_MEMORY_LOST;
		sx_motion_objects_predict(&f->objects, &f->camera, &step, since, f->rate_seconds, f->width,
					  f->height);
	}
	return true;
}
