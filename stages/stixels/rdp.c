/*
 * RDP: fill, cut, label. See rdp.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stixels/rdp.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <stixel.h>

#include "stages/road/road_ground.h"
#include "stages/stixels/rdp_label.h"
#include "stages/stixels/stixel_dp.h"

struct sx_rdp {
	const struct sx_rdp_tables *t;
	int32_t *axis_q4, *ground_q4; /* ground at the axis, and in the column */
	uint16_t *filled, *stack;
	uint8_t *cut;
};

static int q4(double px)
{
	const double x = floor(16.0 * px + 0.5);

	return x < 0.0 ? 0 : x > 65535.0 ? 65535 : (int)x;
}

int sx_rdp_tables_create(struct sx_rdp_tables **ret, const struct sx_params *p, int height, int range)
{
	struct sx_rdp_tables *t;

	if (height < 1 || height > 2160 || range < 1 || range > SX_RANGE_MAX)
		return -EINVAL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->span_q4 = calloc(16 * (size_t)range, sizeof(*t->span_q4));
	if (!t->span_q4) {
		free(t);
		return -ENOMEM;
	}
	t->height = height;
	t->range = range;
	t->width = p->stixels.width;
	t->epsilon_q4 = q4(p->stixels.rdp_epsilon_px);
	t->sky_q4 = q4(p->stixels.rdp_sky_px);
	t->ground_q4 = q4(p->stixels.rdp_ground_px);
	for (int m = 0; m < 16 * range; m++)
		t->span_q4[m] = (uint16_t)sx_dp_depth_span_q4(p, m);
	*ret = t;
	return 0;
}

void sx_rdp_tables_destroy(struct sx_rdp_tables *t)
{
	if (!t)
		return;
	free(t->span_q4);
	free(t);
}

size_t sx_rdp_tables_bytes(const struct sx_rdp_tables *t)
{
	return sizeof(*t) + 16 * (size_t)t->range * sizeof(*t->span_q4);
}

void sx_rdp_fill(const struct sx_rdp_tables *t, const uint16_t *column, uint16_t *filled)
{
	const uint16_t max = (uint16_t)(16 * t->range - 1);
	uint16_t last = 0;
	int i = 0;

	while (i < t->height && column[i] == SX_DISPARITY_INVALID)
		i++;
	if (i < t->height)
		last = column[i] < max ? column[i] : max;
	for (i = 0; i < t->height; i++) {
		const bool valid = column[i] != SX_DISPARITY_INVALID;

		if (valid)
			last = column[i] < max ? column[i] : max;
		filled[i] = (uint16_t)(valid ? last : last | SX_RDP_FILLED);
	}
}

static int value(uint16_t filled)
{
	return filled & (SX_RDP_FILLED - 1);
}

/* Returns the cell between first and last to cut at, 0 if there is none. */
static int farthest(const uint16_t *d, int first, int last, int epsilon_q4)
{
	const int df = value(d[first]), rise = value(d[last]) - df, run = last - first;
	/* 64 bits for the limit only: the user can set any epsilon */
	int64_t best = (int64_t)epsilon_q4 * run;
	int at = 0;

	for (int i = first + 1; i < last; i++) {
		const int num = abs(rise * (i - first) - (value(d[i]) - df) * run);

		if (!(d[i] & SX_RDP_FILLED) && num > best) {
			best = num;
			at = i;
		}
	}
	return at;
}

void sx_rdp_cut(const struct sx_rdp_tables *t, const uint16_t *filled, uint8_t *cut, uint16_t *stack)
{
	const int h = t->height;
	int first = 0, depth = 0;

	memset(cut, 0, (size_t)h);
	cut[0] = cut[h - 1] = 1;
	stack[depth++] = (uint16_t)(h - 1);
	/* the stack holds the ends of the segments above `first`, the nearest on top: at most h entries */
	while (depth) {
		const int last = stack[depth - 1], at = farthest(filled, first, last, t->epsilon_q4);

		if (at) {
			cut[at] = 1;
			stack[depth++] = (uint16_t)at;
		} else {
			first = last;
			depth--;
		}
	}
}

