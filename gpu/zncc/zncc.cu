/*
 * Statistics of windows for their correlations. Must equal sx_zncc_windows(), word for word.
 *
 * Work:    a block makes 128 columns and 32 rows. First it computes sums along each row, with one thread per
 *          16 columns. Then it sums these down each column, with one thread per column. Both add the value
 *          that enters and subtract the value that leaves, so the time does not depend on the window's size.
 * Memory:  the tile with its border as bytes in shared memory, and a row's sums, S1 and S2 in one word.
 * Ranges:  for a row of 15: S1 <= 3825, 12 bits; S2 <= 975375, 20 bits. V: exact modulo 2^32, as in
 *          stages/stereo/zncc.c.
 * Shapes:  any width, height and window; coordinates are clamped to the image.
 * Speed:   tests/lab/lab-performance.md, CUDA: ZNCC. Adding up each window separately takes longer for
 *          windows of 3 and more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/cuda.cuh"
#include "gpu/zncc/zncc_cuda.h"
#include "stages/stereo/zncc.h"

#define RADIUS_MAX (SX_ZNCC_WINDOW_MAX / 2)
#define THREADS 128
#define COLUMNS THREADS /* columns of a block */
#define ROWS 32
#define RUN 16		     /* columns of a thread along a row */
#define STRIDE (COLUMNS + 1) /* words of a row's sums; odd, because threads are in different rows */
#define S2_BITS 20

namespace /* anonymous: else the linker would merge types of the same name from two files */
{

struct images {
	const uint8_t *grey;
	uint8_t *words;
	size_t grey_pitch, words_pitch;
};

struct work {
	struct images left, right;
	int width, height, window;
};

/*
 * Loads width x height grey levels from (x0, y0) on, with clamped coordinates. All threads of the block must
 * call it.
 */
__device__ __forceinline__ void fill_tile(uint8_t *tile, const struct work &w, const struct images &p, int x0,
					  int y0, int width, int height)
{
	for (int i = (int)threadIdx.x; i < width * height; i += THREADS) {
		const int x = min(max(x0 + i % width, 0), w.width - 1),
			  y = min(max(y0 + i / width, 0), w.height - 1);

		tile[i] = p.grey[(size_t)y * p.grey_pitch + (size_t)x];
	}
}

__device__ __forceinline__ void store(const struct work &w, const struct images &p, int x, int y, uint32_t s1,
				      uint32_t s2)
{
	const uint32_t v = (uint32_t)(w.window * w.window) * s2 - s1 * s1;
	const float inverse = v ? __fdiv_rn(1.0f, __fsqrt_rn(__uint2float_rn(v))) : 0.0f;

	reinterpret_cast<uint2 *>(p.words + (size_t)y * p.words_pitch)[x] =
		make_uint2(s1, __float_as_uint(inverse));
}

/* Computes the sums of RUN windows of a row, S1 in the high bits and S2 in the low bits. */
__device__ __forceinline__ void run_along(uint32_t *sums, const uint8_t *grey, int window)
{
	uint32_t s1 = 0, s2 = 0;

	for (int i = 0; i < window - 1; i++) {
		s1 += grey[i];
		s2 += (uint32_t)grey[i] * grey[i];
	}
	for (int i = 0; i < RUN; i++) {
		const uint32_t enters = grey[i + window - 1], leaves = grey[i];

		s1 += enters;
		s2 += enters * enters;
		sums[i] = s1 << S2_BITS | s2;
		s1 -= leaves;
		s2 -= leaves * leaves;
	}
}

__device__ __forceinline__ void run_down(const struct work &w, const struct images &p, const uint32_t *sums,
					 int x, int y0)
{
	const uint32_t low = (1u << S2_BITS) - 1;
	const int rows = min(ROWS, w.height - y0);
	uint32_t s1 = 0, s2 = 0;

	for (int i = 0; i < w.window - 1; i++) {
		s1 += sums[i * STRIDE] >> S2_BITS;
		s2 += sums[i * STRIDE] & low;
	}
	for (int i = 0; i < rows; i++) {
		const uint32_t enters = sums[(i + w.window - 1) * STRIDE], leaves = sums[i * STRIDE];

		s1 += enters >> S2_BITS;
		s2 += enters & low;
		store(w, p, x, y0 + i, s1, s2);
		s1 -= leaves >> S2_BITS;
		s2 -= leaves & low;
	}
}

__global__ void __launch_bounds__(THREADS) running_kernel(const struct work w)
{
	__shared__ uint8_t tile[(COLUMNS + 2 * RADIUS_MAX) * (ROWS + 2 * RADIUS_MAX)];
	__shared__ uint32_t sums[STRIDE * (ROWS + 2 * RADIUS_MAX)];
	const struct images p = blockIdx.z ? w.right : w.left;
	const int radius = w.window / 2, across = COLUMNS + 2 * radius, rows = ROWS + 2 * radius;
	const int x0 = (int)blockIdx.x * COLUMNS, y0 = (int)blockIdx.y * ROWS;

	fill_tile(tile, w, p, x0 - radius, y0 - radius, across, rows);
	__syncthreads();
	for (int i = (int)threadIdx.x; i < rows * (COLUMNS / RUN); i += THREADS) {
		const int row = i % rows, first = i / rows * RUN;

		run_along(sums + row * STRIDE + first, tile + row * across + first, w.window);
	}
	__syncthreads();
	if (x0 + (int)threadIdx.x < w.width)
		run_down(w, p, sums + threadIdx.x, x0 + (int)threadIdx.x, y0);
}

struct images images_of(const struct sx_image *grey, const struct sx_image *words)
{
	struct images p = {};

	p.grey = (const uint8_t *)grey->data;
	p.grey_pitch = grey->pitch;
	p.words = (uint8_t *)words->data;
	p.words_pitch = words->pitch;
	return p;
}

dim3 blocks_of(const struct work &w, int columns, int rows)
{
	return dim3((unsigned)((w.width + columns - 1) / columns), (unsigned)((w.height + rows - 1) / rows),
		    2);
}

} // namespace

extern "C" cudaError_t sx_zncc_windows_cuda_run(const struct sx_image grey[2], const struct sx_image words[2],
						int window, cudaStream_t stream)
{
	struct work w = {};

	w.left = images_of(&grey[0], &words[0]);
	w.right = images_of(&grey[1], &words[1]);
	w.width = grey[0].width;
	w.height = grey[0].height;
	w.window = window;
	if (window < 3 || window > SX_ZNCC_WINDOW_MAX || window % 2 == 0)
		return cudaErrorInvalidValue;
	SX_LAUNCH(running_kernel, blocks_of(w, COLUMNS, ROWS), dim3(THREADS), 0, stream, w);
	return SX_LAUNCHED();
}
