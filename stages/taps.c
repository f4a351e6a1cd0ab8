/*
 * Shapes of the outputs of stages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/taps.h"

#include "stages/context.h"
#include "stages/motion/filter/chain.h"
#include "stages/pyramid/pyramid.h"
#include "stages/road/road_scale.h"
#include "stages/stereo/cost.h"
#include "stages/stereo/flat.h"
#include "stages/stixels/cells.h"
#include "stages/stixels/reduce.h"

struct sx_tap_shape sx_tap_shape(const struct sx_context_config *c, enum sx_tap tap)
{
	const struct sx_params *p = &c->params;
	struct sx_tap_shape s = {SX_PIXEL_U16, c->width, c->height};

	switch (tap) {
	case SX_TAP_LEFT:
	case SX_TAP_RIGHT:
	case SX_TAP_CONFIDENCE:
		s.pixel = SX_PIXEL_U8;
		break;
	case SX_TAP_LEFT_FLAT:
	case SX_TAP_RIGHT_FLAT:
		s.pixel = SX_PIXEL_U8;
		s.width = SX_FLAT_TILES(c->width);
		s.height = SX_FLAT_TILES(c->height);
		break;
	case SX_TAP_LEFT_CENSUS:
	case SX_TAP_RIGHT_CENSUS:
		s.pixel = sx_descriptor_pixel(p->stereo.cost);
		break;
	case SX_TAP_TILES:
		s.pixel = SX_PIXEL_U64;
		s.width = SX_SEARCH_TILES_X(c->width);
		s.height = sx_pyramid_scale(&p->stereo, c->width, c->height,
					    sx_pyramid_scales(p->stereo.disparities) - 1)
				   .first_row;
		break;
	case SX_TAP_SUM:
		s.width *= p->stereo.disparities;
		break;
	case SX_TAP_COLUMNS:
	case SX_TAP_COLUMNS_CONFIDENCE:
		s.pixel = tap == SX_TAP_COLUMNS ? SX_PIXEL_U16 : SX_PIXEL_U8;
		s.width = sx_cell_rows(&p->stixels, c->height);
		s.height = sx_reduce_columns(c->width, p->stixels.width);
		break;
	default:
		break;
	}
	return s;
}

bool sx_tap_exists(const struct sx_context_config *c, enum sx_tap tap)
{
	switch (tap) {
	case SX_TAP_LEFT_FLAT:
	case SX_TAP_RIGHT_FLAT:
	case SX_TAP_LEFT_CENSUS:
	case SX_TAP_RIGHT_CENSUS:
	case SX_TAP_SUM:
	case SX_TAP_WINNER_RIGHT:
	case SX_TAP_MEDIAN_RIGHT:
		return c->params.stereo.matcher != SX_MATCH_EXTERNAL;
	case SX_TAP_FEATURES:
	case SX_TAP_FLOWS:
		return false;
	case SX_TAP_TILES:
		return sx_is_pyramid(&c->params.stereo) &&
		       sx_pyramid_scales(c->params.stereo.disparities) > 1;
	default:
		return true;
	}
}

bool sx_tap_is_kept(const struct sx_context_config *c, enum sx_tap tap)
{
	if (!sx_tap_exists(c, tap))
		return false;
	switch (tap) {
	case SX_TAP_SUM:
		return c->keep_volume;
	case SX_TAP_MEDIAN:
	case SX_TAP_MEDIAN_RIGHT:
		return c->params.filters.median;
	case SX_TAP_LEFT_RIGHT:
		return c->params.filters.speckle_size > 0;
	case SX_TAP_SPECKLE:
		return c->params.filters.smooth;
	default:
		return true;
	}
}

void sx_taps_share(const struct sx_context_config *c, struct sx_image taps[SX_TAP_COUNT])
{
	if (!sx_tap_is_kept(c, SX_TAP_MEDIAN)) {
		taps[SX_TAP_MEDIAN] = taps[SX_TAP_WINNER];
		taps[SX_TAP_MEDIAN_RIGHT] = taps[SX_TAP_WINNER_RIGHT];
	}
	if (!sx_tap_is_kept(c, SX_TAP_SPECKLE))
		taps[SX_TAP_SPECKLE] = taps[SX_TAP_DISPARITY];
	if (!sx_tap_is_kept(c, SX_TAP_LEFT_RIGHT))
		taps[SX_TAP_LEFT_RIGHT] = taps[SX_TAP_SPECKLE];
}

struct sx_image sx_taps_records(int width, int height, void *records, size_t bytes)
{
	const struct sx_motion_cells cells = sx_motion_cells(width, height);

	return (struct sx_image){records, cells.columns * (int)(bytes / sizeof(uint32_t)), cells.rows,
				 (size_t)cells.columns * bytes, SX_PIXEL_U32};
}

int sx_taps_take_motion(struct sx_motion_found *found, const struct sx_context_config *c,
			struct sx_image taps[SX_TAP_COUNT], struct sx_result *result, size_t *bytes)
{
	const struct sx_motion_pair *pair = &found->pair;
	int r;

	if (!c->chain)
		return 0;
	r = sx_motion_found_init(found, &c->params.camera, c->width, c->height,
				 (uint32_t)sx_context_stixels(c));
	if (r < 0)
		return r;
	*bytes += sx_motion_found_bytes(found);
	taps[SX_TAP_FEATURES] = sx_taps_records(c->width, c->height, pair->features, sizeof(*pair->features));
	taps[SX_TAP_FLOWS] = sx_taps_records(c->width, c->height, pair->flows, sizeof(*pair->flows));
	result->ego = &pair->ego;
	result->velocities = pair->velocities;
	if (c->params.motion.mode == SX_MOTION_MODE_FILTER) {
		result->objects = &found->objects;
		result->object_of = found->object_of;
	}
	return 0;
}

void sx_taps_moved(const struct sx_image taps[SX_TAP_COUNT], const struct sx_context_config *c,
		   const struct sx_result *result, const struct sx_pair *pair, struct sx_motion_input *ret)
{
	*ret = (struct sx_motion_input){
		.left = &taps[SX_TAP_LEFT],
		.disparity = &taps[SX_TAP_DISPARITY],
		.stixels = result->stixels,
		.stixel_count = result->count,
		.stixel_width = c->params.stixels.width,
		.road = &result->road,
		.captured_ns = pair->left_ns,
	};
}

struct sx_diagnostics_input sx_taps_diagnosed(const struct sx_image taps[SX_TAP_COUNT])
{
	return (struct sx_diagnostics_input){&taps[SX_TAP_LEFT], &taps[SX_TAP_LEFT_RIGHT],
					     &taps[SX_TAP_DISPARITY], &taps[SX_TAP_COLUMNS]};
}

struct sx_unmeasured_column sx_taps_column(const struct sx_image taps[SX_TAP_COUNT],
					   const struct sx_context_config *c, const struct sx_road *road,
					   int u, int32_t reach_q7)
{
	const struct sx_image *left = &taps[SX_TAP_LEFT_FLAT], *right = &taps[SX_TAP_RIGHT_FLAT];
	const struct sx_stixel_params *p = &c->params.stixels;

	return (struct sx_unmeasured_column){
		.road = road,
		.cells = sx_image_row(&taps[SX_TAP_COLUMNS], u),
		.flat = {left->data, right->data},
		.flat_pitch = {left->pitch, right->pitch},
		.x = u * p->width + p->width / 2,
		.height = c->height,
		.cell_height = sx_cell_height(p),
		.reach_q7 = reach_q7,
		.drops = c->params.camera.height_m > 0 && c->params.camera.height_m <= SX_ROAD_ROBOT_M,
	};
}
