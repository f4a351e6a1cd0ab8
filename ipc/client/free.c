/*
 * Computes how far each column of a frame is known to be free.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "include/stixel.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/contract.h"
#include "ipc/client/look.h"

/* struct stixel_free_column with its distances in double. */
struct free_column {
	double from_m, to_m;
	uint32_t end, stixel;
};

/*
 * Returns the distance of disparity d, m. A forged frame may make d and focal_baseline infinite: then nothing
 * is known to be free.
 */
static double free_depth(const struct sx_geometry *g, double d)
{
	const double depth = d > 0.0 ? g->focal_baseline / d : HUGE_VAL;

	return isnan(depth) ? 0.0 : depth;
}

static bool free_accepts(const struct stixel_free_options *o)
{
	return isfinite(o->height_min) && isfinite(o->height_max) && o->height_min <= o->height_max;
}

static struct sx_look_for free_look_for(const struct stixel_free_options *o)
{
	return (struct sx_look_for){
		.height_min = (double)o->height_min,
		.height_max = (double)o->height_max,
		.above = STIXEL_SCAN_AS_FREE,
		.below = STIXEL_SCAN_AS_FREE,
		.drop = STIXEL_SCAN_AS_UNSEEN,
		.unknown = STIXEL_SCAN_AS_UNSEEN,
		.filled = STIXEL_SCAN_AS_OBSTACLE,
		.ground_labels = o->ground_labels,
	};
}

static struct free_column free_of(const struct stixel_frame *frame, const struct sx_geometry *g,
				  const struct sx_look_for *want, uint32_t u)
{
	static const uint32_t ends[] = {[SX_LOOK_OBSTACLE] = STIXEL_FREE_OBJECT,
					[SX_LOOK_UNSEEN] = STIXEL_FREE_UNSEEN,
					[SX_LOOK_DROP] = STIXEL_FREE_DROP,
					[SX_LOOK_OTHER] = STIXEL_FREE_OTHER,
					[SX_LOOK_CLASSLESS] = STIXEL_FREE_UNSEEN};
	struct free_column c = {(double)NAN, 0.0, STIXEL_FREE_UNSEEN, UINT32_MAX};
	struct sx_look_thing thing;
	double nearest = HUGE_VAL;
	bool found = false;
	struct sx_look l;

	if (!sx_look_has_road(g) || u >= frame->header->columns)
		return c;
	l = sx_look_at(g, want, frame, u);
	while (sx_look_next(&l, &thing)) {
		const double depth = thing.at_foot ? 0.0 : free_depth(g, thing.disparity);

		sx_must_or(return c, thing.what, <=, SX_LOOK_EDGE);
		if (thing.what == SX_LOOK_EDGE || (found && depth >= nearest))
			continue;
		found = true;
		nearest = depth;
		c.end = ends[thing.what];
		c.stixel = thing.stixel;
	}
	if (l.begins)
		c.from_m = free_depth(g, l.from_disparity);
	if (!found && l.begins) {
		nearest = free_depth(g, l.until_disparity);
		c.end = STIXEL_FREE_GROUND;
	}
	c.to_m = found || l.begins ? nearest : 0.0;
	/*
	 * the image shows no ground before the obstacle, whose foot was not measured; or it shows ground, but
	 * none that counts
	 */
	if ((l.late && c.from_m > c.to_m) || (l.grounded && !l.begins && c.end != STIXEL_FREE_OTHER))
		c = (struct free_column){(double)NAN, 0.0, STIXEL_FREE_UNSEEN, l.waiting};
	return c;
}

int stixel_free_defaults(const struct stixel_frame *frame, struct stixel_free_options *options, size_t bytes)
{
	struct stixel_free_options o = {0};
	struct stixel_vehicle v;

	if (!frame || !options)
		return -EINVAL;
	v = stixel_vehicle_of(frame->header);
	o.height_min = (float)v.low_m;
	o.height_max = (float)v.high_m;
	memset(options, 0, bytes);
	memcpy(options, &o, bytes < sizeof(o) ? bytes : sizeof(o));
	return 0;
}

int64_t stixel_free_space(const struct stixel_frame *frame, const struct stixel_free_options *options,
			  size_t bytes, struct stixel_free_column *columns, uint32_t room)
{
	struct stixel_free_options o;
	struct sx_look_for want;
	struct sx_geometry g;

	if (!frame || (room > 0 && !columns))
		return -EINVAL;
	stixel_free_defaults(frame, &o, sizeof(o));
	if (options)
		memcpy(&o, options, bytes < sizeof(o) ? bytes : sizeof(o));
	if (!free_accepts(&o))
		return -EINVAL;
	want = free_look_for(&o);
	g = sx_geometry_of(frame->header);
	for (uint32_t u = 0; u < frame->header->columns && u < room; u++) {
		const struct free_column c = free_of(frame, &g, &want, u);

		columns[u] = (struct stixel_free_column){(float)c.from_m, (float)c.to_m, c.end, c.stixel};
	}
	return frame->header->columns;
}

double stixel_free_space_m(const struct stixel_frame *frame, uint32_t column, int *end)
{
	const struct sx_geometry g = sx_geometry_of(frame->header);
	struct stixel_free_options o;
	struct sx_look_for want;
	struct free_column c;

	stixel_free_defaults(frame, &o, sizeof(o));
	want = free_look_for(&o);
	c = free_of(frame, &g, &want, column);
	*end = (int)c.end;
	return c.to_m;
}
