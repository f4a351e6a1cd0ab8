/*
 * How far the ground is free in a stixel column.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "stixel.h"
#include "tools/draw/free_space.h"

/* Of the ground in the middle of a column at an image row, by the road that the frame has. */
static double ground_m(const struct stixel_frame_header *h, uint32_t column, double row)
{
	double middle = (double)column * h->column_width + 0.5 * ((double)h->column_width - 1.0);
	double disparity_px = stixel_ground_disparity(h, middle, row);

	return disparity_px > 0.0 ? h->fx * h->baseline_m / disparity_px : (double)INFINITY;
}

double sx_free_space_m(const struct stixel_frame *f, uint32_t column, bool *object)
{
	uint32_t count;
	const struct stixel *s = stixel_column(f, column, &count);
	double free_m = 0.0;

	*object = false;
	for (uint32_t i = 0; i < count; i++) {
		double metres = stixel_depth_m(f->header, &s[i]);

		if (s[i].kind == STIXEL_OBJECT && metres > 0.0) {
			*object = true;
			return metres;
		}
		/* a gap is not an end: the object above it tells how far it is */
		if (s[i].kind == STIXEL_GROUND)
			free_m = ground_m(f->header, column, s[i].row_top);
		else if (s[i].kind == STIXEL_SKY)
			break;
	}
	return free_m;
}
