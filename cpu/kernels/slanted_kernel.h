/*
 * Slanted stixels on lanes; included by segment_avx2.c and segment_plain.c. Meaning in
 * stages/stixels/slanted.h, operations and their order in stages/stixels/slanted_fit.h and slanted_prior.h:
 * what is a vector here does the same to every lane.
 *
 * Work:   VF_LANES rows v_top are lanes of one block, blocks from the bottom up; v_bottom runs upwards for
 *         all lanes at once. Row v_bottom - 1 is finished when it is asked for: it lies in an earlier block,
 *         or its lane has seen all its starts. Sums begin as those of rows 0 .. v_top and lose row
 *         v_bottom in each step. Of a candidate only its cost is kept; planes and kinds below are
 *         computed again for the few that win.
 * Ranges: sums are whole numbers below 2^47, held as doubles: exact, and rounded once when they become float.
 * Shapes: any number of rows; lanes beyond the last read zeros, and are dropped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNELS_SLANTED_KERNEL_H
#define SX_CPU_KERNELS_SLANTED_KERNEL_H

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

/* ---- what a column is made of ---- */

static void sl_prefix_scores(const struct sl_column *col, const uint8_t *scores)
{
	const int n = col->t->classes;

	for (int i = 0; i < col->c->first[3]; i++) {
		int32_t *sum = col->w->score[i];
		const uint8_t *p = scores + col->c->order[i];

		for (int v = 0; v < col->rows; v++)
			sum[v + 1] = sum[v] + col->t->score[p[v * n]];
	}
}

static void sl_prefix_exact(const struct sl_column *col)
{
	struct sx_slanted_work *w = col->w;
	const struct sx_slanted_tables *t = col->t;

	for (int v = 0; v < col->rows; v++) {
		for (int k = SL_G; k <= SL_S; k++)
			w->kw[k][v] = (float)(k == SL_G ? w->g[v] : w->w[v]) * t->kw[k];
		w->sky_cells[v + 1] = w->sky_cells[v] +
				      t->outlier[SL_S][sx_slanted_outlier((float)w->d[v], w->kw[SL_S][v])];
	}
}

static void sl_load(const struct sl_column *col, const uint16_t *d, const uint8_t *confidence)
{
	struct sx_slanted_work *s = col->w;
	double *const *p = s->prefix;
	const int64_t most = col->scored ? col->t->sky_most : INT64_MAX;

	for (int v = 0; v < col->rows; v++) {
		const int32_t ground = sx_slanted_expected(col->f->row[v].ground_q4, col->place.shift);
		const bool valid = d[v] != SX_DISPARITY_INVALID && v >= col->place.unseen;
		const int32_t weight = valid ? confidence ? col->t->weight[confidence[v]] : 255 : 0;
		const int32_t w = sx_slanted_weight(col->f->least, weight, d[v], ground);
		const int32_t dv = w == 0 ? 0 : d[v] > SX_SLANTED_MAX_Q4 ? SX_SLANTED_MAX_Q4 : d[v];
		const int32_t g = sx_slanted_ground_weight(w, col->f->row[v].share);
		const double gx = (double)g * v, e = dv - ground, ge = g * e, wd = (double)w * dv;

		s->ground[v] = ground;
		s->w[v] = w;
		s->g[v] = g;
		s->d[v] = dv;
		s->origin[v] = w == 0 && v > 0 && s->w[s->origin[v - 1]] > 0 ? s->origin[v - 1] : v;
		s->at[v] = s->d[s->origin[v]];
		s->prefix_w[v + 1] = s->prefix_w[v] + w;
		s->prefix_g[v + 1] = s->prefix_g[v] + g;
		s->prefix_holes[v + 1] = s->prefix_holes[v] + (w == 0);
		p[SX_PREFIX_X][v + 1] = p[SX_PREFIX_X][v] + gx;
		p[SX_PREFIX_XX][v + 1] = p[SX_PREFIX_XX][v] + gx * v;
		p[SX_PREFIX_E][v + 1] = p[SX_PREFIX_E][v] + ge;
		p[SX_PREFIX_XE][v + 1] = p[SX_PREFIX_XE][v] + ge * v;
		p[SX_PREFIX_EE][v + 1] = p[SX_PREFIX_EE][v] + ge * e;
		p[SX_PREFIX_D][v + 1] = p[SX_PREFIX_D][v] + wd;
		p[SX_PREFIX_DD][v + 1] = p[SX_PREFIX_DD][v] + wd * dv;
		p[SX_PREFIX_SKY][v + 1] = p[SX_PREFIX_SKY][v] + (double)sx_slanted_sky_part(w, dv, most);
	}
}

