/*
 * The recurrence of slanted stixels on lanes, part of slanted_kernel.h. Each vector operation here does on
 * every lane what stages/stixels/slanted_fit.h and slanted_prior.h do, in the same order.
 *
 * Work:   VF_LANES rows v_top are the lanes of one block; blocks run from the bottom up. Starts below the
 *         block come first, one kind after the other, because they depend only on finished rows. Then come
 *         the starts within the block, where row v_bottom - 1 is a lane that has seen all its starts.
 *         SL_AHEAD starts at a time go through short loops (sums, planes, energies, the segment below). So
 *         each loop has its numbers in registers, and the processor works on many starts instead of waiting
 *         for the long chain of one. Sums begin with rows 0 .. v_top and lose row v_bottom in each
 *         step, or they are differences of prefix sums. Of a candidate the cost and the start are kept, and
 *         of the winners also the plane.
 * Ranges: sums are integers below 2^47, held as doubles: exact, and rounded once when they become float.
 *         Those of weights and holes are below 2^24, held as floats.
 * Shapes: any number of rows; lanes beyond the last row read zeros and are dropped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNELS_SLANTED_LANES_H
#define SX_CPU_KERNELS_SLANTED_LANES_H

#include <stixel.h>

#include "cpu/slanted.h"
#include "cpu/vec/vec_float.h"

enum { SL_G = STIXEL_GROUND, SL_O = STIXEL_OBJECT, SL_S = STIXEL_SKY };

struct sl_column {
	const struct sx_slanted_cpu *c;
	const struct sx_slanted_tables *t;
	const struct sx_slanted_frame *f;
	struct sx_slanted_work *w;
	struct sx_slanted_place place;
	int rows;
	bool scored;
};

#define SL_AHEAD 16 /* starts that are calculated together; at least VF_LANES */

struct sl_best {
	vf cost;
	vs from;
};

struct sl_objects {
	struct sl_best best;
	vf object; /* disparity of the best object */
	vf w, at_float;
	struct vd at, c, cc;
};

struct sl_grounds {
	struct sl_best best;
	vf a, slope; /* plane of the best ground */
	vf n, holes;
	vs x;
	vs y; /* row v_bottom minus origin */
	struct vd y_double, xx, e, xe, ee;
};

struct sl_block {
	int first, end; /* first: v_top of lane 0; end: after the last v_top */
	vs top, origin;
	struct sl_objects o;
	struct sl_grounds g;
	struct sl_best sky;
	struct vd sum_sky;
};

/* Candidates of SL_AHEAD starts, without the costs of the segments below. */
struct sl_object_fits {
	vf c[SL_AHEAD], cc[SL_AHEAD];
	vf a[SL_AHEAD], cost[SL_AHEAD];
};

struct sl_ground_fits {
	vf bottom[SL_AHEAD], n[SL_AHEAD], x[SL_AHEAD], xx[SL_AHEAD], e[SL_AHEAD], xe[SL_AHEAD], ee[SL_AHEAD];
	/* at: value of the plane in row v_bottom */
	vf a[SL_AHEAD], slope[SL_AHEAD], at[SL_AHEAD], cost[SL_AHEAD];
};

/* Costs of the segment below the start of a candidate: struct sx_slanted_start. */
struct sl_below {
	vf object, ground_next, object_cost, ground_cost, object_cut, sky_cut, sky;
};

/* ---- data ---- */

/* Returns the energy of the best class of a kind, over rows v_bottom .. v_top of each lane. */
VF_INLINE vs sl_scores(const struct sl_column *col, const struct sl_block *b, int kind, int v_bottom)
{
	const struct sx_slanted_cpu *c = col->c;
	const int first = c->first[kind], end = c->first[kind + 1];
	int32_t *const *s = col->w->score;
	vs best;

	if (first == end)
		return (b->top + (1 - v_bottom)) * (int32_t)col->t->score[kind][0];
	best = vs_load(s[first] + b->first + 1) - s[first][v_bottom];
	for (int i = first + 1; i < end; i++)
		best = vs_min(best, vs_load(s[i] + b->first + 1) - s[i][v_bottom]);
	return best;
}

