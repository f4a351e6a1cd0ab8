/*
 * Slanted stixels in plain form: see slanted.h. Computes every candidate (v_bottom, v_top, kind) in turn. Its
 * sums follow from those of the candidate that began one row lower. cpu/ and gpu/ have fast forms of the same
 * numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stixels/slanted.h"

#include <errno.h>
#include <stdlib.h>

enum { G = STIXEL_GROUND, O = STIXEL_OBJECT, S = STIXEL_SKY };

/* Start row of the last stixel of the cheapest column that ends with it, and kind of the stixel below. */
struct choice {
	uint16_t v_bottom;
	uint8_t from;
};

struct sx_slanted {
	const struct sx_slanted_tables *t;
	struct sx_slanted_frame frame;
	struct sx_slanted_place at; /* road of the current column */
	int32_t *ground;	    /* [rows]: expected ground, 1/16 px */
	/* [rows]: disparity, 1/16 px, 0 if w is 0; weight, 0..255; weight as ground, 0..255 */
	int32_t *d, *w, *g;
	/* [rows]: highest row of weight > 0 at or below this row; this row if there is none */
	int32_t *origin;
	int32_t *score;			/* [rows + 1][classes]: sums over the rows below */
	struct sx_slanted_below *below; /* [rows] */
	struct choice *from[3];		/* [rows] */
	struct sx_slanted_choice *list; /* [rows] */
	bool scored;
};

static void slanted_load(struct sx_slanted *s, int u, const uint16_t *d, const uint8_t *confidence,
			 const uint8_t *scores)
{
	const struct sx_slanted_tables *t = s->t;

	s->at = sx_slanted_place_of(&s->frame, t, u);
	for (int v = 0; v < t->rows; v++) {
		const bool valid = d[v] != SX_DISPARITY_INVALID && v >= s->at.unseen;
		const int32_t w = valid ? confidence ? t->weight[confidence[v]] : 255 : 0;

		s->ground[v] = sx_slanted_expected(s->frame.row[v].ground_q4, s->at.shift);
		s->w[v] = sx_slanted_weight(s->frame.least, w, d[v], s->ground[v]);
		s->g[v] = sx_slanted_ground_weight(s->w[v], s->frame.row[v].share);
		s->d[v] = s->w[v] == 0 ? 0 : d[v] > SX_SLANTED_MAX_Q4 ? SX_SLANTED_MAX_Q4 : d[v];
		s->origin[v] = s->w[v] == 0 && v > 0 && s->w[s->origin[v - 1]] > 0 ? s->origin[v - 1] : v;
	}
	s->scored = scores && t->classes > 0;
	for (int i = 0; s->scored && i < t->rows * t->classes; i++)
		s->score[i + t->classes] = s->score[i] + t->score[t->kind[i % t->classes]][scores[i]];
}

/*
 * Returns the energy of the cheapest class of a kind, the first on ties. If a kind has no class, the energy
 * is that of a class with score 0 in all cells.
 */
static int32_t score_of(const struct sx_slanted *s, int kind, int v_bottom, int v_top, uint8_t *label)
{
	const struct sx_slanted_tables *t = s->t;
	const int32_t *a = s->score + (size_t)v_bottom * (size_t)t->classes;
	const int32_t *b = s->score + (size_t)(v_top + 1) * (size_t)t->classes;
	int32_t best = (v_top + 1 - v_bottom) * t->score[kind][0];

	*label = STIXEL_LABEL_NONE;
	if (!s->scored)
		return 0;
	for (int k = 0; k < t->classes; k++)
		if (t->kind[k] == kind && (b[k] - a[k] < best || *label == STIXEL_LABEL_NONE)) {
			best = b[k] - a[k];
			*label = (uint8_t)k;
		}
	return best;
}

/* Sums of rows v_bottom .. v_top; c counts from the disparity of the origin. */
struct rows {
	int v_bottom, v_top, origin;
	int32_t holes; /* number of rows without a weight */
	struct sx_slanted_sums sums;
	int64_t dd;
};

/* Adds row v, or removes it with sign -1. */
static void slanted_add(const struct sx_slanted *s, struct rows *r, int v, int sign)
{
	const int32_t d = s->d[v];

	sx_slanted_add(&r->sums, sign * s->w[v], sign * s->g[v], v - r->origin, d - s->ground[v],
		       d - s->d[r->origin]);
	r->holes += s->w[v] == 0 ? sign : 0;
	r->dd += sign * sx_slanted_sky_part(s->w[v], d, s->scored ? s->t->sky_most : INT64_MAX);
}

