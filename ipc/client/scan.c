/*
 * Converts a frame to a laser scan. Walks each column of stixels from bottom to top and projects its findings
 * into the road plane.
 *
 * At first an angle is free within the field of view, and unseen elsewhere. Then each finding updates the
 * angles that it covers, in any order. The range of an obstacle stays unless a nearer obstacle comes. Unseen
 * stays unless there is an obstacle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/client/scan.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/contract.h"

/*
 * The ground of a column may begin about where the image's lowest row sees the road, or about where the
 * ground of most columns begins. A mask over a bonnet or the bars of a letterbox cover the foot of all
 * columns.
 */
#define SCAN_LOWEST_SHARE 1.1
#define SCAN_USUAL_SHARE 1.25 /* an arc of bonnet is higher in the middle */

/*
 * A range says nothing about the way to the obstacle, and a planner takes that way as free. If the ground
 * ends unseen within SCAN_NEAR_HEIGHTS camera heights, where the camera sees it steeply, it probably ends at
 * a drop. Then an obstacle more than SCAN_BEYOND times as far away gives no range. Farther away the foot of
 * many objects is not measured. The same holds if the lowest thing that is seen lies below the road: the edge
 * of the drop is in the blind zone.
 */
#define SCAN_NEAR_HEIGHTS 4.0
#define SCAN_BEYOND 2.0

/*
 * Work budget of a scan, counted in visited angles. Each angle adds SCAN_COST_PER_ANGLE, plus
 * SCAN_COST_PER_COLUMN for each column (at most SCAN_COST_COLUMNS columns), because one column of a camera
 * with roll can hide many angles. Each stixel adds SCAN_COST_PER_STIXEL. Frames of cameras use a small part
 * of the budget. Without it, a forged frame in which each object covers all angles would block its reader for
 * seconds.
 */
#define SCAN_COST_OF_MEETING 8 /* two sines */
#define SCAN_COST_PER_ANGLE 2048
#define SCAN_COST_PER_COLUMN 8
#define SCAN_COST_COLUMNS 1024
#define SCAN_COST_PER_STIXEL 64

/* ---- angles ---- */

struct sx_vector sx_scan_direction(const struct sx_scan *s, double x, double y)
{
	return sx_geometry_turn(&s->g, sx_geometry_ray(&s->g, x, y));
}

static double scan_azimuth(const struct sx_scan *s, double x, double y)
{
	const struct sx_vector v = sx_scan_direction(s, x, y);

	return sx_atan2(v.y, v.x);
}

/* Extends a span to include one more direction. */
static void scan_widen(struct sx_scan_span *span, double azimuth)
{
	if (azimuth < span->right)
		span->right = azimuth;
	if (azimuth > span->left)
		span->left = azimuth;
}

/* Returns the direction in which image column x sees the horizon. */
static double scan_far(const struct sx_scan *s, double x)
{
	return scan_azimuth(s, x, sx_geometry_horizon(&s->g, x));
}

/* Returns the directions of a column at row y. */
static struct sx_scan_span scan_span_at(const struct sx_scan *s, const struct sx_scan_column *c, double y)
{
	struct sx_scan_span span = {HUGE_VAL, -HUGE_VAL};

	scan_widen(&span, scan_azimuth(s, c->right, y));
	scan_widen(&span, scan_azimuth(s, c->left, y));
	return span;
}

/* Extends the directions at a row to the directions at all rows up to the horizon. */
static struct sx_scan_span scan_span_to_horizon(const struct sx_scan_column *c, struct sx_scan_span span)
{
	scan_widen(&span, c->horizon.right);
	scan_widen(&span, c->horizon.left);
	return span;
}

/* Angle indices first .. last of a span. from, to: the ends of the span in units of angles. */
struct scan_angles {
	int64_t first, last;
	double from, to;
};

