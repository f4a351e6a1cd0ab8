/*
 * Ingest on the GPU: converts camera pixels to grey. Must equal sx_ingest() byte for byte.
 *
 * Work:    one thread per four pixels of a row, both images in one launch, so that a warp reads 128 bytes per
 *          byte of a pixel, without gaps. Y16 takes three launches. The first copies the pixels to the
 *          device, so that the source is read once, and counts their medians by the upper bits. The second
 *          counts the medians of the two classes that matter by the lower bits. The third stretches. Blocks
 *          count in shared memory; the last block to finish finds the ranks.
 * Memory:  each source byte is read once, by aligned words for every address (a word that two threads share
 *          because of misalignment comes from the cache). Output 1 byte per pixel. Y16: 2 bytes per pixel are
 *          also written, and read twice.
 * Ranges:  510 (p - min) + range <= 511 * 65535 < 2^25.
 * Shapes:  any width, height, address and pitch; nothing outside the image is accessed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>

#include "gpu/block.cuh"
#include "gpu/cuda.cuh"
#include "gpu/ingest/grey.cuh"
#include "gpu/ingest/rectify_cuda.h"
#include "gpu/ingest/stretch.cuh"
#include "gpu/stages_cuda.h"
#include "gpu/warp.cuh"
#include "stages/context.h"

#define BLOCK_X 64
#define BLOCK_Y 4
#define THREADS (BLOCK_X * BLOCK_Y)
#define WARPS (THREADS / 32)

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
static __global__ void __launch_bounds__(THREADS)
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

/*
 * Place of the four pixels, from x on, that a thread of a counting launch processes. Blocks follow one
 * another.
 */
struct count_place {
	int column, x, y, image; /* column: in the block's tile */
};

__host__ __device__ inline int count_tiles(int width)
{
	return (width + 4 * BLOCK_X - 1) / (4 * BLOCK_X);
}

__device__ __forceinline__ struct count_place count_place_of(int width, int height)
{
	const int across = count_tiles(width), down = (height + BLOCK_Y - 1) / BLOCK_Y;
	const int block = (int)blockIdx.x % (across * down);
	struct count_place p;

	p.image = (int)blockIdx.x / (across * down);
	p.column = (int)threadIdx.x % BLOCK_X;
	p.x = 4 * (block % across * BLOCK_X + p.column);
	p.y = block / across * BLOCK_Y + (int)threadIdx.x / BLOCK_X;
	return p;
}

/* Returns pixel i of four. */
__device__ __forceinline__ uint32_t pixel_of(uint2 four, int i)
{
	return (i < 2 ? four.x : four.y) >> 16 * (i % 2) & 0xffff;
}

/* Returns the median at place i of four. a, b, c: words at x, x + SX_STRETCH_APART, x + SX_STRETCH_REACH. */
__device__ __forceinline__ uint32_t median_of(uint2 a, uint2 b, uint2 c, int i)
{
	return sx_stretch_median(pixel_of(a, i), pixel_of(b, i), pixel_of(c, i));
}

/*
 * Finds a rank among the counts of 32 N classes. `before` medians are below these classes; `first` is the
 * lowest class. The lane that finds the rank writes the class and the rank within the class. For a whole
 * warp.
 */
template <int N>
__device__ __forceinline__ void find_rank(const uint32_t *counts, uint32_t before, uint32_t rank,
					  uint32_t first, uint32_t *of, uint32_t *rank_of)
{
	const int lane = (int)threadIdx.x % 32;
	uint32_t own[N], sum = 0;

#pragma unroll
	for (int i = 0; i < N; i++) {
		own[i] = __ldcg(counts + N * lane + i);
		sum += own[i];
	}
	before += sx_warp_prefix(sum, lane) - sum;
	if (rank < before || rank - before >= sum)
		return;
	rank -= before;
#pragma unroll
	for (int i = 0; i < N; i++) {
		if (rank < own[i]) {
			*of = first + (uint32_t)(N * lane + i);
			*rank_of = rank;
			return;
		}
		rank -= own[i];
	}
}

