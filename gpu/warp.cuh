/*
 * Reductions and scans over a whole warp. Every lane must take part, and every lane gets the result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_WARP_CUH
#define SX_GPU_WARP_CUH

#include "gpu/cuda.cuh"

#define SX_WARP_ALL_LANES 0xffffffffu

/* From sm_80 on, an integer reduction is one instruction. */
#if defined(SX_EMULATE) || !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define SX_WARP_REDUCE(name, op) return __reduce_##name##_sync(SX_WARP_ALL_LANES, v)
#else
#define SX_WARP_REDUCE(name, op)                                             \
	for (int i = 16; i > 0; i >>= 1) {                                   \
		const uint32_t w = __shfl_xor_sync(SX_WARP_ALL_LANES, v, i); \
		v = op;                                                      \
	}                                                                    \
	return v
#endif

__device__ __forceinline__ uint32_t sx_warp_sum(uint32_t v)
{
	SX_WARP_REDUCE(add, v + w);
}

__device__ __forceinline__ uint32_t sx_warp_max(uint32_t v)
{
	SX_WARP_REDUCE(max, v > w ? v : w);
}

__device__ __forceinline__ uint32_t sx_warp_min(uint32_t v)
{
	SX_WARP_REDUCE(min, v < w ? v : w);
}

__device__ __forceinline__ uint32_t sx_warp_or(uint32_t v)
{
	SX_WARP_REDUCE(or, v | w);
}

__device__ __forceinline__ int64_t sx_warp_sum64(int64_t v)
{
	long long sum = v;

	for (int i = 16; i > 0; i >>= 1)
		sum += __shfl_xor_sync(SX_WARP_ALL_LANES, sum, i);
	return sum;
}

/* Returns the sum over this lane and the lanes before it. */
template <typename T> __device__ __forceinline__ T sx_warp_prefix(T v, int lane)
{
	for (int i = 1; i < 32; i <<= 1) {
		const T w = __shfl_up_sync(SX_WARP_ALL_LANES, v, (unsigned)i);

		v += lane >= i ? w : 0;
	}
	return v;
}

#endif
