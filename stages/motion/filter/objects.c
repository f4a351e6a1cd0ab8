/*
 * Objects, see objects.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/motion/filter/objects.h"

#include "stages/motion/guess.h"
#include "stixel.h"

#define NONE 0xffffffffu
#define FAR_PX 32768.0	 /* an extent is limited to this */
#define POOL_MOST 1.0e12 /* a term of a pool, 1 / SX_MOTION_FIXED, is limited to this */
#define STIXEL_MARGIN 4	 /* px: rows by which a stixel may stick out of an object */

/* The work on one frame. */
struct work {
	struct sx_motion_objects *os;
	const struct sx_camera *camera;
	const struct sx_motion_frame *now;
	double offset;
	double least;	/* disparity of the farthest distance */
	uint32_t *of;	/* object of each stixel, or NONE */
	uint32_t *root; /* scratch */
};

const struct sx_motion_object *sx_motion_objects_shown(const struct sx_motion_objects *os, uint32_t id)
{
	for (uint32_t k = 0; k < os->count; k++)
		if (id && os->objects[k].id == id && os->objects[k].shown)
			return &os->objects[k];
	return NULL;
}

static int limited(double px)
{
	return (int)rint(px < -FAR_PX ? -FAR_PX : px > FAR_PX ? FAR_PX : px);
}

/* Returns false if the object has passed the camera. */
static bool predict(struct sx_motion_object *o, const struct sx_camera *c, const struct sx_motion_step *step,
		    const struct sx_motion_rotation *m, double since)
{
	const double unit = since / c->baseline_m;
	struct sx_motion_picture corner[2];

	for (int i = 0; i < 2; i++) {
		struct sx_motion_point p =
			sx_motion_point_of(c, i ? o->right : o->left, i ? o->bottom : o->top, o->disparity);
		struct sx_motion_point n;

		p.x += o->estimate.vx * unit - step->t[0];
		p.y -= step->t[1];
		p.z += o->estimate.vz * unit - step->t[2];
		n.x = (m->r[0] * p.x + m->r[3] * p.y) + m->r[6] * p.z;
		n.y = (m->r[1] * p.x + m->r[4] * p.y) + m->r[7] * p.z;
		n.z = (m->r[2] * p.x + m->r[5] * p.y) + m->r[8] * p.z;
		if (!sx_motion_picture_of(c, n, &corner[i]))
			return false;
	}
	o->left = limited(corner[0].u);
	o->top = limited(corner[0].v);
	o->right = limited(corner[1].u);
	o->bottom = limited(corner[1].v);
	o->nearest *= corner[1].d / o->disparity;
	o->farthest *= corner[1].d / o->disparity;
	o->disparity = corner[1].d;
	sx_motion_carry(&o->estimate, m, SX_MOTION_OBJECT_ACCEL * since);
	return true;
}

static double middle_column(const struct sx_motion_object *o)
{
	return 0.5 * (double)(o->left + o->right - 1);
}

void sx_motion_object_measure(struct sx_motion_object *o, const struct sx_camera *c)
{
	const struct stixel_place p =
		stixel_place_at(c->fx, c->cx, c->baseline_m, middle_column(o), o->disparity);

	o->x = p.x;
	o->z = p.z;
	o->pxx = p.sxx;
	o->pxz = p.sxz;
	o->pzz = p.szz;
	o->y = ((double)o->bottom - c->cy) / c->fy * p.z;
	o->width = (double)(o->right - o->left) / c->fx * p.z;
	o->height = (double)(o->bottom - o->top + 1) / c->fy * p.z;
}

/*
 * Computes the velocity with the bias straight ahead, wherever the object is. With the bias at the ray of the object,
 * more things that stand beside the way are called moving (docs/develop/motion.md has figures).
 */
static void take_bias(struct sx_motion_object *o, const struct sx_camera *c, double seconds)
{
	o->biased = sx_motion_biased(&o->estimate, c, SX_MOTION_OBJECT_BIAS_PX, 0.0, c->fx / o->disparity,
				     seconds);
}

void sx_motion_objects_predict(struct sx_motion_objects *os, const struct sx_camera *c,
			       const struct sx_motion_step *step, double since, double seconds, int width,
			       int height)
{
	const struct sx_motion_rotation m = sx_motion_rotation_of(step);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < os->count; i++) {
		struct sx_motion_object o = os->objects[i];

		o.age += since;
		o.unseen += since;
		o.still += since;
		if (o.unseen > SX_MOTION_OBJECT_UNSEEN_S + since || o.still > SX_MOTION_OBJECT_STILL_S ||
		    !predict(&o, c, step, &m, since) || o.right < 0 || o.left > width || o.bottom < 0 ||
		    o.top > height)
			continue;
		o.core = 0;
		o.stixels = 0;
		sx_motion_object_measure(&o, c);
		take_bias(&o, c, seconds);
		os->objects[kept++] = o;
	}
	os->count = kept;
}