/* ---- one candidate, for what wins ---- */

static int64_t sl_between(const struct sl_column *col, enum sx_slanted_prefix which, int v_bottom, int v_top)
{
	return (int64_t)(col->w->prefix[which][v_top + 1] - col->w->prefix[which][v_bottom]);
}

static struct sx_slanted_sums sl_sums(const struct sl_column *col, int v_bottom, int v_top)
{
	const int64_t o = col->w->origin[v_top], at = col->w->at[v_top];
	const int64_t w = col->w->prefix_w[v_top + 1] - col->w->prefix_w[v_bottom];
	const int64_t n = col->w->prefix_g[v_top + 1] - col->w->prefix_g[v_bottom];
	const int64_t x = sl_between(col, SX_PREFIX_X, v_bottom, v_top);
	const int64_t e = sl_between(col, SX_PREFIX_E, v_bottom, v_top);
	const int64_t d = sl_between(col, SX_PREFIX_D, v_bottom, v_top);

	return (struct sx_slanted_sums){
		.n = (int32_t)n,
		.w = (int32_t)w,
		.x = (int32_t)(x - o * n),
		.xx = sl_between(col, SX_PREFIX_XX, v_bottom, v_top) - o * (2 * x - o * n),
		.e = e,
		.xe = sl_between(col, SX_PREFIX_XE, v_bottom, v_top) - o * e,
		.ee = sl_between(col, SX_PREFIX_EE, v_bottom, v_top),
		.c = d - at * w,
		.cc = sl_between(col, SX_PREFIX_DD, v_bottom, v_top) - at * (2 * d - at * w),
	};
}

static struct sx_slanted_plane sl_plane(const struct sl_column *col, int kind, int v_bottom, int v_top)
{
	const struct sx_slanted_sums s = sl_sums(col, v_bottom, v_top);
	struct sx_slanted_plane p = {0};

	if (kind == SL_G)
		p = sx_slanted_ground(&col->t->model, &s, col->f->row[v_bottom].lambda_offset,
				      col->f->lambda_slope, v_bottom - col->w->origin[v_top]);
	if (kind == SL_O)
		p = sx_slanted_object(&col->t->model, &s, col->w->at[v_top]);
	return p;
}

/* Value of a plane of ground at row v; origin: the row that it counts from. */
static float sl_ground_at(const struct sl_column *col, const struct sx_slanted_plane *p, int origin, int v)
{
	return (float)col->w->ground[v] + (p->a + p->b * (float)(v - origin));
}

static uint8_t sl_below_of(const struct sl_column *col, int kind, int v_bottom, int v_top,
			   const struct sx_slanted_plane *p)
{
	const struct sx_slanted_model *m = &col->t->model;
	const struct sx_slanted_below *b = &col->w->below[v_bottom - 1];

	if (kind == SL_O)
		return sx_slanted_on_object(m, b, p->a, col->f->row[v_bottom].gravity).from;
	if (kind == SL_S)
		return sx_slanted_on_sky(m, b).from;
	return sx_slanted_on_ground(m, b, sl_ground_at(col, p, col->w->origin[v_top], v_bottom)).from;
}

static uint8_t sl_label(const struct sl_column *col, int kind, int v_bottom, int v_top)
{
	const struct sx_slanted_cpu *c = col->c;
	int32_t best = INT32_MAX;
	uint8_t label = STIXEL_LABEL_NONE;

	for (int i = c->first[kind]; col->scored && i < c->first[kind + 1]; i++) {
		const int32_t sum = col->w->score[i][v_top + 1] - col->w->score[i][v_bottom];

		if (sum < best) {
			best = sum;
			label = c->order[i];
		}
	}
	return label;
}

/* ---- lanes ---- */

struct sl_block {
	int first; /* v_top of lane 0 */
	bool ground;
	vs top, origin, n, x, w;
	struct vd o, at, xx, e, xe, ee, c, cc, sky;
	vf at_float, cost[3];
	vs from[3];
};

