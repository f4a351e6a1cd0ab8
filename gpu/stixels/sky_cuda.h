/*
 * Sky of the CUDA engine: found without the road, beside which it runs, and weighed with it. Rules for run:
 * gpu/stages_cuda.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STIXELS_SKY_CUDA_H
#define SX_GPU_STIXELS_SKY_CUDA_H

#include "gpu/stages_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A bit a cell: rows of cells, the lowest first; column u is bit u % 32 of word u / 32. Device memory. */
struct sx_sky_cuda {
	uint32_t *blank, *sky;
	int columns, rows, words; /* of a row */
};

void sx_sky_cuda_take(struct sx_sky_cuda *s, struct sx_cuda_memory *m, int columns, int rows);

/* As sx_sky_find(). left: U8. */
cudaError_t sx_sky_cuda_find(const struct sx_sky_cuda *s, const struct sx_image *left,
			     const struct sx_stixel_params *params, cudaStream_t stream);

/*
 * The last of sx_evidence(): makes sky of cells that are high enough above the road. height: of the image.
 * cells, cells_confidence: as sx_evidence_cuda_run() left them.
 */
cudaError_t sx_sky_cuda_weigh(const struct sx_sky_cuda *s, const struct sx_cuda_road *road,
			      const struct sx_params *params, const struct sx_image *cells,
			      const struct sx_image *cells_confidence, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
