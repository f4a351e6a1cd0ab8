/*
 * Sky and reach on the GPU. Must equal sx_sky_find() (stages/stixels/sky.h) and sx_reach_count()
 * (stages/stixels/reach.h), and together with evidence.cu sx_evidence(), byte for byte.
 *
 * Work:   a warp tests 32 cells of a row for being blank: one word. Then one block takes all words. One
 *         thread per word goes down its columns through all rows. One warp per row goes along the row, as one
 *         long addition whose carries are found by ballots. When the road is known, one warp takes each word
 *         of the sky found, and one lane each cell. The same warp counts the cells that measure far ground:
 *         one addition to memory for each bin that its cells have.
 * Memory: two bits per cell, 8 KB at 1242x375 and cells of 4x4. The one block keeps up to 47 KB of them in
 *         shared memory; the rest stays in device memory. Of a cell that is not blank, pixels are read up to
 *         the first row that shows it.
 * Ranges: integers of 32 bits.
 * Shapes: up to 4096 columns and 2160 rows of cells.
 * Speed:  tests/lab/lab-performance.md, CUDA: slanted stixels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stixels/sky.h"

#include "gpu/stixels/bright.cuh"
#include "gpu/stixels/sky_cuda.h"
#include "gpu/warp.cuh"
#include "stages/stixels/cells.h"
#include "stages/stixels/evidence.h"
#include "stages/stixels/reach.h"
#include "stages/stixels/sky_bits.h"

#define WARPS 8
#define THREADS (32 * WARPS)
#define SPREAD_THREADS 1024
#define AHEAD 8
#define SHARED_MAX (47 * 1024 / 4) /* words: 47 KB; a block may have 48 KB and needs some for other data */

struct blank_work {
	struct sx_bright_image left;
	struct sx_sky_cuda s;
	int grey;
};

/* Finds word and row of a warp. Returns false if there is none. */
__device__ __forceinline__ bool place_of(const struct sx_sky_cuda &s, int *w, int *v)
{
	*w = (int)blockIdx.x;
	*v = (int)blockIdx.y * WARPS + (int)threadIdx.x / 32;
	return *v < s.rows;
}

static __global__ void __launch_bounds__(THREADS) find_blank(const struct blank_work p)
{
	const int lane = (int)threadIdx.x % 32;
	uint32_t bits;
	int w, v;

	if (!place_of(p.s, &w, &v))
		return;
	bits = __ballot_sync(SX_WARP_ALL_LANES,
			     32 * w + lane < p.s.columns &&
				     sx_is_bright(p.left, 32 * w + lane, v, p.grey, SX_BLANK_RANGE));
	if (lane == 0)
		p.s.blank[v * p.s.words + w] = bits;
}

/* The rows of bits that a block processes, in shared memory if they fit there. */
struct bits {
	const uint32_t *blank;
	uint32_t *sky;
	int rows, words;
	int *lowest; /* lowest row with sky; in shared memory */
};

/*
 * Spreads sky downwards. edge: sky begins above the highest row. known: the lowest row that has sky. Stops
 * when a word has no more sky. Reads the words of AHEAD rows before it writes the first of them.
 */
__device__ __forceinline__ void go_down(const struct bits &s, bool edge, int known)
{
	for (int w = (int)threadIdx.x; w < s.words; w += SPREAD_THREADS) {
		uint32_t open = edge ? ~0u : 0, gap = 0;
		int lowest = s.rows;

		for (int top = s.rows - 1; top >= 0 && (open || top >= known); top -= AHEAD) {
			uint32_t blank[AHEAD], sky[AHEAD];

#pragma unroll
			for (int i = 0; i < AHEAD; i++) {
				blank[i] = i <= top ? s.blank[(top - i) * s.words + w] : 0;
				sky[i] = i <= top ? s.sky[(top - i) * s.words + w] : 0;
			}
#pragma unroll
			for (int i = 0; i < AHEAD; i++) {
				sky[i] = sx_sky_down(blank[i], sky[i], &open, &gap);
				lowest = sky[i] ? top - i : lowest;
				if (i <= top)
					s.sky[(top - i) * s.words + w] = sky[i];
			}
		}
		atomicMin(s.lowest, lowest);
	}
}

/*
 * Returns true if a carry enters this lane's word; 32 lanes have consecutive words. out: this word yields a
 * carry in any case. through: it passes a carry on. carry: carry into lane 0, then out of lane 31.
 */