VF_INLINE void sl_add_scores(const struct sl_column *col, const struct sl_block *b, int kind, int v, int n,
			     vf *cost)
{
	if (col->scored)
		for (int i = 0; i < n; i++)
			cost[i] =
				cost[i] + vf_of_ints(sl_scores(col, b, kind, v + i)) * col->t->model.semantic;
}

/* Returns the costs of the cells with a plane, in the exact model. */
VF_INLINE vf sl_cells(const struct sl_column *col, const struct sl_block *b, int kind, int v_bottom, vf a,
		      vf slope)
{
	const vf most = vf_set1((float)(SX_SLANTED_OUTLIERS - 1));
	vs sum = vs_set1(0);

	for (int v = v_bottom; v < b->end; v++) {
		const int32_t d = col->w->d[v];
		vf r = a;
		vs cost;

		if (col->w->w[v] == 0)
			continue;
		if (kind == SL_G)
			r = (a + slope * vf_of_ints(v - b->origin)) - (float)(d - col->w->ground[v]);
		else
			r = a - (float)d;
		r = (r * r) * col->w->kw[kind][v] + 0.5f;
		cost = vs_gather(col->c->outlier[kind], vs_of_floats(vf_min(r, most)));
		sum += v > b->first ? cost & (b->top >= v) : cost;
	}
	return vf_of_ints(sum) * (1.0f / 1024.0f);
}

/* Fits objects that start at rows v .. v + n - 1. Removes each start row from the sums after its fit. */
VF_INLINE void sl_fit_objects(const struct sl_column *col, const struct sl_block *b, struct sl_objects *o,
			      int v, int n, struct sl_object_fits *f)
{
	const struct sx_slanted_start *s = &col->w->start[v];
	const float k = col->t->model.k_object;

	for (int i = 0; i < n; i++) {
		const struct vd c = vd_sub(vd_set1(s[i].d), o->at), wc = vd_mul(c, vd_set1(s[i].w));

		f->c[i] = vf_of_doubles(o->c);
		f->cc[i] = vf_of_doubles(o->cc);
		o->c = vd_sub(o->c, wc);
		o->cc = vd_less(o->cc, wc, c);
	}
	for (int i = 0; i < n; i++) {
		const vf w = o->w - s[i].sum_w;
		const vm some = vm_less(vf_set1(0.0f), w);
		const vf mean = f->c[i] * (1.0f / w); /* NaN without weight, which yields an energy of 0 */

		f->a[i] = vf_only(some, o->at_float + mean);
		f->cost[i] = vf_positive(f->cc[i] - f->c[i] * mean) * k;
	}
	if (col->t->exact)
		for (int i = 0; i < n; i++)
			f->cost[i] = sl_cells(col, b, SL_O, v + i, f->a[i], f->a[i]);
	sl_add_scores(col, b, SL_O, v, n, f->cost);
}

VF_INLINE void sl_sum_grounds(struct sl_grounds *g, const struct sx_slanted_start *s, int n,
			      float lambda_slope, struct sl_ground_fits *f)
{
	for (int i = 0; i < n; i++) {
		const struct vd gy = vd_mul(g->y_double, vd_set1(s[i].g));
		const vf bottom = vf_of_ints(vs_min(g->y, vs_set1(0))), foot = s[i].lambda_offset * bottom;

		f->bottom[i] = bottom;
		f->n[i] = (g->n - s[i].sum_g) + s[i].lambda_offset;
		f->x[i] = vf_of_ints(g->x) + foot;
		f->xx[i] = (vf_of_doubles(g->xx) + foot * bottom) + lambda_slope;
		f->e[i] = vf_of_doubles(vd_sub(g->e, vd_set1(s[i].sum_e)));
		f->xe[i] = vf_of_doubles(g->xe);
		f->ee[i] = vf_of_doubles(vd_sub(g->ee, vd_set1(s[i].sum_ee)));
		g->x -= g->y * s[i].weight;
		g->xx = vd_less(g->xx, gy, g->y_double);
		g->xe = vd_less(g->xe, vd_set1(s[i].ge), g->y_double);
		g->y += 1;
		g->y_double = vd_add(g->y_double, vd_set1(1.0));
	}
}

