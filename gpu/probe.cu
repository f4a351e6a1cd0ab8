/*
 * The smallest kernel: shows at start that this build has code for the device and that the device runs it.
 *
 * Work:    one thread.
 * Memory:  one word.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/cuda.cuh"
#include "gpu/probe.h"

static __global__ void probe_kernel(uint32_t *word)
{
	if (threadIdx.x == 0)
		*word = SX_PROBE_WORD;
}

cudaError_t sx_probe_cuda_run(uint32_t *word, cudaStream_t stream)
{
	SX_LAUNCH(probe_kernel, 1, 1, 0, stream, word);
	return SX_LAUNCHED();
}
