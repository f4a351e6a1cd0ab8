/*
 * Cuts ground at borders of its classes: gpu/stixels/class_cut.cu.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STIXELS_CLASS_CUT_CUDA_H
#define SX_GPU_STIXELS_CLASS_CUT_CUDA_H

#include <cuda_runtime_api.h>

#include "gpu/stixels/reduce_cells_cuda.h"
#include "stages/stixels/class_cut.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Cuts the lists of all columns in place. in: scores of the frame, in device memory; if its data is NULL, the
 * lists stay as they are. columns: cells of the columns. scores: scores of the cells, U8, one row per column,
 * [row][class]. segments: in device memory, as sx_unmeasured_cuda_run() left them.
 */
cudaError_t sx_class_cut_cuda_run(const struct sx_class_cut *t, const struct sx_cuda_scores *in,
				  const struct sx_image *columns, const struct sx_image *scores,
				  const struct sx_segments *segments, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
