/*
 * Ingest on the GPU: camera pixels to grey. Must equal sx_ingest() byte for byte.
 *
 * Work:    four pixels of a row a thread, both images in one launch, so that a warp reads 128 bytes a pixel
 *          byte without gaps. Y16 takes two launches: the first reduces the pair's range and keeps the pixels
 *          on the device, so that the source is read once; the second stretches.
 * Memory:  each source byte once, by aligned words whatever the address (a word that two threads share by
 *          misalignment comes from the cache); 1 byte a pixel out. Y16: 2 bytes a pixel out and in again.
 * Ranges:  510 (p - min) + range <= 511 * 65535 < 2^25.
 * Shapes:  any width, height, address and pitch; nothing outside the image is touched.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>

#include "gpu/cuda.cuh"
#include "gpu/stages_cuda.h"
#include "gpu/stereo/grey.cuh"

#define BLOCK_X 64
#define BLOCK_Y 4
#define WARPS (BLOCK_X * BLOCK_Y / 32)

/* Range of the pair. The last block publishes it and leaves the rest as it was found. */
struct ingest_range {
	uint32_t min, max;		     /* of the last pair */
	uint32_t next_min, next_max, blocks; /* at work: all ones, 0, 0 between frames */
};

struct sx_ingest_cuda {
	enum sx_pixel pixel;
	struct sx_image raw[2]; /* Y16 only */
	struct ingest_range *range;
};

struct ingest_pair {
	uint8_t *data[2];
	size_t pitch[2];
	int width, height;
};

template <enum sx_pixel PIXEL>
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
	ingest(const struct sx_cuda_input *in, struct ingest_pair grey)
{
	int x = 4 * (int)(blockIdx.x * BLOCK_X + threadIdx.x), y = (int)(blockIdx.y * BLOCK_Y + threadIdx.y);
	int image = (int)blockIdx.z;
	struct sx_source s;

	if (x >= grey.width || y >= grey.height)
		return;
	s = sx_source_of<PIXEL>(in, image, grey.width, grey.height);
	*reinterpret_cast<uint32_t *>(grey.data[image] + (size_t)y * grey.pitch[image] + x) =
		sx_grey4<PIXEL>(&s, x, y);
}

__device__ static uint32_t min_of_warp(uint32_t v)
{
	for (int step = 16; step; step >>= 1)
		v = min(v, __shfl_xor_sync(0xffffffffu, v, step));
	return v;
}

/* Every thread of the block comes here. max is reduced as the minimum of its complement. */
__device__ static void widen(struct ingest_range *r, uint32_t low, uint32_t high)
{
	__shared__ uint32_t lows[WARPS], highs[WARPS];
	int thread = (int)(threadIdx.y * BLOCK_X + threadIdx.x);

	low = min_of_warp(low);
	high = ~min_of_warp(~high);
	if (thread % 32 == 0) {
		lows[thread / 32] = low;
		highs[thread / 32] = high;
	}
	__syncthreads();
	if (thread)
		return;
	for (int i = 1; i < WARPS; i++) {
		low = min(low, lows[i]);
		high = max(high, highs[i]);
	}
	atomicMin(&r->next_min, low);
	atomicMax(&r->next_max, high);
	__threadfence();
	if (atomicAdd(&r->blocks, 1u) + 1 == gridDim.x * gridDim.y * gridDim.z) {
		r->min = atomicExch(&r->next_min, UINT32_MAX);
		r->max = atomicExch(&r->next_max, 0u);
		atomicExch(&r->blocks, 0u);
	}
}

static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
	keep_and_widen(const struct sx_cuda_input *in, struct ingest_pair raw, struct ingest_range *range)
{
	int x = 4 * (int)(blockIdx.x * BLOCK_X + threadIdx.x), y = (int)(blockIdx.y * BLOCK_Y + threadIdx.y);
	int image = (int)blockIdx.z;
	uint32_t low = UINT32_MAX, high = 0;

	if (x < raw.width && y < raw.height) {
		struct sx_source s = sx_source_of<SX_PIXEL_Y16>(in, image, raw.width, raw.height);
		uint32_t w[2];

		sx_source_words<2>(&s, s.data + (size_t)y * s.pitch + 2 * (size_t)x, w);
		*reinterpret_cast<uint2 *>(raw.data[image] + (size_t)y * raw.pitch[image] + 2 * (size_t)x) =
			make_uint2(w[0], w[1]);
		for (int i = 0; i < 4 && x + i < raw.width; i++) {
			uint32_t p = w[i / 2] >> (16 * (i % 2)) & 0xffff;

			low = min(low, p);
			high = max(high, p);
		}
	}
	widen(range, low, high);
}