__device__ __forceinline__ bool carry_into(bool out, bool through, int lane, uint32_t *carry)
{
	const uint32_t g = __ballot_sync(SX_WARP_ALL_LANES, out);
	const uint32_t a = __ballot_sync(SX_WARP_ALL_LANES, through) | g;
	const uint64_t sum = (uint64_t)a + g + *carry;
	const uint32_t in = (uint32_t)sum ^ a ^ g;

	*carry = (uint32_t)(sum >> 32);
	return in >> lane & 1;
}

__device__ __forceinline__ void go_right(const struct bits &s, int row, int lane)
{
	uint32_t carry = 0;

	for (int first = 0; first < s.words; first += 32) {
		const int w = first + lane, i = row + w;
		const uint32_t blank = w < s.words ? s.blank[i] : 0;
		uint32_t sky = sx_sky_rightwards(blank, w < s.words ? s.sky[i] : 0);

		if (carry_into(sky >> 31, blank == ~0u, lane, &carry))
			sky = sx_sky_rightwards(blank, sky | (blank & 1));
		if (w < s.words)
			s.sky[i] = sky;
	}
}

/* Spreads sky to the left. The lowest lane has the last word. */
__device__ __forceinline__ void go_left(const struct bits &s, int row, int lane)
{
	uint32_t carry = 0;

	for (int last = s.words - 1; last >= 0; last -= 32) {
		const int w = last - lane, i = row + w;
		const uint32_t blank = w >= 0 ? s.blank[i] : 0;
		uint32_t sky = sx_sky_leftwards(blank, w >= 0 ? s.sky[i] : 0);

		if (carry_into(sky & 1, blank == ~0u, lane, &carry))
			sky = sx_sky_leftwards(blank, sky | (blank & 1u << 31));
		if (w >= 0)
			s.sky[i] = sky;
	}
}

/*
 * Spreads the sky, in one block. shared_words: words of blank and sky together, or 0 if too many for shared
 * memory.
 */
static __global__ void __launch_bounds__(SPREAD_THREADS)
	spread_sky(const struct sx_sky_cuda g, int shared_words)
{
	SX_DYNAMIC_SHARED(uint32_t, shared);
	__shared__ int lowest;
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, n = g.rows * g.words;
	struct bits s = {g.blank, g.sky, g.rows, g.words, &lowest};

	if (shared_words) {
		s.blank = shared;
		s.sky = shared + n;
	}
	for (int i = (int)threadIdx.x; i < n; i += SPREAD_THREADS) {
		s.sky[i] = 0;
		if (shared_words)
			shared[i] = g.blank[i];
	}
	if (threadIdx.x < SX_REACH_BINS)
		g.reach[threadIdx.x] = 0;
	if (threadIdx.x == 0)
		lowest = g.rows;
	__syncthreads();
	go_down(s, true, g.rows);
	for (int k = 0; k < SX_SKY_ROUNDS; k++) {
		__syncthreads();
		const int known = lowest;

		for (int v = known + warp; v < s.rows; v += SPREAD_THREADS / 32) {
			go_right(s, v * s.words, lane);
			__syncwarp(); /* another lane's word is next */
			go_left(s, v * s.words, lane);
		}
		__syncthreads();
		go_down(s, false, known);
	}
	if (shared_words) {
		__syncthreads();
		for (int i = (int)threadIdx.x; i < n; i += SPREAD_THREADS)
			g.sky[i] = s.sky[i];
	}
}

struct weigh_work {
	struct sx_sky_cuda s;
	const struct sx_cuda_road *road;
	const uint8_t *columns;
	uint8_t *cells, *cells_confidence;
	size_t columns_pitch, cells_pitch, cells_confidence_pitch;
	int cell_width, cell_height;
	double metres; /* see sx_sky_metres() */
};

__device__ __forceinline__ int32_t shift_of(const struct weigh_work &p, int u)
{
	return sx_road_shift_q4(p.road->road.cross, p.road->road.axis, u, p.cell_width);
}

/* Makes sky of a cell that was found as sky, if it is high enough. */
__device__ __forceinline__ void weigh_cell(const struct weigh_work &p, int u, int v)
{
	uint16_t *d = (uint16_t *)(p.cells + (size_t)u * p.cells_pitch) + v;

	if (!sx_sky_is_above(p.road->ground_q4[v * p.cell_height] + shift_of(p, u), *d,
			     sx_sky_rise_q8(p.road->road.slope, p.metres)))
		return;
	*d = 0;
	p.cells_confidence[(size_t)u * p.cells_confidence_pitch + (size_t)v] = SX_SKY_CONFIDENCE;
}

