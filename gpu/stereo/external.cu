/*
 * Maps of other processes on the GPU. Must equal sx_external() byte for byte. The host has copied map and
 * confidence to the memory of winner and confidence.
 *
 * Work:    one thread per eight pixels of a row, 16 bytes at once, in place.
 * Memory:  2 bytes per pixel in and out.
 * Ranges:  v + 8 <= 65543; q in int.
 * Shapes:  any width and height; device images with rows padded to 128 bytes. The padding after a row is not
 *          changed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/cuda.cuh"
#include "gpu/stages_cuda.h"
#include "stages/stereo/external.h"

#define BLOCK_X 32
#define BLOCK_Y 8
#define PIXELS 8

struct external_map {
	uint8_t *data;
	size_t pitch;
	int width, height;
	struct sx_external_range range;
};

__device__ __forceinline__ uint32_t external_value(uint32_t v, const struct sx_external_range &r)
{
	const int q = (int)((v + 8) / 16) - r.shift;

	return v != 0 && q >= 0 && q <= r.last ? (uint32_t)q : SX_DISPARITY_INVALID;
}

static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y) external_convert(struct external_map m)
{
	const int x = PIXELS * (int)(blockIdx.x * BLOCK_X + threadIdx.x);
	const int y = (int)(blockIdx.y * BLOCK_Y + threadIdx.y);
	uint32_t word[PIXELS / 2];
	uint4 *at;

	if (x >= m.width || y >= m.height)
		return;
	at = reinterpret_cast<uint4 *>(m.data + (size_t)y * m.pitch + 2 * (size_t)x);
	*reinterpret_cast<uint4 *>(word) = *at;
#pragma unroll
	for (int i = 0; i < PIXELS; i++) {
		const int shift = 16 * (i % 2);

		if (x + i < m.width)
			word[i / 2] = (word[i / 2] & ~(0xffffu << shift)) |
				      external_value(word[i / 2] >> shift & 0xffff, m.range) << shift;
	}
	*at = *reinterpret_cast<const uint4 *>(word);
}

extern "C" cudaError_t sx_external_cuda_run(const struct sx_image *winner, const struct sx_stereo_params *p,
					    cudaStream_t stream)
{
	const struct external_map m = {(uint8_t *)winner->data, winner->pitch, winner->width, winner->height,
				       sx_external_range(p)};
	const dim3 grid((unsigned)(m.width + PIXELS * BLOCK_X - 1) / (PIXELS * BLOCK_X),
			(unsigned)(m.height + BLOCK_Y - 1) / BLOCK_Y);

	SX_LAUNCH(external_convert, grid, dim3(BLOCK_X, BLOCK_Y), 0, stream, m);
	return SX_LAUNCHED();
}
