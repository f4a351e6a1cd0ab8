/*
 * Synthetic frames for tests of scans and points. The camera looks level from 1.5 m above the road and has f
 * B = 250 px m. At 10 m the disparity is 25 px, one metre is 50 rows, and the road is at row 314.5, the lower
 * edge of row 314.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_IPC_CONVERT_CONVERT_CASE_H
#define SX_TESTS_IPC_CONVERT_CONVERT_CASE_H

#include <stdint.h>

#include "include/stixel_convert.h"

#define CASE_COLUMNS 128
#define CASE_STIXELS 4096
#define CASE_FOOT 314 /* bottom row of an object that stands on the road 10 m ahead */

struct convert_case {
	struct stixel_frame_header header;
	uint32_t offsets[CASE_COLUMNS + 1];
	struct stixel stixels[CASE_STIXELS];
	struct stixel_frame frame;
};

/* Starts a frame of 640x480 px with columns of 5 px, all of them empty. */
static inline void case_init(struct convert_case *c)
{
	*c = (struct convert_case){
		.header = {.header_bytes = sizeof(c->header),
			   .image_width = 640,
			   .image_height = 480,
			   .columns = CASE_COLUMNS,
			   .column_width = 5,
			   .disparities = 126,
			   .fx = 500,
			   .fy = 500,
			   .cx = 319.5,
			   .cy = 239.5,
			   .baseline_m = 0.5,
			   .road_origin = STIXEL_ROAD_MEASURED,
			   .road_slope = 0.5 / 1.5,
			   .road_offset = -0.5 / 1.5 * 239.5,
			   .horizon_row = 239.5,
			   .height_m = 1.5,
			   .road_axis = 319.5},
	};
	c->frame = (struct stixel_frame){
		.header = &c->header, .offsets = c->offsets, .stixels = c->stixels, .bytes = &c->header};
}

/* Adds a stixel on top of the last column, or in a column further right. */
static inline struct stixel *case_add(struct convert_case *c, unsigned column, unsigned kind, int bottom,
				      int top, double disparity)
{
	struct stixel *s = &c->stixels[c->header.stixel_count++];

	*s = (struct stixel){.column = (uint16_t)column,
			     .row_bottom = (uint16_t)bottom,
			     .row_top = (uint16_t)top,
			     .disparity_q7 = (uint16_t)(disparity * 128),
			     .kind = (uint8_t)kind,
			     .label = STIXEL_LABEL_NONE};
	if (kind == STIXEL_UNKNOWN)
		s->disparity_q7 = STIXEL_DISPARITY_UNKNOWN;
	if (kind == STIXEL_GROUND)
		s->slope_q14 = -5461; /* 1/3 px per row */
	for (unsigned u = column; u < CASE_COLUMNS; u++)
		c->offsets[u + 1] = c->header.stixel_count;
	return s;
}

/* Adds ground from the bottom of the image up to row top. */
static inline void case_ground(struct convert_case *c, unsigned column, int top)
{
	case_add(c, column, STIXEL_GROUND, 479, top, (479 - 239.5) / 3);
}

/* Adds ground that ends at an obstacle 10 m ahead. */
static inline void case_foot(struct convert_case *c, unsigned column)
{
	case_ground(c, column, CASE_FOOT + 1);
}

/* Adds an open column: ground up to the horizon, and sky. */
static inline void case_open(struct convert_case *c, unsigned column)
{
	case_ground(c, column, 240);
	case_add(c, column, STIXEL_SKY, 239, 0, 0);
}

static inline void case_open_to(struct convert_case *c, unsigned first, unsigned end)
{
	for (unsigned u = first; u < end; u++)
		case_open(c, u);
}

#endif