static bool is_as_deep(const struct sx_motion_object *o, double d)
{
	return d >= o->farthest * (1.0 - SX_MOTION_OBJECT_SHARE_D) - SX_MOTION_OBJECT_D &&
	       d <= o->nearest * (1.0 + SX_MOTION_OBJECT_SHARE_D) + SX_MOTION_OBJECT_D;
}

static int margin(int size)
{
	return SX_MOTION_OBJECT_MARGIN + size / 8;
}

bool sx_motion_objects_guess(const struct sx_motion_objects *os, const struct sx_camera *c,
			     const struct sx_motion_feature *f, const struct sx_motion_ego *ego,
			     double seconds, struct sx_motion_guess *guess)
{
	const double d = (double)f->disparity_q8 / 256.0 + ego->used.px, unit = seconds / c->baseline_m;

	for (uint32_t k = 0; k < os->count; k++) {
		const struct sx_motion_object *o = &os->objects[k];
		const int x = margin(o->right - o->left), y = margin(o->bottom - o->top);
		const double shift[3] = {o->estimate.vx * unit, 0.0, o->estimate.vz * unit};

		if (f->x < o->left - x || f->x >= o->right + x || f->y < o->top - y || f->y > o->bottom + y ||
		    !is_as_deep(o, d))
			continue;
		*guess = sx_motion_expect(c, &ego->step, f, ego->used.px, shift);
		return true;
	}
	return false;
}

/* Returns whether a stixel is within the extent of an object, and a margin: its middle, and half of its rows. */
static bool is_inside(const struct work *w, const struct sx_motion_object *o, const struct stixel *s,
		      bool with_margin)
{
	const int x = s->column * w->now->stixel_width + w->now->stixel_width / 2;
	const int mx = with_margin ? margin(o->right - o->left) : 0;
	const int my = with_margin ? margin(o->bottom - o->top) : STIXEL_MARGIN;
	const int top = s->row_top > o->top - my ? s->row_top : o->top - my;
	const int bottom = s->row_bottom < o->bottom + my ? s->row_bottom : o->bottom + my;

	return x >= o->left - mx && x < o->right + mx &&
	       2 * (bottom - top + 1) >= s->row_bottom - s->row_top + 1 &&
	       is_as_deep(o, (double)s->disparity_q7 / 128.0 + w->offset);
}

/* Returns whether a stixel may belong to an object: nothing is said beyond the farthest distance. */
static bool may_belong(const struct work *w, const struct stixel *s)
{
	return s->kind == STIXEL_OBJECT && s->disparity_q7 != STIXEL_DISPARITY_UNKNOWN &&
	       (double)s->disparity_q7 / 128.0 + w->offset >= w->least;
}

static double apart_from(const struct sx_motion_object *o, const struct sx_motion_velocity *v)
{
	const struct sx_motion_estimate e = sx_motion_measured(v);

	return sx_motion_apart(&o->estimate, &e, SX_MOTION_OBJECT_SPREAD);
}

/* Returns the predicted object that a stixel belongs to, or NONE. */
static uint32_t find_object(const struct work *w, const struct stixel *s, const struct sx_motion_velocity *v,
			    const struct sx_motion_belief *b)
{
	uint32_t found = NONE;
	double least = 0.0;

	for (uint32_t k = 0; k < w->os->count; k++) {
		const struct sx_motion_object *o = &w->os->objects[k];
		const bool was = b->object == o->id;
		const double apart = v->measured ? apart_from(o, v) : SX_MOTION_OBJECT_ALIKE;

		if (!is_inside(w, o, s, true) || (v->measured && apart >= SX_MOTION_OBJECT_ALIKE) ||
		    (!was && (!v->measured || !b->known || b->gain < SX_MOTION_OBJECT_GAIN)))
			continue;
		if (was)
			return k;
		if (found == NONE || apart < least) {
			found = k;
			least = apart;
		}
	}
	return found;
}

/* Sums over the stixels of an object, 1 / SX_MOTION_FIXED: information, and information times velocity. */
struct pool {
	int64_t xx, xz, zz, x, z;
	uint32_t count;
};

static int64_t fixed(double v)
{
	const double f = rint(v * SX_MOTION_FIXED);

	return (int64_t)(f > POOL_MOST ? POOL_MOST : f < -POOL_MOST ? -POOL_MOST : f);
}

