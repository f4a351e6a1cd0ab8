/*
 * Column reduction on the GPU, for plain stixels: cells of one row. Must equal sx_reduce() byte for byte. The
 * chain calls it through sx_reduce_cells_cuda_run() (reduce_cells.cu), which handles cells of several rows.
 *
 * Work:    a block makes 32 rows of `columns` stixel columns (a power of two, so that a tile is at most 128
 *          px wide). A warp takes one column at a time, a lane one row of it, so that 32 results are
 *          neighbours in the transposed output.
 * Memory:  the tile is read once, by words, neighbours in x by neighbouring lanes, with several loads of a
 *          thread in flight. In shared memory its rows are an odd number of words apart, so that the 32 lanes
 *          of a column read 32 banks. 12.4 KB.
 * Ranges:  invalid is the largest value, so sorting puts it last, together with the padding of a cell to CAP
 *          values. Sums of 32 values fit 22 bits.
 * Shapes:  every size; width 1..32, with special code for each width up to 8. Tiles are read whole, including
 *          the padding after a row.
 * Speed:   see tests/lab/lab-performance.md, CUDA: columns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/stages_cuda.h"

#include "gpu/cuda.cuh"
#include "gpu/stixels/sorter.cuh"

#define WARPS 8
#define THREADS (32 * WARPS)
#define ROWS (32 / WARPS) /* rows of a tile that a warp loads */
#define TILE_PX 128
#define DISPARITY_WORDS (TILE_PX / 2 + 1)
#define CONFIDENCE_WORDS (TILE_PX / 4 + 1)
#define INVALID 0xffffu

struct reduction {
	const uint8_t *disparity, *confidence; /* confidence: NULL, or of every pixel */
	uint8_t *columns, *columns_confidence;
	uint32_t disparity_pitch, confidence_pitch, columns_pitch, columns_confidence_pitch; /* bytes */
	int height, count; /* height: rows; count: stixel columns */
	int width;	   /* px of a column */
	int tile;	   /* stixel columns of a block */
};

/* Returns the columns of a block: a power of two from 4 to 64. */
__host__ __device__ constexpr int tile_of(int width, int tile = 4)
{
	return tile < 64 && 2 * tile * width <= TILE_PX ? tile_of(width, 2 * tile) : tile;
}

struct tile {
	uint32_t disparity[32][DISPARITY_WORDS], confidence[32][CONFIDENCE_WORDS];
};

/*
 * Loads px pixels from x on, of 32 rows. A lane has 4 px of each of its warp's rows. All loads are issued
 * first, so that they wait for memory together. Reads nothing beyond the pitch.
 */
__device__ __forceinline__ void load_tile(const struct reduction *p, uint32_t x, int px, int bottom,
					  struct tile *tile)
{
	const int lane = (int)threadIdx.x % 32, first = (int)threadIdx.x / 32 * ROWS;
	const uint32_t at = x + 4 * (uint32_t)lane;
	const bool inside = 4 * lane < px && 2 * at < p->disparity_pitch;
	uint2 disparity[ROWS] = {};
	uint32_t confidence[ROWS] = {};

#pragma unroll
	for (int i = 0; i < ROWS; i++) {
		const int y = p->height - 1 - bottom - first - i;

		if (!inside || y < 0)
			continue;
		disparity[i] = *(const uint2 *)(p->disparity + (size_t)y * p->disparity_pitch + 2 * at);
		if (p->confidence && at < p->confidence_pitch)
			confidence[i] =
				*(const uint32_t *)(p->confidence + (size_t)y * p->confidence_pitch + at);
	}
#pragma unroll
	for (int i = 0; i < ROWS; i++) {
		tile->disparity[first + i][2 * lane] = disparity[i].x;
		tile->disparity[first + i][2 * lane + 1] = disparity[i].y;
		tile->confidence[first + i][lane] = confidence[i];
	}
}

/* Returns word i of a row that begins at byte `first`. first is the same for the whole warp. */
__device__ __forceinline__ uint32_t word_at(const uint32_t *row, int first, int i)
{
	const int shift = first % 4 * 8;

	return __funnelshift_r(row[first / 4 + i], row[first / 4 + i + 1], (unsigned)shift);
}

/*
 * Reduces a cell. Of CAP values, width are the cell's. Either at least LEAST of them are valid, or the cell
 * is not. valid[i]: 1 in each byte whose value is valid.
 */
template <int CAP, int LEAST, bool MEDIAN>
__device__ __forceinline__ uint32_t reduce_cell(const uint32_t *row, int first, int width, uint32_t *valid)
{
	constexpr int end = CAP <= 1 ? 1 : CAP <= 2 ? 2 : CAP <= 4 ? 4 : CAP <= 8 ? 8 : CAP <= 16 ? 16 : 32;
	uint32_t v[CAP], invalid = 0, sum = 0, median = 0, n;

#pragma unroll
	for (int i = 0; i < CAP; i++) {
		if (i % 4 == 0)
			valid[i / 4] = 0;
		v[i] = INVALID;
		if (i < width) {
			const uint32_t two = word_at(row, 2 * first, i / 2);

			v[i] = i % 2 ? two >> 16 : two & 0xffff;
		}
		const uint32_t lacks = (v[i] + 1) >> 16; /* 0 or 1 */

		invalid += lacks;
		valid[i / 4] |= (1 - lacks) << i % 4 * 8;
		if (!MEDIAN)
			sum += lacks ? 0 : v[i];
	}
	n = CAP - invalid;
	if (2 * n < (uint32_t)width)
		return INVALID;
	if (!MEDIAN)
		return (2 * sum + n) / (2 * n);
	sorter<CAP, end, 1, 1>::run(v);
	/* v[n / 2]; n is at least half of the width, but only with SURE the width is constant */
	median = v[LEAST / 2];
#pragma unroll
	for (int i = LEAST / 2 + 1; i <= CAP / 2 && i < CAP; i++)
		median = n >= 2 * (uint32_t)i ? v[i] : median;
	return median;
}

