/*
 * Image diagnostics on the GPU. Must equal sx_diagnostics() (stages/diagnostics/diagnostics.h) byte for byte.
 *
 * Work:   two launches whose blocks have different tasks. First launch: one warp per place of the grid, and
 *         one block per row of samples of both images. For a corner, a lane takes pairs of rows and columns
 *         by which windows are moved: 119 of them, four each. Second launch: one warp per row of the map, and
 *         one warp per stixel column. Atomics add up the sums; the last block delivers them and leaves zeros.
 * Memory: 9.9 KB of shared memory per block: windows as words, because they begin at any byte. The map is
 *         read once, an eighth of the images' rows once, and windows from the cache.
 * Shapes: 32x32 and larger; rows of images padded to 128 bytes.
 * Speed:  tests/lab/lab-performance.md, CUDA: monitor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/diagnostics/diagnostics_vote.h"

#include "gpu/block.cuh"
#include "gpu/cuda.cuh"
#include "gpu/diagnostics/diagnostics_cuda.h"
#include "gpu/warp.cuh"

#define WARPS 8
#define THREADS (32 * WARPS)
#define PLACES (SX_DIAGNOSTICS_ROWS * SX_DIAGNOSTICS_COLUMNS)
#define VOTE_BLOCKS (PLACES / WARPS)
#define WINDOW_ROWS (2 * SX_DIAGNOSTICS_UP + 1)
#define WINDOW_WORDS (SX_DIAGNOSTICS_WIDTH / 4)
#define MOVES (2 * SX_DIAGNOSTICS_SLACK + 1) /* columns that are tried */
#define PAIRS (SX_DIAGNOSTICS_TRIED * MOVES)
#define AROUND_ROWS (WINDOW_ROWS + 2 * SX_DIAGNOSTICS_REACH)
#define AROUND_WORDS 7 /* up to 3 bytes before the windows, and 16 + 6 bytes of windows */
#define SUMS (SX_DIAGNOSTICS_CUDA_WORDS - 1)

/*
 * Indices of sums. Those from SUM_DARK on are of the left image; the same number of sums of the right image
 * follows.
 */
enum {
	SUM_MEASURED,
	SUM_NEAR,
	SUM_BLIND,
	SUM_DARK,
	SUM_BRIGHT,
	SUM_LAPLACIAN,
	SUM_AREAS,
	SUM_FLAT,
	SUM_CHECKSUM,
	SUM_RIGHT
};
#define SUMS_OF_IMAGE (SUM_RIGHT - SUM_DARK)

static_assert(offsetof(struct sx_diagnostics, measured) == 4 && offsetof(struct sx_diagnostics, near) == 8 &&
		      offsetof(struct sx_diagnostics, blind) == 12 &&
		      offsetof(struct sx_diagnostics, image) == 16 &&
		      sizeof(struct sx_diagnostics_image) == 4 * SUMS_OF_IMAGE &&
		      offsetof(struct sx_diagnostics, vote) == 16 + 8 * SUMS_OF_IMAGE &&
		      SUMS == SUM_RIGHT + SUMS_OF_IMAGE,
	      "sums lie behind samples in their order");
static_assert(SX_DIAGNOSTICS_FLAT_COLUMNS == 32, "an area is a warp's");
static_assert(PLACES % WARPS == 0 && WINDOW_ROWS * WINDOW_WORDS <= 32, "whole blocks; a word a lane");

struct map {
	const uint8_t *data;
	size_t pitch;
};

struct diagnostics {
	struct map grey[2], checked, finished, columns;
	int width, height, stixel_columns, cells;
	int sample_rows;
	int first_column; /* first block of columns */
	uint32_t *sum, *done;
	struct sx_diagnostics *out;
};

/* Shared memory of a warp. */
struct place_shared {
	uint32_t left[WINDOW_ROWS * WINDOW_WORDS];
	uint32_t around[AROUND_ROWS][AROUND_WORDS];
	int32_t cost[PAIRS];
};

__device__ __forceinline__ const uint8_t *row_of(const struct map &m, int y)
{
	return m.data + (size_t)y * m.pitch;
}

/* Adds the warp's sum of n to a sum of the frame, in lane 0. */
__device__ __forceinline__ void add(const struct diagnostics &m, int which, uint32_t n, int lane)
{
	n = sx_warp_sum(n);
	if (lane == 0 && n)
		atomicAdd(m.sum + which, n);
}

