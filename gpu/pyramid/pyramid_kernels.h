/*
 * One scale of the pyramid in device memory, and the kernels that work on it. Internal header of
 * gpu/pyramid/.
 *
 * A tile searches up to `slots` blocks of 8 disparities. A cell row is the 8 cells of one pixel in one block,
 * 8 bytes. Volumes have cell rows in the order [tile][slot][column][row], those of vertical paths in the
 * order [tile][slot][row][column], so that the pixels of a warp, which walks neighbouring paths, lie side by
 * side. With d from 0 to 7, the bytes are the cells
 *
 *   word 0: 0, 1, 4, 5    word 1: 2, 3, 6, 7
 *
 * so that the even and the odd bytes of a word are pairs (d, d + 4), for gpu/simd.cuh. The volumes of costs,
 * one for each order, hold M = Cmax - C, and that of each path V = P2 + Cmax - L (gpu/stereo/volume.cuh).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_PYRAMID_PYRAMID_KERNELS_H
#define SX_GPU_PYRAMID_PYRAMID_KERNELS_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/image.h"
#include "stages/params/params.h"
#include "stages/pyramid/pyramid_rules.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Most blocks of a tile: SX_SEARCH_TILE_BLOCKS, or all of a coarsest scale with 56 disparities. */
#define SX_PYRAMID_SLOTS 7
#define SX_PYRAMID_TILE_PIXELS (SX_SEARCH_TILE_WIDTH * SX_SEARCH_TILE_HEIGHT)
#define SX_PYRAMID_ROW_BYTES 8 /* a cell row */
#define SX_PYRAMID_SLOT_BYTES (SX_PYRAMID_TILE_PIXELS * SX_PYRAMID_ROW_BYTES)

/*
 * A device with this number of multiprocessors or more is large: short blocks and warps with fewer paths keep
 * it busy.
 */
#define SX_PYRAMID_LARGE_SMS 64

/*
 * tiles: a struct sx_search_tile for each tile, as a 64-bit word, rows tiles_pitch bytes apart. Of the
 * coarsest scale, byte 7 may be a seventh block.
 * hits: bit b of a pixel says that it hits block b of the next finer scale; stored [tile][column][row].
 * kept: bit b of a tile says that evidence keeps block b.
 * cost: M for horizontal and diagonal paths, and path_bytes behind it for vertical ones, if there are any.
 * path: V of path i begins at i * path_bytes: right, left, down, up and the diagonals.
 */
struct sx_pyramid_view {
	int width, height, disparities, min_disparity, tiles_x, tiles_y, slots, paths;
	const uint8_t *grey[2], *descriptor[2];
	size_t grey_pitch[2], descriptor_pitch[2];
	uint8_t *tiles;
	size_t tiles_pitch;
	uint64_t *hits, *kept;
	uint8_t *cost, *path;
	size_t path_bytes;
	bool wide; /* descriptors have 64 bits, else 32 */
};

/* Halves images of one scale, both sides: from v->grey to half->grey. */
cudaError_t sx_pyramid_halve_launch(const struct sx_pyramid_view *v, const struct sx_pyramid_view *half,
				    cudaStream_t stream);

/* Sets v->kept of all tiles. sms: number of multiprocessors. */
cudaError_t sx_pyramid_evidence_launch(const struct sx_pyramid_view *v, const struct sx_stereo_params *p,
				       int sms, cudaStream_t stream);

/* Sets v->hits from the V of all paths of v. fine: the next finer scale. */
cudaError_t sx_pyramid_hits_launch(const struct sx_pyramid_view *v, const struct sx_pyramid_view *fine,
				   const struct sx_stereo_params *p, cudaStream_t stream);
/* Sets v->tiles from the hits of the next coarser scale and from v->kept. */
cudaError_t sx_pyramid_choose_launch(const struct sx_pyramid_view *v, const struct sx_pyramid_view *coarse,
				     cudaStream_t stream);

/* Computes M of the cells that are searched. */
cudaError_t sx_pyramid_costs_launch(const struct sx_pyramid_view *v, const struct sx_stereo_params *p,
				    cudaStream_t stream);

/*
 * Walks all paths. p2_table: sx_p2_table_upload(), or NULL if penalties do not depend on edges. sms: number
 * of multiprocessors.
 */
cudaError_t sx_pyramid_paths_launch(const struct sx_pyramid_view *v, const struct sx_stereo_params *p,
				    const uint8_t *p2_table, int sms, cudaStream_t stream);
/* Uploads the table of penalties into m. */
struct sx_cuda_memory;
const uint8_t *sx_pyramid_p2_table(struct sx_cuda_memory *m, const struct sx_stereo_params *p);

/* sx_winner() on the S of the scale. */
cudaError_t sx_pyramid_winner_launch(const struct sx_pyramid_view *v, const struct sx_stereo_params *p,
				     const struct sx_image *left, const struct sx_image *right,
				     const struct sx_image *confidence, cudaStream_t stream);
/* Writes S, SX_SUM_ABSENT where a cell is not searched. */
cudaError_t sx_pyramid_sum_launch(const struct sx_pyramid_view *v, const struct sx_stereo_params *p,
				  const struct sx_image *sum, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