/* Computes the energies of ground planes in closed form, from their sums. */
VF_INLINE void sl_ground_rest(const struct sx_slanted_model *m, int count, struct sl_ground_fits *f)
{
	for (int i = 0; i < count; i++) {
		const vf n = f->n[i], x = f->x[i], xx = f->xx[i], e = f->e[i], xe = f->xe[i];
		const vf a = f->a[i], slope = f->slope[i];
		const vf off_a = (a * n + slope * x) - e, off_b = (a * x + slope * xx) - xe;
		const vf rest = (f->ee[i] - a * e) - slope * xe;

		f->cost[i] = vf_positive(rest + (a * off_a + slope * off_b)) * m->k_ground;
	}
}

/* Computes the energies of ground planes in the exact model, cell by cell. */
VF_INLINE void sl_ground_cells(const struct sl_column *col, const struct sl_block *b, int v, int count,
			       struct sl_ground_fits *f)
{
	const float lambda_slope = col->f->lambda_slope, k = col->t->model.k_ground;

	for (int i = 0; i < count; i++) {
		const float lambda_offset = col->w->start[v + i].lambda_offset;
		const vf at = f->at[i], slope = f->slope[i];

		f->cost[i] = sl_cells(col, b, SL_G, v + i, f->a[i], slope) +
			     (lambda_offset * (at * at) + lambda_slope * (slope * slope)) * k;
	}
}

/* Fits ground planes in the same way as sl_fit_objects() fits objects. */
VF_INLINE void sl_fit_grounds(const struct sl_column *col, const struct sl_block *b, struct sl_grounds *g,
			      int v, int count, struct sl_ground_fits *f)
{
	const struct sx_slanted_start *s = &col->w->start[v];
	const struct sx_slanted_model *m = &col->t->model;
	const float lambda_slope = col->f->lambda_slope;

	sl_sum_grounds(g, s, count, lambda_slope, f);
	for (int i = 0; i < count; i++) {
		const vf n = f->n[i], x = f->x[i], xx = f->xx[i], e = f->e[i], xe = f->xe[i];
		const vf r = 1.0f / (n * xx - x * x);

		f->a[i] = (e * xx - x * xe) * r;
		f->slope[i] = (n * xe - x * e) * r;
		f->at[i] = f->a[i] + f->slope[i] * f->bottom[i];
	}
	if (col->t->exact)
		sl_ground_cells(col, b, v, count, f);
	else
		sl_ground_rest(m, count, f);
	for (int i = 0; i < count; i++)
		f->cost[i] = f->cost[i] + (g->holes - s[i].sum_holes) * m->hole;
	sl_add_scores(col, b, SL_G, v, count, f->cost);
}

VF_INLINE vf sl_sky_of(const struct sl_column *col, const struct sl_block *b, int v_bottom)
{
	const struct sx_slanted_start *s = &col->w->start[v_bottom];
	vf cost;

	if (col->t->exact)
		cost = vf_of_ints(vs_load(col->w->sky_cells + b->first + 1) - col->w->sky_cells[v_bottom]) *
		       (1.0f / 1024.0f);
	else
		cost = vf_of_doubles(vd_sub(b->sum_sky, vd_set1(s->sum_sky))) * col->t->model.k_sky;
	sl_add_scores(col, b, SL_S, v_bottom, 1, &cost);
	return cost;
}

/* ---- segment below ---- */

VF_INLINE struct sl_below sl_below_row(const struct sl_column *col, int v_bottom)
{
	const struct sx_slanted_start *s = &col->w->start[v_bottom];

	return (struct sl_below){
		.object = vf_set1(s->below.object),
		.ground_next = vf_set1(s->below.ground_next),
		.object_cost = vf_set1(s->below.cost[SL_O]),
		.ground_cost = vf_set1(s->below.cost[SL_G]),
		.object_cut = vf_set1(s->object_cut),
		.sky_cut = vf_set1(s->sky_cut),
		.sky = vf_set1(s->sky),
	};
}

VF_INLINE vf sl_on_object(const struct sl_column *col, const struct sl_below *p, vf a, float gravity)
{
	const struct sx_slanted_model *m = &col->t->model;
	const vf nearer = a - p->object, far = vf_abs(a - p->ground_next);
	const vf one = vf_set1(1.0f), cut = vf_set1(m->cut);
	const vf object = vf_where(vm_less(one, nearer), m->cut_order + m->order * nearer, cut);
	const vf ground = vf_where(vm_less(one, far), m->cut + gravity * (16.0f + far), cut);

	return vf_min(vf_min(object + p->object_cost, ground + p->ground_cost), p->sky_cut);
}