/* Finds the classes of low and high. places: N of stretch.h. For the whole block. */
__device__ static void find_classes(struct sx_stretch_range *r, uint32_t places)
{
	const int warp = (int)threadIdx.x / 32, each = SX_STRETCH_COARSE / WARPS;
	const uint32_t tail = sx_stretch_tail(places), *own = r->coarse + warp * each;
	__shared__ uint32_t sums[WARPS];
	uint32_t sum = 0, before = 0;

	for (int i = (int)threadIdx.x % 32; i < each; i += 32)
		sum += __ldcg(own + i);
	sums[warp] = sx_warp_sum(sum);
	__syncthreads();
	for (int i = 0; i < warp; i++)
		before += sums[i];
	find_rank<each / 32>(own, before, tail, (uint32_t)(warp * each), &r->of[0], &r->rank[0]);
	find_rank<each / 32>(own, before, places - 1 - tail, (uint32_t)(warp * each), &r->of[1], &r->rank[1]);
	__syncthreads();
	for (int i = (int)threadIdx.x; i < SX_STRETCH_COARSE; i += THREADS)
		r->coarse[i] = 0;
}

static __global__ void __launch_bounds__(THREADS)
	keep_and_count(const struct sx_cuda_input *in, struct ingest_pair raw, struct sx_stretch_range *range)
{
	const int halo = SX_STRETCH_REACH / 4; /* words */
	__shared__ uint2 tile[BLOCK_Y][BLOCK_X + halo];
	__shared__ uint32_t counts[SX_STRETCH_COARSE];
	__shared__ int is_last;
	const struct count_place p = count_place_of(raw.width, raw.height);
	uint2 *row = tile[threadIdx.x / BLOCK_X];

	for (int i = (int)threadIdx.x; i < SX_STRETCH_COARSE; i += THREADS)
		counts[i] = 0;
	for (int i = p.column, x = p.x; i < BLOCK_X + halo; i += BLOCK_X, x += 4 * BLOCK_X) {
		uint32_t w[2] = {0, 0};

		if (x < raw.width && p.y < raw.height) {
			const struct sx_source s =
				sx_source_of<SX_PIXEL_Y16>(in, p.image, raw.width, raw.height);

			sx_source_words<2>(&s, s.data + (size_t)p.y * s.pitch + 2 * (size_t)x, w);
		}
		row[i] = make_uint2(w[0], w[1]);
	}
	__syncthreads();
	if (p.x < raw.width && p.y < raw.height) {
		const uint2 a = row[p.column], b = row[p.column + 1], c = row[p.column + 2];

		*reinterpret_cast<uint2 *>(raw.data[p.image] + (size_t)p.y * raw.pitch[p.image] +
					   2 * (size_t)p.x) = a;
		for (int i = 0; i < 4 && p.x + i < raw.width - SX_STRETCH_REACH; i++)
			atomicAdd(&counts[median_of(a, b, c, i) >> SX_STRETCH_FINE_BITS], 1u);
	}
	__syncthreads();
	for (int i = (int)threadIdx.x; i < SX_STRETCH_COARSE; i += THREADS)
		if (counts[i])
			atomicAdd(&range->coarse[i], counts[i]);
	if (sx_is_last_block(&is_last, &range->blocks))
		find_classes(range, sx_stretch_places(raw.width, raw.height));
}