/*
 * Finds the angles within a span that is shifted by `turns` full turns, edges included. If no angle lies
 * within it, returns the angle nearest to its middle. last < first: the span lies outside of the scan.
 */
static struct scan_angles scan_angles_of(const struct sx_scan *s, struct sx_scan_span span, int turns)
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

/* Continues a span across the backward direction into the next turn. */
static struct sx_scan_span scan_across_back(struct sx_scan_span span)
{
	return span.left - span.right > SX_PI ? (struct sx_scan_span){span.left, span.right + 2.0 * SX_PI}
					      : span;
}

/* ---- how a finding changes its angles ---- */

/* Subtracts the cost of visiting these angles. True if the budget allows it. */
static bool scan_affords(struct sx_scan *s, struct scan_angles a, int64_t each)
{
	sx_must_or(return false, s->left, >=, 0);
	if (a.first <= a.last)
		s->left -= (a.last - a.first + 1) * each;
	return s->left >= 0;
}

static void scan_put_unseen_at(struct sx_scan *s, int64_t i)
{
	sx_must_or(return, i, <, s->o.count);
	if (s->ranges[i] == INFINITY)
		s->ranges[i] = NAN;
}

static void scan_put_unseen(struct sx_scan *s, struct sx_scan_span span)
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

static void scan_put_free(struct sx_scan *s, struct sx_scan_span span)
{
	sx_must_or(return, s->o.count, >, 0);
	for (int turns = -1; turns <= 2; turns++) {
		const struct scan_angles a = scan_angles_of(s, span, turns);

		for (int64_t i = a.first; i <= a.last; i++)
			s->ranges[i] = INFINITY;
	}
}

/* Returns the direction of angle i along the road. */
static struct sx_vector scan_ray(const struct sx_scan *s, int64_t i)
{
	struct sx_vector ray = {0};

	sx_must_or(return ray, i, <, s->o.count);
	sx_sin_cos((double)s->o.angle_min + (double)i * (double)s->o.angle_increment, &ray.y, &ray.x);
	return ray;
}

/*
 * Enters a range. ray: direction of angle i; read only if s->speed_known. near: value of the range if it is less than
 * range_min.
 */
static void scan_put_range(struct sx_scan *s, int64_t i, struct sx_vector ray, double range, float near)
{
	float *r = &s->ranges[i];
	float nearer;

	sx_must_or(return, i, <, s->o.count);
	if (!(range <= (double)s->o.range_max))
		return;
	nearer = range < (double)s->o.range_min ? near : (float)range;
	if (!isnan(*r) && !(nearer < *r))
		return;
	*r = nearer;
	if (s->speeds)
		s->speeds[i] = s->speed_known ? (float)(s->velocity.x * ray.x + s->velocity.y * ray.y) : NAN;
}

/* Returns the distance at which a ray meets the line from right to left, or fallback if it does not. */
static double scan_meets(struct sx_vector ray, struct sx_vector right, struct sx_vector left, double fallback)
{
	const double range = (right.x * left.y - right.y * left.x) /
			     (ray.x * (left.y - right.y) - ray.y * (left.x - right.x));

	return range > 0.0 && range < HUGE_VAL ? range : fallback;
}

/*
 * Returns the distance along the road, at 1 m along the optical axis, of the point that the middle of a
 * column sees at row y.
 */
static double scan_distance(const struct sx_scan *s, const struct sx_scan_column *c, double y)
{
	const struct sx_vector v = sx_scan_direction(s, c->middle, y);

	return sqrt(v.x * v.x + v.y * v.y);
}

