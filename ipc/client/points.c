/*
 * Converts a frame to points: feet and tops of its obstacles, or its ground.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "include/stixel_convert.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/contract.h"
#include "ipc/client/geometry.h"
#include "ipc/client/look.h"

#define POINTS_STEP_LEAST 0.01f
#define POINTS_STEPS_MOST 65536.0f /* most steps up to range_max; frames of real cameras need fewer */

/* Destination of the points, and how they are made. */
struct points {
	struct sx_geometry g;
	struct stixel_points_options o;
	struct stixel_point *list;
	uint64_t room, count;
};

/* One stixel of the frame: the middle of its column, and its disparity as a line over rows. */
struct points_stixel {
	const struct stixel *stixel;
	uint32_t id;
	double x, disparity, slope; /* image column, px; px at row_bottom; px per row upwards */
};

static double points_disparity(const struct points_stixel *s, double y)
{
	return s->disparity + s->slope * (s->stixel->row_bottom - y);
}

/* True if float can hold the position. Impossible cameras give positions that do not fit. */
static bool points_place(struct sx_vector v)
{
	return fabs(v.x) <= (double)FLT_MAX && fabs(v.y) <= (double)FLT_MAX && fabs(v.z) <= (double)FLT_MAX;
}

/* Adds a point. v is in camera coordinates. */
static void points_add(struct points *p, const struct points_stixel *s, struct sx_vector v, uint8_t part)
{
	sx_must_or(return, part, <=, STIXEL_PART_GROUND);
	if (p->o.coordinates == STIXEL_COORDINATES_VEHICLE) {
		v = sx_geometry_turn(&p->g, v);
		v.z += p->g.header->height_m;
	}
	if (!points_place(v))
		return;
	if (p->count < p->room)
		p->list[p->count] = (struct stixel_point){
			.x = (float)v.x,
			.y = (float)v.y,
			.z = (float)v.z,
			.kind = s->stixel->kind,
			.label = s->stixel->label,
			.confidence = s->stixel->confidence,
			.part = part,
			.id = s->id,
		};
	p->count++;
}

/* Computes the point at row y. False if it is infinitely far, or farther than range_max. */
static bool points_at(const struct points *p, const struct points_stixel *s, double y, struct sx_vector *v)
{
	const double d = points_disparity(s, y), depth = d > 0.0 ? p->g.focal_baseline / d : HUGE_VAL;

	sx_must_or(return false, p->g.camera, ==, true);
	*v = sx_geometry_ray(&p->g, s->x, y);
	v->x *= depth;
	v->y *= depth;
	v->z = depth;
	return depth < HUGE_VAL && (p->o.range_max == 0.0f || depth <= (double)p->o.range_max);
}

/* Adds points between foot and top at multiples of step. */
static void points_between(struct points *p, const struct points_stixel *s, struct sx_vector foot,
			   struct sx_vector top)
{
	const double x = top.x - foot.x, y = top.y - foot.y, z = top.z - foot.z;
	const double length = sqrt((x * x + y * y) + z * z);

	sx_must_or(return, p->o.step > 0.0f, ==, true);
	if (!(length < (double)POINTS_STEPS_MOST * (double)p->o.step))
		return;
	for (uint32_t k = 1; k * (double)p->o.step < length; k++) {
		const double share = k * (double)p->o.step / length;

		points_add(p, s,
			   (struct sx_vector){foot.x + share * x, foot.y + share * y, foot.z + share * z},
			   STIXEL_PART_BETWEEN);
	}
}

/*
 * Moves *row up to the road if the object's lowest edge is below the road. False: the whole object is below
 * the road, or at an impossible position.
 */
static bool points_foot(const struct points *p, const struct points_stixel *s, double *row)
{
	const double road = sx_geometry_upright(&p->g, s->x, s->disparity).foot_row;

	if (sx_look_foot_of(&p->g, s->x, s->stixel->row_bottom, s->disparity) == SX_LOOK_NOWHERE ||
	    road <= s->stixel->row_top - 0.5)
		return false;
	if (road < *row)
		*row = road;
	return true;
}

