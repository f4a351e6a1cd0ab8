/*
 * P2 table, indexed by the difference of two grey levels of the left image. An entry is the cut: how much
 * lower P2 is for a step with this difference. One table is for vertical and diagonal paths, one for
 * horizontal paths. sx_sgm_p2() defines P2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STEREO_P2_TABLE_CUH
#define SX_GPU_STEREO_P2_TABLE_CUH

#include "gpu/cuda.cuh"
#include "gpu/memory.h"
#include "stages/stereo/sgm.h"

#define SX_P2_TABLE_LEVELS 256					   /* grey levels */
#define SX_P2_TABLE_SHARED (SX_P2_TABLE_LEVELS * sizeof(uint32_t)) /* bytes of a block's copy */

/* Uploads both tables, [horizontal][difference]. p: resolved. Returns NULL after an error. */
static inline const uint8_t *sx_p2_table_upload(struct sx_cuda_memory *m, const struct sx_stereo_params *p)
{
	uint8_t p2_table[2 * SX_P2_TABLE_LEVELS];

	for (int i = 0; i < 2 * SX_P2_TABLE_LEVELS; i++) {
		const int horizontal = i / SX_P2_TABLE_LEVELS;

		p2_table[i] = (uint8_t)(sx_sgm_penalties(p, horizontal).p2 -
					sx_sgm_p2(p, horizontal, i % SX_P2_TABLE_LEVELS));
	}
	return (const uint8_t *)sx_cuda_upload(m, p2_table, sizeof(p2_table));
}

/*
 * Copies one table to shared memory; each word has the cut in all four bytes. All threads of the block must
 * call it.
 */
__device__ __forceinline__ void sx_p2_table_copy(uint32_t *to, const uint8_t *p2_table, int horizontal,
						 int threads)
{
	const uint8_t *from = p2_table + horizontal * SX_P2_TABLE_LEVELS;

	for (int i = (int)threadIdx.x; i < SX_P2_TABLE_LEVELS; i += threads)
		to[i] = from[i] * 0x01010101u;
	__syncthreads();
}

#endif
