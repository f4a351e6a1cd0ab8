/*
 * Zero-mean normalised cross-correlation as a matching cost. Meaning: stages/stereo/zncc.h, stages/stereo/cost.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_ZNCC_ZNCC_CUDA_H
#define SX_GPU_ZNCC_ZNCC_CUDA_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "base/image.h"
#include "stages/params.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Words of both images. grey: U8, words: U64. window: 3, 5 .. 15. */
cudaError_t sx_zncc_windows_cuda_run(const struct sx_image grey[2], const struct sx_image words[2],
				     int window, cudaStream_t stream);

/*
 * How products of windows are added up, with the same bytes; chosen: by gpu/zncc/zncc_cost.cu. Row: what enters a window less
 * what leaves it, along a row. Zigzag: and what rows share is added up once for several of them.
 */
enum sx_zncc_scan { SX_ZNCC_SCAN_CHOSEN, SX_ZNCC_SCAN_ROW, SX_ZNCC_SCAN_ZIGZAG, SX_ZNCC_SCAN_COUNT };
/* The cost volume, as sx_cost_cuda_run() writes it. volume: width * height * disparities bytes, 256-byte aligned. */
cudaError_t sx_zncc_cost_cuda_run(const struct sx_image grey[2], const struct sx_image words[2],
				  const struct sx_stereo_params *p, uint8_t *volume, enum sx_zncc_scan how,
				  cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
