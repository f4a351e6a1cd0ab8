/*
 * Pyramid search: semi-global matching of selected candidates. The coarsest scale is searched in full. On
 * each finer scale, a tile searches those blocks of disparities that the coarser scale, thin objects or the
 * row of tiles suggest. The number of cells that are searched hardly grows with the number of disparities.
 * docs/develop/algorithm.md, pyramid search. Candidates from a coarser scale: Rothermel et al., SURE:
 * Photogrammetric surface reconstruction from imagery, 2012 (tSGM).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_PYRAMID_PYRAMID_H
#define SX_STAGES_PYRAMID_PYRAMID_H

#include <stddef.h>

#include "stages/pyramid/pyramid_rules.h"
#include "stages/stereo/cost.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A scale of the pyramid. Scale 0 is the image. Scale k has 2^-k of its width and height, rounded up.
 * Disparity d of a scale means min_disparity + d px in its image.
 */
struct sx_pyramid_scale {
	int width, height, disparities, min_disparity;
	int tiles_x, tiles_y;
	int first_row; /* first row of its tiles in SX_TAP_TILES; the coarsest scale has no tiles there */
};

/*
 * Returns the number of scales, 1 .. SX_PYRAMID_SCALES_MAX. Each scale has half the disparities of the finer
 * one, rounded up to whole blocks; the coarsest one has SX_PYRAMID_COARSEST or more, and less than twice as
 * many.
 */
int sx_pyramid_scales(int disparities);
/* Returns scale k of an image of this size. */
struct sx_pyramid_scale sx_pyramid_scale(const struct sx_stereo_params *p, int width, int height, int k);
/* Returns the parameters of matching on a scale. */
struct sx_stereo_params sx_pyramid_params(const struct sx_stereo_params *p, const struct sx_pyramid_scale *s);

/*
 * Halves an image: (a + b + c + d + 2) / 4 of the pixels (2x, 2y), (2x+1, 2y), (2x, 2y+1), (2x+1, 2y+1). A
 * pixel beyond the border counts as the nearest one inside. U8.
 */
void sx_pyramid_halve(const struct sx_image *from, const struct sx_image *to);

/*
 * Searches a pair. in: grey images and descriptors of the pair. sum: receives S, in the layout of sx_sgm().
 * tiles: receives the blocks that each tile searched, in the layout of SX_TAP_TILES.
 *
 * From the coarsest scale to scale 0:
 * 1. Images of scale k + 1 are halves of those of scale k. Each scale has its own descriptors. Costs and
 *    penalties are the same on all scales.
 * 2. The coarsest scale searches all cells.
 * 3. Hits. Let m be the least S of a pixel of scale k + 1. Each of its candidates with S <= 130 m / 100 hits
 *    the blocks from sx_pyramid_hit_first() to sx_pyramid_hit_last() of scale k. The votes of a block in tile
 *    (Q, J) are the pixels of scale k + 1 with x in 8Q - 2 .. 8Q + 9 and y in 4J - 2 .. 4J + 5 that hit it.
 * 4. Favourite. Each row of tiles from 40 % of the image height on keeps in all its tiles the block with most
 *    votes in the row, the lowest one of equals. This is the road.
 * 5. Evidence of thin objects, from costs of the even rows of scale k. G(X, Y, d) sums the costs of the
 *    pixels in columns 4X .. 4X + 3 and rows 4Y and 4Y + 2. Each tile has six strips: four of one group by
 *    four, X = 4Q + s and Y = 2J - 1 .. 2J + 2, and two of four groups by one, X = 4Q .. 4Q + 3 and Y = 2J +
 *    s. Groups outside the image do not count, and a strip without groups has no evidence. Let b0 be the
 *    lowest disparity of the least sum over a strip. If this sum is below 90 % of all sums more than 3 px
 *    apart from b0, the tile keeps the blocks from sx_pyramid_strip_first() to sx_pyramid_strip_last().
 * 6. sx_pyramid_choose() chooses the blocks of each tile.
 * 7. Path costs of the cells that are searched are summed (sgm.h).
 * 8. sx_winner() finds the winners, and sx_pyramid_edges() those of the rows without descriptors.
 *
 * Thread: any, one call at a time; allocates nothing.
 */
struct sx_pyramid;
void sx_pyramid_sgm(struct sx_pyramid *own, const struct sx_cost_input *in, const struct sx_image *sum,
		    const struct sx_image *tiles);
/*
 * Gives the first and the last rows of maps of sx_winner() the values of the rows that sx_pyramid_winner_row()
 * names. Searches of a single scale are full, and keep their values.
 */
void sx_pyramid_edges(const struct sx_stereo_params *p, const struct sx_image *left,
		      const struct sx_image *right, const struct sx_image *confidence);
/*
 * Creates the memory for images of this size. p: resolved. *bytes: increased by the bytes taken. Returns 0 or
 * -ENOMEM.
 */
int sx_pyramid_create(struct sx_pyramid **ret, const struct sx_stereo_params *p, int width, int height,
		      size_t *bytes);
void sx_pyramid_destroy(struct sx_pyramid *own);

#ifdef __cplusplus
}
#endif

#endif
