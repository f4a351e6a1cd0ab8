/*
 * Columns of the CUDA engine: cells of disparity and confidence for every method, of class scores and what
 * cells tell beyond their disparity for the slanted ones. Rules for run: gpu/stages_cuda.h.
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
 * As sx_reduce_cells(); cells of one row are sx_reduce_cuda_run()'s (reduce.cu). columns: a column a row, as
 * there.
 */
cudaError_t sx_reduce_cells_cuda_run(const struct sx_image *disparity, const struct sx_image *confidence,
				     int width_px, int cell_height, enum sx_reduction how,
				     const struct sx_image *columns,
				     const struct sx_image *columns_confidence, cudaStream_t stream);

/*
 * As sx_reduce_scores(), of what in says when the kernel runs; nothing where the pair has no scores. columns:
 * U8, rows * classes wide. width, height: of the image.
 */
cudaError_t sx_reduce_cells_cuda_scores(const struct sx_cuda_scores *in, int width, int height, int width_px,
					int cell_height, int classes, const struct sx_image *columns,
					cudaStream_t stream);

/* As sx_evidence(), without sky (gpu/stixels/sky_cuda.h). */
cudaError_t sx_evidence_cuda_run(const struct sx_image *left, const struct sx_image *columns,
				 const struct sx_image *confidence, const struct sx_stixel_params *params,
				 const struct sx_image *cells, const struct sx_image *cells_confidence,
				 cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
