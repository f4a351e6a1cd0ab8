/*
 * Sorts values that a thread has in registers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STIXELS_SORTER_CUH
#define SX_GPU_STIXELS_SORTER_CUH

#include "gpu/cuda.cuh"

/*
 * Batcher's odd-even merge sort of N values as steps P, K; every index is a constant. END: the smallest power
 * of two that is not below N. Values beyond N count as the largest and stay in place.
 */
template <int N, int END, int P, int K> struct sorter {
	static const int next_p = K == 1 ? 2 * P : P, next_k = K == 1 ? 2 * P : K / 2;

	static __device__ __forceinline__ void run(uint32_t *v)
	{
#pragma unroll
		for (int i = K % P; i < N - K; i++) {
			const bool in = (i - K % P) % (2 * K) < K && i / (2 * P) == (i + K) / (2 * P);
			const uint32_t a = v[i], b = v[i + K];

			v[i] = in && b < a ? b : a;
			v[i + K] = in && b < a ? a : b;
		}
		sorter<N, END, next_p, next_k>::run(v);
	}
};
template <int N, int END, int K> struct sorter<N, END, END, K> {
	static __device__ __forceinline__ void run(uint32_t *)
	{
	}
};

#endif
