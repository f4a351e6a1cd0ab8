/*
 * A frame as a laser scan: each column of stixels is walked from bottom to top, and what it sees is put where
 * it lies in the plane of the road.
 *
 * An angle first is free where the field of view has it, and not seen elsewhere. Then each thing makes of the
 * angles that it covers what it is, in any order: an obstacle's distance stays unless a nearer one comes,
 * and not seen stays unless there is an obstacle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "include/stixel_convert.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/contract.h"
#include "ipc/client/geometry.h"

#define SCAN_ANGLES_MAX 65536
#define SCAN_RANGE_DISPARITY 4.0 /* px: the usual range_max */

/*
 * What a scan may cost, in angles that are looked at: so many for each angle, more for each column, as one of
 * a camera that leans hides many, and some for each stixel. Frames of cameras take a small part of it; one
 * that is made up so that each object covers all angles would hold up its reader for seconds.
 */
#define SCAN_COST_OF_MEETING 8 /* two sines */
#define SCAN_COST_PER_ANGLE 2048
#define SCAN_COST_PER_COLUMN 8
#define SCAN_COST_COLUMNS 1024
#define SCAN_COST_PER_STIXEL 64

struct scan {
	struct sx_geometry g;
	struct stixel_scan_options o;
	float *ranges;
	int64_t left; /* of what it may cost; negative: it is given up */
};

/* Directions in the plane of the road, rad, between two of which something lies. */
struct scan_span {
	double right, left;
};

/* A column while it is walked. */
struct scan_column {
	double right, middle, left; /* its edges, image columns, px */
	struct scan_span horizon;   /* directions in which they see it */
	bool seen;		    /* ground or an object was */
	bool blocked;		    /* by an obstacle */
	bool unseen;		    /* from there on */
};

/* ---- angles ---- */

static struct sx_vector scan_direction(const struct scan *s, double x, double y)
{
	return sx_geometry_turn(&s->g, sx_geometry_ray(&s->g, x, y));
}

static double scan_azimuth(const struct scan *s, double x, double y)
{
	const struct sx_vector v = scan_direction(s, x, y);

	return sx_atan2(v.y, v.x);
}

/* Takes one more direction in. */
static void scan_widen(struct scan_span *span, double azimuth)
{
	if (azimuth < span->right)
		span->right = azimuth;
	if (azimuth > span->left)
		span->left = azimuth;
}

/* Direction in which image column x sees the horizon. */
static double scan_far(const struct scan *s, double x)
{
	return scan_azimuth(s, x, sx_geometry_horizon(&s->g, x));
}

/* Directions of a column at row y. */
static struct scan_span scan_span_at(const struct scan *s, const struct scan_column *c, double y)
{
	struct scan_span span = {HUGE_VAL, -HUGE_VAL};

	scan_widen(&span, scan_azimuth(s, c->right, y));
	scan_widen(&span, scan_azimuth(s, c->left, y));
	return span;
}

/* The same at all rows from there on up to the horizon. */
static struct scan_span scan_span_to_horizon(const struct scan_column *c, struct scan_span span)
{
	scan_widen(&span, c->horizon.right);
	scan_widen(&span, c->horizon.left);
	return span;
}

/* Angles first .. last of a span, and where its ends are, counted in angles. */
struct scan_angles {
	int64_t first, last;
	double from, to;
};

/*
 * Angles within a span, edges included, that is turned by so many full turns; without one the angle nearest
 * to its middle. last < first: it lies outside of the scan.
 */
static struct scan_angles scan_angles_of(const struct scan *s, struct scan_span span, int turns)
{
	const double step = (double)s->o.angle_increment,
		     shift = turns * (2.0 * SX_PI) - (double)s->o.angle_min;
	struct scan_angles a = {0, -1, (span.right + shift) / step, (span.left + shift) / step};
	double middle;

	if (!(a.to >= -1.0 && a.from <= s->o.count))
		return a;
	a.first = a.from > 0.0 ? (int64_t)a.from + (a.from > (double)(int64_t)a.from) : 0;
	a.last = a.to < s->o.count ? (int64_t)(a.to + 1.0) - 1 : (int64_t)s->o.count - 1;
	if (a.last >= s->o.count) /* the sum was rounded up */
		a.last = (int64_t)s->o.count - 1;
	if (a.first <= a.last)
		return a;
	middle = 0.5 * (a.from + a.to) + 0.5;
	a.first = 0;
	a.last = -1;
	if (middle >= 0.0 && middle < s->o.count)
		a.first = a.last = (int64_t)middle;
	return a;
}

