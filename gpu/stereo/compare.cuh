/*
 * Comparisons of pairs (gpu/simd.cuh). Their results are bits, in the low 16 bits of each half of an
 * accumulator.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STEREO_COMPARE_CUH
#define SX_GPU_STEREO_COMPARE_CUH

#include "gpu/simd.cuh"

/* Returns all ones in each half where a > b, else 0. */
__device__ __forceinline__ uint32_t sx_pair_above(uint32_t a, uint32_t b)
{
#ifdef SX_EMULATE
	return (sx_pair_half(a, 0) > sx_pair_half(b, 0) ? 0xffffu : 0) |
	       (sx_pair_half(a, 1) > sx_pair_half(b, 1) ? 0xffff0000u : 0);
#else
	uint32_t r;

	asm("set.gt.u32.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
	return r;
#endif
}

/*
 * Sets bit BIT of both halves of acc, which must be 0, to a > b. Below bit 11 the comparison yields 1.0, and
 * a multiply-add with 2^(BIT - 24) puts it into place. acc is then an integer that fp16 holds exactly (see
 * gpu/simd.cuh). So two pipes share the work. Set the bits from 11 on after all lower bits.
 */
template <int BIT> __device__ __forceinline__ uint32_t sx_pair_put_above(uint32_t acc, uint32_t a, uint32_t b)
{
#ifndef SX_EMULATE
	if (BIT < 11) {
		uint32_t one, r;

		asm("set.gt.f16x2.f16x2 %0, %1, %2;" : "=r"(one) : "r"(a), "r"(b));
		asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(one), "r"(0x00010001u << BIT), "r"(acc));
		return r;
	}
#endif
	return acc | (sx_pair_above(a, b) & (0x00010001u << BIT));
}

#endif
