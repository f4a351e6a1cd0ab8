/*
 * Semi-global matching: sums the matching cost along 2, 4 or 8 paths.
 * Hirschmueller: Stereo processing by semiglobal matching and mutual information, equation 13.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STEREO_SGM_H
#define SX_STAGES_STEREO_SGM_H

#include <stdbool.h>
#include <stddef.h>

#include "stages/stereo/cost.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Cells that are searched, if these are not all: a tile of the image searches some blocks of disparities.
 * block: in ascending order; entries from count on are 0. count: 1 or more.
 */
#define SX_SEARCH_BLOCK 8	/* disparities */
#define SX_SEARCH_TILE_WIDTH 16 /* px */
#define SX_SEARCH_TILE_HEIGHT 8 /* px */
#define SX_SEARCH_TILE_BLOCKS 6 /* most blocks of a tile */
#define SX_SUM_ABSENT 0xffffu	/* S of a cell that is not searched */
#define SX_SEARCH_TILES_X(width) (((width) + SX_SEARCH_TILE_WIDTH - 1) / SX_SEARCH_TILE_WIDTH)
#define SX_SEARCH_TILES_Y(height) (((height) + SX_SEARCH_TILE_HEIGHT - 1) / SX_SEARCH_TILE_HEIGHT)
struct sx_search_tile {
	uint8_t count, block[SX_SEARCH_TILE_BLOCKS], none;
};

/* Returns true if a tile searches as many blocks as it may: nothing in it tells which ones are right. */
#define SX_SEARCH_IS_CROWDED(tile) ((tile).count == SX_SEARCH_TILE_BLOCKS)

/*
 * Sums the costs along all paths. For each path direction r, with q = p - r and C the matching cost (cost.h):
 *   L(p,d) = C(p,d)                                                             if q is outside the image
 *   L(p,d) = C(p,d) + min(L(q,d) - m, L(q,d-1) - m + P1, L(q,d+1) - m + P1, P2)  otherwise, m = min_k L(q,k)
 * where the terms d-1 < 0 and d+1 >= disparities are absent, and terms of cells of q that are not searched. m
 * is the minimum over those that are. sx_sgm_penalties() gives P1 and p2. P2 is
 *   p2, or with p2_edge, A = round(256 p2_edge / (p2_edge + |I(p) - I(q)|)), halves up:
 *   max(P1 + 1, p2 A / 256) rounded down, at most p2; I: left grey image
 * (Hirschmueller, section 2.3: a jump of disparity is cheap where the left image has an edge).
 *   S(p,d) = sum of L(p,d) over the paths: 2: right, left. 4: and down, up. 8: and the four diagonals.
 * Ranges: Cmax + P1 + P2 <= 255 (sx_params_check), so every L and every term of the minimum fits 8 bits;
 * S <= sx_sgm_largest() <= 2040.
 *
 * sum: U16, width * disparities wide, S[y][x][d] with d fastest; SX_SUM_ABSENT if a cell is not searched.
 * tiles: U64, a struct sx_search_tile for each tile of the image; NULL: all cells are searched.
 * scratch: sx_sgm_scratch_bytes() bytes, 64-byte aligned, content ignored.
 */
void sx_sgm(const struct sx_cost_input *in, const struct sx_image *sum, const struct sx_stereo_params *p,
	    const struct sx_image *tiles, void *scratch);
size_t sx_sgm_scratch_bytes(int width, const struct sx_stereo_params *p);

struct sx_penalties {
	int p1, p2;
};

/*
 * Returns the penalties of horizontal paths, or of vertical and diagonal ones. They differ because roads do:
 * from row to row the disparity of ground changes by a fraction of a pixel, along a row it is constant. p:
 * resolved.
 */
struct sx_penalties sx_sgm_penalties(const struct sx_stereo_params *p, bool horizontal);

/* Returns P2 of a step between pixels whose grey levels differ by edge, 0..255. p: resolved. */
int sx_sgm_p2(const struct sx_stereo_params *p, bool horizontal, int edge);

/* Returns the largest S: Cmax + p2 of every path. p: resolved. */
int sx_sgm_largest(const struct sx_stereo_params *p);

#ifdef __cplusplus
}
#endif

#endif
