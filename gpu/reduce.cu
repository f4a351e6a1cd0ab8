/*
 * Column reduction on the GPU. Must equal sx_reduce() byte for byte.
 *
 * Work:    a block makes 32 rows of `columns` stixel columns (a power of two, so that a tile is at most 128 px wide);
 *          a warp takes one column at a time, a lane one row of it, so that 32 results are neighbours in the
 *          transposed output.
 * Memory:  the tile is read once, by words, neighbours in x by neighbouring lanes; in shared memory its rows are an odd
 *          number of words apart, so that the 32 lanes of a column read 32 banks. 12.4 KB.
 * Ranges:  invalid is the largest value: sorting puts it last, as it does what pads a cell to CAP values. Sums of 32
 *          values fit 22 bits.
 * Shapes:  every size; width 1..32. Rows are read by words, so up to 3 bytes of the padding behind a row.
 * Speed:   see docs/performance.md, CUDA: columns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/stages_cuda.h"

#include "gpu/cuda.cuh"

#define WARPS 8
#define TILE_PX 128
#define DISPARITY_WORDS (TILE_PX / 2 + 1)
#define CONFIDENCE_WORDS (TILE_PX / 4 + 1)
#define INVALID 0xffffu

struct reduction {
	const uint8_t *disparity, *confidence; /* confidence: NULL, or of every pixel */
	uint8_t *columns, *columns_confidence;
	uint32_t disparity_pitch, confidence_pitch, columns_pitch, columns_confidence_pitch; /* bytes */
	int height, count; /* rows; stixel columns */
	int width;	   /* px of a column */
	int tile;	   /* stixel columns of a block */
};

template <int WORDS>
__device__ __forceinline__ void load_tile(const uint8_t *image, uint32_t pitch, uint32_t first_byte,
					  int words, int bottom, int height, uint32_t (*tile)[WORDS])
{
	for (int r = (int)threadIdx.y; r < 32 && bottom + r < height; r += WARPS) {
		const uint8_t *row = image + (size_t)(height - 1 - bottom - r) * pitch + first_byte;

		for (int i = (int)threadIdx.x; i < words; i += 32)
			tile[r][i] = ((const uint32_t *)row)[i];
	}
}

/* Batcher's odd-even merge sort of N values, N a power of two, as steps P, K; every index is a constant. */
template <int N, int P, int K> struct sorter {
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
		sorter<N, next_p, next_k>::run(v);
	}
};
template <int N, int K> struct sorter<N, N, K> {
	static __device__ __forceinline__ void run(uint32_t *)
	{
	}
};

template <int CAP, bool MEDIAN>
__device__ __forceinline__ uint32_t reduce_cell(const uint32_t *row, int first, int width, uint32_t *valid)
{
	uint32_t v[CAP], n = 0, sum = 0, median = 0;

	*valid = 0;
#pragma unroll
	for (int i = 0; i < CAP; i++) {
		const int x = first + i;

		v[i] = i < width ? row[x >> 1] >> (x & 1) * 16 & 0xffff : INVALID;
		if (v[i] != INVALID) {
			n++;
			sum += v[i];
			*valid |= 1u << i;
		}
	}
	if (2 * n < (uint32_t)width)
		return INVALID;
	if (!MEDIAN)
		return (2 * sum + n) / (2 * n);
	sorter<CAP, 1, 1>::run(v);
#pragma unroll
	for (int i = 0; i <= CAP / 2; i++)
		median = (uint32_t)i == n / 2 && i < CAP ? v[i < CAP ? i : 0] : median;
	return median;
}

__device__ __forceinline__ uint32_t reduce_confidence(const uint32_t *row, int first, int width,
						      uint32_t valid)
{
	uint32_t sum = 0;

	for (int i = 0; i < width; i++) {
		const int x = first + i;

		sum += valid >> i & 1 ? row[x >> 2] >> (x & 3) * 8 & 0xff : 0;
	}
	return (2 * sum + (uint32_t)width) / (2 * (uint32_t)width);
}