/* Returns the slope of the road per row upwards in Q20 px, saturated. */
static int32_t rdp_ground_slope(const struct sx_road *road)
{
	return sx_rdp_slope_of_road(road->slope);
}

static struct sx_rdp_sums sums_of(const uint16_t *filled, const int32_t *ground_q4, int first, int last)
{
	struct sx_rdp_sums s = {0};

	for (int v = first; v <= last; v++) {
		const int64_t x = v - first, d = value(filled[v]), g = ground_q4[v] > 0 ? ground_q4[v] : 0;

		if (filled[v] & SX_RDP_FILLED)
			continue;
		s.n++;
		s.x += x;
		s.xx += x * x;
		s.d += d;
		s.xd += x * d;
		s.ground += g;
		s.distance += d > g ? d - g : g - d;
	}
	return s;
}

static int mean_of(const struct sx_rdp_sums *s)
{
	return (int)sx_rdp_mean_q4((uint32_t)s->n, (uint32_t)s->d);
}

static uint8_t kind_of(const struct sx_rdp_tables *t, const struct sx_rdp_sums *s, int first, int last,
		       int vhor, int64_t ground_slope)
{
	if (s->n == 0)
		return STIXEL_UNKNOWN;
	if (last >= vhor && mean_of(s) < t->sky_q4)
		return STIXEL_SKY;
	if (last < vhor + 2 && sx_rdp_on_ground(s, last - first + 1, t->ground_q4, ground_slope))
		return STIXEL_GROUND;
	return STIXEL_OBJECT;
}

/*
 * Returns true if the lower and the upper segment become one. The span is taken at the mean of the lower one.
 */
static bool one_thing(const struct sx_rdp_tables *t, const struct sx_segment *lower,
		      const struct sx_segment *upper)
{
	if (lower->kind != upper->kind)
		return false;
	return lower->kind != STIXEL_OBJECT ||
	       abs(upper->mean_q4 - lower->mean_q4) <= t->span_q4[lower->mean_q4];
}

/* Merges neighbours bottom-up. A merged segment has a new mean, which decides about the next segment. */
static int merge(const struct sx_rdp_tables *t, const int32_t *ground_q4, const uint16_t *filled,
		 struct sx_segment *list, int n)
{
	int kept = 0;

	for (int i = 0; i < n; i++) {
		struct sx_rdp_sums s;

		if (!kept || !one_thing(t, &list[kept - 1], &list[i])) {
			list[kept++] = list[i];
			continue;
		}
		list[kept - 1].v_top = list[i].v_top;
		s = sums_of(filled, ground_q4, list[kept - 1].v_bottom, list[i].v_top);
		list[kept - 1].mean_q4 = (uint16_t)mean_of(&s);
	}
	return kept;
}

/*
 * Makes segments of cuts: rows c(i-1)+1 .. c(i) (the first from 0). The kind of a segment follows from its
 * valid cells, by the first rule that applies:
 * unknown: no valid cell, or rows that the right camera does not see;
 * sky: it ends at or above vhor, and mean < sky;
 * ground: it ends below vhor + 2, its mean distance from the ground is <= tolerance + 5 % of the ground, and
 * its least-squares slope is within half of the ground's (any slope, if it is shorter than 3 rows or so short
 * that the ground changes by less than the tolerance);
 * object: all others.
 *
 * Then neighbours merge bottom-up: ground, sky and unknown with the same kind, objects if their means differ
 * by at most span(lower mean). Ground above an object that is farther away becomes an object, and neighbours
 * merge once more. Ground gets its least-squares line. Returns the number of segments in list (at most h).
 */
static int rdp_label(const struct sx_rdp_tables *t, const int32_t *ground_q4, int vhor, int unseen,
		     int32_t ground_slope_q20, const uint16_t *filled, const uint8_t *cut,
		     struct sx_segment *list)
{
	int n = 0, first = 0;

