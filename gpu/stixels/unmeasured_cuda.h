/*
 * Removes unmeasured areas from the stixels: gpu/stixels/unmeasured.cu.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STIXELS_UNMEASURED_CUDA_H
#define SX_GPU_STIXELS_UNMEASURED_CUDA_H

#include <cuda_runtime_api.h>

#include "stages/params/params.h"
#include "stages/stixels/unmeasured.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Splits the lists of all columns at unmeasured areas, in place. first: sx_taps_column() of column 0; its
 * pointers are device memory, and reach_q7 is not read. reach: counts of sx_reach_count(), in device memory.
 * columns: image of the columns' cells. segments: in device memory, as the
 * segmenter left them.
 */
cudaError_t sx_unmeasured_cuda_run(const struct sx_unmeasured_column *first, const uint32_t *reach,
				   const struct sx_image *columns, const struct sx_segments *segments,
				   const struct sx_stixel_params *p, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
