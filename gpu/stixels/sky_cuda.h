/*
 * Sky and reach of the CUDA engine. Finding the sky needs the image alone and runs beside the winner; weighing
 * needs the road. run follows the rules of gpu/stages_cuda.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STIXELS_SKY_CUDA_H
#define SX_GPU_STIXELS_SKY_CUDA_H

#include "gpu/stages_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Bit maps in device memory with one bit per cell. They have one row per row of cells, lowest row first.
 * Column u is bit u % 32 of word u / 32. reach: counts of sx_reach_count(), SX_REACH_BINS of them.
 */
struct sx_sky_cuda {
	uint32_t *blank, *sky, *reach;
	int columns, rows, words; /* words per row */
};

void sx_sky_cuda_take(struct sx_sky_cuda *s, struct sx_cuda_memory *m, int columns, int rows);

/* Computes the same as sx_sky_find(), and sets the counts of the reach to 0. left: U8. */
cudaError_t sx_sky_cuda_find(const struct sx_sky_cuda *s, const struct sx_image *left,
			     const struct sx_stixel_params *params, cudaStream_t stream);

/*
 * Runs the last part of sx_evidence(): turns cells that are high enough above the road into sky. Computes the
 * same counts as sx_reach_count() for all columns. columns: the cells before holes were filled. cells,
 * cells_confidence: output of sx_evidence_cuda_run().
 */
cudaError_t sx_sky_cuda_weigh(const struct sx_sky_cuda *s, const struct sx_cuda_road *road,
			      const struct sx_params *params, const struct sx_image *columns,
			      const struct sx_image *cells, const struct sx_image *cells_confidence,
			      cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