	for (int v = 0; v < t->height; v++) {
		struct sx_rdp_sums s;

		/* row 0 is a cut, but belongs to the segment above it, except if it is the only unseen row */
		if (!cut[v] || (v == 0 && t->height > 1 && unseen != 1))
			continue;
		s = sums_of(filled, ground_q4, first, v);
		list[n++] = (struct sx_segment){
			.v_bottom = (uint16_t)first,
			.v_top = (uint16_t)v,
			.mean_q4 = (uint16_t)mean_of(&s),
			.kind = v < unseen ? STIXEL_UNKNOWN
					   : kind_of(t, &s, first, v, vhor, ground_slope_q20)};
		first = v + 1;
	}
	n = merge(t, ground_q4, filled, list, n);
	for (int i = 1; i < n; i++)
		if (list[i].kind == STIXEL_GROUND && list[i - 1].kind == STIXEL_OBJECT &&
		    list[i - 1].mean_q4 < list[i].mean_q4)
			list[i].kind = STIXEL_OBJECT;
	n = merge(t, ground_q4, filled, list, n);
	for (int i = 0; i < n; i++) {
		const struct sx_rdp_sums s = sums_of(filled, ground_q4, list[i].v_bottom, list[i].v_top);

		sx_rdp_publish(&s, &list[i]);
	}
	return n;
}

/* Joins the rows that the right camera does not see to one piece. */
static void join_unseen(uint8_t *cut, int unseen)
{
	if (unseen == 0)
		return;
	memset(cut, 0, (size_t)unseen);
	cut[unseen - 1] = 1;
}

int sx_rdp_create(struct sx_rdp **ret, const struct sx_rdp_tables *t)
{
	const size_t h = (size_t)t->height;
	struct sx_rdp *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->t = t;
	r->axis_q4 = calloc(h, sizeof(*r->axis_q4));
	r->ground_q4 = calloc(h, sizeof(*r->ground_q4));
	r->filled = calloc(h, sizeof(*r->filled));
	r->stack = calloc(h, sizeof(*r->stack));
	r->cut = calloc(h, 1);
	if (!r->axis_q4 || !r->ground_q4 || !r->filled || !r->stack || !r->cut) {
		sx_rdp_destroy(r);
		return -ENOMEM;
	}
	*ret = r;
	return 0;
}

size_t sx_rdp_bytes(const struct sx_rdp_tables *t)
{
	const struct sx_rdp r = {0};

	return sizeof(r) + (size_t)t->height * (sizeof(*r.axis_q4) + sizeof(*r.ground_q4) +
						sizeof(*r.filled) + sizeof(*r.stack) + sizeof(*r.cut));
}

void sx_rdp_destroy(struct sx_rdp *r)
{
	if (!r)
		return;
	free(r->axis_q4);
	free(r->ground_q4);
	free(r->filled);
	free(r->stack);
	free(r->cut);
	free(r);
}

void sx_rdp_run(struct sx_rdp *r, const struct sx_road *road, const struct sx_image *columns, int first,
		struct sx_segments *out)
{
	const int h = r->t->height;
	const int32_t slope = rdp_ground_slope(road);

	sx_road_ground(road, h, r->axis_q4);
	for (int u = 0; u < columns->height; u++) {
		const int32_t shift = sx_road_shift_q4(road->cross, road->axis, first + u, r->t->width);
		const int vhor = sx_road_column_ground(r->axis_q4, h, shift, r->ground_q4);
		const int unseen = sx_road_unseen_rows(r->ground_q4, h, first + u, r->t->width);

		sx_rdp_fill(r->t, sx_image_row(columns, u), r->filled);
		sx_rdp_cut(r->t, r->filled, r->cut, r->stack);
		join_unseen(r->cut, unseen);
		out->count[u] = (uint16_t)rdp_label(r->t, r->ground_q4, vhor, unseen, slope, r->filled,
						    r->cut, sx_segments_column(out, u));
		out->total[u] = 0;
	}
}
