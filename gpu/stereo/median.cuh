/*
 * Median 3x3 of a disparity map, eight columns and ROWS rows per thread. stages/stereo/median.h defines the
 * result.
 *
 * A pair word holds rows y and y + ROWS / 2 of one column, so that all neighbours are aligned. Valid
 * disparities are below 0x2000, and 0xffff becomes 0x3fff meanwhile. Such patterns have the same order as
 * fp16, whose packed minimum is one instruction from sm_80 on. Three medians share a sorted column: median of
 * nine = middle of (largest low, middle of the middles, smallest high).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STEREO_MEDIAN_CUH
#define SX_GPU_STEREO_MEDIAN_CUH

#include "gpu/cuda.cuh"
#include "stages/params/params.h"

/* One map, before and after the filter. Rows are 16-byte aligned and padded to whole groups. */
struct sx_median_map {
	const uint8_t *src;
	uint8_t *dst;
	size_t src_pitch, dst_pitch;
};

#define SX_MEDIAN_COLUMNS 8

/* Most rows of a group. Before sm_80 a packed minimum takes registers, so four rows do not fit. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define SX_MEDIAN_ROWS_MAX 2
#else
#define SX_MEDIAN_ROWS_MAX 4
#endif

/* Return the smaller and the larger value of each half. All halves are below 0x7c00. */
__device__ __forceinline__ uint32_t sx_median_min(uint32_t a, uint32_t b)
{
#if !defined(SX_EMULATE) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
	uint32_t r;

	asm("min.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
	return r;
#else
	return __vminu2(a, b);
#endif
}

__device__ __forceinline__ uint32_t sx_median_max(uint32_t a, uint32_t b)
{
#if !defined(SX_EMULATE) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
	uint32_t r;

	asm("max.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
	return r;
#else
	return __vmaxu2(a, b);
#endif
}

__device__ __forceinline__ uint32_t sx_median_middle(uint32_t a, uint32_t b, uint32_t c)
{
	return sx_median_max(sx_median_min(a, b), sx_median_min(sx_median_max(a, b), c));
}

/*
 * Loads the words of a row from column x - 2 to x + 9, of which x - 1 .. x + 8 are used. A row or column
 * outside the image is replaced.
 */
__device__ __forceinline__ void sx_median_load(uint32_t w[6], const struct sx_median_map *m, int x, int y,
					       int width, int height)
{
	const uint8_t *row = m->src + (size_t)min(max(y, 0), height - 1) * m->src_pitch;
	uint4 v = *reinterpret_cast<const uint4 *>(row + 2 * x);

	w[0] = x > 0 ? *reinterpret_cast<const uint32_t *>(row + 2 * x - 4) : 0;
	w[1] = v.x;
	w[2] = v.y;
	w[3] = v.z;
	w[4] = v.w;
	w[5] = x + SX_MEDIAN_COLUMNS < width ? *reinterpret_cast<const uint32_t *>(row + 2 * x + 16) : 0;
#pragma unroll
	for (int i = 0; i < 6; i++)
		w[i] &= 0x3fff3fffu;
}

/* Returns column c - 1 of a group, for two rows. */
__device__ __forceinline__ uint32_t sx_median_column(const uint32_t a[6], const uint32_t b[6], int c)
{
	return __byte_perm(a[(c + 1) / 2], b[(c + 1) / 2], (c + 1) % 2 ? 0x7632 : 0x5410);
}

/*
 * Sets the border pixels of a group at the image's edge. centre: the values that the filter has read there.
 */
__device__ __forceinline__ uint32_t sx_median_border(uint32_t filtered, uint32_t centre, int x, int y, int y2,
						     int width, int height, enum sx_median_border border)
{
	uint32_t mask = x == 0 || x == width - 1 ? 0xffffffffu
						 : (y == 0 || y == height - 1 ? 0xffffu : 0) |
							   (y2 == height - 1 ? 0xffff0000u : 0);

	return (filtered & ~mask) | (border == SX_MEDIAN_BORDER_COPY ? centre & mask : 0);
}

/*
 * Computes a group. out[r]: words of row y + r, columns x .. x + 7. x is a multiple of 8 inside the image.
 * Rows after the last row are computed from repetitions of it.
 */
template <int ROWS>
__device__ __forceinline__ void sx_median_group(uint4 out[ROWS], const struct sx_median_map *m, int x, int y,
						int width, int height, enum sx_median_border border)
{
	constexpr int half = ROWS / 2;
	const bool edge = x == 0 || x + SX_MEDIAN_COLUMNS >= width || y == 0 || y + ROWS >= height;
	uint32_t raw[ROWS + 2][6], low[half][3], middle[half][3], high[half][3],
		done[half][SX_MEDIAN_COLUMNS], centre[half][3];

#pragma unroll
	for (int i = 0; i < ROWS + 2; i++)
		sx_median_load(raw[i], m, x, y - 1 + i, width, height);
#pragma unroll
	for (int c = 0; c < SX_MEDIAN_COLUMNS + 2; c++) {
#pragma unroll
		for (int j = 0; j < half; j++) {
			uint32_t p[3], small, large, rest;

#pragma unroll
			for (int i = 0; i < 3; i++)
				p[i] = sx_median_column(raw[j + i], raw[j + i + half], c);
			/* the two rows that both j have come first, so they are sorted only once */
			small = j ? sx_median_min(p[0], p[1]) : sx_median_min(p[1], p[2]);
			large = j ? sx_median_max(p[0], p[1]) : sx_median_max(p[1], p[2]);
			rest = j ? p[2] : p[0];
			low[j][c % 3] = sx_median_min(small, rest);
			rest = sx_median_max(small, rest);
			middle[j][c % 3] = sx_median_min(rest, large);
			high[j][c % 3] = sx_median_max(rest, large);
			centre[j][c % 3] = p[1];
			if (c < 2)
				continue;
			done[j][c - 2] = sx_median_middle(
				sx_median_max(sx_median_max(low[j][0], low[j][1]), low[j][2]),
				sx_median_middle(middle[j][0], middle[j][1], middle[j][2]),
				sx_median_min(sx_median_min(high[j][0], high[j][1]), high[j][2]));
			if (edge)
				done[j][c - 2] =
					sx_median_border(done[j][c - 2], centre[j][(c - 1) % 3], x + c - 2,
							 y + j, y + j + half, width, height, border);
			/* 0x3fff means 0xffff */
			done[j][c - 2] += (done[j][c - 2] & 0x20002000u) * 6;
		}
	}
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		const uint32_t *d = done[r % half];
		const unsigned pick = r < half ? 0x5410 : 0x7632;

		out[r] = make_uint4(__byte_perm(d[0], d[1], pick), __byte_perm(d[2], d[3], pick),
				    __byte_perm(d[4], d[5], pick), __byte_perm(d[6], d[7], pick));
	}
}

#endif