static void points_of_obstacle(struct points *p, const struct points_stixel *s)
{
	double bottom = s->stixel->row_bottom + 0.5;
	struct sx_vector foot, top;
	bool has_foot, has_top;

	if (!(s->disparity > 0.0) || (sx_look_has_road(&p->g) && !points_foot(p, s, &bottom)))
		return;
	has_foot = points_at(p, s, bottom, &foot);
	has_top = points_at(p, s, s->stixel->row_top - 0.5, &top);

	sx_must_or(return, s->stixel->row_top, <=, s->stixel->row_bottom);
	if (has_foot)
		points_add(p, s, foot, STIXEL_PART_FOOT);
	if (has_foot && has_top && p->o.step > 0.0f)
		points_between(p, s, foot, top);
	if (has_top)
		points_add(p, s, top, STIXEL_PART_TOP);
}

/* Adds a row of points at each multiple of step between the distances of the stixel's edges. */
static void points_of_ground(struct points *p, const struct points_stixel *s)
{
	const double step = (double)p->o.step, most = (double)p->o.range_max;
	const double bottom = points_disparity(s, s->stixel->row_bottom + 0.5);
	const double top = points_disparity(s, s->stixel->row_top - 0.5);
	const double from = p->g.focal_baseline / bottom;
	double to = most;

	sx_must_or(return, p->o.step > 0.0f, ==, true);
	if (!(bottom > 0.0) || !(from <= most) || top >= bottom)
		return;
	if (top > 0.0 && p->g.focal_baseline / top < most)
		to = p->g.focal_baseline / top;
	for (int64_t k = (int64_t)(from / step); (double)k * step <= to; k++) {
		const double depth = (double)k * step;
		struct sx_vector v;

		if (depth < from || k == 0)
			continue;
		v = sx_geometry_ray(&p->g, s->x,
				    s->stixel->row_bottom -
					    (p->g.focal_baseline / depth - s->disparity) / s->slope);
		points_add(p, s, (struct sx_vector){v.x * depth, v.y * depth, depth}, STIXEL_PART_GROUND);
	}
}

static bool points_accept(const struct stixel_points_options *o)
{
	if (o->of > STIXEL_POINTS_OF_GROUND || o->coordinates > STIXEL_COORDINATES_VEHICLE)
		return false;
	if (o->of == STIXEL_POINTS_OF_OBSTACLES && o->step == 0.0f)
		return o->range_max >= 0.0f && isfinite(o->range_max);
	return o->step >= POINTS_STEP_LEAST && o->range_max > 0.0f &&
	       o->range_max <= POINTS_STEPS_MOST * o->step && isfinite(o->range_max);
}

int64_t stixel_points(const struct stixel_frame *frame, const struct stixel_points_options *options,
		      size_t bytes, struct stixel_point *points, uint64_t room)
{
	struct points p = {.list = points, .room = room};
	uint8_t kind;

	if (!frame || !options)
		return -EINVAL;
	memcpy(&p.o, options, bytes < sizeof(p.o) ? bytes : sizeof(p.o));
	if (!points_accept(&p.o) || (room > 0 && !points))
		return -EINVAL;
	p.g = sx_geometry_of(frame->header);
	if (!p.g.camera || (p.o.coordinates == STIXEL_COORDINATES_VEHICLE && !p.g.road))
		return 0;
	kind = p.o.of == STIXEL_POINTS_OF_GROUND ? STIXEL_GROUND : STIXEL_OBJECT;
	if (kind == STIXEL_GROUND && frame->header->flags & STIXEL_FRAME_BLIND)
		return 0;
	for (uint32_t i = 0; i < frame->header->stixel_count; i++) {
		const struct stixel *one = &frame->stixels[i];
		const struct points_stixel s = {one, i, sx_geometry_middle(&p.g, one->column),
						stixel_disparity_px(one), one->slope_q14 / 16384.0};

		if (one->kind != kind || one->disparity_q7 == STIXEL_DISPARITY_UNKNOWN)
			continue;
		if (kind == STIXEL_GROUND)
			points_of_ground(&p, &s);
		else
			points_of_obstacle(&p, &s);
	}
	return (int64_t)p.count;
}