/* A span across the direction straight back goes on a turn later. */
static struct scan_span scan_across_back(struct scan_span span)
{
	return span.left - span.right > SX_PI ? (struct scan_span){span.left, span.right + 2.0 * SX_PI}
					      : span;
}

/* ---- what a thing makes of its angles ---- */

/* Whether these angles may still be looked at; takes off what that costs. */
static bool scan_affords(struct scan *s, struct scan_angles a, int64_t each)
{
	sx_must_or(return false, s->left, >=, 0);
	if (a.first <= a.last)
		s->left -= (a.last - a.first + 1) * each;
	return s->left >= 0;
}

static void scan_put_unseen_at(struct scan *s, int64_t i)
{
	sx_must_or(return, i, <, s->o.count);
	if (s->ranges[i] == INFINITY)
		s->ranges[i] = NAN;
}

static void scan_put_unseen(struct scan *s, struct scan_span span)
{
	span = scan_across_back(span);
	for (int turns = -1; turns <= 2; turns++) {
		const struct scan_angles a = scan_angles_of(s, span, turns);

		if (!scan_affords(s, a, 1))
			return;
		for (int64_t i = a.first; i <= a.last; i++)
			scan_put_unseen_at(s, i);
	}
}

static void scan_put_free(struct scan *s, struct scan_span span)
{
	sx_must_or(return, s->o.count, >, 0);
	for (int turns = -1; turns <= 2; turns++) {
		const struct scan_angles a = scan_angles_of(s, span, turns);

		for (int64_t i = a.first; i <= a.last; i++)
			s->ranges[i] = INFINITY;
	}
}

static void scan_put_range(struct scan *s, int64_t i, double range)
{
	float *r = &s->ranges[i];
	float nearer;

	sx_must_or(return, i, <, s->o.count);
	if (!(range <= (double)s->o.range_max))
		return;
	nearer = range < (double)s->o.range_min ? -INFINITY : (float)range;
	if (isnan(*r) || nearer < *r)
		*r = nearer;
}

/* Distance at which angle i meets the line from right to left; fallback where it does not. */
static double scan_meets(const struct scan *s, int64_t i, struct sx_vector right, struct sx_vector left,
			 double fallback)
{
	double sine, cosine, range;

	sx_must_or(return fallback, i, <, s->o.count);
	sx_sin_cos((double)s->o.angle_min + (double)i * (double)s->o.angle_increment, &sine, &cosine);
	range = (right.x * left.y - right.y * left.x) /
		(cosine * (left.y - right.y) - sine * (left.x - right.x));
	return range > 0.0 && range < HUGE_VAL ? range : fallback;
}

/* Along the road, at 1 m along the optical axis, of what the middle of a column sees at row y. */
static double scan_distance(const struct scan *s, const struct scan_column *c, double y)
{
	const struct sx_vector v = scan_direction(s, c->middle, y);

	return sqrt(v.x * v.x + v.y * v.y);
}

/* What a column sees beyond an obstacle, but in the directions of the obstacle itself. */
static void scan_put_hidden(struct scan *s, const struct scan_column *c, struct scan_span obstacle)
{
	const struct scan_span all = scan_across_back(scan_span_to_horizon(c, obstacle));

	obstacle = scan_across_back(obstacle);
	for (int turns = -1; turns <= 2; turns++) {
		const struct scan_angles a = scan_angles_of(s, all, turns);
		const struct scan_angles own = scan_angles_of(s, obstacle, turns);

		if (!scan_affords(s, a, 1))
			return;
		for (int64_t i = a.first; i <= a.last; i++)
			if (i < own.first || i > own.last)
				scan_put_unseen_at(s, i);
	}
}

/* The obstacle that a column sees at row y with disparity d. */
static void scan_put_obstacle(struct scan *s, const struct scan_column *c, double y, double d)
{
	const double depth = s->g.focal_baseline / d;
	struct sx_vector right = scan_direction(s, c->right, y), left = scan_direction(s, c->left, y);
	const double middle = depth * scan_distance(s, c, y);
	const struct scan_span span = scan_span_at(s, c, y);

	sx_must_or(return, d > 0.0, ==, true);
	right.x *= depth, right.y *= depth;
	left.x *= depth, left.y *= depth;
	for (int turns = -1; turns <= 2; turns++) {
		const struct scan_angles a = scan_angles_of(s, scan_across_back(span), turns);

		if (!scan_affords(s, a, SCAN_COST_OF_MEETING))
			return;
		for (int64_t i = a.first; i <= a.last; i++)
			scan_put_range(s, i,
				       (double)i >= a.from && (double)i <= a.to
					       ? scan_meets(s, i, right, left, middle)
					       : middle);
	}
	if (middle <= (double)s->o.range_max)
		scan_put_hidden(s, c, span);
}

