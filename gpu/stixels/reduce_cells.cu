/*
 * Cells of several rows on the GPU. Must equal sx_reduce_cells() and sx_reduce_scores() byte for byte.
 *
 * Work:    disparity, confidence: a thread makes a cell; neighbouring threads make neighbours in x. A warp
 *          finds the median of more than SORT_MAX pixels, bit by bit. Scores: a block makes 32 columns of
 *          CELL_ROWS rows in all classes; a warp makes one class and row of them at a time.
 * Memory:  everything is read once, neighbours in x by neighbouring lanes. Scores are read by words if they
 *          are aligned to words and cells are whole words wide. Bytes of scores go through shared memory, so
 *          that they are written by words: 4.2 KB.
 * Ranges:  32 * 32 values of 16 bits fit 26 bits. Invalid is the largest value.
 * Shapes:  every size; cells 1..32 by 1..32; scores at every scale from 1 to 32, every pitch.
 * Speed:   tests/lab/lab-performance.md, CUDA: slanted stixels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/stixels/reduce_cells_cuda.h"
#include "gpu/stixels/sorter.cuh"
#include "gpu/warp.cuh"

#define WARPS 8
#define THREADS (32 * WARPS)
#define INVALID 0xffffu
#define SORT_MAX 64
#define CELL_ROWS 4 /* rows of a block's scores: their bytes are whole words for any number of classes */

/* ---- disparity and confidence -------------------------------------------------------------------------- */

struct cells {
	const uint8_t *disparity, *confidence; /* confidence: NULL, or of every pixel */
	uint8_t *columns, *columns_confidence;
	size_t disparity_pitch, confidence_pitch, columns_pitch, columns_confidence_pitch;
	int height, count, rows; /* height: of the image; count: columns; rows: cells of a column */
	int width_px, cell_height;
};

__device__ __forceinline__ uint32_t disparity_at(const struct cells &p, int x, int y)
{
	return ((const uint16_t *)(p.disparity + (size_t)y * p.disparity_pitch))[x];
}

__device__ __forceinline__ uint32_t confidence_at(const struct cells &p, int x, int y)
{
	return p.confidence[(size_t)y * p.confidence_pitch + (size_t)x];
}

__device__ __forceinline__ void write_cell(const struct cells &p, int u, int v, uint32_t d,
					   uint32_t confidence)
{
	const uint32_t pixels = (uint32_t)(p.width_px * p.cell_height);

	((uint16_t *)(p.columns + (size_t)u * p.columns_pitch))[v] = (uint16_t)d;
	if (p.confidence)
		p.columns_confidence[(size_t)u * p.columns_confidence_pitch + (size_t)v] =
			(uint8_t)((2 * confidence + pixels) / (2 * pixels));
}

/* Cell of a thread. */
struct place {
	int u, v, x, y;
	bool inside;
};

__device__ __forceinline__ struct place place_of(const struct cells &p)
{
	struct place r;

	r.u = (int)blockIdx.x * 32 + (int)threadIdx.x % 32;
	r.v = (int)blockIdx.y * WARPS + (int)threadIdx.x / 32;
	r.x = r.u * p.width_px;
	r.y = p.height - (r.v + 1) * p.cell_height;
	r.inside = r.u < p.count && r.v < p.rows;
	return r;
}

static __global__ void __launch_bounds__(THREADS) means(const struct cells p)
{
	const struct place at = place_of(p);
	uint32_t n = 0, sum = 0, confidence = 0;

	if (!at.inside)
		return;
	for (int y = at.y; y < at.y + p.cell_height; y++)
		for (int x = at.x; x < at.x + p.width_px; x++) {
			const uint32_t d = disparity_at(p, x, y), valid = d != INVALID;

			n += valid;
			sum += valid ? d : 0;
			if (p.confidence)
				confidence += valid ? confidence_at(p, x, y) : 0;
		}
	write_cell(p, at.u, at.v,
		   2 * n < (uint32_t)(p.width_px * p.cell_height) ? INVALID : (2 * sum + n) / (2 * n),
		   confidence);
}

