/*
 * Integer matrix product of a warp, mma.m16n8k32 (sm_80): C (16x8) = A (16x32, signed bytes) * B (32x8,
 * unsigned bytes) + C. Lane 4g + t holds bytes 4t .. 4t+3 and 16+4t .. 16+4t+3 of rows g and g + 8 of A and
 * of column g of B, and columns 2t and 2t+1 of rows g and g + 8 of C. Older devices and the emulator fetch
 * the other lanes' operands and multiply.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STEREO_MMA_CUH
#define SX_GPU_STEREO_MMA_CUH

#include "gpu/cuda.cuh"

#if !defined(SX_EMULATE) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define SX_HAS_MMA 1
#else
#define SX_HAS_MMA 0
#endif

#if !SX_HAS_MMA
/* Returns the sum of the products of eight bytes. Bytes of a are signed, bytes of b unsigned. */
__device__ inline int sx_mma_dot(uint64_t a, uint64_t b)
{
	int sum = 0;

	for (int i = 0; i < 64; i += 8)
		sum += (int)(int8_t)(uint8_t)(a >> i) * (int)(b >> i & 0xff);
	return sum;
}
#endif

/*
 * Returns the product plus c. a: row g low, row g + 8 low, row g high, row g + 8 high (of the bytes). b: low,
 * high. c: columns 2t, 2t+1 of row g, then of row g + 8. Every lane of the warp must call it.
 */
__device__ __forceinline__ int4 sx_mma_s8u8(uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0,
					    uint32_t b1, int4 c)
{
#if SX_HAS_MMA
	int4 sum;

	asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
	    "{%10, %11, %12, %13};"
	    : "=r"(sum.x), "=r"(sum.y), "=r"(sum.z), "=r"(sum.w)
	    : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "r"(c.x), "r"(c.y), "r"(c.z), "r"(c.w));
	return sum;
#else
	const int lane = (int)threadIdx.x % 32, row = lane / 4 * 4, column = lane % 4 * 8;
	const uint64_t low = (uint64_t)a2 << 32 | a0, high = (uint64_t)a3 << 32 | a1,
		       b = (uint64_t)b1 << 32 | b0;

	for (int t = 0; t < 4; t++) {
		const uint64_t l = __shfl_sync(0xffffffffu, low, row + t),
			       h = __shfl_sync(0xffffffffu, high, row + t),
			       even = __shfl_sync(0xffffffffu, b, column + t),
			       odd = __shfl_sync(0xffffffffu, b, column + 4 + t);

		c.x += sx_mma_dot(l, even);
		c.y += sx_mma_dot(l, odd);
		c.z += sx_mma_dot(h, even);
		c.w += sx_mma_dot(h, odd);
	}
	return c;
#endif
}

#endif