VF_INLINE vf sl_on_ground(const struct sl_column *col, const struct sl_below *p, vf value)
{
	const struct sx_slanted_model *m = &col->t->model;
	const vf gap = vf_abs(value - p->ground_next), one = vf_set1(1.0f);
	const vf object =
		vf_where(vm_not_above(value - p->object, one), p->object_cut, vf_set1(SX_SLANTED_ILLEGAL));
	const vf ground = vf_where(vm_less(one, gap), vf_set1(m->cut_gap), vf_set1(m->cut));

	return vf_min(object, ground + p->ground_cost);
}

/* ---- starts below the block ---- */

/* Keeps the strictly cheaper costs; returns the lanes where they replaced the old ones. */
VF_INLINE vm sl_keep(struct sl_best *b, vf cost, vm better, vs row)
{
	b->cost = vf_where(better, cost, b->cost);
	b->from = vs_where(better, row, b->from);
	return better;
}

static void sl_objects_below(const struct sl_column *col, struct sl_block *b, int v, int end)
{
	struct sl_object_fits f;
	struct sl_objects o = b->o;
	vs row = vs_set1(v);

	for (int n; v < end; v += n) {
		n = end - v < SL_AHEAD ? end - v : SL_AHEAD;
		sl_fit_objects(col, b, &o, v, n, &f);
		for (int i = 0; i < n; i++, row += 1) {
			const struct sl_below p = sl_below_row(col, v + i);
			const vf cost =
				f.cost[i] + sl_on_object(col, &p, f.a[i], col->w->start[v + i].gravity);
			const vm better = vm_less(cost, o.best.cost);

			sl_keep(&o.best, cost, better, row);
			o.object = vf_where(better, f.a[i], o.object);
		}
	}
	b->o = o;
}

static void sl_grounds_below(const struct sl_column *col, struct sl_block *b)
{
	struct sl_ground_fits f;
	struct sl_grounds g = b->g;
	vs row = vs_set1(0);

	for (int v = 0, n; v < b->first; v += n) {
		n = b->first - v < SL_AHEAD ? b->first - v : SL_AHEAD;
		sl_fit_grounds(col, b, &g, v, n, &f);
		for (int i = 0; i < n; i++, row += 1) {
			const struct sl_below p = sl_below_row(col, v + i);
			const vf value = col->w->start[v + i].ground + f.at[i];
			const vf cost = f.cost[i] + sl_on_ground(col, &p, value);
			const vm better = vm_less(cost, g.best.cost);

			sl_keep(&g.best, cost, better, row);
			g.a = vf_where(better, f.a[i], g.a);
			g.slope = vf_where(better, f.slope[i], g.slope);
		}
	}
	b->g = g;
}

static void sl_sky_below(const struct sl_column *col, struct sl_block *b)
{
	struct sl_best best = b->sky;

	for (int v = col->place.vhor; v < b->first; v++) {
		const vf cost = sl_sky_of(col, b, v) + col->w->start[v].sky;

		sl_keep(&best, cost, vm_less(cost, best.cost), vs_set1(v));
	}
	b->sky = best;
}

/* ---- the block itself ---- */

VF_INLINE struct sl_best sl_none(void)
{
	return (struct sl_best){.cost = vf_set1(SX_SLANTED_ILLEGAL), .from = vs_set1(0)};
}

VF_INLINE void sl_begin(const struct sl_column *col, struct sl_block *b, int first)
{
	const struct sx_slanted_work *s = col->w;
	const vs at = vs_load(s->at + first), w = vs_load(s->prefix_w + first + 1);
	const struct vd d = vd_load(s->prefix[SX_PREFIX_D] + first + 1);
	struct vd atw;

	b->first = first;
	b->end = first + VF_LANES < col->rows ? first + VF_LANES : col->rows;
	b->top = vs_count() + first;
	b->origin = vs_load(s->origin + first);
	b->o.best = sl_none();
	b->o.object = vf_set1(0.0f);
	b->o.w = vf_of_ints(w);
	b->o.at_float = vf_of_ints(at);
	b->o.at = vd_of_ints(at);
	atw = vd_mul(b->o.at, vd_of_ints(w));
	b->o.c = vd_sub(d, atw);
	b->o.cc = vd_less(vd_load(s->prefix[SX_PREFIX_DD] + first + 1), b->o.at, vd_sub(vd_add(d, d), atw));
	b->sky = sl_none();
	b->sum_sky = vd_load(s->prefix[SX_PREFIX_SKY] + first + 1);
	b->g.best = sl_none();
}

