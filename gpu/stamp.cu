/*
 * Times of stages: a kernel of one thread stores the device's clock between two stages. Event nodes of a
 * graph would do the same, but each costs 2.4 us on the device and 1.4 us of the launch (H200), because it
 * cuts the graph in two.
 *
 * Work:    one thread per stamp; the last kernel copies all stamps to the host.
 * Memory:  8 bytes per stamp.
 * Ranges:  nanoseconds of a 64-bit clock, in steps that the device defines: 32 ns on the H200, up to 1 us
 *          elsewhere.
 * Speed:   tests/lab/lab-performance.md, CUDA: host side.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/cuda.cuh"
#include "gpu/stages_cuda.h"
#include "gpu/stamp.h"

#ifdef SX_EMULATE
#include <time.h>
#endif

static __device__ uint64_t device_clock_ns(void)
{
#ifdef SX_EMULATE
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
#else
	uint64_t t;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
	return t;
#endif
}

static __global__ void stamp_kernel(uint64_t *stamp)
{
	*stamp = device_clock_ns();
}

static __global__ void deliver_kernel(const uint64_t *stamps, int count, uint64_t *host)
{
	const int i = (int)threadIdx.x;

	if (i < count)
		host[i] = i == count - 1 ? device_clock_ns() : stamps[i];
}

cudaError_t sx_cuda_mark(uint64_t *stamp, cudaStream_t stream)
{
	if (!stamp)
		return cudaSuccess;
	SX_LAUNCH(stamp_kernel, 1, 1, 0, stream, stamp);
	return SX_LAUNCHED();
}

cudaError_t sx_stamps_cuda_deliver(const uint64_t *stamps, int count, uint64_t *host, cudaStream_t stream)
{
	SX_LAUNCH(deliver_kernel, 1, (count + 31) / 32 * 32, 0, stream, stamps, count, host);
	return SX_LAUNCHED();
}
