/*
 * Compaction on the GPU: writes the record directly into pinned host memory. Must equal sx_compact() byte for
 * byte.
 *
 * Work:    a warp takes one stixel column. Each block sums the counts of all columns before its own, so that
 *          a single kernel suffices. A lane adds 8 cells at a time to running sums of the column. Then a lane
 *          makes one stixel from two of these sums.
 * Memory:  per column and frame once: cells, confidences, segments. 4 bytes of shared memory per cell: valid
 *          cells in the upper 12 bits, sum of confidences in the lower 20 bits. Each lane writes 16 bytes of
 *          stixels, and neighbouring lanes write neighbouring bytes: full writes across PCIe.
 * Ranges:  2160 cells fit 12 bits, 2160 * 255 fits 20.
 * Shapes:  heights up to 2160, any number of columns. Rows of cells are read 8 at a time, so up to 14 bytes
 *          of the padding after a row are read.
 * Speed:   see tests/lab/lab-performance.md, CUDA: columns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>

#include <stixel.h>

#include "gpu/stages_cuda.h"
#include "stages/stixels/cells.h"

#include "gpu/cuda.cuh"
#include "gpu/warp.cuh"

#define WARPS 4
#define SHARED_MAX (48 * 1024)
#define COUNT_SHIFT 20
#define CONFIDENCE_MASK ((1u << COUNT_SHIFT) - 1)
#define INVALID 0xffffu

struct sx_compact_cuda {
	int height, columns, max_per_column; /* height: cells of a column */
	int image_height, cell_height;
	int warps;	   /* warps of a block */
	uint32_t flags;	   /* flags of every stixel */
	uint32_t fallback; /* flags if the road was not measured */
};

struct record {
	const struct sx_segment *list;
	const uint16_t *count;
	const uint8_t *cells, *confidence;
	uint32_t cells_pitch, confidence_pitch;
	const struct sx_cuda_road *road;
	struct sx_cuda_output *out;
	uint32_t *offsets;
	struct stixel *stixels;
	int capacity;
	struct sx_compact_cuda s;
};

extern "C" int sx_compact_cuda_create(struct sx_compact_cuda **ret, struct sx_cuda_memory *,
				      const struct sx_params *p, int image_height, int columns)
{
	struct sx_compact_cuda *s;
	const int height = sx_cell_rows(&p->stixels, image_height);
	const size_t warp_bytes = sizeof(uint32_t) * (size_t)((height + 7) / 8 * 8 + 4);

	if (height < 1 || image_height > 2160 || columns < 1 || columns > 65535)
		return -EINVAL;
	s = (struct sx_compact_cuda *)calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->height = height;
	s->image_height = image_height;
	s->cell_height = sx_cell_height(&p->stixels);
	s->columns = columns;
	s->max_per_column = p->stixels.max_per_column;
	s->warps = WARPS * warp_bytes <= SHARED_MAX ? WARPS : (int)(SHARED_MAX / warp_bytes);
	s->flags = p->stixels.method == SX_STIXEL_RDP ? STIXEL_FLAG_RDP
		   : sx_is_slanted(&p->stixels)	      ? STIXEL_FLAG_SLANTED
						      : 0;
	s->fallback = p->road.mode == SX_ROAD_PLANE ? STIXEL_FLAG_ROAD_FALLBACK : 0;
	*ret = s;
	return 0;
}

extern "C" void sx_compact_cuda_destroy(struct sx_compact_cuda *s)
{
	free(s);
}

__device__ __forceinline__ uint32_t kept_of(const struct record *r, int u)
{
	const int n = r->count[u];

	return (uint32_t)(n < r->s.max_per_column ? n : r->s.max_per_column);
}

/* Adds up 8 cells in packed sums, one sum up to each cell. confidence: the 8 bytes of these cells. */
__device__ __forceinline__ void weigh8(const uint32_t *cells, const uint32_t *confidence, int first,
				       int height, uint32_t *sum)
{
#pragma unroll
	for (int i = 0; i < 8; i++) {
		const uint32_t d = cells[i / 2] >> i % 2 * 16 & 0xffff,
			       c = confidence[i / 4] >> i % 4 * 8 & 0xff;

		sum[i] = (i ? sum[i - 1] : 0) +
			 (first + i < height && d != INVALID ? 1u << COUNT_SHIFT | c : 0);
	}
}

/* Sets before[v] to the sums over the cells below row v, v = 0 .. height. */
__device__ __forceinline__ void sum_column(const struct record *r, int u, int lane, uint32_t *before)
{
	const uint4 *cells = (const uint4 *)(r->cells + (size_t)u * r->cells_pitch);
	const uint2 *confidence = (const uint2 *)(r->confidence + (size_t)u * r->confidence_pitch);
	const int h = r->s.height;
	uint32_t base = 0;

	for (int first = 8 * lane; first - 8 * lane < h; first += 256) {
		uint32_t d[4] = {}, c[2] = {}, sum[8], prefix;

		if (first < h) {
			const uint4 d4 = cells[first / 8];

			d[0] = d4.x, d[1] = d4.y, d[2] = d4.z, d[3] = d4.w;
			if (r->confidence) {
				const uint2 c2 = confidence[first / 8];

				c[0] = c2.x, c[1] = c2.y;
			}
		}
		weigh8(d, c, first, h, sum);
		prefix = sx_warp_prefix(sum[7], lane);
		base += prefix - sum[7];
		if (first < h) {
			uint4 *to = (uint4 *)(before + first);

			to[0] = make_uint4(base, base + sum[0], base + sum[1], base + sum[2]);
			to[1] = make_uint4(base + sum[3], base + sum[4], base + sum[5], base + sum[6]);
			if (first + 8 == h)
				before[h] = base + sum[7];
		}
		base = __shfl_sync(SX_WARP_ALL_LANES, base + sum[7], 31);
	}
	__syncwarp();
}