/* ---- what a column sees ---- */

/* Something counts as it was asked for; it begins at row y, with disparity d. */
static void scan_take(struct scan *s, struct scan_column *c, uint32_t as, double y, double d)
{
	sx_must_or(return, as, <=, STIXEL_SCAN_AS_UNSEEN);
	if (as == STIXEL_SCAN_AS_OBSTACLE) {
		scan_put_obstacle(s, c, y, d);
		c->blocked = true;
	} else if (as == STIXEL_SCAN_AS_UNSEEN && !c->blocked) {
		scan_put_unseen(s, scan_span_to_horizon(c, scan_span_at(s, c, y)));
		c->unseen = true;
	}
}

/*
 * It lies at its lowest row within the band, or at its lowest one where none is: things at one distance then
 * have the same row in all columns, and a camera that leans sees no gaps between them.
 */
static void scan_object(struct scan *s, struct scan_column *c, const struct stixel *object)
{
	const double d = stixel_disparity_px(object);
	const struct sx_upright at = sx_geometry_upright(&s->g, c->middle, d);
	const double lowest = at.foot_row - (double)s->o.height_min / at.m_per_row;
	const double highest = at.foot_row - (double)s->o.height_max / at.m_per_row;
	double bottom = object->row_bottom + 0.5;
	uint32_t as = STIXEL_SCAN_AS_OBSTACLE;

	sx_must_or(return, object->disparity_q7, >, 0);
	if (object->row_top - 0.5 >= lowest)
		as = s->o.below;
	else if (bottom <= highest)
		as = s->o.above;
	else if (bottom > lowest)
		bottom = lowest;
	if (as == STIXEL_SCAN_AS_OBSTACLE ||
	    s->g.focal_baseline / d * scan_distance(s, c, bottom) <= (double)s->o.range_max)
		scan_take(s, c, as, bottom, d);
}

/* It begins where the road is in its lowest row. */
static void scan_unknown(struct scan *s, struct scan_column *c, const struct stixel *unknown)
{
	const double bottom = unknown->row_bottom + 0.5;
	const double d = stixel_ground_disparity(s->g.header, c->middle, bottom);

	sx_must_or(return, s->o.unknown, <=, STIXEL_SCAN_AS_UNSEEN);
	if (d > 0.0 && s->g.focal_baseline / d * scan_distance(s, c, bottom) <= (double)s->o.range_max)
		scan_take(s, c, s->o.unknown, bottom, d);
}

static void scan_column(struct scan *s, const struct stixel_frame *frame, uint32_t u)
{
	const struct stixel_frame_header *h = frame->header;
	const double width = h->column_width;
	struct scan_column c = {
		.left = u * width - 0.5,
		.middle = sx_geometry_middle(&s->g, u),
		.right = u * width - 0.5 + width,
	};
	uint32_t count;
	const struct stixel *list = stixel_column(frame, u, &count);

	c.horizon = (struct scan_span){scan_far(s, c.right), scan_far(s, c.left)};
	for (uint32_t i = 0; i < count && !c.unseen && s->left >= 0; i++) {
		const struct stixel *one = &list[i];

		if (one->kind == STIXEL_SKY)
			continue;
		if (one->kind == STIXEL_GROUND) {
			c.seen = true;
		} else if (one->kind != STIXEL_OBJECT || one->disparity_q7 == STIXEL_DISPARITY_UNKNOWN) {
			scan_unknown(s, &c, one);
		} else {
			c.seen = true;
			if (one->disparity_q7 > 0)
				scan_object(s, &c, one);
		}
	}
	if (!c.seen && !c.blocked && !c.unseen)
		scan_put_unseen(s, scan_span_to_horizon(&c, scan_span_at(s, &c, h->image_height - 0.5)));
}

/* ---- options ---- */

static bool scan_accepts(const struct stixel_scan_options *o)
{
	const double turn = 2.0 * SX_PI * (1.0 + 1e-6);

	if (o->count == 0)
		return true;
	return fabs((double)o->angle_min) <= turn && o->angle_increment > 0.0f &&
	       (double)o->angle_increment * (o->count - 1) <= turn && o->range_min >= 0.0f &&
	       o->range_min <= o->range_max && isfinite(o->range_max) && isfinite(o->height_min) &&
	       o->height_min <= o->height_max && isfinite(o->height_max) &&
	       o->above <= STIXEL_SCAN_AS_UNSEEN && o->below <= STIXEL_SCAN_AS_UNSEEN &&
	       o->unknown <= STIXEL_SCAN_AS_UNSEEN;
}

