/*
 * Zero-mean normalised cross-correlation as a matching cost. Meaning: stages/stereo/zncc.h,
 * stages/stereo/cost.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_ZNCC_ZNCC_CUDA_H
#define SX_GPU_ZNCC_ZNCC_CUDA_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "base/image.h"
#include "stages/params/params.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Words of both images. grey: U8, words: U64. window: 3, 5 .. 15. */
cudaError_t sx_zncc_windows_cuda_run(const struct sx_image grey[2], const struct sx_image words[2],
				     int window, cudaStream_t stream);

/*
 * The cost volume, as sx_cost_cuda_run() writes it. volume: width * height * disparities bytes, 256-byte
 * aligned. Products of windows are added up by what enters a window less what leaves it, along a row (windows
 * of 3 to 7), or in zigzag, where several rows share what they have in common (9 to 15).
 */
cudaError_t sx_zncc_cost_cuda_run(const struct sx_image grey[2], const struct sx_image words[2],
				  const struct sx_stereo_params *p, uint8_t *volume, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
