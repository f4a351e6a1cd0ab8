/*
 * One scale of the pyramid in device memory, and the kernels that work on it. Internal header of
 * gpu/pyramid/.
 *
 * A tile searches up to `slots` blocks of 8 disparities. A cell row is the 8 cells of one pixel in one block,
 * 8 bytes; the 128 cell rows of a tile's block are a slot. A tile's slots lie one after the other, from slot
 * `first` of a volume on. Cell rows of a slot are in the order [column][row], those of vertical paths in the
 * order [row][column], so that the pixels of a warp, which walks neighbouring paths, lie side by side. With d
 * from 0 to 7, the bytes are the cells
 *
 *   word 0: 0, 1, 4, 5    word 1: 2, 3, 6, 7
 *
 * so that the even and the odd bytes of a word are pairs (d, d + 4), for gpu/simd.cuh. The volume of costs
 * holds M = Cmax - C, and that of a path V = P2 + Cmax - L (gpu/stereo/volume.cuh). If the sum of two V fits a
 * byte, the paths right and left share a volume with their sum, and so do the paths down and up. Each diagonal
 * has its own.
 *
 * A tile may search six blocks, but tiles search less than half of that on average. So a scale has room for
 * all volumes with four blocks for each tile (sx_pyramid_room_slots()). If its tiles search more blocks than
 * that, the scale is crowded, as behind a covered lens: then there is no volume of costs, whose room the other
 * volumes take, and the paths compute the costs of their cells themselves.
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

#define SX_PYRAMID_ROOM 4 /* blocks of a tile on average for which there is room in all volumes */
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
 * What a tile searches. tile: its struct sx_search_tile as a 64-bit word; of the coarsest scale, byte 7 may be
 * a seventh block. blocks: bit b: block b. first: its first slot in a volume. joined: bit s: the block of slot
 * s follows that of slot s - 1.
 */
struct sx_pyramid_list {
	uint64_t tile, blocks;
	uint32_t first, joined, unused[2];
};

/*
 * tiles: a struct sx_search_tile for each tile, rows tiles_pitch bytes apart; NULL at the coarsest scale.
 * lists: of all tiles. used: number of slots of all lists, NULL if it cannot exceed `capacity`.
 * hits: bit b of a pixel says that it hits block b of the next finer scale; stored [tile][column][row].
 * kept: bit b of a tile says that evidence keeps block b.
 * room: the volumes. sums: opposite paths, except diagonals, share a volume. volumes: number of them, without
 * that of costs. capacity: slots of a volume, if the scale is not crowded.
 */
struct sx_pyramid_view {
	int width, height, disparities, min_disparity, tiles_x, tiles_y, slots, paths;
	const uint8_t *grey[2], *descriptor[2];
	size_t grey_pitch[2], descriptor_pitch[2];
	uint8_t *tiles;
	size_t tiles_pitch;
	uint64_t *hits, *kept;
	struct sx_pyramid_list *lists;
	uint32_t *used, capacity;
	uint8_t *room;
	int volumes;
	bool sums;
	bool wide; /* descriptors have 64 bits, else 32 */
};

/* Returns the number of volumes, without that of costs. sums: see struct sx_pyramid_view. */
static inline int sx_pyramid_volumes(int paths, bool sums)
{
	return !sums ? paths : paths > 2 ? paths - 2 : paths - 1;
}

/* Returns the slots that a tile needs in all volumes together. volumes: without that of costs. */
static inline int sx_pyramid_room_slots(int volumes)
{
	const int crowded = volumes * SX_SEARCH_TILE_BLOCKS, usual = (volumes + 1) * SX_PYRAMID_ROOM;

	return crowded > usual ? crowded : usual;
}

/* Halves images of one scale, both sides: from v->grey to half->grey. */
cudaError_t sx_pyramid_halve_launch(const struct sx_pyramid_view *v, const struct sx_pyramid_view *half,
				    cudaStream_t stream);

/* Sets v->kept of all tiles. sms: number of multiprocessors. */
cudaError_t sx_pyramid_evidence_launch(const struct sx_pyramid_view *v, const struct sx_stereo_params *p,
				       int sms, cudaStream_t stream);

/* Sets v->hits from the V of all paths of v, and fine->used to 0. fine: the next finer scale. */
cudaError_t sx_pyramid_hits_launch(const struct sx_pyramid_view *v, const struct sx_pyramid_view *fine,
				   const struct sx_stereo_params *p, cudaStream_t stream);
/* Sets v->tiles, v->lists and v->used from the hits of the next coarser scale and from v->kept. */
cudaError_t sx_pyramid_choose_launch(const struct sx_pyramid_view *v, const struct sx_pyramid_view *coarse,
				     cudaStream_t stream);

/* Computes M of the cells that are searched, unless the scale is crowded. */
cudaError_t sx_pyramid_costs_launch(const struct sx_pyramid_view *v, const struct sx_stereo_params *p,
				    cudaStream_t stream);

/*
 * Walks all paths. p2_table: sx_p2_table_upload(), or NULL if penalties do not depend on edges. sms: number
 * of multiprocessors.
 */
cudaError_t sx_pyramid_paths_launch(const struct sx_pyramid_view *v, const struct sx_stereo_params *p,
				    const uint8_t *p2_table, int sms, cudaStream_t stream);
/* Returns true if the sum of two V fits a byte. */
bool sx_pyramid_has_sums(const struct sx_stereo_params *p);
/* Uploads the table of penalties into m. */
struct sx_cuda_memory;
const uint8_t *sx_pyramid_p2_table(struct sx_cuda_memory *m, const struct sx_stereo_params *p);

/* sx_winner() on the S of the scale. sms: number of multiprocessors. */
cudaError_t sx_pyramid_winner_launch(const struct sx_pyramid_view *v, const struct sx_stereo_params *p,
				     const struct sx_image *left, const struct sx_image *right,
				     const struct sx_image *confidence, int sms, cudaStream_t stream);
/* Writes S, SX_SUM_ABSENT where a cell is not searched. */
cudaError_t sx_pyramid_sum_launch(const struct sx_pyramid_view *v, const struct sx_stereo_params *p,
				  const struct sx_image *sum, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