/* ---- rows ---- */

/* Returns word i of a row, or 0 beyond its end. */
__device__ __forceinline__ uint32_t word_of(const struct map &m, int y, int i)
{
	return 4 * (size_t)i < m.pitch ? reinterpret_cast<const uint32_t *>(row_of(m, y))[i] : 0;
}

__device__ __forceinline__ bool is_corner(const struct map &left, int x, int y, int lane)
{
	int32_t xx = 0, yy = 0, xy = 0;

	for (int i = lane; i < SX_DIAGNOSTICS_AREA; i += 32) {
		const int row = i / SX_DIAGNOSTICS_WIDTH, column = i % SX_DIAGNOSTICS_WIDTH;
		const uint8_t *const g =
			row_of(left, y - SX_DIAGNOSTICS_UP + row) + x - SX_DIAGNOSTICS_LEFT + column;
		const int32_t gx = g[1] - g[-1], gy = g[left.pitch] - *(g - left.pitch);

		xx += gx * gx;
		yy += gy * gy;
		xy += gx * gy;
	}
	return sx_diagnostics_is_corner((int32_t)sx_warp_sum((uint32_t)xx),
					(int32_t)sx_warp_sum((uint32_t)yy),
					(int32_t)sx_warp_sum((uint32_t)xy));
}

/*
 * Loads the windows around a corner. u: column in the right image for x. Returns the byte in a row of
 * `around` where the window of s = 3 begins.
 */
__device__ __forceinline__ int load_windows(const struct diagnostics &m, struct place_shared *sh, int x,
					    int u, int y, int lane)
{
	const int from = x - SX_DIAGNOSTICS_LEFT, first = u - SX_DIAGNOSTICS_SLACK - SX_DIAGNOSTICS_LEFT;

	if (lane < WINDOW_ROWS * WINDOW_WORDS) {
		const int row = y - SX_DIAGNOSTICS_UP + lane / WINDOW_WORDS,
			  word = from / 4 + lane % WINDOW_WORDS;

		sh->left[lane] = __funnelshift_r(word_of(m.grey[0], row, word),
						 word_of(m.grey[0], row, word + 1), 8 * (unsigned)(from % 4));
	}
	for (int i = lane; i < AROUND_ROWS * AROUND_WORDS; i += 32)
		sh->around[i / AROUND_WORDS][i % AROUND_WORDS] =
			word_of(m.grey[1], y - SX_DIAGNOSTICS_UP - SX_DIAGNOSTICS_REACH + i / AROUND_WORDS,
				first / 4 + i % AROUND_WORDS);
	__syncwarp();
	return first % 4;
}

/*
 * Returns the difference between the left window and the window of `around` that begins in row `top` at byte
 * `from`.
 */
__device__ __forceinline__ int32_t difference(const struct place_shared *sh, int top, int from)
{
	uint32_t sum = 0;

#pragma unroll
	for (int j = 0; j < WINDOW_ROWS; j++) {
		const uint32_t *const right = sh->around[top + j] + from / 4;
		uint32_t word = right[0];

#pragma unroll
		for (int i = 0; i < WINDOW_WORDS; i++) {
			/* after the last word, read another only if it is needed */
			const uint32_t next = i + 1 < WINDOW_WORDS || from % 4 ? right[i + 1] : 0;

			sum += __vsadu4(sh->left[j * WINDOW_WORDS + i],
					__funnelshift_r(word, next, 8 * (unsigned)(from % 4)));
			word = next;
		}
	}
	return (int32_t)sum;
}

__device__ __forceinline__ int look(struct place_shared *sh, int begin, int lane)
{
	int32_t least = 0, cost[SX_DIAGNOSTICS_TRIED];

	for (int i = lane; i < PAIRS; i += 32)
		sh->cost[i] = difference(sh, i / MOVES, begin + i % MOVES);
	__syncwarp();
	if (lane < SX_DIAGNOSTICS_TRIED) {
		least = sh->cost[lane * MOVES];
		for (int s = 1; s < MOVES; s++)
			least = min(least, sh->cost[lane * MOVES + s]);
	}
#pragma unroll
	for (int k = 0; k < SX_DIAGNOSTICS_TRIED; k++)
		cost[k] = __shfl_sync(SX_WARP_ALL_LANES, least, k);
	return sx_diagnostics_vote(cost);
}

