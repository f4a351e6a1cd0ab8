/*
 * Makes the frame of a result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/quality/published.h"

void set_published(struct published *p, const struct sx_params *params, const struct sx_result *got,
		   int width, int height)
{
	const struct sx_camera *c = &params->camera;
	const struct sx_road *road = &got->road;

	p->vehicle = sx_vehicle_of(&params->vehicle, c->height_m);
	p->header = (struct stixel_frame_header){
		.header_bytes = sizeof(p->header),
		.image_width = (uint32_t)width,
		.image_height = (uint32_t)height,
		.columns = got->columns,
		.column_width = (uint32_t)params->stixels.width,
		.disparities = (uint32_t)params->stereo.disparities,
		.stixel_count = got->count,
		.fx = c->fx,
		.fy = c->fy,
		.cx = c->cx,
		.cy = c->cy,
		.baseline_m = c->baseline_m,
		.road_origin = (uint8_t)road->origin,
		.road_slope = road->slope,
		.road_offset = road->offset,
		.road_cross = road->cross,
		.road_axis = road->axis,
		.road_bend = road->bend,
		.road_bend_row = road->bend_row,
		.horizon_row = road->horizon_row,
		.pitch_rad = road->pitch_rad,
		.roll_rad = road->roll_rad,
		.height_m = road->height_m,
		.vehicle_low_m = p->vehicle.low_m,
		.vehicle_high_m = p->vehicle.high_m,
	};
	p->frame = (struct stixel_frame){
		.header = &p->header, .offsets = got->offsets, .stixels = got->stixels, .bytes = &p->header};
}
