/*
 * Columns of the CUDA engine: cells of disparity and confidence for every method. For the slanted methods
 * also cells of class scores, and the evidence of a cell beside its disparity. run follows the rules of
 * gpu/stages_cuda.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STIXELS_REDUCE_CELLS_CUDA_H
#define SX_GPU_STIXELS_REDUCE_CELLS_CUDA_H

#include "gpu/stages_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Computes the same as sx_reduce_cells(). If a cell is one row high, it uses sx_reduce_cuda_run()
 * (reduce.cu). columns: one row per column, as in sx_reduce_cells().
 */
cudaError_t sx_reduce_cells_cuda_run(const struct sx_image *disparity, const struct sx_image *confidence,
				     int width_px, int cell_height, enum sx_reduction how,
				     const struct sx_image *columns,
				     const struct sx_image *columns_confidence, cudaStream_t stream);

/*
 * Computes the same as sx_reduce_scores() from *in at the time when the kernel runs. Does nothing if the pair
 * has no scores. columns: U8, rows * classes wide. width, height: size of the image, px.
 */
cudaError_t sx_reduce_cells_cuda_scores(const struct sx_cuda_scores *in, int width, int height, int width_px,
					int cell_height, int classes, const struct sx_image *columns,
					cudaStream_t stream);

/* Computes the same as sx_evidence(), without sky (gpu/stixels/sky_cuda.h). */
cudaError_t sx_evidence_cuda_run(const struct sx_image *left, const struct sx_image *columns,
				 const struct sx_image *confidence, const struct sx_stixel_params *params,
				 const struct sx_image *cells, const struct sx_image *cells_confidence,
				 cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