template <int CAP, bool MEDIAN>
static __global__ void __launch_bounds__(32 * WARPS) reduce(const struct reduction p)
{
	__shared__ uint32_t disparity[32][DISPARITY_WORDS], confidence[32][CONFIDENCE_WORDS];
	const int first = (int)blockIdx.x * p.tile, bottom = (int)blockIdx.y * 32;
	const int columns = p.count - first < p.tile ? p.count - first : p.tile;
	const int v = bottom + (int)threadIdx.x;
	const uint32_t x = (uint32_t)(first * p.width);

	/* first is a multiple of 4, so x is */
	load_tile(p.disparity, p.disparity_pitch, 2 * x, (columns * p.width + 1) / 2, bottom, p.height,
		  disparity);
	if (p.confidence)
		load_tile(p.confidence, p.confidence_pitch, x, (columns * p.width + 3) / 4, bottom, p.height,
			  confidence);
	__syncthreads();
	if (v >= p.height)
		return;
	for (int u = (int)threadIdx.y; u < columns; u += WARPS) {
		uint32_t valid;

		((uint16_t *)(p.columns + (size_t)(first + u) * p.columns_pitch))[v] =
			(uint16_t)reduce_cell<CAP, MEDIAN>(disparity[threadIdx.x], u * p.width, p.width,
							   &valid);
		if (p.confidence)
			p.columns_confidence[(size_t)(first + u) * p.columns_confidence_pitch + (size_t)v] =
				(uint8_t)reduce_confidence(confidence[threadIdx.x], u * p.width, p.width,
							   valid);
	}
}

template <bool MEDIAN> static void launch(const struct reduction *p, dim3 grid, cudaStream_t stream)
{
	const dim3 block(32, WARPS);

	if (p->width == 1)
		SX_LAUNCH((reduce<1, MEDIAN>), grid, block, 0, stream, *p);
	else if (p->width <= 8)
		SX_LAUNCH((reduce<8, MEDIAN>), grid, block, 0, stream, *p);
	else if (p->width <= 16)
		SX_LAUNCH((reduce<16, MEDIAN>), grid, block, 0, stream, *p);
	else
		SX_LAUNCH((reduce<32, MEDIAN>), grid, block, 0, stream, *p);
}

extern "C" cudaError_t sx_reduce_cuda_run(const struct sx_image *disparity, const struct sx_image *confidence,
					  int width_px, enum sx_reduction how, const struct sx_image *columns,
					  const struct sx_image *columns_confidence, cudaStream_t stream)
{
	struct reduction p = {};

	if (width_px < 1 || width_px > 32 || disparity->width < width_px)
		return cudaErrorInvalidValue;
	p.disparity = (const uint8_t *)disparity->data;
	p.disparity_pitch = (uint32_t)disparity->pitch;
	p.columns = (uint8_t *)columns->data;
	p.columns_pitch = (uint32_t)columns->pitch;
	if (confidence && confidence->data) {
		p.confidence = (const uint8_t *)confidence->data;
		p.confidence_pitch = (uint32_t)confidence->pitch;
		p.columns_confidence = (uint8_t *)columns_confidence->data;
		p.columns_confidence_pitch = (uint32_t)columns_confidence->pitch;
	}
	p.height = disparity->height;
	p.width = width_px;
	p.count = disparity->width / width_px;
	for (p.tile = 4; p.tile < 64 && 2 * p.tile * width_px <= TILE_PX; p.tile *= 2)
		;
	const dim3 grid((unsigned)((p.count + p.tile - 1) / p.tile), (unsigned)((p.height + 31) / 32));

	if (how == SX_REDUCTION_MEDIAN)
		launch<true>(&p, grid, stream);
	else
		launch<false>(&p, grid, stream);
	return SX_LAUNCHED();
}