VF_INLINE void sl_begin_ground(const struct sl_column *col, struct sl_block *b)
{
	const struct sx_slanted_work *s = col->w;
	const int at = b->first + 1;
	const vs n = vs_load(s->prefix_g + at);
	const struct vd o = vd_of_ints(b->origin), on = vd_mul(o, vd_of_ints(n));
	struct sl_grounds *g = &b->g;
	struct vd x = vd_load(s->prefix[SX_PREFIX_X] + at);

	g->a = g->slope = vf_set1(0.0f);
	g->n = vf_of_ints(n);
	g->holes = vf_of_ints(vs_load(s->prefix_holes + at));
	g->y = -b->origin;
	g->y_double = vd_sub(vd_set1(0.0), o);
	g->xx = vd_less(vd_load(s->prefix[SX_PREFIX_XX] + at), o, vd_sub(vd_add(x, x), on));
	x = vd_sub(x, on);
	g->x = vs_set1(0);
	for (int i = 0; i < VF_LANES / 2; i++) {
		g->x[i] = (int32_t)x.lo[i];
		g->x[i + VF_LANES / 2] = (int32_t)x.hi[i];
	}
	g->e = vd_load(s->prefix[SX_PREFIX_E] + at);
	g->xe = vd_less(vd_load(s->prefix[SX_PREFIX_XE] + at), o, g->e);
	g->ee = vd_load(s->prefix[SX_PREFIX_EE] + at);
}

/* The best starts in rows up to the lane's own. They are the segments below row v_top + 1. */
struct sl_within {
	struct sl_best best[3];
	vf object, ground_next;
};

VF_INLINE struct sl_below sl_below_lane(const struct sl_column *col, const struct sl_within *w, int lane)
{
	const float cut = col->t->model.cut;
	struct sl_below p = {
		.object = vf_lane(w->object, lane),
		.ground_next = vf_lane(w->ground_next, lane),
		.object_cost = vf_lane(w->best[SL_O].cost, lane),
		.ground_cost = vf_lane(w->best[SL_G].cost, lane),
		.sky_cut = vf_lane(w->best[SL_S].cost, lane) + cut,
	};

	p.object_cut = p.object_cost + cut;
	p.sky = vf_where(vm_less(p.ground_next, vf_set1(16.0f)), p.ground_cost + cut,
			 vf_set1(SX_SLANTED_ILLEGAL));
	p.sky = vf_min(p.object_cut, p.sky);
	return p;
}

static void sl_finish(const struct sl_column *col, const struct sl_block *b, const struct sl_within *w)
{
	const float cut = col->t->model.cut;
	float cost[3][VF_LANES], object[VF_LANES], next[VF_LANES];

	for (int k = SL_G; k <= SL_S; k++) {
		vf_store(cost[k], w->best[k].cost);
		vs_store(col->w->from[k] + b->first, w->best[k].from);
	}
	vf_store(object, w->object);
	vf_store(next, w->ground_next);
	for (int i = 0; i < b->end - b->first; i++) {
		struct sx_slanted_start *to = &col->w->start[b->first + i + 1];

		to->below = (struct sx_slanted_below){
			.cost = {cost[SL_G][i], cost[SL_O][i], cost[SL_S][i]},
			.object = object[i],
			.ground_next = next[i],
		};
		to->object_cut = cost[SL_O][i] + cut;
		to->sky_cut = cost[SL_S][i] + cut;
		to->sky = sx_slanted_on_sky(&col->t->model, &to->below).cost;
	}
}

