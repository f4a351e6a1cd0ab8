/*
 * The stixel DP in plain form: see stixel_dp.h. This file has the recurrence as in the paper. cpu/ and gpu/
 * have fast forms of the same integers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stixels/stixel_dp.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <stixel.h>

#include "stages/road/road_ground.h"

enum { G = STIXEL_GROUND, O = STIXEL_OBJECT, S = STIXEL_SKY };

/*
 * Scratch of the DP. Sum over rows w .. v: P[v + 1] - P[w]. cost[c][v]: cost of the cheapest column up to row
 * v that ends with class c there; from[c][v]: start row of its last segment, and class of the segment below.
 */
struct choice {
	uint16_t v_bottom;
	uint8_t below;
};
struct sx_dp {
	const struct sx_dp_tables *t;
	struct sx_dp_frame frame;
	struct sx_dp_place place;    /* road of the current column */
	int32_t *ground, *sky, *sum; /* [h + 1] */
	uint16_t *support;	     /* [h + 1] */
	int32_t *object;	     /* [h + 1][D] */
	int32_t *cost[3];	     /* [h] */
	struct choice *from[3];
};

int sx_dp_frame_init(struct sx_dp_frame *f, int height)
{
	*f = (struct sx_dp_frame){.axis_q4 = calloc((size_t)height, sizeof(*f->axis_q4))};
	return f->axis_q4 ? 0 : -ENOMEM;
}

size_t sx_dp_frame_bytes(int height)
{
	const struct sx_dp_frame f = {0};

	return (size_t)height * sizeof(*f.axis_q4);
}

void sx_dp_frame_finish(struct sx_dp_frame *f)
{
	free(f->axis_q4);
	*f = (struct sx_dp_frame){0};
}

int sx_dp_place_init(struct sx_dp_place *p, int height)
{
	struct sx_dp_place n = {
		.ground_q4 = calloc((size_t)height, sizeof(*n.ground_q4)),
		.rows = calloc((size_t)height, sizeof(*n.rows)),
	};

	if (!n.ground_q4 || !n.rows) {
		sx_dp_place_finish(&n);
		return -ENOMEM;
	}
	*p = n;
	return 0;
}

size_t sx_dp_place_bytes(int height)
{
	const struct sx_dp_place p = {0};

	return (size_t)height * (sizeof(*p.ground_q4) + sizeof(*p.rows));
}

void sx_dp_place_finish(struct sx_dp_place *p)
{
	free(p->ground_q4);
	free(p->rows);
	*p = (struct sx_dp_place){0};
}

static int clamp(int x, int lo, int hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}

static struct sx_dp_row row_prior(const struct sx_dp_tables *t, const struct sx_dp_place *at, int v)
{
	const int p = v - 1, len = t->length[v], eps = t->epsilon_q4;
	struct sx_dp_row r = {
		.object_on_object = len + (v < at->vhor ? t->object_next : t->ln2),
		.ground = p < at->vhor && v < at->vhor ? t->ground_next + len : SX_DP_INF,
		.sky_on_object = v >= at->vhor ? t->ln2 + len : SX_DP_INF,
		.sky_on_ground = v >= at->vhor && at->ground_q4[p] < 16 ? len : SX_DP_INF,
	};

	if (p < at->vhor) {
		const int g = clamp(at->ground_q4[p], 0, 16 * t->range);

		r.hi = g + eps;
		r.lo = g - eps;
		r.cost_hi = t->object_next + len + t->gravity_above[g];
		r.cost_on = t->object_next + len + t->gravity_on;
		r.cost_lo = t->object_next + len + t->gravity_below[g];
	} else {
		r.hi = eps;
		r.lo = -1;
		r.cost_hi = len + t->object_on_sky;
		r.cost_on = r.cost_lo = SX_DP_INF;
	}
	return r;
}

void sx_dp_frame_set(struct sx_dp_frame *f, const struct sx_dp_tables *t, const struct sx_road *road)
{
	const double slope = rint(-16384.0 * road->slope);

	sx_road_ground(road, t->height, f->axis_q4);
	f->cross = road->cross;
	f->axis = road->axis;
	f->slope_q14 = (int16_t)(slope > INT16_MAX ? INT16_MAX : slope < INT16_MIN ? INT16_MIN : slope);
}

int32_t sx_dp_shift_q4(const struct sx_dp_frame *f, const struct sx_dp_tables *t, int u)
{
	return sx_road_shift_q4(f->cross, f->axis, u, t->width);
}

