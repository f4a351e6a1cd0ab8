/*
 * The winner from stored volumes. stages/stereo/winner.h defines the result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STEREO_WINNER_CUDA_H
#define SX_GPU_STEREO_WINNER_CUDA_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#include "base/image.h"
#include "stages/params/params.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Volumes in device memory, in the layout of gpu/stereo/volume.cuh. Volume i is at path + i * path_bytes and
 * holds V of one path or of two added paths. S = sx_sgm_largest() - sum of all volumes. path_bytes is a
 * multiple of 256.
 */
struct sx_cuda_volumes {
	const uint8_t *path;
	size_t path_bytes;
	int volumes; /* 2, 4 or 8 with one path per volume; 1, 2 or 4 with two paths per volume */
};

/*
 * Finds the winner. winner, winner_right, confidence: as in stages/stereo/winner.h, all of width x height
 * pixels.
 */
cudaError_t sx_winner_cuda_run(const struct sx_cuda_volumes *v, const struct sx_stereo_params *p,
			       const struct sx_image *winner, const struct sx_image *winner_right,
			       const struct sx_image *confidence, cudaStream_t stream);

/* Writes S for SX_TAP_SUM: U16, width * disparities wide. */
cudaError_t sx_winner_cuda_sum(const struct sx_cuda_volumes *v, const struct sx_stereo_params *p,
			       const struct sx_image *sum, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