/*
 * floor((2 * 255 (p - min) + range) / (2 range)): the estimate is off by less than one, the remainder
 * corrects it.
 */
__device__ static uint32_t stretched(uint32_t p, uint32_t min, uint32_t range, float inverse)
{
	uint32_t n = 510 * (p - min) + range, q = (uint32_t)((float)n * inverse);
	int32_t rest = (int32_t)(n - q * 2 * range);

	return rest < 0 ? q - 1 : rest >= (int32_t)(2 * range) ? q + 1 : q;
}

static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
	stretch(struct ingest_pair raw, const struct ingest_range *range, struct ingest_pair grey)
{
	int x = 4 * (int)(blockIdx.x * BLOCK_X + threadIdx.x), y = (int)(blockIdx.y * BLOCK_Y + threadIdx.y);
	int image = (int)blockIdx.z;
	uint32_t low = range->min, width = range->max - low, out = 0;
	float inverse = 1.0f / (float)(2 * width);

	if (x >= grey.width || y >= grey.height)
		return;
	if (width) {
		uint2 both = *reinterpret_cast<const uint2 *>(raw.data[image] + (size_t)y * raw.pitch[image] +
							      2 * (size_t)x);

		/* pixels behind the row's end may lie outside the range; nobody reads them */
		out = stretched(both.x & 0xffff, low, width, inverse) |
		      (stretched(both.x >> 16, low, width, inverse) & 255) << 8 |
		      (stretched(both.y & 0xffff, low, width, inverse) & 255) << 16 |
		      (stretched(both.y >> 16, low, width, inverse) & 255) << 24;
	}
	*reinterpret_cast<uint32_t *>(grey.data[image] + (size_t)y * grey.pitch[image] + x) = out;
}

int sx_ingest_cuda_create(struct sx_ingest_cuda **ret, struct sx_cuda_memory *m,
			  const struct sx_context_config *c)
{
	const struct ingest_range empty = {0, 0, UINT32_MAX, 0, 0};
	struct sx_ingest_cuda *s;

	s = (struct sx_ingest_cuda *)calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->pixel = c->pixel;
	if (c->pixel == SX_PIXEL_Y16) {
		s->range = (struct ingest_range *)sx_cuda_upload(m, &empty, sizeof(empty));
		for (int i = 0; i < 2; i++)
			sx_cuda_take_image(m, &s->raw[i], SX_PIXEL_U16, c->width, c->height);
		if (!s->range || !s->raw[0].data || !s->raw[1].data) {
			free(s);
			return -ENOMEM;
		}
	}
	*ret = s;
	return 0;
}

void sx_ingest_cuda_destroy(struct sx_ingest_cuda *s)
{
	free(s);
}

static struct ingest_pair pair_of(const struct sx_image image[2])
{
	struct ingest_pair out;

	out.width = image[0].width;
	out.height = image[0].height;
	for (int i = 0; i < 2; i++) {
		out.data[i] = (uint8_t *)image[i].data;
		out.pitch[i] = image[i].pitch;
	}
	return out;
}

cudaError_t sx_ingest_cuda_run(const struct sx_ingest_cuda *s, const struct sx_cuda_input *in,
			       const struct sx_image grey[2], cudaStream_t stream)
{
	struct ingest_pair out = pair_of(grey);
	dim3 grid((unsigned)(out.width + 4 * BLOCK_X - 1) / (4 * BLOCK_X),
		  (unsigned)(out.height + BLOCK_Y - 1) / BLOCK_Y, 2);
	dim3 block(BLOCK_X, BLOCK_Y);

	switch (s->pixel) {
	case SX_PIXEL_U8:
	case SX_PIXEL_NV12:
		SX_LAUNCH((ingest<SX_PIXEL_U8>), grid, block, 0, stream, in, out);
		break;
	case SX_PIXEL_YUYV:
		SX_LAUNCH((ingest<SX_PIXEL_YUYV>), grid, block, 0, stream, in, out);
		break;
	case SX_PIXEL_UYVY:
		SX_LAUNCH((ingest<SX_PIXEL_UYVY>), grid, block, 0, stream, in, out);
		break;
	case SX_PIXEL_RGB24:
		SX_LAUNCH((ingest<SX_PIXEL_RGB24>), grid, block, 0, stream, in, out);
		break;
	case SX_PIXEL_Y16:
		SX_LAUNCH(keep_and_widen, grid, block, 0, stream, in, pair_of(s->raw), s->range);
		SX_LAUNCH(stretch, grid, block, 0, stream, pair_of(s->raw), s->range, out);
		break;
	default:
		return cudaErrorInvalidValue;
	}
	return SX_LAUNCHED();
}