static void sl_block_itself(const struct sl_column *col, const struct sl_block *b)
{
	const int first = b->first, end = b->end;
	const int ground_end = end < col->place.top ? end : col->place.top;
	const vf next = vf_of_ints(vs_load(col->w->ground + first + 1)),
		 y_next = vf_of_ints(b->top + 1 - b->origin);
	const vm may_be_ground = vm_ints_less(b->top, vs_set1(col->place.top));
	struct sl_within w;
	struct sl_object_fits object;
	struct sl_ground_fits ground;
	struct sl_objects o = b->o;

	sl_fit_objects(col, b, &o, first, end - first, &object);
	w.best[SL_O] = b->o.best;
	w.best[SL_S] = b->sky;
	w.object = b->o.object;
	w.best[SL_G] = sl_none();
	w.ground_next = vf_set1(0.0f);
	if (first < ground_end) {
		struct sl_grounds g = b->g;

		w.best[SL_G].cost = vf_where(may_be_ground, g.best.cost, w.best[SL_G].cost);
		w.best[SL_G].from = g.best.from;
		w.ground_next = vf_only(vm_less(w.best[SL_G].cost, vf_set1(SX_SLANTED_ILLEGAL)),
					next + (g.a + g.slope * y_next));
		sl_fit_grounds(col, b, &g, first, ground_end - first, &ground);
	}
	for (int v = first; v < end; v++) {
		const int i = v - first;
		const struct sl_below p = i == 0 ? sl_below_row(col, v) : sl_below_lane(col, &w, i - 1);
		const vs row = vs_set1(v);
		const vm legal = vm_ints_less(vs_set1(v - 1), b->top);
		vm seen = legal, better;
		vf cost;

		if (v < ground_end) {
			cost = ground.cost[i] + sl_on_ground(col, &p, col->w->start[v].ground + ground.at[i]);
			better = vm_and(vm_less(cost, w.best[SL_G].cost), vm_and(legal, may_be_ground));
			sl_keep(&w.best[SL_G], cost, better, row);
			w.ground_next = vf_where(better, next + (ground.a[i] + ground.slope[i] * y_next),
						 w.ground_next);
		}
		/* a segment may not reach from unseen rows into seen rows */
		if (v < col->place.unseen)
			seen = vm_and(legal, vm_ints_less(b->top, vs_set1(col->place.unseen)));
		cost = object.cost[i] + sl_on_object(col, &p, object.a[i], col->w->start[v].gravity);
		better = vm_and(vm_less(cost, w.best[SL_O].cost), seen);
		sl_keep(&w.best[SL_O], cost, better, row);
		w.object = vf_where(better, object.a[i], w.object);
		if (v >= col->place.vhor) {
			cost = sl_sky_of(col, b, v) + p.sky;
			better = vm_and(vm_less(cost, w.best[SL_S].cost), legal);
			sl_keep(&w.best[SL_S], cost, better, row);
		}
	}
	sl_finish(col, b, &w);
}

/* Processes objects that begin below the block. Objects that begin in unseen rows end there. */
static void sl_all_objects_below(const struct sl_column *col, struct sl_block *b)
{
	const int unseen = col->place.unseen < b->first ? col->place.unseen : b->first;
	const vm out = vm_ints_less(b->top, vs_set1(col->place.unseen));

	if (b->first < col->place.unseen) {
		sl_objects_below(col, b, 0, unseen);
		b->o.best.cost = vf_where(out, b->o.best.cost, vf_set1(SX_SLANTED_ILLEGAL));
	}
	/* unseen rows have no weight, so the sums are the same without them */
	sl_objects_below(col, b, unseen, b->first);
}

static void sl_recurrence(const struct sl_column *col)
{
	const struct sx_slanted_model *m = &col->t->model;
	struct sx_slanted_start *bottom = &col->w->start[0];
	struct sl_block b;

	/*
	 * below row 0: an object costs the first cut on sky, ground costs a cut on an object, and no sky
	 * begins
	 */
	bottom->below = (struct sx_slanted_below){
		.cost = {SX_SLANTED_ILLEGAL, SX_SLANTED_ILLEGAL, SX_SLANTED_ILLEGAL},
		.object = SX_SLANTED_ILLEGAL,
	};
	bottom->object_cut = m->cut;
	bottom->sky_cut = m->cut_first_object;
	bottom->sky = SX_SLANTED_ILLEGAL;
	for (int first = 0; first < col->rows; first += VF_LANES) {
		sl_begin(col, &b, first);
		sl_all_objects_below(col, &b);
		if (first < col->place.top) {
			sl_begin_ground(col, &b);
			sl_grounds_below(col, &b);
		}
		sl_sky_below(col, &b);
		sl_block_itself(col, &b);
	}
}

#endif