/* Finds medians of at most CAP pixels. */
template <int CAP>
static __global__ void __launch_bounds__(THREADS, CAP > 32 ? 1 : 2) medians(const struct cells p)
{
	const struct place at = place_of(p);
	const int pixels = p.width_px * p.cell_height;
	uint32_t value[CAP], n = 0, confidence = 0, median;
	int x = at.x, y = at.y;

	if (!at.inside)
		return;
#pragma unroll
	for (int i = 0; i < CAP; i++) {
		value[i] = INVALID;
		if (i < pixels) {
			value[i] = disparity_at(p, x, y);
			if (p.confidence && value[i] != INVALID)
				confidence += confidence_at(p, x, y);
		}
		n += value[i] != INVALID;
		x++;
		if (x == at.x + p.width_px) {
			x = at.x;
			y++;
		}
	}
	sorter<CAP, CAP, 1, 1>::run(value);
	median = value[0];
#pragma unroll
	for (int i = 1; i <= CAP / 2; i++)
		median = n >= 2 * (uint32_t)i ? value[i] : median;
	write_cell(p, at.u, at.v, 2 * n < (uint32_t)pixels ? INVALID : median, confidence);
}

/*
 * Finds the median of one cell per warp, bit by bit: the largest number that at most half of the values are
 * below.
 */
static __global__ void __launch_bounds__(THREADS, 2) medians_of_warps(const struct cells p)
{
	const int u = (int)blockIdx.x, v = (int)blockIdx.y * WARPS + (int)threadIdx.x / 32;
	const int lane = (int)threadIdx.x % 32, pixels = p.width_px * p.cell_height;
	const int x0 = u * p.width_px, y0 = p.height - (v + 1) * p.cell_height;
	uint32_t value[32], n = 0, confidence = 0, median = 0;

	if (v >= p.rows)
		return;
#pragma unroll
	for (int i = 0; i < 32; i++) {
		const int at = 32 * i + lane, x = x0 + at % p.width_px, y = y0 + at / p.width_px;

		value[i] = at < pixels ? disparity_at(p, x, y) : INVALID;
		n += value[i] != INVALID;
		if (p.confidence && value[i] != INVALID)
			confidence += confidence_at(p, x, y);
	}
	n = sx_warp_sum(n);
	confidence = sx_warp_sum(confidence);
	for (uint32_t bit = 1u << 15; bit; bit >>= 1) {
		uint32_t below = 0;

#pragma unroll
		for (int i = 0; i < 32; i++)
			below += value[i] < (median | bit);
		if (sx_warp_sum(below) <= n / 2)
			median |= bit;
	}
	if (lane == 0)
		write_cell(p, u, v, 2 * n < (uint32_t)pixels ? INVALID : median, confidence);
}

extern "C" cudaError_t sx_reduce_cells_cuda_run(const struct sx_image *disparity,
						const struct sx_image *confidence, int width_px,
						int cell_height, enum sx_reduction how,
						const struct sx_image *columns,
						const struct sx_image *columns_confidence,
						cudaStream_t stream)
{
	const int pixels = width_px * cell_height;
	struct cells p = {};

	if (width_px < 1 || width_px > 32 || disparity->width < width_px || cell_height < 1 ||
	    cell_height > 32 || disparity->height < cell_height)
		return cudaErrorInvalidValue;
	if (cell_height == 1)
		return sx_reduce_cuda_run(disparity, confidence, width_px, how, columns, columns_confidence,
					  stream);
	p.disparity = (const uint8_t *)disparity->data;
	p.disparity_pitch = disparity->pitch;
	p.columns = (uint8_t *)columns->data;
	p.columns_pitch = columns->pitch;
	if (confidence && confidence->data) {
		p.confidence = (const uint8_t *)confidence->data;
		p.confidence_pitch = confidence->pitch;
		p.columns_confidence = (uint8_t *)columns_confidence->data;
		p.columns_confidence_pitch = columns_confidence->pitch;
	}
	p.height = disparity->height;
	p.count = disparity->width / width_px;
	p.rows = disparity->height / cell_height;
	p.width_px = width_px;
	p.cell_height = cell_height;
	const unsigned down = (unsigned)(p.rows + WARPS - 1) / WARPS;
	const dim3 of_threads((unsigned)(p.count + 31) / 32, down), of_warps((unsigned)p.count, down);

	if (how == SX_REDUCTION_MEAN)
		SX_LAUNCH(means, of_threads, THREADS, 0, stream, p);
	else if (pixels <= 16)
		SX_LAUNCH((medians<16>), of_threads, THREADS, 0, stream, p);
	else if (pixels <= 32)
		SX_LAUNCH((medians<32>), of_threads, THREADS, 0, stream, p);
	else if (pixels <= SORT_MAX)
		SX_LAUNCH((medians<SORT_MAX>), of_threads, THREADS, 0, stream, p);
	else
		SX_LAUNCH(medians_of_warps, of_warps, THREADS, 0, stream, p);
	return SX_LAUNCHED();
}

