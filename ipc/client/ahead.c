/*
 * Computes where the stixels and the objects of a frame will be.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "include/stixel.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>

static bool find_place(const struct stixel_frame *frame, uint32_t i, double seconds, struct stixel_place *ret)
{
	const struct stixel_frame_header *h = frame->header;
	const struct stixel *s = &frame->stixels[i];
	const double disparity = stixel_disparity_px(s);
	const double middle = ((double)s->column + 0.5) * h->column_width - 0.5;
	struct stixel_velocity v;
	struct stixel_place now;

	if (!stixel_velocity(frame, i, &v) || v.state == STIXEL_MOTION_UNKNOWN || !(disparity > 0.0) ||
	    !(h->fx > 0.0) || !(h->baseline_m > 0.0))
		return false;
	now = stixel_place_at(h->fx, h->cx, h->baseline_m, middle, disparity);
	*ret = stixel_place_after(&now, &v, seconds);
	return true;
}

static const struct stixel_place nowhere = {(double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN};

int64_t stixel_ahead(const struct stixel_frame *frame, double seconds, struct stixel_place *places,
		     uint32_t room)
{
	int64_t known = 0;

	if (!isfinite(seconds) || seconds < 0.0 || room < frame->header->stixel_count)
		return -EINVAL;
	for (uint32_t i = 0; i < frame->header->stixel_count; i++) {
		places[i] = nowhere;
		known += find_place(frame, i, seconds, &places[i]);
	}
	return known;
}

/* Returns whether the place of an object is known. */
static bool find_object_place(const struct stixel_object *o, double seconds, struct stixel_place *ret)
{
	const struct stixel_place now = {(double)o->x, (double)o->z, (double)o->pxx, (double)o->pxz,
					 (double)o->pzz};
	const struct stixel_velocity v = {(double)o->vx,  (double)o->vz,  (double)o->sxx,
					  (double)o->sxz, (double)o->szz, o->state};

	if (o->state == STIXEL_MOTION_UNKNOWN || o->state > STIXEL_MOTION_MOVES)
		return false;
	*ret = stixel_place_after(&now, &v, seconds);
	return true;
}

int64_t stixel_object_ahead(const struct stixel_frame *frame, double seconds, struct stixel_place *places,
			    uint32_t room)
{
	const int count = stixel_object_count(frame);
	int64_t known = 0;

	if (!isfinite(seconds) || seconds < 0.0 || (count > 0 && room < (uint32_t)count))
		return -EINVAL;
	for (int i = 0; i < count; i++) {
		places[i] = nowhere;
		known += find_object_place(stixel_object_at(frame, i), seconds, &places[i]);
	}
	return known;
}
