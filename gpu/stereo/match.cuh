/*
 * M = Cmax - C of 31-bit census descriptors, for groups of eight lanes that walk along paths. Lane 4 g + t of
 * a warp is lane g of group t (gpu/stereo/sgm_path.cuh, APART = 4). It owns the disparities 2 N g .. 2 N g +
 * 2 N - 1 and the same plus D/2, D = 32 N. A call computes the pairs of two neighbouring pixels x and x + 1
 * of each of the four groups, which may be anywhere.
 *
 * If the device has products of bits (mma.m16n8k256, one instruction from sm_80 to sm_90), row i of A times
 * column n of B is the number of bits that both have. A lane's 32-bit piece t of the 256 bits belongs to its
 * own group, and so does piece t + 4:
 *
 *   A  row g:        right descriptor r of a column that the lane's disparities meet   | ~r
 *      row g + 8:    that of the column behind it                                      | ~r
 *   B  column 2t:    in the pieces of group t left descriptor l of its pixel x         | ~l     0 elsewhere
 *      column 2t+1:  that of x + 1
 *   C  row g, g + 8, columns 2t, 2t+1: ones(l & r) + ones(~l & ~r) = M, where lane 4 g + t wants it.
 *
 * One right column serves disparity d of pixel x and d + 1 of x + 1, so 2 (N + 1) products compute the 8 N
 * cells of every lane. Lanes exchange nothing, and operands are registers as they were loaded. Other devices
 * and the emulator use POPC.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STEREO_MATCH_CUH
#define SX_GPU_STEREO_MATCH_CUH

#include "gpu/simd.cuh"

#if !defined(SX_EMULATE) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && __CUDA_ARCH__ < 1000
#define SX_HAS_BIT_PRODUCTS 1
#else
#define SX_HAS_BIT_PRODUCTS 0
#endif

#define SX_MATCH_BITS 0x7fffffffu

/* Left descriptors of a group's two pixels: as loaded, and as sx_match_pairs() needs them. */
struct sx_match_left {
	uint32_t a, b;
#if !SX_HAS_BIT_PRODUCTS
	uint32_t a_bits, b_bits; /* number of bits that count */
#endif
};

/* Loads left descriptors. at: descriptor of pixel x of the lane's group; that of x + 1 follows it. */
__device__ __forceinline__ struct sx_match_left sx_match_load(const uint32_t *at)
{
	struct sx_match_left l;

#if SX_HAS_BIT_PRODUCTS
	l.a = at[threadIdx.x >> 2 & 1];
	l.b = 0;
#else
	l.a = at[0];
	l.b = at[1];
	l.a_bits = l.b_bits = ~0u;
#endif
	return l;
}

__device__ __forceinline__ struct sx_match_left sx_match_ready(struct sx_match_left l)
{
#if SX_HAS_BIT_PRODUCTS
	const uint32_t mask = (threadIdx.x >> 3 & 3) == (threadIdx.x & 3) ? SX_MATCH_BITS : 0;

	l.b = ~l.a & mask;
	l.a = l.a & mask;
#else
	l.a = ~l.a & SX_MATCH_BITS;
	l.b = ~l.b & SX_MATCH_BITS;
#endif
	return l;
}

/* Does the work of sx_match_ready() if x or x + 1 may be outside the image. M of such a pixel is 0. */
__device__ __forceinline__ struct sx_match_left sx_match_ready_inside(struct sx_match_left l, int x,
								      int width)
{
#if SX_HAS_BIT_PRODUCTS
	const bool inside = (unsigned)(x + (int)(threadIdx.x >> 2 & 1)) < (unsigned)width;
	const uint32_t mask = inside && (threadIdx.x >> 3 & 3) == (threadIdx.x & 3) ? SX_MATCH_BITS : 0;

	l.b = ~l.a & mask;
	l.a = l.a & mask;
#else
	l = sx_match_ready(l);
	l.a_bits = (unsigned)x < (unsigned)width ? SX_MATCH_BITS : 0;
	l.b_bits = (unsigned)(x + 1) < (unsigned)width ? SX_MATCH_BITS : 0;
#endif
	return l;
}

/* Right descriptors of two neighbouring columns, as operands. */
struct sx_match_two {
	uint32_t r0, r1;
#if SX_HAS_BIT_PRODUCTS
	uint32_t not_r0, not_r1;
#endif
};

/* Returns two right descriptors. at: 8-byte aligned. */
__device__ __forceinline__ struct sx_match_two sx_match_two_at(const uint32_t *at)
{
	const uint2 r = *reinterpret_cast<const uint2 *>(at);
	struct sx_match_two two;

	two.r0 = r.x;
	two.r1 = r.y;
#if SX_HAS_BIT_PRODUCTS
	two.not_r0 = ~r.x;
	two.not_r1 = ~r.y;
#endif
	return two;
}

/* Computes the matches of the first column with x and x + 1, and of the second column with both. */
__device__ __forceinline__ void sx_match_product(uint32_t (&c)[4], const struct sx_match_left &left,
						 const struct sx_match_two &two)
{
#if SX_HAS_BIT_PRODUCTS
	asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
	    "{%8, %9}, {%10, %10, %10, %10};"
	    : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
	    : "r"(two.r0), "r"(two.r1), "r"(two.not_r0), "r"(two.not_r1), "r"(left.a), "r"(left.b), "r"(0));
#else
	c[0] = (uint32_t)__popc((left.a ^ two.r0) & left.a_bits);
	c[1] = (uint32_t)__popc((left.b ^ two.r0) & left.b_bits);
	c[2] = (uint32_t)__popc((left.a ^ two.r1) & left.a_bits);
	c[3] = (uint32_t)__popc((left.b ^ two.r1) & left.b_bits);
#endif
}

/*
 * Computes M of pixels x and x + 1. near: 2 N + 2 right columns. The second one is met by x at disparity 2 N
 * g + 2 N - 1, the last one by x + 1 at 2 N g. far: the columns D/2 before these. Every lane of the warp must
 * call it.
 */
template <int N>
__device__ __forceinline__ void sx_match_pairs(uint32_t (&first)[2 * N], uint32_t (&second)[2 * N],
					       const struct sx_match_left &left,
					       const struct sx_match_two *near,
					       const struct sx_match_two *far)
{
#pragma unroll
	for (int k = 0; k <= 2 * N; k += 2) {
		uint32_t low[4], high[4];

		sx_match_product(low, left, near[k / 2]);
		sx_match_product(high, left, far[k / 2]);
		if (k > 0) {
			first[2 * N - k] = sx_pair_join(low[0], high[0]);
			second[2 * N + 1 - k] = sx_pair_join(low[1], high[1]);
			second[2 * N - k] = sx_pair_join(low[3], high[3]);
		}
		if (k < 2 * N)
			first[2 * N - 1 - k] = sx_pair_join(low[2], high[2]);
	}
}

/*
 * Sets M where the right column is outside the image. column: right column that the lane's first disparity
 * meets.
 */
template <int N>
__device__ __forceinline__ void sx_match_hide(uint32_t (&match)[2 * N], int column, int width)
{
#pragma unroll
	for (int r = 0; r < 2 * N; r++) {
		const int near = column - r, far = near - 16 * N;

		match[r] &= (near >= 0 && near < width ? 0xffffu : 0) |
			    (far >= 0 && far < width ? 0xffff0000u : 0);
	}
}

#endif