__device__ __forceinline__ void write_stixels(const struct record *r, int u, int lane, const uint32_t *before,
					      uint32_t offset, int kept)
{
	const uint32_t *list = (const uint32_t *)(r->list + (size_t)u * (size_t)r->capacity);
	const int h = r->s.height, found = r->count[u];
	const uint32_t rows = (uint32_t)r->s.cell_height, end = (uint32_t)r->s.image_height;
	const bool slanted = r->s.flags & STIXEL_FLAG_SLANTED;
	const uint32_t flags = r->s.flags | (r->road->road.origin != SX_ROAD_MEASURED ? r->s.fallback : 0);

	for (int i = lane; i < kept; i += 32) {
		/* the words of struct sx_segment */
		const uint32_t w0 = list[3 * i], w1 = list[3 * i + 1], w2 = list[3 * i + 2];
		const bool cut = i == kept - 1 && found > kept;
		const uint32_t bottom = w0 & 0xffff, top = cut ? (uint32_t)h - 1 : w0 >> 16;
		const uint32_t sum = before[top + 1] - before[bottom];
		const uint32_t n = sum >> COUNT_SHIFT, c = sum & CONFIDENCE_MASK;
		const uint32_t kind = w2 >> 16 & 0xff;
		uint4 s;

		s.x = (uint32_t)u | (end - (top + 1) * rows) << 16;
		s.y = (end - 1 - bottom * rows) | n << 16;
		s.z = w1 >> 16 | w2 << 16;
		s.w = kind | (slanted ? w2 >> 24 : STIXEL_LABEL_NONE) << 8 |
		      (n ? (2 * c + n) / (2 * n) : 0) << 16 |
		      (flags | (cut ? STIXEL_FLAG_CUT : 0) | sx_segment_filled(kind, n, top - bottom + 1))
			      << 24;
		((uint4 *)r->stixels)[offset + (uint32_t)i] = s;
	}
}

/* Returns the sum of the counts of columns 0 .. end-1, in every thread. */
__device__ __forceinline__ uint32_t stixels_before(const struct record *r, int end, uint32_t *warp_sum)
{
	const int threads = (int)blockDim.x;
	uint32_t n = 0;

#pragma unroll 4
	for (int u = (int)threadIdx.x; u < end; u += threads)
		n += kept_of(r, u);
	n = sx_warp_sum(n);
	if (threadIdx.x % 32 == 0)
		warp_sum[threadIdx.x / 32] = n;
	__syncthreads();
	n = 0;
	for (int w = 0; w < threads / 32; w++)
		n += warp_sum[w];
	return n;
}

static __global__ void compact(const struct record r)
{
	SX_DYNAMIC_SHARED(uint32_t, sums);
	__shared__ uint32_t warp_sum[WARPS];
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, warps = (int)blockDim.x / 32;
	const int first = (int)blockIdx.x * warps, u = first + warp;
	uint32_t *before = sums + warp * ((r.s.height + 7) / 8 * 8 + 4);
	uint32_t offset;

	if (u < r.s.columns)
		sum_column(&r, u, lane, before);
	offset = stixels_before(&r, first, warp_sum);
	if (u >= r.s.columns)
		return;
	for (int w = first; w < u; w++)
		offset += kept_of(&r, w);
	const uint32_t kept = kept_of(&r, u);

	write_stixels(&r, u, lane, before, offset, (int)kept);
	if (lane == 0)
		r.offsets[u] = offset;
	if (u < r.s.columns - 1)
		return;
	if (lane == 0) {
		r.offsets[u + 1] = offset + kept;
		r.out->count = offset + kept;
		r.out->number = r.road->number;
	}
	if (lane < (int)(sizeof(struct sx_road) / 4))
		((uint32_t *)&r.out->road)[lane] = ((const uint32_t *)&r.road->road)[lane];
}

static_assert(sizeof(struct sx_road) / 4 <= 32, "a word a lane");

extern "C" cudaError_t sx_compact_cuda_run(const struct sx_compact_cuda *s,
					   const struct sx_segments *segments, const struct sx_image *columns,
					   const struct sx_image *columns_confidence,
					   const struct sx_cuda_road *road, struct sx_cuda_output *out,
					   uint32_t *offsets, struct stixel *stixels, cudaStream_t stream)
{
	const unsigned warps = (unsigned)s->warps, grid = ((unsigned)s->columns + warps - 1) / warps;
	struct record r = {};

	r.list = segments->list;
	r.count = segments->count;
	r.capacity = segments->capacity;
	r.cells = (const uint8_t *)columns->data;
	r.cells_pitch = (uint32_t)columns->pitch;
	if (columns_confidence && columns_confidence->data) {
		r.confidence = (const uint8_t *)columns_confidence->data;
		r.confidence_pitch = (uint32_t)columns_confidence->pitch;
	}
	r.road = road;
	r.out = out;
	r.offsets = offsets;
	r.stixels = stixels;
	r.s = *s;
	SX_LAUNCH(compact, grid, 32 * warps, warps * sizeof(uint32_t) * (size_t)((s->height + 7) / 8 * 8 + 4),
		  stream, r);
	return SX_LAUNCHED();
}