__device__ __forceinline__ void vote(const struct diagnostics &m, struct place_shared *sh, int place,
				     int lane)
{
	const int column = place % SX_DIAGNOSTICS_COLUMNS, x = sx_diagnostics_x(column, m.width);
	const int y = sx_diagnostics_y(place / SX_DIAGNOSTICS_COLUMNS, m.height);
	const int d = reinterpret_cast<const uint16_t *>(row_of(m.checked, y))[x];
	int v = SX_DIAGNOSTICS_NO_VOTE;

	if (sx_diagnostics_asks(column, m.width) && sx_diagnostics_sees(x, d, m.width) &&
	    is_corner(m.grey[0], x, y, lane))
		v = look(sh, load_windows(m, sh, x, x - ((d + 8) >> 4), y, lane), lane);
	if (lane == 0)
		m.out->vote[place / SX_DIAGNOSTICS_COLUMNS][place % SX_DIAGNOSTICS_COLUMNS] = (int16_t)v;
}

/* ---- sums ---- */

/* Returns true if the warp's columns are an area. column: the lane's sum over three rows. */
__device__ __forceinline__ bool is_area(uint32_t column)
{
	return sx_diagnostics_is_area((int32_t)__shfl_sync(SX_WARP_ALL_LANES, column, 0),
				      (int32_t)__shfl_sync(SX_WARP_ALL_LANES, column, 31));
}

/* Returns true if an area is flat. Each lane has one column: its Laplacian, and its sum over three rows. */
__device__ __forceinline__ bool is_flat(uint32_t laplacian, uint32_t column, int lane)
{
	const uint32_t left = sx_warp_sum(lane < SX_DIAGNOSTICS_FLAT_COLUMNS / 2 ? column : 0);

	return sx_diagnostics_is_flat((int32_t)left, (int32_t)(sx_warp_sum(column) - left),
				      (int32_t)sx_warp_sum(laplacian));
}

/*
 * Samples a row of an image. A warp takes 32 columns at a time, which are an area except for the last ones of
 * a row. Every lane must call it.
 */
__device__ __forceinline__ void sample(const struct diagnostics &m, int row, int side, int lane)
{
	const size_t pitch = m.grey[side].pitch;
	const int y = SX_DIAGNOSTICS_SAMPLE_ROWS * row + SX_DIAGNOSTICS_SAMPLE_ROWS / 2,
		  which = SUMS_OF_IMAGE * side;
	const uint8_t *const g = row_of(m.grey[side], y);
	uint32_t dark = 0, bright = 0, laplacian = 0, areas = 0, flat = 0, checksum = 0;

	for (int from = 1 + (int)threadIdx.x - lane; from < m.width - 1; from += THREADS) {
		const int x = from + lane;
		uint32_t here = 0, column = 0;

		if (x < m.width - 1) {
			const int v = g[x], beside = g[x - 1] + g[x + 1],
				  over = *(g + x - pitch) + g[x + pitch];

			dark += v <= SX_DIAGNOSTICS_DARK;
			bright += v >= SX_DIAGNOSTICS_BRIGHT;
			checksum += (uint32_t)v * sx_diagnostics_weight(sx_diagnostics_place(x, y));
			here = (uint32_t)abs(4 * v - beside - over);
			column = (uint32_t)(v + over);
			laplacian += here;
		}
		if (from + SX_DIAGNOSTICS_FLAT_COLUMNS > m.width - 1)
			break;
		if (!is_area(column))
			continue;
		areas += lane == 0;
		flat += is_flat(here, column, lane) && lane == 0;
	}
	add(m, SUM_DARK + which, dark, lane);
	add(m, SUM_BRIGHT + which, bright, lane);
	add(m, SUM_LAPLACIAN + which, laplacian, lane);
	add(m, SUM_AREAS + which, areas, lane);
	add(m, SUM_FLAT + which, flat, lane);
	add(m, SUM_CHECKSUM + which, checksum, lane);
}

__device__ __forceinline__ void count_row(const struct diagnostics &m, int y, int lane)
{
	uint32_t measured = 0, near = 0;

	for (int i = lane; 2 * i < m.width; i += 32) {
		const uint32_t d = word_of(m.finished, y, i), low = d & 0xffff, high = d >> 16;

		measured += low != SX_DISPARITY_INVALID;
		near += low < SX_DIAGNOSTICS_NEAR;
		if (2 * i + 1 < m.width) {
			measured += high != SX_DISPARITY_INVALID;
			near += high < SX_DIAGNOSTICS_NEAR;
		}
	}
	add(m, SUM_MEASURED, measured, lane);
	add(m, SUM_NEAR, near, lane);
}

