/*
 * Evidence of cells beside the matched disparity, on the GPU. Must equal sx_evidence()
 * (stages/stixels/evidence.h) byte for byte, except for sky, which sky.cu computes.
 *
 * Work:   a warp takes a column, with lanes along it. Lanes of the lower half test for saturated cells; lanes
 *         at holes walk to the left.
 * Memory: columns are read and written once, words of neighbouring rows by neighbouring lanes. A hole reads
 *         cells of other columns, which are in the caches.
 * Ranges: integers of at most 16 bits.
 * Shapes: any; cells 1..32 by 1..32. If the width is a multiple of whole words, cells are read by words.
 * Speed:  tests/lab/lab-performance.md, CUDA: slanted stixels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stixels/evidence.h"

#include "gpu/stixels/bright.cuh"
#include "gpu/stixels/reduce_cells_cuda.h"

#define COLUMNS 8 /* columns of a block, one warp each */
#define THREADS (32 * COLUMNS)
#define INVALID 0xffffu

struct evidence {
	struct sx_bright_image left;
	const uint8_t *columns, *confidence;
	uint8_t *cells, *cells_confidence;
	size_t columns_pitch, confidence_pitch, cells_pitch, cells_confidence_pitch;
	int count, rows; /* count: columns; rows: cells of a column */
	int saturated, reach;
};

__device__ __forceinline__ uint32_t column_at(const struct evidence &p, int u, int v)
{
	return ((const uint16_t *)(p.columns + (size_t)u * p.columns_pitch))[v];
}

/*
 * Returns the nearest valid disparity to the left, at most reach columns away. Reads four columns at once,
 * because each read has a latency.
 */
__device__ __forceinline__ uint32_t fill(const struct evidence &p, int u, int v)
{
	const int end = max(u - p.reach, 0);
	uint32_t d = INVALID;

	while (d == INVALID && u > end) {
		uint32_t next[4];

#pragma unroll
		for (int i = 0; i < 4; i++)
			next[i] = u - 1 - i >= end ? column_at(p, u - 1 - i, v) : INVALID;
#pragma unroll
		for (int i = 3; i >= 0; i--)
			d = next[i] == INVALID ? d : next[i];
		u -= 4;
	}
	return d;
}

static __global__ void __launch_bounds__(THREADS) weigh_cells(const struct evidence p)
{
	const int u = (int)blockIdx.x * COLUMNS + (int)threadIdx.x / 32;

	if (u >= p.count)
		return;
	for (int v = (int)threadIdx.x % 32; v < p.rows; v += 32) {
		uint32_t d = column_at(p, u, v), c = p.confidence[(size_t)u * p.confidence_pitch + (size_t)v];

		if (2 * v < p.rows && p.saturated < 256 && sx_is_bright(p.left, u, v, p.saturated, 255)) {
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

	p.left.data = (const uint8_t *)left->data;
	p.left.pitch = left->pitch;
	p.left.height = left->height;
	p.left.cell_width = params->width;
	p.left.cell_height = sx_cell_height(params);
	p.columns = (const uint8_t *)columns->data;
	p.columns_pitch = columns->pitch;
	p.confidence = (const uint8_t *)confidence->data;
	p.confidence_pitch = confidence->pitch;
	p.cells = (uint8_t *)cells->data;
	p.cells_pitch = cells->pitch;
	p.cells_confidence = (uint8_t *)cells_confidence->data;
	p.cells_confidence_pitch = cells_confidence->pitch;
	p.count = columns->height;
	p.rows = columns->width;
	p.saturated = params->saturated;
	p.reach = sx_fill_reach(params);
	SX_LAUNCH(weigh_cells, (unsigned)(p.count + COLUMNS - 1) / COLUMNS, THREADS, 0, stream, p);
	return SX_LAUNCHED();
}
