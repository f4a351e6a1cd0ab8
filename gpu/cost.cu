/*
 * The cost volume. Must equal sx_cost_row(), byte for byte, in the layout of gpu/volume.cuh.
 *
 * Work:    a thread does 16 disparities (8 and their partners D/2 further on) of 4 pixels, POPC of left ^ right; the
 *          right descriptors that these share are in registers.
 * Memory:  a block stages the right descriptors that it needs in shared memory; a thread stores 16 bytes a pixel.
 * Ranges:  costs 0..62 fit a byte.
 * Shapes:  any width, height, D, minimal disparity.
 * Speed:   docs/performance.md, CUDA: cost volume.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/cost_cuda.h"
#include "gpu/cuda.cuh"

#define COUNT_THREADS 128
#define COUNT_PIXELS 4 /* of a thread */

namespace /* types and templates of one name in two files would be one for the linker */
{

struct work {
	const uint8_t *left, *right;
	size_t left_pitch, right_pitch;
	uint8_t *volume;
	int width, disparities, min_disparity;
	int outside; /* cost where the right column is outside the image, -1: right descriptor 0 */
};

template <typename T> __device__ __forceinline__ T descriptor(const uint8_t *row, int x)
{
	return reinterpret_cast<const T *>(row)[x];
}

__device__ __forceinline__ uint32_t ones(uint32_t v)
{
	return (uint32_t)__popc(v);
}

__device__ __forceinline__ uint32_t ones(uint64_t v)
{
	return (uint32_t)__popcll(v);
}

/*
 * The descriptors of columns first .. first + count - 1 of a right row into shared memory. A place that is padded by one in
 * every PAD, so that threads whose pixels lie 4 or 8 apart find different banks.
 */
#define PAD 16
__host__ __device__ inline int padded(int i)
{
	return i + i / PAD;
}

template <typename T>
__device__ __forceinline__ void stage_right(T *to, const uint8_t *row, int first, int count, int width)
{
	for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x) {
		const int x = first + i;

		to[padded(i)] = x >= 0 && x < width ? descriptor<T>(row, x) : 0;
	}
}

/* Pixels that a block of count_kernel does. */
__host__ __device__ inline int count_pixels(int lanes)
{
	return COUNT_THREADS / lanes * COUNT_PIXELS;
}

template <typename T> __global__ void __launch_bounds__(COUNT_THREADS) count_kernel(const struct work w)
{
	SX_DYNAMIC_SHARED(T, right);
	const int lanes = w.disparities / 16, half = w.disparities / 2, pixels = count_pixels(lanes);
	const int block_x = (int)blockIdx.x * pixels, y = (int)blockIdx.y;
	const int in_right = block_x - w.min_disparity - (w.disparities - 1); /* column of right[0] */
	const int lane = (int)threadIdx.x % lanes, x0 = block_x + (int)threadIdx.x / lanes * COUNT_PIXELS;
	const uint8_t *left_row = w.left + (size_t)y * w.left_pitch;
	T left[COUNT_PIXELS], window[2][8 + COUNT_PIXELS - 1];

	stage_right<T>(right, w.right + (size_t)y * w.right_pitch, in_right, pixels + w.disparities - 1,
		       w.width);
	__syncthreads();
	if ((int)threadIdx.x / lanes * COUNT_PIXELS >= pixels || x0 >= w.width)
		return;
#pragma unroll
	for (int i = 0; i < COUNT_PIXELS; i++)
		left[i] = x0 + i < w.width ? descriptor<T>(left_row, x0 + i) : 0;
		/* Pixel x0 + i at disparity 8 lane + j (+ D/2) meets window[][j + COUNT_PIXELS - 1 - i]. */
#pragma unroll
	for (int h = 0; h < 2; h++)
#pragma unroll
		for (int k = 0; k < 8 + COUNT_PIXELS - 1; k++) {
			const int d = 8 * lane + h * half + k; /* of pixel x0 + COUNT_PIXELS - 1 */

			window[h][k] = right[padded(x0 + COUNT_PIXELS - 1 - block_x - d + w.disparities - 1)];
		}
#pragma unroll
	for (int i = 0; i < COUNT_PIXELS; i++) {
		uint32_t words[4];
		const int x = x0 + i;

#pragma unroll
		for (int m = 0; m < 4; m++) {
			uint32_t cost[4];

#pragma unroll
			for (int k = 0; k < 4; k++) {
				const int j = 2 * m + (k & 1), h = k >> 1;
				const int column = x - w.min_disparity - (8 * lane + j + h * half);

				cost[k] = ones((T)(left[i] ^ window[h][j + COUNT_PIXELS - 1 - i]));
				if (w.outside >= 0 && (column < 0 || column >= w.width))
					cost[k] = (uint32_t)w.outside;
			}
			words[m] = (cost[3] * 256 + cost[2]) * 65536 + (cost[1] * 256 + cost[0]);
		}
		if (x < w.width)
			*reinterpret_cast<uint4 *>(
				w.volume + ((size_t)y * (size_t)w.width + (size_t)x) * (size_t)w.disparities +
				16 * (size_t)lane) = make_uint4(words[0], words[1], words[2], words[3]);
	}
}

template <typename T> static void launch_count(const struct work &w, int height, cudaStream_t stream)
{
	const int pixels = count_pixels(w.disparities / 16);
	const size_t shared = (size_t)(padded(pixels + w.disparities - 1) + 1) * sizeof(T);

	SX_LAUNCH((count_kernel<T>), dim3((unsigned)((w.width + pixels - 1) / pixels), (unsigned)height),
		  dim3(COUNT_THREADS), shared, stream, w);
}

} // namespace

extern "C" cudaError_t sx_cost_cuda_run(const struct sx_image census[2], const struct sx_stereo_params *p,
					uint8_t *volume, cudaStream_t stream)
{
	const struct work w = {
		(const uint8_t *)census[0].data,
		(const uint8_t *)census[1].data,
		census[0].pitch,
		census[1].pitch,
		volume,
		census[0].width,
		p->disparities,
		p->min_disparity,
		p->out_of_view == SX_OUT_OF_VIEW_MAX ? sx_cost_max(p->cost) : -1,
	};

	if (census[0].pixel == SX_PIXEL_U32)
		launch_count<uint32_t>(w, census[0].height, stream);
	else
		launch_count<uint64_t>(w, census[0].height, stream);
	return SX_LAUNCHED();
}
