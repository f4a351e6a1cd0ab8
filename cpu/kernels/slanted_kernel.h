/*
 * Slanted stixels on lanes. stages/stixels/slanted.h defines the result; stages/stixels/slanted_fit.h and
 * slanted_prior.h define the operations and their order.
 *
 * Work:   prefix sums of the column; the recurrence (slanted_lanes.h); then, from the top row down, planes
 *         and the kinds of the stixels below, computed again for the few stixels that won.
 * Ranges: sums are integers below 2^47, held as doubles: exact.
 * Shapes: any number of rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNELS_SLANTED_KERNEL_H
#define SX_CPU_KERNELS_SLANTED_KERNEL_H

#include <stixel.h>

#include "cpu/kernels/slanted_lanes.h"
#include "cpu/slanted.h"

/* ---- prefix sums of a column ---- */

static void sl_prefix_scores(const struct sl_column *col, const uint8_t *scores)
{
	const int n = col->t->classes;

	for (int i = 0; i < col->c->first[3]; i++) {
		int32_t *sum = col->w->score[i];
		const uint8_t k = col->c->order[i], *p = scores + k;
		const uint16_t *score = col->t->score[col->t->kind[k]];

		for (int v = 0; v < col->rows; v++)
			sum[v + 1] = sum[v] + score[p[v * n]];
	}
}

static void sl_prefix_exact(const struct sl_column *col)
{
	struct sx_slanted_work *w = col->w;
	const struct sx_slanted_tables *t = col->t;

	for (int v = 0; v < col->rows; v++) {
		for (int k = SL_G; k <= SL_S; k++)
			w->kw[k][v] = (float)(k == SL_G ? w->start[v].weight : w->w[v]) * t->kw[k];
		w->sky_cells[v + 1] = w->sky_cells[v] +
				      t->outlier[SL_S][sx_slanted_outlier((float)w->d[v], w->kw[SL_S][v])];
	}
}

/* Loads a column. Starts are complete except for the costs of the segments below them: sl_finish(). */
static void sl_load(const struct sl_column *col, const uint16_t *d, const uint8_t *confidence)
{
	struct sx_slanted_work *s = col->w;
	const int64_t most = col->scored ? col->t->sky_most : INT64_MAX;
	int32_t sum_w = 0, sum_g = 0, sum_holes = 0, origin = 0, at = 0;
	double sum[SX_PREFIXES] = {0};

	for (int v = 0; v < col->rows; v++) {
		const struct sx_slanted_row *row = &col->f->row[v];
		struct sx_slanted_start *to = &s->start[v];
		const int32_t ground = sx_slanted_expected(row->ground_q4, col->place.shift);
		const bool valid = d[v] != SX_DISPARITY_INVALID && v >= col->place.unseen;
		const int32_t weight = valid ? confidence ? col->t->weight[confidence[v]] : 255 : 0;
		const int32_t w = sx_slanted_weight(col->f->least, weight, d[v], ground);
		const int32_t dv = w == 0 ? 0 : d[v] > SX_SLANTED_MAX_Q4 ? SX_SLANTED_MAX_Q4 : d[v];
		const int32_t g = sx_slanted_ground_weight(w, row->share);
		const double gx = (double)g * v, e = dv - ground, ge = g * e, wd = (double)w * dv;

		to->d = dv;
		to->w = w;
		to->g = g;
		to->ge = ge;
		to->sum_e = sum[SX_PREFIX_E];
		to->sum_ee = sum[SX_PREFIX_EE];
		to->sum_sky = sum[SX_PREFIX_SKY];
		to->sum_w = (float)sum_w;
		to->sum_g = (float)sum_g;
		to->sum_holes = (float)sum_holes;
		to->ground = (float)ground;
		to->lambda_offset = row->lambda_offset;
		to->gravity = row->gravity;
		to->weight = g;
		if (w > 0 || sum_w == 0) {
			origin = v;
			at = dv;
		}
		s->ground[v] = ground;
		s->w[v] = w;
		s->d[v] = dv;
		s->origin[v] = origin;
		s->at[v] = at;
		sum[SX_PREFIX_X] += gx;
		sum[SX_PREFIX_XX] += gx * v;
		sum[SX_PREFIX_E] += ge;
		sum[SX_PREFIX_XE] += ge * v;
		sum[SX_PREFIX_EE] += ge * e;
		sum[SX_PREFIX_D] += wd;
		sum[SX_PREFIX_DD] += wd * dv;
		sum[SX_PREFIX_SKY] += (double)sx_slanted_sky_part(w, dv, most);
		for (int i = 0; i < SX_PREFIXES; i++)
			s->prefix[i][v + 1] = sum[i];
		s->prefix_w[v + 1] = sum_w += w;
		s->prefix_g[v + 1] = sum_g += g;
		s->prefix_holes[v + 1] = sum_holes += w == 0;
	}
}

/* ---- one candidate, for the winners ---- */

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

/* Returns the value of a plane of ground at row v. origin: row from which the plane counts. */
static float sl_ground_at(const struct sl_column *col, const struct sx_slanted_plane *p, int origin, int v)
{
	return (float)col->w->ground[v] + (p->a + p->b * (float)(v - origin));
}

static uint8_t sl_below_of(const struct sl_column *col, int kind, int v_bottom, int v_top,
			   const struct sx_slanted_plane *p)
{
	const struct sx_slanted_model *m = &col->t->model;
	const struct sx_slanted_below *b = &col->w->start[v_bottom].below;

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

static int sl_back_track(const struct sl_column *col, int32_t *total)
{
	const int top = col->rows - 1;
	const float *cost = col->w->start[col->rows].below.cost;
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