static void add(struct pool *p, const struct sx_motion_estimate *e)
{
	const double det = e->sxx * e->szz - e->sxz * e->sxz;
	const double xx = e->szz / det, xz = -e->sxz / det, zz = e->sxx / det;

	p->xx += fixed(xx);
	p->xz += fixed(xz);
	p->zz += fixed(zz);
	p->x += fixed(xx * e->vx + xz * e->vz);
	p->z += fixed(xz * e->vx + zz * e->vz);
	p->count++;
}

/* Computes the velocity of a pool. False: it has none. */
static bool solve(const struct pool *p, struct sx_motion_estimate *ret)
{
	const double xx = (double)p->xx / SX_MOTION_FIXED, xz = (double)p->xz / SX_MOTION_FIXED;
	const double zz = (double)p->zz / SX_MOTION_FIXED, det = xx * zz - xz * xz;
	const double x = (double)p->x / SX_MOTION_FIXED, z = (double)p->z / SX_MOTION_FIXED;
	const double alike = (double)p->count / SX_MOTION_OBJECT_TOGETHER;
	const double times = alike > 1.0 ? alike : 1.0;

	if (!p->count || !(det > 1e-9))
		return false;
	*ret = (struct sx_motion_estimate){(zz * x - xz * z) / det, (xx * z - xz * x) / det, times * zz / det,
					   -(times * xz / det), times * xx / det};
	return true;
}

/* Takes the extent of object k from its stixels. */
static void take_extent(const struct work *w, uint32_t k)
{
	struct sx_motion_object *o = &w->os->objects[k];
	int32_t *disparities = (int32_t *)w->root;
	int n = 0;

	for (uint32_t i = 0; i < w->now->stixel_count; i++) {
		const struct stixel *s = &w->now->stixels[i];
		const int left = s->column * w->now->stixel_width, right = left + w->now->stixel_width;

		if (w->of[i] != k)
			continue;
		o->left = n && o->left < left ? o->left : left;
		o->right = n && o->right > right ? o->right : right;
		o->top = n && o->top < s->row_top ? o->top : s->row_top;
		o->bottom = n && o->bottom > s->row_bottom ? o->bottom : s->row_bottom;
		disparities[n++] = s->disparity_q7;
	}
	if (!n)
		return;
	o->disparity = (double)sx_motion_median(disparities, n) / 128.0 + w->offset;
	o->farthest = (double)sx_motion_select(disparities, n, n / 10) / 128.0 + w->offset;
	o->nearest = (double)sx_motion_select(disparities, n, n - 1 - n / 10) / 128.0 + w->offset;
	sx_motion_object_measure(o, w->camera);
}

static void find_again(const struct work *w, const struct sx_motion_velocity *measured,
		       const struct sx_motion_belief *beliefs, double since)
{
	const double share = since < w->now->seconds ? since / w->now->seconds : 1.0;
	struct pool pools[SX_MOTION_OBJECTS_MAX] = {{0}};

	for (uint32_t i = 0; i < w->now->stixel_count; i++) {
		const struct sx_motion_estimate e = sx_motion_measured(&measured[i]);

		w->of[i] = may_belong(w, &w->now->stixels[i])
				   ? find_object(w, &w->now->stixels[i], &measured[i], &beliefs[i])
				   : NONE;
		if (w->of[i] != NONE && measured[i].measured)
			add(&pools[w->of[i]], &e);
	}
	for (uint32_t k = 0; k < w->os->count; k++) {
		struct sx_motion_object *o = &w->os->objects[k];
		struct sx_motion_estimate e;

		o->core = pools[k].count;
		if (o->core < SX_MOTION_OBJECT_LEAST || !solve(&pools[k], &e))
			continue;
		if (sx_motion_apart(&o->estimate, &e, 0.0) > SX_MOTION_OBJECT_OTHER)
			o->estimate = e;
		else
			sx_motion_correct(&o->estimate, &e, 1.0 / share);
		take_extent(w, k);
		o->unseen = 0.0;
		o->frames++;
	}
}

/* Makes an object of the stixels whose root is i. Returns false if they are too few, or there are too many objects. */
static bool found_object(const struct work *w, uint32_t i, const struct sx_motion_velocity *velocities)
{
	struct sx_motion_objects *os = w->os;
	struct sx_motion_object *o;
	struct pool pool = {0};
	struct sx_motion_estimate all;

	for (uint32_t k = i; k < w->now->stixel_count; k++) {
		const struct sx_motion_velocity *v = &velocities[k];
		const struct sx_motion_estimate e = {v->vx, v->vz, v->sxx, v->sxz, v->szz};

		if (w->root[k] == i && v->state == SX_MOTION_STATE_MOVES)
			add(&pool, &e);
	}
	if (pool.count < SX_MOTION_ALIKE_LEAST || os->count == SX_MOTION_OBJECTS_MAX || !solve(&pool, &all))
		return false;
	o = &os->objects[os->count];
	*o = (struct sx_motion_object){.id = ++os->last_id, .estimate = all, .frames = 1, .core = pool.count};
	for (uint32_t k = i; k < w->now->stixel_count; k++)
		if (w->root[k] == i && velocities[k].state == SX_MOTION_STATE_MOVES)
			w->of[k] = os->count;
	os->count++;
	return true;
}

