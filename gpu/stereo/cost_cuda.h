/*
 * The cost volume: Cmax - C of every cell, in the layout of gpu/stereo/volume.cuh. stages/stereo/cost.h
 * defines C.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STEREO_COST_CUDA_H
#define SX_GPU_STEREO_COST_CUDA_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "base/image.h"
#include "stages/params/params.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Fills the cost volume. volume: width * height * disparities bytes of device memory, 256-byte aligned. Every
 * byte is written.
 */
cudaError_t sx_cost_cuda_run(const struct sx_image census[2], const struct sx_stereo_params *p,
			     uint8_t *volume, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