static struct rows rows_of(const struct sx_slanted *s, int v_bottom, int v_top)
{
	struct rows r = {.v_bottom = v_bottom, .v_top = v_top, .origin = s->origin[v_top]};

	for (int v = v_bottom; v <= v_top; v++)
		slanted_add(s, &r, v, 1);
	return r;
}

/* Returns the cost of the cells of a stixel with its plane in the exact model. */
static float cells_fit(const struct sx_slanted *s, const struct rows *r, int kind,
		       const struct sx_slanted_plane *p)
{
	const struct sx_slanted_tables *t = s->t;
	const int32_t *w = kind == G ? s->g : s->w;
	int32_t sum = 0;

	for (int v = r->v_bottom; v <= r->v_top; v++) {
		const float residual =
			kind == G ? (p->a + p->b * (float)(v - r->origin)) - (float)(s->d[v] - s->ground[v])
				  : p->a - (float)s->d[v];

		sum += t->outlier[kind][sx_slanted_outlier(residual, (float)w[v] * t->kw[kind])];
	}
	return (float)sum * (1.0f / 1024.0f) +
	       (kind == G ? sx_slanted_ground_prior(&t->model, p, s->frame.row[r->v_bottom].lambda_offset,
						    s->frame.lambda_slope, r->v_bottom - r->origin)
			  : 0.0f);
}

static struct sx_slanted_plane fit(const struct sx_slanted *s, const struct rows *r, int kind)
{
	const struct sx_slanted_model *m = &s->t->model;
	struct sx_slanted_plane p = {0};

	if (kind == G)
		p = sx_slanted_ground(m, &r->sums, s->frame.row[r->v_bottom].lambda_offset,
				      s->frame.lambda_slope, r->v_bottom - r->origin);
	else if (kind == O)
		p = sx_slanted_object(m, &r->sums, s->d[r->origin]);
	else
		p.fit = sx_slanted_sky(m, r->dd);
	if (s->t->exact)
		p.fit = cells_fit(s, r, kind, &p);
	if (kind == G)
		p.fit = sx_slanted_with_holes(m, p.fit, r->holes);
	return p;
}

/* Returns the disparity of a piece of ground at row v. origin: the row from which it counts. */
static float ground_at(const struct sx_slanted *s, const struct sx_slanted_plane *p, int origin, int v)
{
	return (float)s->ground[v] + (p->a + p->b * (float)(v - origin));
}

static struct sx_slanted_step slanted_step_of(const struct sx_slanted *s, const struct rows *r, int kind,
					      const struct sx_slanted_plane *p)
{
	const struct sx_slanted_model *m = &s->t->model;
	const struct sx_slanted_below *b = &s->below[r->v_bottom - 1];

	if (kind == O)
		return sx_slanted_on_object(m, b, p->a, s->frame.row[r->v_bottom].gravity);
	if (kind == S)
		return sx_slanted_on_sky(m, b);
	return sx_slanted_on_ground(m, b, ground_at(s, p, r->origin, r->v_bottom));
}

static bool legal(const struct sx_slanted *s, const struct rows *r, int kind)
{
	if (kind == G)
		return r->v_top < s->at.top;
	if (kind == O)
		return r->v_bottom >= s->at.unseen || r->v_top < s->at.unseen;
	return r->v_bottom > 0 && r->v_bottom >= s->at.vhor;
}

/* Replaces the best candidate only by a strictly cheaper one: the longest stixel wins ties. */
static void consider(struct sx_slanted *s, const struct rows *r, int kind)
{
	const struct sx_slanted_model *m = &s->t->model;
	const struct sx_slanted_plane p = fit(s, r, kind);
	struct sx_slanted_step on = {kind == O ? m->cut_first_object : m->cut, O};
	struct sx_slanted_below *b = &s->below[r->v_top];
	uint8_t label;
	float cost;

	if (r->v_bottom > 0)
		on = slanted_step_of(s, r, kind, &p);
	cost = sx_slanted_energy(m, p.fit, score_of(s, kind, r->v_bottom, r->v_top, &label), on.cost);
	if (!(cost < b->cost[kind]))
		return;
	b->cost[kind] = cost;
	s->from[kind][r->v_top] = (struct choice){(uint16_t)r->v_bottom, on.from};
	if (kind == O)
		b->object = p.a;
	if (kind == G && r->v_top + 1 < s->t->rows)
		b->ground_next = ground_at(s, &p, r->origin, r->v_top + 1);
}