/* Finds the range and writes it, also for the host. For the whole block. */
__device__ static void find_range(struct sx_stretch_range *r, struct sx_stretch *found)
{
	const int end = (int)threadIdx.x / 32;
	uint32_t rest;

	if (end < 2)
		find_rank<SX_STRETCH_FINE / 32>(r->fine[end], 0, r->rank[end],
						r->of[end] << SX_STRETCH_FINE_BITS, &r->value[end], &rest);
	__syncthreads();
	if (threadIdx.x == 0) {
		r->found = sx_stretch_between(r->value[0], r->value[1]);
		if (found)
			*found = r->found;
	}
	if (threadIdx.x < 2 * SX_STRETCH_FINE)
		r->fine[threadIdx.x / SX_STRETCH_FINE][threadIdx.x % SX_STRETCH_FINE] = 0;
}

static __global__ void __launch_bounds__(THREADS)
	count_ends(struct ingest_pair raw, struct sx_stretch_range *range, struct sx_stretch *found)
{
	__shared__ uint32_t counts[2][SX_STRETCH_FINE];
	__shared__ int is_last;
	const struct count_place p = count_place_of(raw.width, raw.height);
	uint32_t *const all = &counts[0][0];

	if (threadIdx.x < 2 * SX_STRETCH_FINE)
		all[threadIdx.x] = 0;
	__syncthreads();
	if (p.x < raw.width - SX_STRETCH_REACH && p.y < raw.height) {
		const uint2 *four = reinterpret_cast<const uint2 *>(
			raw.data[p.image] + (size_t)p.y * raw.pitch[p.image] + 2 * (size_t)p.x);
		const uint2 a = four[0], b = four[SX_STRETCH_APART / 4], c = four[SX_STRETCH_REACH / 4];

		for (int i = 0; i < 4 && p.x + i < raw.width - SX_STRETCH_REACH; i++) {
			const uint32_t m = median_of(a, b, c, i), of = m >> SX_STRETCH_FINE_BITS;

			for (int end = 0; end < 2; end++)
				if (of == range->of[end])
					atomicAdd(&counts[end][m % SX_STRETCH_FINE], 1u);
		}
	}
	__syncthreads();
	if (threadIdx.x < 2 * SX_STRETCH_FINE && all[threadIdx.x])
		atomicAdd(&range->fine[threadIdx.x / SX_STRETCH_FINE][threadIdx.x % SX_STRETCH_FINE],
			  all[threadIdx.x]);
	if (sx_is_last_block(&is_last, &range->blocks))
		find_range(range, found);
}

static __global__ void __launch_bounds__(THREADS)
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

		out = sx_stretched(&by, both.x & 0xffff) | sx_stretched(&by, both.x >> 16) << 8 |
		      sx_stretched(&by, both.y & 0xffff) << 16 | sx_stretched(&by, both.y >> 16) << 24;
	}
	*reinterpret_cast<uint32_t *>(grey.data[image] + (size_t)y * grey.pitch[image] + x) = out;
}

static int take_raw(struct sx_ingest_cuda *s, struct sx_cuda_memory *m, const struct sx_context_config *c)
{
	static const struct sx_stretch_range empty = {};

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

static void find_stretch(const struct sx_ingest_cuda *s, const struct sx_cuda_input *in,
			 struct sx_stretch *found, cudaStream_t stream)
{
	const struct ingest_pair raw = pair_of(s->raw);
	const int blocks = 2 * count_tiles(raw.width) * ((raw.height + BLOCK_Y - 1) / BLOCK_Y);

	SX_LAUNCH(keep_and_count, (unsigned)blocks, THREADS, 0, stream, in, raw, s->range);
	SX_LAUNCH(count_ends, (unsigned)blocks, THREADS, 0, stream, raw, s->range, found);
}

cudaError_t sx_ingest_cuda_run(const struct sx_ingest_cuda *s, const struct sx_cuda_input *in,
			       const struct sx_image grey[2], struct sx_stretch *found, cudaStream_t stream)
{
	const struct ingest_pair out = pair_of(grey);
	const dim3 grid = grid_of(&grey[0]), block(BLOCK_X, BLOCK_Y);

	if (s->pixel == SX_PIXEL_Y16)
		find_stretch(s, in, found, stream);
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