__device__ __forceinline__ void look_at_column(const struct diagnostics &m, int u, int lane)
{
	const uint16_t *const cells = reinterpret_cast<const uint16_t *>(row_of(m.columns, u));

	for (int v = 0; v < m.cells; v += 32)
		if (__any_sync(SX_WARP_ALL_LANES,
			       v + lane < m.cells && cells[v + lane] != SX_DISPARITY_INVALID))
			return;
	add(m, SUM_BLIND, lane == 0, lane);
}

/* The last block delivers the sums of all blocks. is_last: in shared memory. */
__device__ __forceinline__ void deliver(const struct diagnostics &m, int *is_last)
{
	if (!sx_is_last_block(is_last, m.done))
		return;
	if (threadIdx.x < SUMS)
		(&m.out->measured)[threadIdx.x] = atomicExch(m.sum + threadIdx.x, 0u);
	if (threadIdx.x == SUMS)
		m.out->samples = (uint32_t)m.sample_rows * (uint32_t)(m.width - 2);
}

/* Computes votes, and samples of both images. */
static __global__ void __launch_bounds__(THREADS) diagnostics_images(const struct diagnostics m)
{
	__shared__ struct place_shared sh[WARPS];
	const int block = (int)blockIdx.x, warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;

	if (block < VOTE_BLOCKS) {
		vote(m, &sh[warp], WARPS * block + warp, lane);
		return;
	}
	sample(m, block - VOTE_BLOCKS, 0, lane);
	sample(m, block - VOTE_BLOCKS, 1, lane);
}

/* Counts in the finished map and the stixel columns. The last block delivers these counts and the samples. */
static __global__ void __launch_bounds__(THREADS) diagnostics_map(const struct diagnostics m)
{
	__shared__ int is_last;
	const int block = (int)blockIdx.x, warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;

	if (block < m.first_column) {
		const int y = WARPS * block + warp;

		if (y < m.height)
			count_row(m, y, lane);
	} else {
		const int u = WARPS * (block - m.first_column) + warp;

		if (u < m.stixel_columns)
			look_at_column(m, u, lane);
	}
	deliver(m, &is_last);
}

static struct map map_of(const struct sx_image *img)
{
	return {(const uint8_t *)img->data, img->pitch};
}

extern "C" uint32_t *sx_diagnostics_cuda_take(struct sx_cuda_memory *m)
{
	return (uint32_t *)sx_cuda_take(m, SX_DIAGNOSTICS_CUDA_WORDS * sizeof(uint32_t));
}

static struct diagnostics diagnostics_of(uint32_t *words, const struct sx_diagnostics_input *in,
					 struct sx_diagnostics *out)
{
	struct diagnostics m = {};

	m.grey[0] = map_of(&in->grey[0]);
	m.grey[1] = map_of(&in->grey[1]);
	m.checked = map_of(in->left_right);
	m.finished = map_of(in->disparity);
	m.columns = map_of(in->columns);
	m.width = in->grey->width;
	m.height = in->grey->height;
	m.stixel_columns = in->columns->height;
	m.cells = in->columns->width;
	m.sample_rows = sx_diagnostics_sample_rows(m.height);
	m.first_column = (m.height + WARPS - 1) / WARPS;
	m.sum = words;
	m.done = words + SUMS;
	m.out = out;
	return m;
}

extern "C" cudaError_t sx_diagnostics_cuda_votes(uint32_t *words, const struct sx_diagnostics_input *in,
						 struct sx_diagnostics *out, cudaStream_t stream)
{
	const struct diagnostics m = diagnostics_of(words, in, out);

	SX_LAUNCH(diagnostics_images, (unsigned)(VOTE_BLOCKS + m.sample_rows), THREADS, 0, stream, m);
	return SX_LAUNCHED();
}

extern "C" cudaError_t sx_diagnostics_cuda_counts(uint32_t *words, const struct sx_diagnostics_input *in,
						  struct sx_diagnostics *out, cudaStream_t stream)
{
	const struct diagnostics m = diagnostics_of(words, in, out);

	SX_LAUNCH(diagnostics_map, (unsigned)(m.first_column + (m.stixel_columns + WARPS - 1) / WARPS),
		  THREADS, 0, stream, m);
	return SX_LAUNCHED();
}
