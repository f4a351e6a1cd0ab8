/*
 * Which blocks the tiles of a scale search: steps 3 to 6 of pyramid.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_PYRAMID_PYRAMID_TILES_H
#define SX_STAGES_PYRAMID_PYRAMID_TILES_H

#include "stages/pyramid/pyramid.h"

/*
 * Chooses the blocks of all tiles of a scale. coarse_sum, coarse: S of the next coarser scale, U16, and its
 * geometry. in, p: costs of this scale. tiles: U64, one struct sx_search_tile for each tile. scratch:
 * sx_pyramid_tiles_scratch_bytes() of the two scales, 64-byte aligned.
 */
void sx_pyramid_choose_tiles(const struct sx_image *coarse_sum, const struct sx_pyramid_scale *coarse,
			     const struct sx_cost_input *in, const struct sx_stereo_params *p,
			     const struct sx_image *tiles, void *scratch);
size_t sx_pyramid_tiles_scratch_bytes(const struct sx_pyramid_scale *fine,
				      const struct sx_pyramid_scale *coarse);

#endif
