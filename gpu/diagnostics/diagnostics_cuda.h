/*
 * Image diagnostics on the GPU: sx_diagnostics() (stages/diagnostics/diagnostics.h). It follows the rules of
 * gpu/stages_cuda.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_DIAGNOSTICS_DIAGNOSTICS_CUDA_H
#define SX_GPU_DIAGNOSTICS_DIAGNOSTICS_CUDA_H

#include "gpu/memory.h"
#include "stages/diagnostics/diagnostics.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Number of words of device memory: the sums of a frame and the count of blocks that have added to them. All
 * words are 0 between frames.
 */
#define SX_DIAGNOSTICS_CUDA_WORDS 16
uint32_t *sx_diagnostics_cuda_take(struct sx_cuda_memory *m);
/*
 * Compute the diagnostics in two launches, in this order. votes reads the images and the checked map: votes
 * and samples of the images. counts reads the finished map and columns: all other counts. *out is complete
 * after counts. out: device address, may be pinned host memory. in: device images.
 */
cudaError_t sx_diagnostics_cuda_votes(uint32_t *words, const struct sx_diagnostics_input *in,
				      struct sx_diagnostics *out, cudaStream_t stream);
cudaError_t sx_diagnostics_cuda_counts(uint32_t *words, const struct sx_diagnostics_input *in,
				       struct sx_diagnostics *out, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