template <int CAP>
__device__ __forceinline__ uint32_t reduce_confidence(const uint32_t *row, int first, int width,
						      const uint32_t *valid)
{
	uint32_t sum = 0;

#pragma unroll
	for (int i = 0; i < (CAP + 3) / 4; i++) {
		if (4 * i < width) {
			/* 255 in each byte that counts */
			const uint32_t four = word_at(row, first, i) & valid[i] * 255;

			sum += (four & 0xff) + (four >> 8 & 0xff) + (four >> 16 & 0xff) + (four >> 24);
		}
	}
	return (2 * sum + (uint32_t)width) / (2 * (uint32_t)width);
}

/* Reduces columns. SURE: width is CAP, so all values that depend on it are constants. */
template <int CAP, bool SURE, bool MEDIAN>
static __global__ void __launch_bounds__(THREADS) reduce(const struct reduction p)
{
	__shared__ struct tile tile;
	const int width = SURE ? CAP : p.width, per_block = SURE ? tile_of(CAP) : p.tile;
	const int first = (int)blockIdx.x * per_block, bottom = (int)blockIdx.y * 32;
	const int columns = p.count - first < per_block ? p.count - first : per_block;
	const int lane = (int)threadIdx.x % 32, v = bottom + lane;

	/* first is a multiple of 4, so words are aligned */
	load_tile(&p, (uint32_t)(first * width), per_block * width, bottom, &tile);
	__syncthreads();
	if (v >= p.height)
		return;
	for (int u = (int)threadIdx.x / 32; u < columns; u += WARPS) {
		uint32_t valid[(CAP + 3) / 4];

		((uint16_t *)(p.columns +
			      (size_t)(first + u) * p.columns_pitch))[v] = (uint16_t)reduce_cell < CAP,
						    SURE ? (CAP + 1) / 2 : 1,
						    MEDIAN > (tile.disparity[lane], u * width, width, valid);
		if (p.confidence)
			p.columns_confidence[(size_t)(first + u) * p.columns_confidence_pitch + (size_t)v] =
				(uint8_t)reduce_confidence<CAP>(tile.confidence[lane], u * width, width,
								valid);
	}
}

template <int CAP, bool SURE, bool MEDIAN>
static void reduce_launch_one(const struct reduction *p, dim3 grid, cudaStream_t stream)
{
	SX_LAUNCH((reduce<CAP, SURE, MEDIAN>), grid, THREADS, 0, stream, *p);
}

template <bool MEDIAN> static void reduce_launch(const struct reduction *p, dim3 grid, cudaStream_t stream)
{
	switch (p->width) {
	case 1:
		return reduce_launch_one<1, true, MEDIAN>(p, grid, stream);
	case 2:
		return reduce_launch_one<2, true, MEDIAN>(p, grid, stream);
	case 3:
		return reduce_launch_one<3, true, MEDIAN>(p, grid, stream);
	case 4:
		return reduce_launch_one<4, true, MEDIAN>(p, grid, stream);
	case 5:
		return reduce_launch_one<5, true, MEDIAN>(p, grid, stream);
	case 6:
		return reduce_launch_one<6, true, MEDIAN>(p, grid, stream);
	case 7:
		return reduce_launch_one<7, true, MEDIAN>(p, grid, stream);
	case 8:
		return reduce_launch_one<8, true, MEDIAN>(p, grid, stream);
	default:
		return p->width <= 16 ? reduce_launch_one<16, false, MEDIAN>(p, grid, stream)
				      : reduce_launch_one<32, false, MEDIAN>(p, grid, stream);
	}
}

extern "C" cudaError_t sx_reduce_cuda_run(const struct sx_image *disparity, const struct sx_image *confidence,
					  int width_px, enum sx_reduction how, const struct sx_image *columns,
					  const struct sx_image *columns_confidence, cudaStream_t stream)
{
	struct reduction p = {};

	if (width_px < 1 || width_px > 32 || disparity->width < width_px)
		return cudaErrorInvalidValue;
	p.disparity = (const uint8_t *)disparity->data;
	p.disparity_pitch = (uint32_t)disparity->pitch;
	p.columns = (uint8_t *)columns->data;
	p.columns_pitch = (uint32_t)columns->pitch;
	if (confidence && confidence->data) {
		p.confidence = (const uint8_t *)confidence->data;
		p.confidence_pitch = (uint32_t)confidence->pitch;
		p.columns_confidence = (uint8_t *)columns_confidence->data;
		p.columns_confidence_pitch = (uint32_t)columns_confidence->pitch;
	}
	p.height = disparity->height;
	p.width = width_px;
	p.count = disparity->width / width_px;
	p.tile = tile_of(width_px);
	const dim3 grid((unsigned)((p.count + p.tile - 1) / p.tile), (unsigned)((p.height + 31) / 32));

	if (how == SX_REDUCTION_MEDIAN)
		reduce_launch<true>(&p, grid, stream);
	else
		reduce_launch<false>(&p, grid, stream);
	return SX_LAUNCHED();
}
