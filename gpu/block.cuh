/*
 * Operations of all threads of a block. Every thread of the block must call them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_BLOCK_CUH
#define SX_GPU_BLOCK_CUH

#include "gpu/cuda.cuh"

/*
 * Returns true in the last block of the grid that calls it. This block sees what the other blocks wrote.
 * is_last: in shared memory.
 * done: must be 0 before the launch; it is 0 again after it.
 */
__device__ __forceinline__ bool sx_is_last_block(int *is_last, unsigned *done)
{
	__syncthreads();
	if (threadIdx.x == 0) {
		__threadfence();
		*is_last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
		__threadfence();
	}
	__syncthreads();
	return *is_last;
}

#endif
