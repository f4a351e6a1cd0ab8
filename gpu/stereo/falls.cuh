/*
 * Table of how much P2 falls at an edge of the left image, by difference of grey levels. One table is for
 * vertical and diagonal paths, one for horizontal paths. sx_sgm_p2() defines the values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STEREO_FALLS_CUH
#define SX_GPU_STEREO_FALLS_CUH

#include "gpu/cuda.cuh"
#include "gpu/memory.h"
#include "stages/stereo/sgm.h"

#define SX_FALLS_LEVELS 256				     /* grey levels */
#define SX_FALLS_SHARED (SX_FALLS_LEVELS * sizeof(uint32_t)) /* bytes of a block's copy */

/* Uploads both tables, [horizontal][difference]. p: resolved. Returns NULL after an error. */
static inline const uint8_t *sx_falls_upload(struct sx_cuda_memory *m, const struct sx_stereo_params *p)
{
	uint8_t falls[2 * SX_FALLS_LEVELS];

	for (int i = 0; i < 2 * SX_FALLS_LEVELS; i++) {
		const int horizontal = i / SX_FALLS_LEVELS;

		falls[i] = (uint8_t)(sx_sgm_penalties(p, horizontal).p2 -
				     sx_sgm_p2(p, horizontal, i % SX_FALLS_LEVELS));
	}
	return (const uint8_t *)sx_cuda_upload(m, falls, sizeof(falls));
}

/*
 * Copies one table to shared memory; each word has the fall in all four bytes. All threads of the block must
 * call it.
 */
__device__ __forceinline__ void sx_falls_copy(uint32_t *to, const uint8_t *falls, int horizontal, int threads)
{
	const uint8_t *from = falls + horizontal * SX_FALLS_LEVELS;

	for (int i = (int)threadIdx.x; i < SX_FALLS_LEVELS; i += threads)
		to[i] = from[i] * 0x01010101u;
	__syncthreads();
}

#endif
