/*
 * The winner from stored volumes. Meaning: stages/stereo/winner.h.
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
 * Device memory in the layout of gpu/stereo/volume.cuh: volume i at path + i * path_bytes, V of a path, or of
 * two paths added; S = sx_sgm_largest() - sum of all. path_bytes is a multiple of 256.
 */
struct sx_cuda_volumes {
	const uint8_t *path;
	size_t path_bytes;
	int volumes; /* 2, 4, 8: one a path; 1, 2, 4: one for two */
};

/* winner, winner_right, confidence: as in stages/stereo/winner.h, all of width x height pixels. */
cudaError_t sx_winner_cuda_run(const struct sx_cuda_volumes *v, const struct sx_stereo_params *p,
			       const struct sx_image *winner, const struct sx_image *winner_right,
			       const struct sx_image *confidence, cudaStream_t stream);

/* S itself, for SX_TAP_SUM: U16, width * disparities wide. */
cudaError_t sx_winner_cuda_sum(const struct sx_cuda_volumes *v, const struct sx_stereo_params *p,
			       const struct sx_image *sum, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
