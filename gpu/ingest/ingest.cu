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
#include "gpu/ingest/grey.cuh"
#include "gpu/ingest/rectify_cuda.h"
#include "gpu/ingest/stretch.cuh"
#include "gpu/stages_cuda.h"
#include "stages/context.h"

#define BLOCK_X 64
#define BLOCK_Y 4
#define WARPS (BLOCK_X * BLOCK_Y / 32)

struct sx_ingest_cuda {
	enum sx_pixel pixel;
	struct sx_image raw[2]; /* Y16 only */
	struct sx_stretch_range *range;
	struct sx_rectify_cuda *rectify; /* NULL: pairs come rectified */
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
__device__ static void widen(struct sx_stretch_range *r, uint32_t low, uint32_t high)
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
	keep_and_widen(const struct sx_cuda_input *in, struct ingest_pair raw, struct sx_stretch_range *range)
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

static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
	stretch(struct ingest_pair raw, const struct sx_stretch_range *range, struct ingest_pair grey)
{
	int x = 4 * (int)(blockIdx.x * BLOCK_X + threadIdx.x), y = (int)(blockIdx.y * BLOCK_Y + threadIdx.y);
	int image = (int)blockIdx.z;
	const struct sx_stretcher by = sx_stretcher_of(range);
	uint32_t out = 0;

	if (x >= grey.width || y >= grey.height)
		return;
	if (by.width) {
		uint2 both = *reinterpret_cast<const uint2 *>(raw.data[image] + (size_t)y * raw.pitch[image] +
							      2 * (size_t)x);

		/* pixels behind the row's end may lie outside the range; nobody reads them */
		out = sx_stretched(&by, both.x & 0xffff) | (sx_stretched(&by, both.x >> 16) & 255) << 8 |
		      (sx_stretched(&by, both.y & 0xffff) & 255) << 16 |
		      (sx_stretched(&by, both.y >> 16) & 255) << 24;
	}
	*reinterpret_cast<uint32_t *>(grey.data[image] + (size_t)y * grey.pitch[image] + x) = out;
}

static int take_raw(struct sx_ingest_cuda *s, struct sx_cuda_memory *m, const struct sx_context_config *c)
{
	const struct sx_stretch_range empty = {0, 0, UINT32_MAX, 0, 0};

	if (c->pixel != SX_PIXEL_Y16)
		return 0;
	s->range = (struct sx_stretch_range *)sx_cuda_upload(m, &empty, sizeof(empty));
	for (int i = 0; i < 2; i++)
		sx_cuda_take_image(m, &s->raw[i], SX_PIXEL_U16, sx_context_pair_width(c),
				   sx_context_pair_height(c));
	return s->range && s->raw[0].data && s->raw[1].data ? 0 : -ENOMEM;
}

int sx_ingest_cuda_create(struct sx_ingest_cuda **ret, struct sx_cuda_memory *m,
			  const struct sx_context_config *c)
{
	struct sx_ingest_cuda *s = (struct sx_ingest_cuda *)calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->pixel = c->pixel;
	r = take_raw(s, m, c);
	if (r == 0 && c->rectify)
		r = sx_rectify_cuda_create(&s->rectify, m, c);
	if (r < 0) {
		sx_ingest_cuda_destroy(s);
		return r;
	}
	*ret = s;
	return 0;
}

void sx_ingest_cuda_destroy(struct sx_ingest_cuda *s)
{
	if (s)
		sx_rectify_cuda_destroy(s->rectify);
	free(s);
}

const struct sx_rectify_cuda *sx_ingest_cuda_rectify(const struct sx_ingest_cuda *s)
{
	return s->rectify;
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

static dim3 grid_of(const struct sx_image *image)
{
	return dim3((unsigned)(image->width + 4 * BLOCK_X - 1) / (4 * BLOCK_X),
		    (unsigned)(image->height + BLOCK_Y - 1) / BLOCK_Y, 2);
}

cudaError_t sx_ingest_cuda_run(const struct sx_ingest_cuda *s, const struct sx_cuda_input *in,
			       const struct sx_image grey[2], cudaStream_t stream)
{
	const struct ingest_pair out = pair_of(grey);
	const dim3 grid = grid_of(&grey[0]), block(BLOCK_X, BLOCK_Y);

	if (s->pixel == SX_PIXEL_Y16)
		SX_LAUNCH(keep_and_widen, grid_of(&s->raw[0]), block, 0, stream, in, pair_of(s->raw),
			  s->range);
	if (s->rectify)
		return sx_rectify_cuda_run(s->rectify, s->pixel, in, s->raw, s->range, grey, stream);
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
		SX_LAUNCH(stretch, grid, block, 0, stream, pair_of(s->raw), s->range, out);
		break;
	default:
		return cudaErrorInvalidValue;
	}
	return SX_LAUNCHED();
}