/* Marks the angles that a column sees beyond an obstacle as unseen, except the obstacle's directions. */
static void scan_put_hidden(struct sx_scan *s, const struct sx_scan_column *c, struct sx_scan_span obstacle)
{
	const struct sx_scan_span all = scan_across_back(scan_span_to_horizon(c, obstacle));

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

/* Adds the obstacle that a column sees at row y with disparity d. near: as for scan_put_range(). */
static void scan_put_obstacle(struct sx_scan *s, const struct sx_scan_column *c, double y, double d,
			      float near)
{
	const double depth = s->g.focal_baseline / d;
	struct sx_vector right = sx_scan_direction(s, c->right, y), left = sx_scan_direction(s, c->left, y);
	const double middle = depth * scan_distance(s, c, y);
	const struct sx_scan_span span = scan_span_at(s, c, y);

	sx_must_or(return, d > 0.0, ==, true);
	right.x *= depth, right.y *= depth;
	left.x *= depth, left.y *= depth;
	for (int turns = -1; turns <= 2; turns++) {
		const struct scan_angles a = scan_angles_of(s, scan_across_back(span), turns);

		if (!scan_affords(s, a, SCAN_COST_OF_MEETING))
			return;
		for (int64_t i = a.first; i <= a.last; i++) {
			const bool meets = (double)i >= a.from && (double)i <= a.to;
			const struct sx_vector ray =
				meets || s->speed_known ? scan_ray(s, i) : (struct sx_vector){0};

			scan_put_range(s, i, ray, meets ? scan_meets(ray, right, left, middle) : middle,
				       near);
		}
	}
	if (middle <= (double)s->o.range_max)
		scan_put_hidden(s, c, span);
}

/*
 * Records the distance from which a column is seen, for the angles that it covers from there on. The largest
 * distance counts.
 */
static void scan_put_begin(struct sx_scan *s, struct sx_scan_span span, float range)
{
	span = scan_across_back(span);
	for (int turns = -1; turns <= 2; turns++) {
		const struct scan_angles a = scan_angles_of(s, span, turns);

		if (!scan_affords(s, a, 1))
			return;
		for (int64_t i = a.first; i <= a.last; i++)
			if (!(s->begins[i] >= range))
				s->begins[i] = range;
	}
}

/* ---- findings of a column ---- */

double sx_scan_range(const struct sx_scan *s, const struct sx_scan_column *c, double y, double d)
{
	return d > 0.0 ? s->g.focal_baseline / d * scan_distance(s, c, y) : HUGE_VAL;
}

/* Marks the column as unseen from row y on, at distance range, m. */
static void scan_unseen(struct sx_scan *s, const struct sx_scan_column *c, double y, double range)
{
	const struct sx_scan_span span = scan_span_to_horizon(c, scan_span_at(s, c, y));

	if (range > (double)s->o.range_max)
		return;
	scan_put_unseen(s, span);
	if (s->begins)
		scan_put_begin(s, span, INFINITY);
}

/* True if a drop may lie before an obstacle at this range; see SCAN_NEAR_HEIGHTS. */
static bool scan_hides_drop(const struct sx_scan *s, const struct sx_scan_column *c, double range)
{
	return c->seen_to > 0.0 && c->seen_to <= SCAN_NEAR_HEIGHTS * (double)s->g.header->height_m &&
	       range > SCAN_BEYOND * c->seen_to;
}

/* Notes the velocity of an obstacle before it is added. */
static void scan_note_velocity(struct sx_scan *s, const struct sx_look_thing *thing)
{
	struct stixel_velocity v;

	s->speed_known = s->speeds && thing->what == SX_LOOK_OBSTACLE &&
			 stixel_velocity(s->frame, thing->stixel, &v) && v.state != STIXEL_MOTION_UNKNOWN;
	if (s->speed_known)
		s->velocity = sx_geometry_turn(&s->g, (struct sx_vector){v.vx, 0.0, v.vz});
}

static void scan_thing(struct sx_scan *s, struct sx_scan_column *c, const struct sx_look_thing *thing)
{
	const double place = sx_scan_range(s, c, thing->row, thing->disparity);
	const double range = thing->at_foot ? 0.0 : place;

	sx_must_or(return, thing->what, <=, SX_LOOK_EDGE);
	if (thing->what == SX_LOOK_OBSTACLE && scan_hides_drop(s, c, range))
		return;
	scan_note_velocity(s, thing);
	if (thing->what == SX_LOOK_UNSEEN)
		c->seen_to = thing->below ? place : range;
	if (thing->what == SX_LOOK_OBSTACLE ||
	    (thing->what == SX_LOOK_DROP && s->o.drop == STIXEL_SCAN_AS_OBSTACLE))
		scan_put_obstacle(s, c, thing->row, thing->disparity, -INFINITY);
	else if (thing->what == SX_LOOK_OTHER && s->o.other_ground != STIXEL_SCAN_AS_UNSEEN)
		scan_put_obstacle(s, c, thing->row, thing->disparity, s->o.range_min);
	else
		scan_unseen(s, c, thing->row, range);
	c->unseen |= thing->at_foot;
}

/* True if the blind zone before a column's first ground is no larger than it has to be. */
static bool scan_begins_soon(struct sx_scan *s, const struct stixel_frame *frame, const struct sx_look *l,
			     double bottom, double range)
{
	const double from = s->g.focal_baseline / l->from_disparity;
	const double lowest = stixel_ground_disparity(s->g.header, l->x, bottom);

	sx_must_or(return false, l->begins, ==, true);
	if (range <= (double)s->o.range_min || from * lowest <= SCAN_LOWEST_SHARE * s->g.focal_baseline)
		return true;
	if (s->usual_begin < 0.0)
		s->usual_begin = sx_look_usual_begin(&s->g, &s->want, frame);
	return from <= SCAN_USUAL_SHARE * s->usual_begin;
}

/*
 * Handles the blind zone of a column, between the vehicle and its first ground. Marks the column as unseen if
 * the zone is too large, else records where its ground begins.
 */
static void scan_begin(struct sx_scan *s, const struct stixel_frame *frame, const struct sx_scan_column *c,
		       const struct sx_look *l)
{
	const double bottom = s->g.header->image_height - 0.5;
	const double from = l->begins ? sx_scan_range(s, c, l->from_row, l->from_disparity) : HUGE_VAL;

	if (c->unseen)
		return;
	if (!l->begins || !scan_begins_soon(s, frame, l, bottom, from))
		scan_unseen(s, c, bottom, 0.0);
	else if (s->begins)
		scan_put_begin(s, scan_span_to_horizon(c, scan_span_at(s, c, l->from_row)), (float)from);
}

struct sx_scan_column sx_scan_column_of(const struct sx_scan *s, uint32_t u)
{
	const double width = s->g.header->column_width;

	return (struct sx_scan_column){
		.left = u * width - 0.5,
		.middle = sx_geometry_middle(&s->g, u),
		.right = u * width - 0.5 + width,
	};
}

static void scan_column(struct sx_scan *s, const struct stixel_frame *frame, uint32_t u)
{
	struct sx_look l = sx_look_at(&s->g, &s->want, frame, u);
	struct sx_scan_column c = sx_scan_column_of(s, u);
	struct sx_look_thing thing;

	c.horizon = (struct sx_scan_span){scan_far(s, c.right), scan_far(s, c.left)};
	while (s->left >= 0 && sx_look_next(&l, &thing))
		scan_thing(s, &c, &thing);
	if (s->left >= 0)
		scan_begin(s, frame, &c, &l);
}

/* ---- the whole scan ---- */

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

/* Limits the begin of each angle to its range. */
static void scan_end_begins(struct sx_scan *s)
{
	sx_must_or(return, s->o.count, >, 0);
	for (uint32_t i = 0; i < s->o.count; i++) {
		if (isnan(s->ranges[i]) || s->ranges[i] == -INFINITY)
			s->begins[i] = NAN;
		else if (!(s->begins[i] <= s->ranges[i]))
			s->begins[i] = s->ranges[i] < s->o.range_max ? s->ranges[i] : s->o.range_max;
	}
}

bool sx_scan_accepts(const struct stixel_scan_options *o)
{
	const double turn = 2.0 * SX_PI * (1.0 + 1e-6);

	if (o->count == 0)
		return true;
	return fabs((double)o->angle_min) <= turn && o->angle_increment > 0.0f &&
	       (double)o->angle_increment * (o->count - 1) <= turn && o->range_min >= 0.0f &&
	       o->range_min <= o->range_max && isfinite(o->range_max) && isfinite(o->height_min) &&
	       o->height_min <= o->height_max && isfinite(o->height_max) &&
	       o->above <= STIXEL_SCAN_AS_UNSEEN && o->below <= STIXEL_SCAN_AS_UNSEEN &&
	       o->unknown <= STIXEL_SCAN_AS_UNSEEN && o->drop <= STIXEL_SCAN_AS_UNSEEN &&
	       o->filled <= STIXEL_SCAN_AS_UNSEEN && o->other_ground <= STIXEL_SCAN_AS_UNSEEN;
}

struct sx_look_for sx_scan_look_for(const struct stixel_scan_options *o)
{
	return (struct sx_look_for){(double)o->height_min,
				    (double)o->height_max,
				    o->above,
				    o->below,
				    o->drop,
				    o->unknown,
				    o->filled,
				    o->ground_labels};
}

/* Removes the speeds of obstacles whose range is no number. */
static void scan_end_speeds(struct sx_scan *s)
{
	sx_must_or(return, s->o.count, >, 0);
	for (uint32_t i = 0; i < s->o.count; i++)
		if (!isfinite(s->ranges[i]))
			s->speeds[i] = NAN;
}

int stixel_scan_speeds(const struct stixel_frame *frame, const struct stixel_scan_options *options,
		       size_t bytes, float *ranges, float *begins, float *speeds)
{
	struct sx_scan s = {.o.drop = STIXEL_SCAN_AS_OBSTACLE,
			    .ranges = ranges,
			    .begins = begins,
			    .speeds = speeds,
			    .frame = frame,
			    .usual_begin = -1.0};
	const struct stixel_frame_header *h;

	if (!frame || !options)
		return -EINVAL;
	memcpy(&s.o, options, bytes < sizeof(s.o) ? bytes : sizeof(s.o));
	if (!sx_scan_accepts(&s.o) || (s.o.count > 0 && !ranges))
		return -EINVAL;
	h = frame->header;
	s.want = sx_scan_look_for(&s.o);
	s.g = sx_geometry_of(h);
	scan_set_all(ranges, s.o.count, NAN);
	if (begins)
		scan_set_all(begins, s.o.count, NAN);
	if (speeds)
		scan_set_all(speeds, s.o.count, NAN);
	if (!sx_look_has_road(&s.g) || h->columns == 0)
		return 0;
	if (s.o.count == 0)
		return 1;
	s.left = scan_budget(&s.o, h);
	if (!(h->flags & STIXEL_FRAME_BLIND))
		scan_put_free(&s,
			      (struct sx_scan_span){scan_far(&s, h->columns * (double)h->column_width - 0.5),
						    scan_far(&s, -0.5)});
	for (uint32_t u = 0; u < h->columns && s.left >= 0; u++)
		scan_column(&s, frame, u);
	if (s.left < 0)
		scan_set_all(ranges, s.o.count, NAN);
	if (begins)
		scan_end_begins(&s);
	if (speeds)
		scan_end_speeds(&s);
	return s.left >= 0;
}

int stixel_scan_seen(const struct stixel_frame *frame, const struct stixel_scan_options *options,
		     size_t bytes, float *ranges, float *begins)
{
	return stixel_scan_speeds(frame, options, bytes, ranges, begins, NULL);
}

int stixel_scan(const struct stixel_frame *frame, const struct stixel_scan_options *options, size_t bytes,
		float *ranges)
{
	return stixel_scan_seen(frame, options, bytes, ranges, NULL);
}
