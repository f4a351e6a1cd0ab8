/*
 * Shared by the kernels of ZNCC's cost volume: a block's columns in shared memory, and the computation of a
 * cell from its sum of products.
 *
 * 128 is subtracted from grey levels, which does not change covariances and variances: |n P| and |S1 S1| <=
 * n^2 2^14 < 2^30. With windows of 3 and 5 they are below 2^24: exact in binary32, so a fused multiply-add
 * rounds nothing. Sums of products may then be kept as the bits of a float, so that no conversion is needed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_ZNCC_ZNCC_CELL_CUH
#define SX_GPU_ZNCC_ZNCC_CELL_CUH

#include <stddef.h>
#include <stdint.h>

#include "gpu/cuda.cuh"
#include "stages/stereo/zncc.h"

#define SX_ZNCC_DISPARITIES_MAX 256
/*
 * 1.5 2^23. To a float with these bits, integers below 2^22 may be added as integers, and it rounds to
 * integers.
 */
#define SX_ZNCC_MAGIC 12582912.0f
#define SX_ZNCC_MAGIC_BITS 0x4b400000u
/* One more than Cmax / 2, because ties round to even. */
#define SX_ZNCC_MIDDLE (SX_ZNCC_SCALE + 1)

struct sx_zncc_work {
	const uint8_t *grey[2], *words[2];
	size_t grey_pitch[2], words_pitch[2];
	uint8_t *volume;
	int width, height, disparities, min_disparity;
	/*
	 * if the right column is outside the image: true: the largest cost; false: the cost of no correlation
	 */
	bool no_view;
};

/* Runs gpu/zncc/zncc_zigzag.cu. window: 9, 11, 13 or 15. */
cudaError_t sx_zncc_zigzag_run(const struct sx_zncc_work &w, int window, cudaStream_t stream);

/*
 * Returns true if the covariance of L x L windows is exact in binary32; and the bias that their sums of
 * products then have.
 */
template <int L> __host__ __device__ constexpr bool sx_zncc_exact()
{
	return L <= 5;
}

template <int L> __host__ __device__ constexpr uint32_t sx_zncc_bias()
{
	return sx_zncc_exact<L>() ? SX_ZNCC_MAGIC_BITS : 0;
}

/* Returns a grey level. No image has 4 GB, so offsets have 32 bits. */
__device__ __forceinline__ uint32_t sx_zncc_grey(const struct sx_zncc_work &w, int side, int x, int y)
{
	const uint32_t row = (uint32_t)min(max(y, 0), w.height - 1);

	return w.grey[side][row * (uint32_t)w.grey_pitch[side] + (uint32_t)x];
}

/* Returns a grey level minus 128, as a signed byte. */
__device__ __forceinline__ uint32_t sx_zncc_level(const struct sx_zncc_work &w, int side, int x, int y)
{
	return sx_zncc_grey(w, side, x, y) ^ 0x80u;
}

/*
 * Returns S1 and 1 / sqrt(V) of the window around (x, y). sign: 1, or -1 to negate S1. Outside the image the
 * result yields no correlation.
 */
template <int L>
__device__ __forceinline__ uint2 sx_zncc_stat(const struct sx_zncc_work &w, int side, int x, int y, int sign)
{
	uint2 word;
	int s1;

	if (x < 0 || x >= w.width || y >= w.height)
		return make_uint2(0, 0);
	word = *reinterpret_cast<const uint2 *>(
		w.words[side] + ((uint32_t)y * (uint32_t)w.words_pitch[side] + (uint32_t)x * 8));
	s1 = sign * ((int)word.x - 128 * L * L);
	return make_uint2(sx_zncc_exact<L>() ? __float_as_uint((float)s1) : (uint32_t)s1, word.y);
}

/* Returns z. p: sum of products plus bias. left: S1 is negated. */
template <int L>
__device__ __forceinline__ float sx_zncc_correlation(uint32_t p, const uint2 &left, const uint2 &right)
{
	constexpr int n = L * L;
	float covariance;

	if (sx_zncc_exact<L>()) {
		const float scaled = fmaf((float)n, __uint_as_float(p), -n * SX_ZNCC_MAGIC);

		covariance = fmaf(__uint_as_float(left.x), __uint_as_float(right.x), scaled);
	} else {
		covariance = (float)(int)(p * (uint32_t)n + left.x * right.x);
	}
	return covariance * __uint_as_float(left.y) * __uint_as_float(right.y);
}

/*
 * Returns the bits of MAGIC + MIDDLE + round(z T): a cell plus one, or, with the sign inverted, a cost plus
 * one.
 */
template <int L>
__device__ __forceinline__ uint32_t sx_zncc_rounded(uint32_t p, const uint2 &left, const uint2 &right)
{
	return __float_as_uint(sx_zncc_correlation<L>(p, left, right) * (float)SX_ZNCC_SCALE +
			       (SX_ZNCC_MAGIC + SX_ZNCC_MIDDLE));
}

/*
 * Returns a word of gpu/stereo/volume.cuh from four cells: their low bytes minus 1. The remains of MAGIC in
 * the upper bytes are subtracted.
 */
__device__ __forceinline__ uint32_t sx_zncc_cells(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	return ((d * 256 + c) * 256 + b) * 256 + a -
	       (SX_ZNCC_MAGIC_BITS + (SX_ZNCC_MAGIC_BITS << 8) + 0x01010101u);
}

/*
 * Returns ones in the bytes whose right column is inside the image; elsewhere costs are the largest. partner:
 * right column of the word's first disparity.
 */
__device__ __forceinline__ uint32_t sx_zncc_visible(const struct sx_zncc_work &w, int partner)
{
	const int half = w.disparities / 2;
	uint32_t mask = 0;

#pragma unroll
	for (int b = 0; b < 4; b++) {
		const int column = partner - (b & 1) - (b >> 1) * half;

		mask |= column >= 0 && column < w.width ? 0xffu << 8 * b : 0;
	}
	return mask;
}

/* Returns true if left columns x .. x + count - 1 meet right columns outside the image. */
__device__ __forceinline__ bool sx_zncc_any_hidden(const struct sx_zncc_work &w, int x, int count)
{
	const int first = x - w.min_disparity - (w.disparities - 1), last = x - w.min_disparity + count - 1;

	return first < 0 || last >= w.width;
}

#endif
