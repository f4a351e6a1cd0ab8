/*
 * What cells tell beyond what was matched, on the GPU. Must equal sx_evidence() (stages/stixels/evidence.h)
 * byte for byte.
 *
 * Work:   a block makes 8 columns. Its threads look for the sky from the top down, 32 rows of cells at a
 *         time, a thread a cell, until sky has ended in each column: most of the image is never read, and
 *         of a cell no row of pixels behind the first that is not blank. Then a warp takes a column, lanes
 *         along it; those of the lower half look whether they are saturated, holes walk to either side.
 * Memory: 2.3 KB of shared memory, a bit a cell. Columns are read and written once, words of neighbouring
 *         rows by neighbouring lanes; a hole reads those of other columns, which caches have.
 * Ranges: whole numbers of 16 bits at most. Invalid is the largest value.
 * Shapes: up to 2160 rows of cells; cells 1..32 by 1..32, of a width of whole words by words.
 * Speed:  docs/lab-performance.md, CUDA: slanted stixels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stixels/evidence.h"

#include "gpu/stixels/reduce_cells_cuda.h"
#include "gpu/warp.cuh"

#define COLUMNS 8
#define WARPS 8
#define THREADS (32 * WARPS)
#define ROWS_MAX 2160
#define STEPS ((ROWS_MAX + 31) / 32)
#define INVALID 0xffffu

struct evidence {
	const uint8_t *left, *columns, *confidence;
	uint8_t *cells, *cells_confidence;
	size_t left_pitch, columns_pitch, confidence_pitch, cells_pitch, cells_confidence_pitch;
	int height, count, rows; /* of the image; columns; cells of a column */
	int width_px, cell_height;
	int grey, saturated, reach;
};

/* Grey levels of a cell. */
struct levels {
	uint32_t least, most;
};

__device__ __forceinline__ void add_level(struct levels *s, uint32_t grey)
{
	s->least = grey < s->least ? grey : s->least;
	s->most = grey > s->most ? grey : s->most;
}

/* All pixels of a cell: `bright` at least, and within `range` levels. */
__device__ __forceinline__ bool is_bright(const struct evidence &p, int u, int v, int bright, uint32_t range)
{
	const uint8_t *row = p.left + (size_t)(p.height - (v + 1) * p.cell_height) * p.left_pitch +
			     (size_t)(u * p.width_px);
	struct levels s = {255, 0};

	for (int y = 0; y < p.cell_height; y++, row += p.left_pitch) {
		if (p.width_px % 4 == 0) {
			for (int x = 0; x < p.width_px / 4; x++) {
				const uint32_t word = ((const uint32_t *)row)[x];

				add_level(&s, word & 255);
				add_level(&s, word >> 8 & 255);
				add_level(&s, word >> 16 & 255);
				add_level(&s, word >> 24);
			}
		} else {
			for (int x = 0; x < p.width_px; x++)
				add_level(&s, row[x]);
		}
		if ((int)s.least < bright || s.most - s.least > range)
			return false;
	}
	return true;
}

/*
 * Bits of cells that are sky, of 32 rows a word from the top of the image down, until there is no more in any
 * column; returns how many words. blank: of a step, in turns. A lane's column is the same in every warp, so
 * that all know as much.
 */
__device__ __forceinline__ int find_sky(const struct evidence &p, uint32_t blank[2][WARPS],
					uint32_t sky[COLUMNS][STEPS])
{
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
	const int c = lane % COLUMNS, u = (int)blockIdx.x * COLUMNS + c;
	bool ended = u >= p.count || p.grey > 255;
	uint32_t full = 0;
	int step = 0;

	for (; step * 32 < p.rows && !__all_sync(SX_WARP_ALL_LANES, ended); step++) {
		const int down = 32 * step + 4 * warp + lane / COLUMNS;
		const unsigned found =
			__ballot_sync(SX_WARP_ALL_LANES,
				      !ended && down < p.rows &&
					      is_bright(p, u, p.rows - 1 - down, p.grey, SX_BLANK_RANGE));
		uint32_t word = 0, pairs;

		if (lane == 0)
			blank[step & 1][warp] = found;
		__syncthreads();
#pragma unroll
		for (int w = 0; w < WARPS; w++) {
			const uint32_t bits = blank[step & 1][w] >> c & 0x01010101u;

			word |= ((bits | bits >> 7 | bits >> 14 | bits >> 21) & 15) << (4 * w);
		}
		/* two that are not blank, one on the other */
		pairs = ~word & (~word << 1 | full >> 31);
		full = ~word;
		if (pairs)
			word &= (1u << (__ffs((int)pairs) - 1)) - 1;
		if (warp == 0 && lane < COLUMNS)
			sky[c][step] = word;
		ended = ended || pairs;
	}
	return step;
}