/* False where a column is too narrow for a float, or, by rounding, wider than all together. */
static bool scan_default_angles(struct stixel_scan_options *o, const struct stixel_frame_header *h)
{
	const double width = h->column_width, end = h->columns * width;
	const double left = sx_atan2(h->cx + 0.5, h->fx), right = sx_atan2(h->cx + 0.5 - end, h->fx);
	const double first = left - sx_atan2(h->cx + 0.5 - width, h->fx);
	const double last = sx_atan2(h->cx + 0.5 - (end - width), h->fx) - right;
	const double narrowest = first < last ? first : last, view = left - right;
	uint32_t count = SCAN_ANGLES_MAX;

	sx_must_or(return false, h->columns, >, 0);
	if (!((float)narrowest > 0.0f && view >= narrowest))
		return false;
	if (view < narrowest * SCAN_ANGLES_MAX)
		count = (uint32_t)(view / narrowest);
	if (count * narrowest < view && count < SCAN_ANGLES_MAX)
		count++;
	o->count = count;
	o->angle_increment = (float)(view / count);
	o->angle_min = (float)(right + 0.5 * (view / count));
	return true;
}

int stixel_scan_defaults(const struct stixel_frame *frame, struct stixel_scan_options *options, size_t bytes)
{
	struct stixel_scan_options o = {.height_min = 0.15f,
					.height_max = 2.0f,
					.above = STIXEL_SCAN_AS_FREE,
					.below = STIXEL_SCAN_AS_FREE,
					.unknown = STIXEL_SCAN_AS_UNSEEN};
	const struct stixel_frame_header *h;
	struct sx_geometry g;
	double disparity;
	bool known;

	if (!frame || !options)
		return -EINVAL;
	h = frame->header;
	g = sx_geometry_of(h);
	known = g.camera && h->columns > 0 && scan_default_angles(&o, h);
	if (known) {
		disparity = (double)h->min_disparity + (double)h->disparities - 1.0;
		o.range_min = disparity > 0.0 ? (float)(g.focal_baseline / disparity) : 0.0f;
		o.range_max = (float)(g.focal_baseline / SCAN_RANGE_DISPARITY);
		if (o.range_max < o.range_min)
			o.range_max = o.range_min;
		known = scan_accepts(&o);
	}
	if (!known) {
		o.angle_min = o.angle_increment = o.range_min = o.range_max = 0.0f;
		o.count = 0;
	}
	memset(options, 0, bytes);
	memcpy(options, &o, bytes < sizeof(o) ? bytes : sizeof(o));
	return known;
}

static int64_t scan_budget(const struct stixel_scan_options *o, const struct stixel_frame_header *h)
{
	const int64_t columns = h->columns < SCAN_COST_COLUMNS ? h->columns : SCAN_COST_COLUMNS;

	sx_must_or(return 0, o->count, >, 0);
	return o->count * (SCAN_COST_PER_ANGLE + SCAN_COST_PER_COLUMN * columns) +
	       h->stixel_count * (int64_t)SCAN_COST_PER_STIXEL;
}

static void scan_set_all(float *ranges, uint32_t count, float value)
{
	for (uint32_t i = 0; i < count; i++)
		ranges[i] = value;
}

/* Whether heights over the road can be told. */
static bool scan_has_road(const struct sx_geometry *g)
{
	return g->road && g->ground.slope > 0.0 && g->ground.slope < HUGE_VAL && g->header->height_m > 0.0;
}

int stixel_scan(const struct stixel_frame *frame, const struct stixel_scan_options *options, size_t bytes,
		float *ranges)
{
	struct scan s = {.ranges = ranges};
	const struct stixel_frame_header *h;

	if (!frame || !options)
		return -EINVAL;
	memcpy(&s.o, options, bytes < sizeof(s.o) ? bytes : sizeof(s.o));
	if (!scan_accepts(&s.o) || (s.o.count > 0 && !ranges))
		return -EINVAL;
	h = frame->header;
	s.g = sx_geometry_of(h);
	scan_set_all(ranges, s.o.count, NAN);
	if (!scan_has_road(&s.g) || h->columns == 0)
		return 0;
	if (s.o.count == 0)
		return 1;
	s.left = scan_budget(&s.o, h);
	scan_put_free(&s, (struct scan_span){scan_far(&s, h->columns * (double)h->column_width - 0.5),
					     scan_far(&s, -0.5)});
	for (uint32_t u = 0; u < h->columns && s.left >= 0; u++)
		scan_column(&s, frame, u);
	if (s.left >= 0)
		return 1;
	scan_set_all(ranges, s.o.count, NAN);
	return 0;
}