void sx_dp_place_set(struct sx_dp_place *p, const struct sx_dp_tables *t, const struct sx_dp_frame *f,
		     int32_t shift_q4)
{
	p->vhor = sx_road_column_ground(f->axis_q4, t->height, shift_q4, p->ground_q4);
	p->slope_q14 = f->slope_q14;
	for (int v = 1; v < t->height; v++)
		p->rows[v] = row_prior(t, p, v);
}

/*
 * Returns the lower cost of outlier and gaussian. Uses 64 bits, because a small sigma makes the square large.
 */
static int32_t pixel_cost(int d, int f, int32_t base, int32_t precision, int32_t uniform)
{
	const int64_t e = d - f, gauss = base + ((precision * (e * e)) >> 16);

	return gauss < uniform ? (int32_t)gauss : uniform;
}

int32_t sx_dp_ground_cost(const struct sx_dp_tables *t, int32_t ground_q4, uint16_t d)
{
	const int f = ground_q4 > 0 ? ground_q4 : 0, g = clamp(f, 0, 16 * t->range);

	if (d == SX_DISPARITY_INVALID)
		return t->invalid_ground;
	return pixel_cost(d > f ? d : f, f, t->base_ground[g], t->precision_ground[g], t->uniform_ground) +
	       t->valid_ground;
}

int32_t sx_dp_sky_cost(const struct sx_dp_tables *t, uint16_t d)
{
	if (d == SX_DISPARITY_INVALID)
		return t->invalid_sky;
	return pixel_cost(d, 0, t->base_sky, t->precision_sky, t->uniform_sky) + t->valid_sky;
}

static void prefix_sums(struct sx_dp *dp, const uint16_t *column)
{
	const struct sx_dp_tables *t = dp->t;
	const int n = t->range;

	for (int v = 0; v < t->height; v++) {
		const bool valid = column[v] != SX_DISPARITY_INVALID, low = v < dp->place.vhor;
		const uint16_t d = valid && column[v] > 16 * n - 1 ? (uint16_t)(16 * n - 1) : column[v];
		const int dq = valid ? clamp((d + 8) >> 4, 0, n - 1) : n;

		dp->ground[v + 1] =
			dp->ground[v] + (low ? sx_dp_ground_cost(t, dp->place.ground_q4[v], d) : 0);
		dp->sky[v + 1] = dp->sky[v] + (low ? 0 : sx_dp_sky_cost(t, d));
		dp->sum[v + 1] = dp->sum[v] + (valid ? d : 0);
		dp->support[v + 1] = (uint16_t)(dp->support[v] + valid);
		for (int fn = 0; fn < n; fn++)
			dp->object[(size_t)(v + 1) * (size_t)n + (size_t)fn] =
				dp->object[(size_t)v * (size_t)n + (size_t)fn] + t->object[dq * n + fn];
	}
}

/* Returns the mean of rows v_bottom .. v_top in Q4, rounded half up; 0 without a valid cell. */
static int mean_q4(const struct sx_dp *dp, int v_bottom, int v_top)
{
	const int n = dp->support[v_top + 1] - dp->support[v_bottom];
	const int s = dp->sum[v_top + 1] - dp->sum[v_bottom];

	return n ? (2 * s + n) / (2 * n) : 0;
}

static int32_t object_data(const struct sx_dp *dp, int v_bottom, int v_top)
{
	const size_t d = (size_t)dp->t->range;
	const int n = dp->support[v_top + 1] - dp->support[v_bottom];
	const int s = dp->sum[v_top + 1] - dp->sum[v_bottom];
	/* rounded from the sums, not from the rounded mean */
	const int fn = n ? clamp((s + 8 * n) / (16 * n), 0, dp->t->range - 1) : 0;

	return dp->object[(size_t)(v_top + 1) * d + (size_t)fn] -
	       dp->object[(size_t)v_bottom * d + (size_t)fn];
}

/* The cheapest predecessor of a new segment. below: its class, c; cost: C[p][c] + prior. */
struct best {
	int32_t cost;
	uint8_t below;
};

static void consider(struct best *b, const struct sx_dp *dp, uint8_t c, int p, int32_t prior)
{
	if (dp->cost[c][p] >= SX_DP_INF || prior >= SX_DP_INF || dp->cost[c][p] + prior >= b->cost)
		return;
	*b = (struct best){dp->cost[c][p] + prior, c};
}

