/*
 * Sky of the CUDA engine. Finding runs without the road and beside it; weighing needs the road. run follows
 * the rules of gpu/stages_cuda.h.
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
 * Column u is bit u % 32 of word u / 32.
 */
struct sx_sky_cuda {
	uint32_t *blank, *sky;
	int columns, rows, words; /* words per row */
};

void sx_sky_cuda_take(struct sx_sky_cuda *s, struct sx_cuda_memory *m, int columns, int rows);

/* Computes the same as sx_sky_find(). left: U8. */
cudaError_t sx_sky_cuda_find(const struct sx_sky_cuda *s, const struct sx_image *left,
			     const struct sx_stixel_params *params, cudaStream_t stream);

/*
 * Runs the last part of sx_evidence(): turns cells that are high enough above the road into sky. height:
 * height of the image, px. cells, cells_confidence: output of sx_evidence_cuda_run().
 */
cudaError_t sx_sky_cuda_weigh(const struct sx_sky_cuda *s, const struct sx_cuda_road *road,
			      const struct sx_params *params, const struct sx_image *cells,
			      const struct sx_image *cells_confidence, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
