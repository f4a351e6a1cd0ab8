/*
 * Arithmetic on pairs of small integers. A pair word holds two integers v, |v| < 2048, each as the fp16
 * number v * 2^-24. The bit pattern of v >= 0 is v itself; that of v < 0 is -v with the sign bit. fp16 adds
 * and compares such numbers exactly (they are subnormal or below 2^-13, and nothing is rounded or flushed),
 * at full rate on every architecture. Its saturation to 0..1 is a clamp at 0. Zero is always +0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_SIMD_CUH
#define SX_GPU_SIMD_CUH

#include "gpu/cuda.cuh"

#ifdef SX_EMULATE
static inline int sx_pair_half(uint32_t a, int i)
{
	int h = (int)(a >> 16 * i & 0xffff);

	return h & 0x8000 ? -(h & 0x7fff) : h;
}
static inline uint32_t sx_pair_of(int low, int high)
{
	uint32_t l = (uint32_t)(low < 0 ? 0x8000 | -low : low),
		 h = (uint32_t)(high < 0 ? 0x8000 | -high : high);

	return l | h << 16;
}
#endif

/* Returns v >= 0 in both halves. */
__host__ __device__ __forceinline__ uint32_t sx_pair(int v)
{
	return (uint32_t)v | (uint32_t)v << 16;
}

__device__ __forceinline__ uint32_t sx_pair_add(uint32_t a, uint32_t b)
{
#ifdef SX_EMULATE
	return sx_pair_of(sx_pair_half(a, 0) + sx_pair_half(b, 0), sx_pair_half(a, 1) + sx_pair_half(b, 1));
#else
	uint32_t r;

	asm("add.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
	return r;
#endif
}

__device__ __forceinline__ uint32_t sx_pair_sub(uint32_t a, uint32_t b)
{
#ifdef SX_EMULATE
	return sx_pair_of(sx_pair_half(a, 0) - sx_pair_half(b, 0), sx_pair_half(a, 1) - sx_pair_half(b, 1));
#else
	uint32_t r;

	asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
	return r;
#endif
}

/* Returns max(a + b, 0). */
__device__ __forceinline__ uint32_t sx_pair_add_clamp(uint32_t a, uint32_t b)
{
#ifdef SX_EMULATE
	int low = sx_pair_half(a, 0) + sx_pair_half(b, 0), high = sx_pair_half(a, 1) + sx_pair_half(b, 1);

	return sx_pair_of(low < 0 ? 0 : low, high < 0 ? 0 : high);
#else
	uint32_t r;

	asm("add.rn.sat.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
	return r;
#endif
}

__device__ __forceinline__ uint32_t sx_pair_max(uint32_t a, uint32_t b)
{
#ifdef SX_EMULATE
	int a0 = sx_pair_half(a, 0), a1 = sx_pair_half(a, 1), b0 = sx_pair_half(b, 0),
	    b1 = sx_pair_half(b, 1);

	return sx_pair_of(a0 > b0 ? a0 : b0, a1 > b1 ? a1 : b1);
#elif !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
	uint32_t r;

	asm("max.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
	return r;
#else
	/* Before sm_80 there is no packed maximum: use a + max(b - a, 0). */
	uint32_t above;

	asm("sub.rn.sat.f16x2 %0, %1, %2;" : "=r"(above) : "r"(b), "r"(a));
	return sx_pair_add(a, above);
#endif
}

/*
 * Runs the instruction prmt. Each hexadecimal digit of the selector makes one byte of the result; the lowest
 * digit makes the lowest byte. Bits 2..0 of the digit choose one of the bytes of a (0..3) and b (4..7). If
 * bit 3 is set, all eight bits of the result are the sign of that byte. __byte_perm() does not offer bit 3.
 */
__device__ __forceinline__ uint32_t sx_prmt(uint32_t a, uint32_t b, uint32_t selector)
{
#ifdef SX_EMULATE
	const uint64_t bytes = (uint64_t)b << 32 | a;
	uint32_t r = 0;

	for (int i = 0; i < 4; i++) {
		const uint32_t digit = selector >> 4 * i & 15, byte = bytes >> 8 * (digit & 7) & 255;

		r |= (digit < 8 ? byte : byte < 128 ? 0 : 255) << 8 * i;
	}
	return r;
#else
	uint32_t r;

	asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(selector));
	return r;
#endif
}

/* Return bytes 0 and 2 (even) or bytes 1 and 3 (odd) of a word as a pair. */
__device__ __forceinline__ uint32_t sx_pair_even(uint32_t w)
{
	return w & 0x00ff00ffu;
}

__device__ __forceinline__ uint32_t sx_pair_odd(uint32_t w)
{
	return __byte_perm(w, 0, 0x4341);
}

/* Returns low + FACTOR high. It multiplies, because the pipe for shifts and logic is the busy one. */
template <uint32_t FACTOR> __device__ __forceinline__ uint32_t sx_join(uint32_t low, uint32_t high)
{
#ifdef SX_EMULATE
	return low + FACTOR * high;
#else
	uint32_t r;

	asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(high), "n"(FACTOR), "r"(low));
	return r;
#endif
}

/* Joins an even and an odd pair of values 0..255 into one word; inverse of the two functions above. */
__device__ __forceinline__ uint32_t sx_pair_bytes(uint32_t even, uint32_t odd)
{
	return sx_join<256>(even, odd);
}

/* Returns two values 0..255 as a pair. */
__device__ __forceinline__ uint32_t sx_pair_join(uint32_t low, uint32_t high)
{
	return sx_join<65536>(low, high);
}

/* Returns the larger half of a in both halves. */
__device__ __forceinline__ uint32_t sx_pair_max_across(uint32_t a)
{
#if !defined(SX_EMULATE) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
	uint32_t r;

	/* Uses scalars: the operands of the maximum choose the halves, without an extra instruction. */
	asm("{.reg .f16 l, h, m;\n mov.b32 {l, h}, %1;\n max.f16 m, l, h;\n mov.b32 %0, {m, m};}"
	    : "=r"(r)
	    : "r"(a));
	return r;
#else
	return sx_pair_max(a, __byte_perm(a, 0, 0x1032));
#endif
}

/*
 * Returns the largest of n pairs. It works as a tree of threes, because some devices take the maximum of
 * three in one instruction.
 */
template <int n> __device__ __forceinline__ uint32_t sx_pair_max_of(const uint32_t *v)
{
	constexpr int a = (n + 2) / 3, b = (n - a + 1) / 2;

	return sx_pair_max(sx_pair_max(sx_pair_max_of<a>(v), sx_pair_max_of<b>(v + a)),
			   sx_pair_max_of<n - a - b>(v + a + b));
}

template <> __device__ __forceinline__ uint32_t sx_pair_max_of<1>(const uint32_t *v)
{
	return v[0];
}

template <> __device__ __forceinline__ uint32_t sx_pair_max_of<2>(const uint32_t *v)
{
	return sx_pair_max(v[0], v[1]);
}

#endif