static void find_new(const struct work *w, struct sx_motion_velocity *velocities)
{
	const uint32_t old = w->os->count;

	for (uint32_t i = 0; i < w->now->stixel_count; i++)
		if (w->of[i] != NONE && velocities[i].state == SX_MOTION_STATE_MOVES)
			velocities[i].state = SX_MOTION_STATE_UNKNOWN;
	sx_motion_group_alike(w->now->stixels, w->now->stixel_count, w->root, velocities);
	for (uint32_t i = 0; i < w->now->stixel_count; i++)
		if (w->root[i] == i && velocities[i].state == SX_MOTION_STATE_MOVES)
			found_object(w, i, velocities);
	for (uint32_t i = 0; i < w->now->stixel_count; i++)
		if (velocities[i].state == SX_MOTION_STATE_MOVES)
			velocities[i].state = SX_MOTION_STATE_UNKNOWN;
	for (uint32_t k = old; k < w->os->count; k++)
		take_extent(w, k);
}

/* Gives stixels to objects around them. */
static void fill(const struct work *w, const struct sx_motion_velocity *measured)
{
	for (uint32_t i = 0; i < w->now->stixel_count; i++) {
		const struct stixel *s = &w->now->stixels[i];
		const struct sx_motion_velocity *v = &measured[i];

		if (w->of[i] != NONE || !may_belong(w, s) ||
		    (v->measured && (v->gain >= SX_MOTION_GAIN || v->gain <= 1.0)))
			continue;
		for (uint32_t k = 0; k < w->os->count && w->of[i] == NONE; k++)
			if (is_inside(w, &w->os->objects[k], s, false) &&
			    (!v->measured || apart_from(&w->os->objects[k], v) < SX_MOTION_OBJECT_ALIKE))
				w->of[i] = k;
	}
}

static void publish(const struct work *w, struct sx_motion_belief *beliefs,
		    struct sx_motion_velocity *velocities)
{
	for (uint32_t k = 0; k < w->os->count; k++) {
		struct sx_motion_object *o = &w->os->objects[k];

		take_bias(o, w->camera, w->now->seconds);
		o->state = sx_motion_decide(&o->biased);
		if (o->state != SX_MOTION_STATE_MOVES)
			continue;
		o->still = 0.0;
		o->shown =
			o->shown || o->frames >= SX_MOTION_OBJECT_FRAMES || o->core >= SX_MOTION_OBJECT_SURE;
	}
	for (uint32_t i = 0; i < w->now->stixel_count; i++) {
		const struct stixel *s = &w->now->stixels[i];
		struct sx_motion_velocity *v = &velocities[i];
		struct sx_motion_object *o;
		struct sx_motion_estimate e;

		beliefs[i].object = 0;
		if (w->of[i] == NONE)
			continue;
		o = &w->os->objects[w->of[i]];
		o->stixels++;
		beliefs[i].object = o->id;
		if (o->state != SX_MOTION_STATE_MOVES || !o->shown)
			continue;
		e = o->estimate;
		e.sxx += SX_MOTION_OBJECT_WITHIN;
		e.szz += SX_MOTION_OBJECT_WITHIN;
		e = sx_motion_biased(&e, w->camera, SX_MOTION_OBJECT_BIAS_PX,
				     ((double)(s->column * w->now->stixel_width) +
				      0.5 * (double)(w->now->stixel_width - 1) - w->camera->cx) /
					     w->camera->fx,
				     w->camera->fx / ((double)s->disparity_q7 / 128.0 + w->offset),
				     w->now->seconds);
		v->measured = true;
		v->state = SX_MOTION_STATE_MOVES;
		v->vx = e.vx;
		v->vz = e.vz;
		v->sxx = e.sxx;
		v->sxz = e.sxz;
		v->szz = e.szz;
	}
}

void sx_motion_objects_next(struct sx_motion_objects *os, const struct sx_camera *c,
			    const struct sx_motion_frame *now, const struct sx_motion_velocity *measured,
			    double offset, double since, uint32_t *work, struct sx_motion_belief *beliefs,
			    struct sx_motion_velocity *velocities)
{
	const double least = c->fx * c->baseline_m / sx_motion_farthest(c, now->seconds);
	const struct work w = {os, c, now, offset, least, work, work + now->stixel_count};

	find_again(&w, measured, beliefs, since);
	find_new(&w, velocities);
	fill(&w, measured);
	publish(&w, beliefs, velocities);
}