/* Returns the bin of a cell for the reach, or -1. Most cells are too near to ask for their ground. */
__device__ __forceinline__ int bin_of(const struct weigh_work &p, int u, int v)
{
	const int row = v * p.cell_height + p.cell_height / 2;
	uint32_t d;

	if (u >= p.s.columns)
		return -1;
	d = ((const uint16_t *)(p.columns + (size_t)u * p.columns_pitch))[v];
	if (d >= SX_REACH_BINS * SX_REACH_BIN_Q4 + SX_REACH_TOLERANCE_Q4)
		return -1;
	return sx_reach_bin(p.road->ground_q4[row] + shift_of(p, u), d);
}

static __global__ void __launch_bounds__(THREADS) weigh_sky(const struct weigh_work p)
{
	const int lane = (int)threadIdx.x % 32;
	int w, v, bin;

	if (!place_of(p.s, &w, &v))
		return;
	if (p.s.sky[v * p.s.words + w] >> lane & 1)
		weigh_cell(p, 32 * w + lane, v);
	bin = bin_of(p, 32 * w + lane, v);
	for (uint32_t left = __ballot_sync(SX_WARP_ALL_LANES, bin >= 0); left;) {
		const int first = __ffs((int)left) - 1, its = __shfl_sync(SX_WARP_ALL_LANES, bin, first);
		const uint32_t same = __ballot_sync(SX_WARP_ALL_LANES, bin == its);

		if (lane == first)
			atomicAdd(&p.s.reach[its], (uint32_t)__popc(same));
		left &= ~same;
	}
}

static dim3 grid_of(const struct sx_sky_cuda *s)
{
	return dim3((unsigned)s->words, (unsigned)((s->rows + WARPS - 1) / WARPS));
}

extern "C" void sx_sky_cuda_take(struct sx_sky_cuda *s, struct sx_cuda_memory *m, int columns, int rows)
{
	s->columns = columns;
	s->rows = rows;
	s->words = (columns + 31) / 32;
	/* no scratch memory: that is not free before the winner is found */
	s->blank = (uint32_t *)sx_cuda_take(m, (size_t)rows * (size_t)s->words * sizeof(*s->blank));
	s->sky = (uint32_t *)sx_cuda_take(m, (size_t)rows * (size_t)s->words * sizeof(*s->sky));
	s->reach = (uint32_t *)sx_cuda_take(m, SX_REACH_BINS * sizeof(*s->reach));
}

extern "C" cudaError_t sx_sky_cuda_find(const struct sx_sky_cuda *s, const struct sx_image *left,
					const struct sx_stixel_params *params, cudaStream_t stream)
{
	const int all = 2 * s->rows * s->words, shared = all <= SHARED_MAX ? all : 0;
	struct blank_work p = {};

	p.s = *s;
	p.left.data = (const uint8_t *)left->data;
	p.left.pitch = left->pitch;
	p.left.height = left->height;
	p.left.cell_width = params->width;
	p.left.cell_height = sx_cell_height(params);
	p.grey = params->sky_grey;
	SX_LAUNCH(find_blank, grid_of(s), THREADS, 0, stream, p);
	SX_LAUNCH(spread_sky, 1, SPREAD_THREADS, (size_t)shared * sizeof(uint32_t), stream, *s, shared);
	return SX_LAUNCHED();
}

extern "C" cudaError_t sx_sky_cuda_weigh(const struct sx_sky_cuda *s, const struct sx_cuda_road *road,
					 const struct sx_params *params, const struct sx_image *columns,
					 const struct sx_image *cells,
					 const struct sx_image *cells_confidence, cudaStream_t stream)
{
	struct weigh_work p = {};

	p.s = *s;
	p.road = road;
	p.columns = (const uint8_t *)columns->data;
	p.columns_pitch = columns->pitch;
	p.cells = (uint8_t *)cells->data;
	p.cells_pitch = cells->pitch;
	p.cells_confidence = (uint8_t *)cells_confidence->data;
	p.cells_confidence_pitch = cells_confidence->pitch;
	p.cell_width = params->stixels.width;
	p.cell_height = sx_cell_height(&params->stixels);
	p.metres = sx_sky_metres(&params->camera);
	SX_LAUNCH(weigh_sky, grid_of(s), THREADS, 0, stream, p);
	return SX_LAUNCHED();
}