/* ---- scores -------------------------------------------------------------------------------------------- */

struct score_cells {
	const struct sx_cuda_scores *in;
	uint8_t *columns;
	size_t pitch;
	int height, count, rows, classes, width_px, cell_height;
};

/*
 * Returns the sum over the pixels from (x0, y0) on in the image, of the scores of the plane that belong to
 * them.
 */
__device__ __forceinline__ uint32_t sum_scores(const struct score_cells &p, const struct sx_cuda_scores &s,
					       const uint8_t *plane, int x0, int y0)
{
	const int x1 = x0 + p.width_px, y1 = y0 + p.cell_height;
	uint32_t sum = 0;

	for (int sy = y0 / s.scale; sy * s.scale < y1; sy++) {
		const int low = sy * s.scale > y0 ? sy * s.scale : y0,
			  high = (sy + 1) * s.scale < y1 ? (sy + 1) * s.scale : y1;
		uint32_t row = 0;

		for (int sx = x0 / s.scale; sx * s.scale < x1; sx++) {
			const int left = sx * s.scale > x0 ? sx * s.scale : x0,
				  right = (sx + 1) * s.scale < x1 ? (sx + 1) * s.scale : x1;

			row += (uint32_t)(right - left) * plane[(size_t)sy * s.pitch + (size_t)sx];
		}
		sum += (uint32_t)(high - low) * row;
	}
	return sum;
}

/* Returns the sum of sum_scores() at scale 1, for rows of WORDS words (0: any number) aligned to words. */
template <int WORDS>
__device__ __forceinline__ uint32_t sum_words(const struct score_cells &p, const struct sx_cuda_scores &s,
					      const uint8_t *plane, int x0, int y0)
{
	const uint8_t *row = plane + (size_t)y0 * s.pitch + (size_t)x0;
	const int words = WORDS ? WORDS : p.width_px / 4;
	uint32_t sum = 0;

#pragma unroll 8
	for (int y = 0; y < p.cell_height; y++, row += s.pitch) {
		if (WORDS == 2) {
			const uint2 two = *(const uint2 *)row;

			sum = __dp4a(two.y, 0x01010101u, __dp4a(two.x, 0x01010101u, sum));
		} else {
			for (int i = 0; i < words; i++)
				sum = __dp4a(((const uint32_t *)row)[i], 0x01010101u, sum);
		}
	}
	return sum;
}

/* Returns the alignment of all addresses of scores, bytes: 8, 4 or 1. */
__device__ __forceinline__ int grain(const struct sx_cuda_scores &s)
{
	const uint64_t all = (uint64_t)(uintptr_t)s.data | s.pitch | s.plane_bytes;

	return all % 8 == 0 ? 8 : all % 4 == 0 ? 4 : 1;
}