__device__ __forceinline__ uint32_t column_at(const struct evidence &p, int u, int v)
{
	return ((const uint16_t *)(p.columns + (size_t)u * p.columns_pitch))[v];
}

/* The nearest of another column, at most reach away. */
__device__ __forceinline__ uint32_t beside(const struct evidence &p, int u, int v, int step)
{
	uint32_t d = INVALID;

	for (int n = 0; n < p.reach && d == INVALID; n++) {
		u += step;
		if (u < 0 || u >= p.count)
			break;
		d = column_at(p, u, v);
	}
	return d;
}

__device__ __forceinline__ uint32_t fill(const struct evidence &p, int u, int v)
{
	const uint32_t left = beside(p, u, v, -1);

	return left == INVALID ? left : min(left, beside(p, u, v, 1));
}

static __global__ void __launch_bounds__(THREADS) weigh_cells(const struct evidence p)
{
	__shared__ uint32_t blank[2][WARPS], sky[COLUMNS][STEPS];
	const int known = find_sky(p, blank, sky);
	const int warp = (int)threadIdx.x / 32, u = (int)blockIdx.x * COLUMNS + warp;

	__syncthreads();
	if (u >= p.count)
		return;
	for (int v = (int)threadIdx.x % 32; v < p.rows; v += 32) {
		const int down = p.rows - 1 - v;
		uint32_t d = column_at(p, u, v), c = p.confidence[(size_t)u * p.confidence_pitch + (size_t)v];

		if (down / 32 < known && (sky[warp][down / 32] >> down % 32 & 1)) {
			d = 0;
			c = SX_SKY_CONFIDENCE;
		} else if (2 * v < p.rows && p.saturated < 256 && is_bright(p, u, v, p.saturated, 255)) {
			d = INVALID;
			c = 0;
		} else if (d == INVALID) {
			d = fill(p, u, v);
			c = d == INVALID ? c : SX_FILL_CONFIDENCE;
		}
		((uint16_t *)(p.cells + (size_t)u * p.cells_pitch))[v] = (uint16_t)d;
		p.cells_confidence[(size_t)u * p.cells_confidence_pitch + (size_t)v] = (uint8_t)c;
	}
}

extern "C" cudaError_t sx_evidence_cuda_run(const struct sx_image *left, const struct sx_image *columns,
					    const struct sx_image *confidence,
					    const struct sx_stixel_params *params,
					    const struct sx_image *cells,
					    const struct sx_image *cells_confidence, cudaStream_t stream)
{
	struct evidence p = {};

	if (columns->width > ROWS_MAX)
		return cudaErrorInvalidValue;
	p.left = (const uint8_t *)left->data;
	p.left_pitch = left->pitch;
	p.columns = (const uint8_t *)columns->data;
	p.columns_pitch = columns->pitch;
	p.confidence = (const uint8_t *)confidence->data;
	p.confidence_pitch = confidence->pitch;
	p.cells = (uint8_t *)cells->data;
	p.cells_pitch = cells->pitch;
	p.cells_confidence = (uint8_t *)cells_confidence->data;
	p.cells_confidence_pitch = cells_confidence->pitch;
	p.height = left->height;
	p.count = columns->height;
	p.rows = columns->width;
	p.width_px = params->width;
	p.cell_height = sx_cell_height(params);
	p.grey = params->sky_grey;
	p.saturated = params->saturated;
	p.reach = sx_fill_reach(params);
	SX_LAUNCH(weigh_cells, (unsigned)(p.count + COLUMNS - 1) / COLUMNS, THREADS, 0, stream, p);
	return SX_LAUNCHED();
}