static void recurrence(struct sx_slanted *s)
{
	for (int v_top = 0; v_top < s->t->rows; v_top++) {
		struct rows r = rows_of(s, 0, v_top);

		s->below[v_top] = (struct sx_slanted_below){
			{SX_SLANTED_ILLEGAL, SX_SLANTED_ILLEGAL, SX_SLANTED_ILLEGAL}};
		for (;;) {
			for (int kind = G; kind <= S; kind++)
				if (legal(s, &r, kind))
					consider(s, &r, kind);
			if (r.v_bottom == v_top)
				break;
			slanted_add(s, &r, r.v_bottom++, -1);
		}
	}
}

/* Follows the choices down from the top row. The list is then in order from bottom to top. */
static int back_track(struct sx_slanted *s, int32_t *total)
{
	const int top = s->t->rows - 1;
	uint8_t c = G;
	int n = 0;

	for (uint8_t k = O; k <= S; k++)
		if (s->below[top].cost[k] < s->below[top].cost[c])
			c = k;
	*total = sx_slanted_total(s->below[top].cost[c]);
	for (int v = top; v >= 0;) {
		const struct choice *from = &s->from[c][v];
		const struct rows r = rows_of(s, from->v_bottom, v);
		struct sx_slanted_choice *to = &s->list[n++];

		*to = (struct sx_slanted_choice){.v_bottom = from->v_bottom,
						 .v_top = (uint16_t)v,
						 .kind = c,
						 .valid = r.sums.w > 0,
						 .origin = r.origin,
						 .plane = fit(s, &r, c)};
		score_of(s, c, from->v_bottom, v, &to->label);
		v = from->v_bottom - 1;
		c = from->from;
	}
	for (int i = 0; i < n / 2; i++) {
		const struct sx_slanted_choice swap = s->list[i];

		s->list[i] = s->list[n - 1 - i];
		s->list[n - 1 - i] = swap;
	}
	return n;
}

int sx_slanted_create(struct sx_slanted **ret, const struct sx_slanted_tables *t)
{
	const size_t h = (size_t)t->rows;
	struct sx_slanted *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->t = t;
	s->frame.row = calloc(h, sizeof(*s->frame.row));
	s->ground = calloc(h, sizeof(*s->ground));
	s->d = calloc(h, sizeof(*s->d));
	s->w = calloc(h, sizeof(*s->w));
	s->g = calloc(h, sizeof(*s->g));
	s->origin = calloc(h, sizeof(*s->origin));
	s->score = calloc((h + 1) * (size_t)(t->classes + 1), sizeof(*s->score));
	s->below = calloc(h, sizeof(*s->below));
	s->list = calloc(h, sizeof(*s->list));
	for (int k = G; k <= S; k++) {
		s->from[k] = calloc(h, sizeof(*s->from[k]));
		if (!s->from[k])
			goto fail;
	}
	if (!s->frame.row || !s->ground || !s->d || !s->w || !s->g || !s->origin || !s->score || !s->below ||
	    !s->list)
		goto fail;
	*ret = s;
	return 0;
fail:
	sx_slanted_destroy(s);
	return -ENOMEM;
}

void sx_slanted_destroy(struct sx_slanted *s)
{
	if (!s)
		return;
	free(s->frame.row);
	free(s->ground);
	free(s->d);
	free(s->w);
	free(s->g);
	free(s->origin);
	free(s->score);
	free(s->below);
	free(s->list);
	for (int k = G; k <= S; k++)
		free(s->from[k]);
	free(s);
}

void sx_slanted_run(struct sx_slanted *s, const struct sx_road *road, const struct sx_image *columns,
		    const struct sx_image *confidence, const struct sx_image *scores, struct sx_segments *out)
{
	sx_slanted_frame_set(&s->frame, s->t, road);
	for (int u = 0; u < columns->height; u++) {
		int n;

		slanted_load(s, u, sx_image_row(columns, u), confidence ? sx_image_row(confidence, u) : NULL,
			     scores ? sx_image_row(scores, u) : NULL);
		recurrence(s);
		n = back_track(s, &out->total[u]);
		out->count[u] = (uint16_t)sx_slanted_publish(s->t, &s->frame, &s->at, s->scored, s->list, n,
							     sx_segments_column(out, u));
	}
}