VF_INLINE void sl_begin(const struct sl_column *col, struct sl_block *b, int first)
{
	const struct sx_slanted_work *s = col->w;
	struct vd x, n, e, d, on, atw;

	b->first = first;
	b->ground = first < col->place.top;
	b->top = vs_count() + first;
	b->origin = vs_load(s->origin + first);
	b->o = vd_of_ints(b->origin);
	b->at_float = vf_of_ints(vs_load(s->at + first));
	b->at = vd_of_ints(vs_load(s->at + first));
	b->w = vs_load(s->prefix_w + first + 1);
	b->n = vs_load(s->prefix_g + first + 1);
	n = vd_of_ints(b->n);
	x = vd_load(s->prefix[SX_PREFIX_X] + first + 1);
	e = vd_load(s->prefix[SX_PREFIX_E] + first + 1);
	d = vd_load(s->prefix[SX_PREFIX_D] + first + 1);
	on = vd_mul(b->o, n);
	atw = vd_mul(b->at, vd_of_ints(b->w));
	b->xx = vd_load(s->prefix[SX_PREFIX_XX] + first + 1);
	b->xx = vd_less(b->xx, b->o, vd_sub(vd_add(x, x), on));
	x = vd_sub(x, on);
	b->x = vs_of_floats(vf_set1(0.0f));
	for (int i = 0; i < VF_LANES / 2; i++) {
		b->x[i] = (int32_t)x.lo[i];
		b->x[i + VF_LANES / 2] = (int32_t)x.hi[i];
	}
	b->e = e;
	b->xe = vd_less(vd_load(s->prefix[SX_PREFIX_XE] + first + 1), b->o, e);
	b->ee = vd_load(s->prefix[SX_PREFIX_EE] + first + 1);
	b->c = vd_sub(d, atw);
	b->cc = vd_load(s->prefix[SX_PREFIX_DD] + first + 1);
	b->cc = vd_less(b->cc, b->at, vd_sub(vd_add(d, d), atw));
	b->sky = vd_load(s->prefix[SX_PREFIX_SKY] + first + 1);
	for (int k = SL_G; k <= SL_S; k++) {
		b->cost[k] = vf_set1(SX_SLANTED_ILLEGAL);
		b->from[k] = vs_set1(0);
	}
}

/* Takes row v away. */
VF_INLINE void sl_remove(const struct sl_column *col, struct sl_block *b, int v)
{
	const int32_t w = col->w->w[v], g = col->w->g[v], d = col->w->d[v];
	const struct vd c = vd_sub(vd_set1(d), b->at), wc = vd_mul(c, vd_set1(w));

	if (w == 0)
		return;
	b->w -= w;
	b->c = vd_sub(b->c, wc);
	b->cc = vd_less(b->cc, wc, c);
	if (b->ground) {
		const int32_t e = d - col->w->ground[v], ge = g * e;
		const struct vd y = vd_sub(vd_set1(v), b->o), row = vd_set1(ge);

		b->n -= g;
		b->x -= (v - b->origin) * g;
		b->xx = vd_less(b->xx, vd_mul(y, vd_set1(g)), y);
		b->e = vd_sub(b->e, row);
		b->xe = vd_less(b->xe, row, y);
		b->ee = vd_sub(b->ee, vd_set1((double)ge * e));
	}
}

/* Energy of the best class of a kind, over rows v_bottom .. v_top of each lane. */
VF_INLINE vs sl_scores(const struct sl_column *col, const struct sl_block *b, int kind, int v_bottom)
{
	const struct sx_slanted_cpu *c = col->c;
	const int first = c->first[kind], end = c->first[kind + 1];
	int32_t *const *s = col->w->score;
	vs best;

	if (first == end)
		return (b->top + (1 - v_bottom)) * (int32_t)col->t->score[0];
	best = vs_load(s[first] + b->first + 1) - s[first][v_bottom];
	for (int i = first + 1; i < end; i++)
		best = vs_min(best, vs_load(s[i] + b->first + 1) - s[i][v_bottom]);
	return best;
}

