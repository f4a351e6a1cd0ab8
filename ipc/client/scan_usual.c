/*
 * Default options for the scan of a frame.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/client/scan.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/contract.h"

#define SCAN_ANGLES_MAX 65536
#define SCAN_RANGE_DISPARITY 4.0 /* px; gives the default range_max */
#define SCAN_ROUNDING 1e-6	 /* relative error of a range after conversion to float and back */

/*
 * Sets the angles. False if a column is too narrow for a float, or, by rounding, wider than the whole view.
 */
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

/* Returns the distance of the nearest point that an obstacle occupies. No angle of it has a smaller range. */
static double scan_nearest(const struct sx_scan *s, const struct sx_scan_column *c, double y, double d)
{
	const double depth = s->g.focal_baseline / d;
	const struct sx_vector right = sx_scan_direction(s, c->right, y),
			       left = sx_scan_direction(s, c->left, y);
	const double x = left.x - right.x, across = left.y - right.y, length = x * x + across * across;
	double share = length > 0.0 ? -(right.x * x + right.y * across) / length : 0.0;

	share = share < 0.0 ? 0.0 : share > 1.0 ? 1.0 : share;
	return depth * sqrt((right.x + share * x) * (right.x + share * x) +
			    (right.y + share * across) * (right.y + share * across));
}

/* Distances that a frame covers. */
struct scan_reach {
	double usual; /* sx_look_usual_begin() */
	double first; /* distance of the first ground or of the nearest obstacle, m */
	double last;  /* distance at which the upper edge of the image sees the road, m */
};

/* Updates reach by one column. */
static void scan_reach_of(const struct sx_scan *s, const struct stixel_frame *frame, uint32_t u,
			  struct scan_reach *reach)
{
	const struct sx_scan_column c = sx_scan_column_of(s, u);
	const double edge = stixel_ground_disparity(s->g.header, c.middle, -0.5);
	struct sx_look l = sx_look_at(&s->g, &s->want, frame, u);
	struct sx_look_thing thing;
	double first, last = sx_scan_range(s, &c, -0.5, edge);

	sx_must_or(return, u, <, frame->header->columns);
	while (sx_look_next(&l, &thing)) {
		first = thing.what == SX_LOOK_OBSTACLE ? scan_nearest(s, &c, thing.row, thing.disparity)
						       : HUGE_VAL;
		if (thing.what == SX_LOOK_EDGE)
			last = sx_scan_range(s, &c, thing.row, thing.disparity);
		reach->first = first < reach->first ? first : reach->first;
	}
	first = HUGE_VAL; /* rays do not begin at ground that this column sees nearer than most columns do */
	if (l.begins && s->g.focal_baseline >= reach->usual * l.from_disparity)
		first = sx_scan_range(s, &c, l.from_row, l.from_disparity);
	reach->first = first < reach->first ? first : reach->first;
	reach->last = last < reach->last ? last : reach->last;
}

/* Sets the ranges by the limits of the camera and by the content of this frame. */
static void scan_default_ranges(struct sx_scan *s, const struct stixel_frame *frame)
{
	const struct stixel_frame_header *h = frame->header;
	const double disparity = (double)h->min_disparity + (double)h->disparities - 1.0;
	const double least = disparity > 0.0 ? s->g.focal_baseline / disparity : 0.0;
	struct scan_reach reach = {0.0, HUGE_VAL, HUGE_VAL};
	double last = s->g.focal_baseline / SCAN_RANGE_DISPARITY;

	if (sx_look_has_road(&s->g))
		reach.usual = (1.0 - SCAN_ROUNDING) * sx_look_usual_begin(&s->g, &s->want, frame);
	for (uint32_t u = 0; sx_look_has_road(&s->g) && u < h->columns; u++)
		scan_reach_of(s, frame, u, &reach);
	reach.first *= 1.0 - SCAN_ROUNDING;
	reach.last *= 1.0 - SCAN_ROUNDING;
	last = reach.last < last ? reach.last : last;
	s->o.range_min = (float)(reach.first > least && reach.first < HUGE_VAL ? reach.first : least);
	s->o.range_max = (float)last;
	if (s->o.range_max < s->o.range_min)
		s->o.range_max = s->o.range_min;
}

int stixel_scan_defaults(const struct stixel_frame *frame, struct stixel_scan_options *options, size_t bytes)
{
	struct sx_scan s = {.o = {.above = STIXEL_SCAN_AS_FREE,
				  .below = STIXEL_SCAN_AS_FREE,
				  .unknown = STIXEL_SCAN_AS_UNSEEN,
				  .drop = STIXEL_SCAN_AS_OBSTACLE,
				  .filled = STIXEL_SCAN_AS_OBSTACLE}};
	struct stixel_vehicle v;
	bool known;

	if (!frame || !options)
		return -EINVAL;
	v = stixel_vehicle_of(frame->header);
	s.o.height_min = (float)v.low_m;
	s.o.height_max = (float)v.high_m;
	s.want = sx_scan_look_for(&s.o);
	s.g = sx_geometry_of(frame->header);
	known = s.g.camera && frame->header->columns > 0 && scan_default_angles(&s.o, frame->header);
	if (known) {
		scan_default_ranges(&s, frame);
		known = sx_scan_accepts(&s.o);
	}
	if (!known) {
		s.o.angle_min = s.o.angle_increment = s.o.range_min = s.o.range_max = 0.0f;
		s.o.count = 0;
	}
	memset(options, 0, bytes);
	memcpy(options, &s.o, bytes < sizeof(s.o) ? bytes : sizeof(s.o));
	return known;
}
