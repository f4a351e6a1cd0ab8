/*
 * What the threads of a block do together; every thread of it takes part.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_BLOCK_CUH
#define SX_GPU_BLOCK_CUH

#include "gpu/cuda.cuh"

/*
 * True in the block that is the last of the grid to come here: it sees what the others wrote. is_last: in
 * shared memory. done: 0 before the launch, and again behind it.
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
