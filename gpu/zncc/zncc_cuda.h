/*
 * Zero-mean normalised cross-correlation as a matching cost. stages/stereo/zncc.h and stages/stereo/cost.h
 * define the results.
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

/* Computes the words of both images. grey: U8. words: U64. window: 3, 5 .. 15. */
cudaError_t sx_zncc_windows_cuda_run(const struct sx_image grey[2], const struct sx_image words[2],
				     int window, cudaStream_t stream);

/*
 * Fills the cost volume as sx_cost_cuda_run() does. volume: width * height * disparities bytes, 256-byte
 * aligned. The products of a window are a running sum: entering products are added, leaving products are
 * subtracted. Windows of 3 to 7 move along a row. Windows of 9 to 15 move in zigzag, so that several rows
 * share the products that they have in common.
 */
cudaError_t sx_zncc_cost_cuda_run(const struct sx_image grey[2], const struct sx_image words[2],
				  const struct sx_stereo_params *p, uint8_t *volume, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