/* The exact model: what the cells cost with a plane. */
VF_INLINE vf sl_cells(const struct sl_column *col, const struct sl_block *b, int kind, int v_bottom, vf a,
		      vf slope)
{
	const int last = b->first + VF_LANES - 1 < col->rows - 1 ? b->first + VF_LANES - 1 : col->rows - 1;
	const vf most = vf_set1((float)(SX_SLANTED_OUTLIERS - 1));
	vs sum = vs_set1(0);

	for (int v = v_bottom; v <= last; v++) {
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

/* Keeps what is strictly cheaper, of lanes that are legal and have not passed v_bottom. */
VF_INLINE void sl_keep(const struct sl_column *col, struct sl_block *b, int kind, int v_bottom, vf fit,
		       vf below, vs legal)
{
	vs better;
	vf cost = fit;

	if (col->scored)
		cost = cost + vf_of_ints(sl_scores(col, b, kind, v_bottom)) * col->t->model.semantic;
	cost = cost + below;
	better = (cost < b->cost[kind]) & legal;
	b->cost[kind] = vf_where(better, cost, b->cost[kind]);
	b->from[kind] = vs_where(better, vs_set1(v_bottom), b->from[kind]);
}

VF_INLINE void sl_object(const struct sl_column *col, struct sl_block *b, int v_bottom, vs legal)
{
	const struct sx_slanted_model *m = &col->t->model;
	const vs some = b->w > 0;
	const vf c = vf_of_doubles(b->c), r = (vf)((vs)(1.0f / vf_of_ints(b->w)) & some), mean = c * r;
	const vf a = (vf)((vs)(b->at_float + mean) & some);
	vf fit, below = vf_set1(m->cut_first_object);

	if (col->t->exact)
		fit = sl_cells(col, b, SL_O, v_bottom, a, a);
	else
		fit = vf_positive(vf_of_doubles(b->cc) - c * mean) * m->k_object;
	if (v_bottom > 0) {
		const struct sx_slanted_below *p = &col->w->below[v_bottom - 1];
		const float gravity = col->f->row[v_bottom].gravity;
		const vf nearer = a - p->object, far = vf_abs(a - p->ground_next), cut = vf_set1(m->cut);

		below = vf_where(nearer > 1.0f, m->cut_order + m->order * nearer, cut) + p->cost[SL_O];
		below = vf_min(below,
			       vf_where(far > 1.0f, m->cut + gravity * (16.0f + far), cut) + p->cost[SL_G]);
		below = vf_min(below, vf_set1(p->cost[SL_S] + m->cut));
	}
	sl_keep(col, b, SL_O, v_bottom, fit, below, legal);
}

VF_INLINE void sl_ground(const struct sl_column *col, struct sl_block *b, int v_bottom, vs legal)
{
	const struct sx_slanted_model *m = &col->t->model;
	const vf bottom = vf_of_ints(vs_min(v_bottom - b->origin, vs_set1(0)));
	const float lambda_offset = col->f->row[v_bottom].lambda_offset, lambda_slope = col->f->lambda_slope;
	const vf foot = lambda_offset * bottom;
	const vf n = vf_of_ints(b->n) + lambda_offset, x = vf_of_ints(b->x) + foot;
	const vf xx = (vf_of_doubles(b->xx) + foot * bottom) + lambda_slope;
	const vf e = vf_of_doubles(b->e), xe = vf_of_doubles(b->xe);
	const vf r = 1.0f / (n * xx - x * x);
	const vf a = (e * xx - x * xe) * r, slope = (n * xe - x * e) * r;
	const vf at = a + slope * bottom, value = (float)col->w->ground[v_bottom] + at;
	vf fit, below = vf_set1(m->cut);

	if (col->t->exact) {
		fit = sl_cells(col, b, SL_G, v_bottom, a, slope) +
		      (lambda_offset * (at * at) + lambda_slope * (slope * slope)) * m->k_ground;
	} else {
		const vf off_a = (a * n + slope * x) - e, off_b = (a * x + slope * xx) - xe;
		const vf rest = (vf_of_doubles(b->ee) - a * e) - slope * xe;

		fit = vf_positive(rest + (a * off_a + slope * off_b)) * m->k_ground;
	}
	fit = fit +
	      vf_of_ints(vs_load(col->w->prefix_holes + b->first + 1) - col->w->prefix_holes[v_bottom]) *
		      m->hole;
	if (v_bottom > 0) {
		const struct sx_slanted_below *p = &col->w->below[v_bottom - 1];
		const vf gap = vf_abs(value - p->ground_next), cut = vf_set1(m->cut);

		below = vf_where(value - p->object <= 1.0f, cut + p->cost[SL_O], vf_set1(SX_SLANTED_ILLEGAL));
		below = vf_min(below, vf_where(gap > 1.0f, vf_set1(m->cut_gap), cut) + p->cost[SL_G]);
	}
	sl_keep(col, b, SL_G, v_bottom, fit, below, legal & (b->top < col->place.top));
}

VF_INLINE void sl_sky(const struct sl_column *col, struct sl_block *b, int v_bottom, vs legal)
{
	const struct sx_slanted_model *m = &col->t->model;
	const struct sx_slanted_step on = sx_slanted_on_sky(m, &col->w->below[v_bottom - 1]);
	vf fit;

	if (on.cost >= SX_SLANTED_ILLEGAL)
		return;
	if (col->t->exact)
		fit = vf_of_ints(vs_load(col->w->sky_cells + b->first + 1) - col->w->sky_cells[v_bottom]) *
		      (1.0f / 1024.0f);
	else
		fit = vf_of_doubles(vd_sub(b->sky, vd_set1(col->w->prefix[SX_PREFIX_SKY][v_bottom]))) *
		      m->k_sky;
	sl_keep(col, b, SL_S, v_bottom, fit, vf_set1(on.cost), legal);
}

/* The lane of row v has seen all its starts. */
static void sl_finish_row(const struct sl_column *col, const struct sl_block *b, int v)
{
	struct sx_slanted_below *to = &col->w->below[v];
	const int lane = v - b->first;
	struct sx_slanted_plane p;

	*to = (struct sx_slanted_below){0};
	for (int k = SL_G; k <= SL_S; k++) {
		to->cost[k] = b->cost[k][lane];
		col->w->from[k][v] = (uint16_t)b->from[k][lane];
	}
	p = sl_plane(col, SL_O, col->w->from[SL_O][v], v);
	to->object = p.a;
	if (v + 1 < col->rows && to->cost[SL_G] < SX_SLANTED_ILLEGAL) {
		p = sl_plane(col, SL_G, col->w->from[SL_G][v], v);
		to->ground_next = sl_ground_at(col, &p, col->w->origin[v], v + 1);
	}
}

static void sl_recurrence(const struct sl_column *col)
{
	for (int first = 0; first < col->rows; first += VF_LANES) {
		const int last = first + VF_LANES - 1 < col->rows - 1 ? first + VF_LANES - 1 : col->rows - 1;
		struct sl_block b;

		sl_begin(col, &b, first);
		for (int v = 0; v <= last; v++) {
			const vs legal = b.top >= v;

			if (b.ground)
				sl_ground(col, &b, v, legal);
			/* not from rows that are not seen to those that are */
			sl_object(col, &b, v,
				  v < col->place.unseen ? legal & (b.top < col->place.unseen) : legal);
			if (v > 0 && v >= col->place.vhor)
				sl_sky(col, &b, v, legal);
			if (v >= first)
				sl_finish_row(col, &b, v);
			sl_remove(col, &b, v);
		}
	}
}

static int sl_back_track(const struct sl_column *col, int32_t *total)
{
	const int top = col->rows - 1;
	const float *cost = col->w->below[top].cost;
	uint8_t kind = SL_G;
	int n = 0;

	for (uint8_t k = SL_O; k <= SL_S; k++)
		if (cost[k] < cost[kind])
			kind = k;
	*total = sx_slanted_total(cost[kind]);
	for (int v = top; v >= 0;) {
		const int v_bottom = col->w->from[kind][v];
		struct sx_slanted_choice *to = &col->w->list[n++];

		*to = (struct sx_slanted_choice){
			.v_bottom = (uint16_t)v_bottom,
			.v_top = (uint16_t)v,
			.kind = kind,
			.label = sl_label(col, kind, v_bottom, v),
			.valid = col->w->prefix_w[v + 1] > col->w->prefix_w[v_bottom],
			.origin = col->w->origin[v],
			.plane = sl_plane(col, kind, v_bottom, v),
		};
		if (v_bottom > 0)
			kind = sl_below_of(col, kind, v_bottom, v, &to->plane);
		v = v_bottom - 1;
	}
	for (int i = 0; i < n / 2; i++) {
		const struct sx_slanted_choice swap = col->w->list[i];

		col->w->list[i] = col->w->list[n - 1 - i];
		col->w->list[n - 1 - i] = swap;
	}
	return n;
}

static int slanted_column(const struct sx_slanted_cpu *c, const struct sx_slanted_frame *f,
			  struct sx_slanted_work *w, int u, const uint16_t *column, const uint8_t *confidence,
			  const uint8_t *scores, struct sx_segment *list, int32_t *total)
{
	const struct sl_column col = {
		.c = c,
		.t = c->t,
		.f = f,
		.w = w,
		.place = sx_slanted_place_of(f, c->t, u),
		.rows = c->t->rows,
		.scored = scores && c->t->classes > 0,
	};

	sl_load(&col, column, confidence);
	if (col.scored)
		sl_prefix_scores(&col, scores);
	if (c->t->exact)
		sl_prefix_exact(&col);
	sl_recurrence(&col);
	return sx_slanted_publish(c->t, f, &col.place, col.scored, w->list, sl_back_track(&col, total), list);
}

#endif