static struct best below_object(const struct sx_dp *dp, int v_bottom, int m)
{
	const int p = v_bottom - 1;
	const struct sx_dp_row *r = &dp->place.rows[v_bottom];
	const struct sx_dp_order *o = &dp->t->order[mean_q4(dp, dp->from[O][p].v_bottom, p)];
	struct best b = {SX_DP_INF, O};

	if (m > o->hi)
		consider(&b, dp, O, p, r->object_on_object + o->cost_hi);
	else if (m < o->lo)
		consider(&b, dp, O, p, r->object_on_object + o->cost_lo);
	consider(&b, dp, p < dp->place.vhor ? G : S, p,
		 m > r->hi   ? r->cost_hi
		 : m < r->lo ? r->cost_lo
			     : r->cost_on);
	return b;
}

static struct best below_ground(const struct sx_dp *dp, int v_bottom)
{
	struct best b = {SX_DP_INF, O};

	consider(&b, dp, O, v_bottom - 1, dp->place.rows[v_bottom].ground);
	consider(&b, dp, G, v_bottom - 1, dp->place.rows[v_bottom].ground);
	return b;
}

static struct best below_sky(const struct sx_dp *dp, int v_bottom)
{
	const int p = v_bottom - 1;
	struct best b = {SX_DP_INF, O};

	if (mean_q4(dp, dp->from[O][p].v_bottom, p) >= dp->t->epsilon_q4)
		consider(&b, dp, O, p, dp->place.rows[v_bottom].sky_on_object);
	consider(&b, dp, G, p, dp->place.rows[v_bottom].sky_on_ground);
	return b;
}

/* Replaces the best candidate only by a strictly cheaper one: the longest segment wins ties. */
static void relax(struct sx_dp *dp, uint8_t c, int v_top, int v_bottom, struct best b, int32_t data)
{
	if (b.cost >= SX_DP_INF || b.cost + data >= dp->cost[c][v_top])
		return;
	dp->cost[c][v_top] = b.cost + data;
	dp->from[c][v_top] = (struct choice){(uint16_t)v_bottom, b.below};
}

static void first_segments(struct sx_dp *dp, int v_top)
{
	const struct sx_dp_tables *t = dp->t;
	const bool low = v_top < dp->place.vhor;

	for (uint8_t c = 0; c < 3; c++)
		dp->cost[c][v_top] = SX_DP_INF;
	relax(dp, O, v_top, 0, (struct best){low ? t->first_object_low : t->first_object, O},
	      object_data(dp, 0, v_top));
	if (low)
		relax(dp, G, v_top, 0, (struct best){t->first_ground, G}, dp->ground[v_top + 1]);
}

static void recurrence(struct sx_dp *dp)
{
	const int vhor = dp->place.vhor;

	for (int v_top = 0; v_top < dp->t->height; v_top++) {
		first_segments(dp, v_top);
		for (int v_bottom = 1; v_bottom <= v_top; v_bottom++) {
			relax(dp, O, v_top, v_bottom,
			      below_object(dp, v_bottom, mean_q4(dp, v_bottom, v_top)),
			      object_data(dp, v_bottom, v_top));
			if (v_top < vhor)
				relax(dp, G, v_top, v_bottom, below_ground(dp, v_bottom),
				      dp->ground[v_top + 1] - dp->ground[v_bottom]);
			if (v_bottom >= vhor)
				relax(dp, S, v_top, v_bottom, below_sky(dp, v_bottom),
				      dp->sky[v_top + 1] - dp->sky[v_bottom]);
		}
	}
}

/* Follows the choices down from the top row. The list is then in order from bottom to top. */
static int back_track(const struct sx_dp *dp, struct sx_segment *list, int32_t *total)
{
	uint8_t c = G;
	int n = 0, v = dp->t->height - 1;

	for (uint8_t k = O; k <= S; k++)
		if (dp->cost[k][v] < dp->cost[c][v])
			c = k;
	*total = dp->cost[c][v];
	while (v >= 0) {
		const struct choice *from = &dp->from[c][v];

		list[n++] = (struct sx_segment){
			.v_bottom = from->v_bottom,
			.v_top = (uint16_t)v,
			.mean_q4 = (uint16_t)(c == O ? mean_q4(dp, from->v_bottom, v) : 0),
			.kind = c};
		v = from->v_bottom - 1;
		c = from->below;
	}
	for (int i = 0; i < n / 2; i++) {
		const struct sx_segment s = list[i];

		list[i] = list[n - 1 - i];
		list[n - 1 - i] = s;
	}
	return n;
}

