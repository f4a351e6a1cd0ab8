/*
 * Computes where the stixels of a frame will be.
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

int64_t stixel_ahead(const struct stixel_frame *frame, double seconds, struct stixel_place *places,
		     uint32_t room)
{
	const double nan = (double)NAN;
	int64_t known = 0;

	if (!isfinite(seconds) || seconds < 0.0 || room < frame->header->stixel_count)
		return -EINVAL;
	for (uint32_t i = 0; i < frame->header->stixel_count; i++) {
		places[i] = (struct stixel_place){nan, nan, nan, nan, nan};
		known += find_place(frame, i, seconds, &places[i]);
	}
	return known;
}