template <typename Sum>
__device__ __forceinline__ void make_scores(const struct score_cells &p, const struct sx_cuda_scores &s,
					    uint32_t *out, const Sum &sum_of)
{
	const int lane = (int)threadIdx.x % 32, u = (int)blockIdx.x * 32 + lane,
		  v0 = (int)blockIdx.y * CELL_ROWS;
	const uint32_t pixels = (uint32_t)(p.width_px * p.cell_height);
	uint8_t *bytes = (uint8_t *)(out + lane * (p.classes | 1));

	for (int i = (int)threadIdx.x / 32; i < CELL_ROWS * p.classes; i += WARPS) {
		const int v = v0 + i % CELL_ROWS, k = i / CELL_ROWS;

		if (u < p.count && v < p.rows) {
			const uint32_t sum = sum_of(s.data + (size_t)k * s.plane_bytes, u * p.width_px,
						    p.height - (v + 1) * p.cell_height);

			bytes[(v - v0) * p.classes + k] = (uint8_t)((2 * sum + pixels) / (2 * pixels));
		}
	}
}

/* Stores the columns of the block by words, and the bytes of the last rows one by one. */
__device__ __forceinline__ void store_scores(const struct score_cells &p, const uint32_t *out)
{
	const int first = (int)blockIdx.x * 32, v0 = (int)blockIdx.y * CELL_ROWS;
	const int columns = p.count - first < 32 ? p.count - first : 32;
	const int left = p.rows - v0;

	for (int c = (int)threadIdx.x / 32; c < columns; c += WARPS) {
		uint8_t *to = p.columns + (size_t)(first + c) * p.pitch + (size_t)v0 * (size_t)p.classes;
		const uint32_t *from = out + c * (p.classes | 1);

		if (left >= CELL_ROWS) {
			for (int i = (int)threadIdx.x % 32; i < p.classes; i += 32)
				((uint32_t *)to)[i] = from[i];
			continue;
		}
		for (int i = (int)threadIdx.x % 32; i < left * p.classes; i += 32)
			to[i] = ((const uint8_t *)from)[i];
	}
}

static __global__ void __launch_bounds__(THREADS) cells_of_scores(const struct score_cells p)
{
	__shared__ uint32_t out[32 * (SX_CLASSES_MAX | 1)];
	const struct sx_cuda_scores s = *p.in;
	const int bytes = s.scale == 1 ? grain(s) : 1;

	if (!s.data)
		return;
	if (bytes >= 4 && p.width_px == 4)
		make_scores(p, s, out, [&](const uint8_t *plane, int x, int y) {
			return sum_words<1>(p, s, plane, x, y);
		});
	else if (bytes >= 8 && p.width_px == 8)
		make_scores(p, s, out, [&](const uint8_t *plane, int x, int y) {
			return sum_words<2>(p, s, plane, x, y);
		});
	else if (bytes >= 4 && p.width_px % 4 == 0)
		make_scores(p, s, out, [&](const uint8_t *plane, int x, int y) {
			return sum_words<0>(p, s, plane, x, y);
		});
	else
		make_scores(p, s, out, [&](const uint8_t *plane, int x, int y) {
			return sum_scores(p, s, plane, x, y);
		});
	__syncthreads();
	store_scores(p, out);
}

extern "C" cudaError_t sx_reduce_cells_cuda_scores(const struct sx_cuda_scores *in, int width, int height,
						   int width_px, int cell_height, int classes,
						   const struct sx_image *columns, cudaStream_t stream)
{
	struct score_cells p = {};

	if (width_px < 1 || width_px > 32 || width < width_px || cell_height < 1 || cell_height > 32 ||
	    height < cell_height || classes < 1 || classes > SX_CLASSES_MAX)
		return cudaErrorInvalidValue;
	p.in = in;
	p.columns = (uint8_t *)columns->data;
	p.pitch = columns->pitch;
	p.height = height;
	p.count = width / width_px;
	p.rows = height / cell_height;
	p.classes = classes;
	p.width_px = width_px;
	p.cell_height = cell_height;
	const dim3 grid((unsigned)(p.count + 31) / 32, (unsigned)(p.rows + CELL_ROWS - 1) / CELL_ROWS);

	SX_LAUNCH(cells_of_scores, grid, THREADS, 0, stream, p);
	return SX_LAUNCHED();
}