static void publishable(const struct sx_dp_place *at, const uint16_t *support, struct sx_segment *s)
{
	const int ground = clamp(at->ground_q4[s->v_bottom], 0, 8191); /* 8 * 8191 fits 16 bits */

	if (s->kind == O && s->mean_q4 < 16 && s->v_bottom >= at->vhor)
		s->kind = S;
	if (s->kind == O && support[s->v_top + 1] == support[s->v_bottom])
		s->kind = STIXEL_UNKNOWN;
	if (s->kind != O)
		s->mean_q4 = 0;
	s->slope_q14 = s->kind == G ? at->slope_q14 : 0;
	s->disparity_q7 = s->kind == STIXEL_UNKNOWN ? STIXEL_DISPARITY_UNKNOWN
			  : s->kind == O	    ? (uint16_t)(8 * s->mean_q4)
			  : s->kind == G	    ? (uint16_t)(8 * ground)
						    : 0;
}

static int cut_unseen(struct sx_segment *list, int n, int unseen)
{
	int gone = 0;

	if (unseen == 0)
		return n;
	while (gone < n && list[gone].v_top < unseen)
		gone++;
	memmove(list + 1, list + gone, (size_t)(n - gone) * sizeof(*list));
	list[0] = sx_segment_unseen(unseen);
	if (gone < n)
		list[1].v_bottom = (uint16_t)unseen;
	return n - gone + 1;
}

int sx_dp_finish_list(const struct sx_dp_place *p, const struct sx_dp_tables *t, int u,
		      const uint16_t *support, struct sx_segment *list, int n)
{
	int kept = 0;

	n = cut_unseen(list, n, sx_road_unseen_rows(p->ground_q4, t->height, u, t->width));
	for (int i = 0; i < n; i++) {
		struct sx_segment s = list[i];

		publishable(p, support, &s);
		if (kept && s.kind == S && list[kept - 1].kind == S)
			list[kept - 1].v_top = s.v_top;
		else
			list[kept++] = s;
	}
	return kept;
}

int sx_dp_create(struct sx_dp **ret, const struct sx_dp_tables *t)
{
	const size_t h = (size_t)t->height, n = (size_t)t->range;
	struct sx_dp *dp = calloc(1, sizeof(*dp));

	if (!dp)
		return -ENOMEM;
	dp->t = t;
	if (sx_dp_frame_init(&dp->frame, t->height) < 0 || sx_dp_place_init(&dp->place, t->height) < 0)
		goto fail;
	dp->ground = calloc(h + 1, sizeof(*dp->ground));
	dp->sky = calloc(h + 1, sizeof(*dp->sky));
	dp->sum = calloc(h + 1, sizeof(*dp->sum));
	dp->support = calloc(h + 1, sizeof(*dp->support));
	dp->object = calloc((h + 1) * n, sizeof(*dp->object));
	if (!dp->ground || !dp->sky || !dp->sum || !dp->support || !dp->object)
		goto fail;
	for (int c = 0; c < 3; c++) {
		dp->cost[c] = calloc(h, sizeof(*dp->cost[c]));
		dp->from[c] = calloc(h, sizeof(*dp->from[c]));
		if (!dp->cost[c] || !dp->from[c])
			goto fail;
	}
	*ret = dp;
	return 0;
fail:
	sx_dp_destroy(dp);
	return -ENOMEM;
}

void sx_dp_destroy(struct sx_dp *dp)
{
	if (!dp)
		return;
	sx_dp_frame_finish(&dp->frame);
	sx_dp_place_finish(&dp->place);
	free(dp->ground);
	free(dp->sky);
	free(dp->sum);
	free(dp->support);
	free(dp->object);
	for (int c = 0; c < 3; c++) {
		free(dp->cost[c]);
		free(dp->from[c]);
	}
	free(dp);
}

void sx_dp_run(struct sx_dp *dp, const struct sx_road *road, const struct sx_image *columns,
	       struct sx_segments *out)
{
	sx_dp_frame_set(&dp->frame, dp->t, road);
	for (int u = 0; u < columns->height; u++) {
		struct sx_segment *list = sx_segments_column(out, u);
		int n;

		sx_dp_place_set(&dp->place, dp->t, &dp->frame, sx_dp_shift_q4(&dp->frame, dp->t, u));
		prefix_sums(dp, sx_image_row(columns, u));
		recurrence(dp);
		n = back_track(dp, list, &out->total[u]);
		out->count[u] = (uint16_t)sx_dp_finish_list(&dp->place, dp->t, u, dp->support, list, n);
	}
}
