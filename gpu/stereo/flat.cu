/*
 * Flat areas of both images on the GPU. Must equal sx_flat() (stages/stereo/flat.h) byte for byte.
 *
 * Work:   a block makes 32 x 16 tiles of one image. First its threads find the levels of each of these tiles
 *         and of three more tiles to each side, for each row of pixels. Then they combine five tiles in a
 *         row, and find the widest range of their rows of pixels. Then they combine five of these in a
 *         column, which makes a square. Then each tile checks the nine squares that contain it. An
 *         instruction on four bytes takes about six instructions of the device, but the maximum of a pair
 *         (gpu/simd.cuh) is one.
 * Memory: 20 KB of shared memory. Each pixel is read 1.6 times, words of a row by neighbouring lanes, mostly
 *         from the cache. One byte per tile is written.
 * Ranges: grey levels in bytes.
 * Shapes: any size; rows of pixels are padded to whole words, and the padding is ignored.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stereo/flat.h"

#include "gpu/cuda.cuh"
#include "gpu/simd.cuh"
#include "gpu/stages_cuda.h"

#define TILES_X 32 /* tiles of a block */
#define TILES_Y 16
#define THREADS (TILES_X * TILES_Y)
#define LAST (SX_FLAT_SQUARE - 1)
#define BESIDE (SX_FLAT_SQUARE - 2) /* tiles to each side that a tile's squares reach */
#define WIDE (TILES_X + 2 * BESIDE)
#define HIGH (TILES_Y + 2 * BESIDE)
#define STARTS (WIDE - LAST) /* squares of a row */

static_assert(SX_FLAT_TILE == 4, "a tile is as wide as a word");

struct flat_image {
	const uint8_t *grey;
	uint8_t *flat;
	size_t grey_pitch, flat_pitch;
};

struct flat_work {
	struct flat_image image[2];
	int width, height, tiles_x, tiles_y;
};

/*
 * Levels of the four rows of pixels of one tile, or of several tiles in a row. Pairs of rows; low: 255 less the lowest
 * level, so that both are maxima.
 */
struct alignas(16) rows {
	uint32_t low[2], high[2];
};

/* Levels of several rows. ends: 255 less the lowest level, and the highest level, as a pair. */
struct alignas(8) levels {
	uint32_t ends, along;
};

/* Returns four pixels of row y, from column 4 i on. */
__device__ static uint32_t word_of(const struct flat_work &w, const struct flat_image &p, int i, int y)
{
	/* number of these pixels that are beyond the row's end */
	const int beyond = (i + 1) * SX_FLAT_TILE - w.width;
	uint32_t word = *reinterpret_cast<const uint32_t *>(p.grey + (size_t)y * p.grey_pitch + 4 * i);

	if (beyond > 0) /* repeat its first pixel in their place */
		word = (word & 0xffffffffu >> 8 * beyond) |
		       (word & 0xff) * (0x01010101u & ~(0xffffffffu >> 8 * beyond));
	return word;
}

/* Returns the largest of the four bytes of each of two words, as a pair. */
__device__ static uint32_t largest_of(uint32_t a, uint32_t b)
{
	const uint32_t m = sx_pair_max(sx_pair_even(a), sx_pair_odd(a));
	const uint32_t n = sx_pair_max(sx_pair_even(b), sx_pair_odd(b));

	return sx_pair_max(__byte_perm(m, n, 0x5410), __byte_perm(m, n, 0x7632));
}

/* Returns the levels of the tile in column i and row j, which is in the image. */
__device__ static struct rows rows_of(const struct flat_work &w, const struct flat_image &p, int i, int j)
{
	struct rows r;

#pragma unroll
	for (int pair = 0; pair < 2; pair++) {
		const int y = j * SX_FLAT_TILE + 2 * pair;
		const uint32_t a = word_of(w, p, i, min(y, w.height - 1));
		const uint32_t b = word_of(w, p, i, min(y + 1, w.height - 1));

		r.low[pair] = largest_of(~a, ~b);
		r.high[pair] = largest_of(a, b);
	}
	return r;
}

/* Returns the levels of four rows together, and the widest range of one row. */
__device__ static struct levels levels_of(const struct rows &r)
{
	const uint32_t low = sx_pair_max(r.low[0], r.low[1]), high = sx_pair_max(r.high[0], r.high[1]);
	struct levels l = {sx_pair_max(__byte_perm(low, high, 0x5410), __byte_perm(low, high, 0x7632)), 0};

#pragma unroll
	for (int k = 0; k < SX_FLAT_TILE; k++) {
		const uint32_t least = 255 - (r.low[k / 2] >> 16 * (k % 2) & 0xffff);
		const uint32_t most = r.high[k / 2] >> 16 * (k % 2) & 0xffff;

		l.along = max(l.along, (uint32_t)sx_flat_along((uint8_t)least, (uint8_t)most));
	}
	return l;
}

static __global__ void __launch_bounds__(THREADS) find_flat(const struct flat_work w)
{
	__shared__ struct rows tile[HIGH][WIDE];
	__shared__ struct levels line[HIGH][STARTS];
	__shared__ uint8_t square[HIGH - LAST][STARTS];
	/* an index that is known only at run time would make each thread copy the arguments */
	const struct flat_image p = blockIdx.z ? w.image[1] : w.image[0];
	const int x0 = (int)blockIdx.x * TILES_X - BESIDE, y0 = (int)blockIdx.y * TILES_Y - BESIDE;
	const int me = (int)threadIdx.x;

	for (int i = me; i < HIGH * WIDE; i += THREADS)
		tile[i / WIDE][i % WIDE] = rows_of(w, p, min(max(x0 + i % WIDE, 0), w.tiles_x - 1),
						   min(max(y0 + i / WIDE, 0), w.tiles_y - 1));
	__syncthreads();
	for (int i = me; i < HIGH * STARTS; i += THREADS) {
		const struct rows *t = &tile[i / STARTS][i % STARTS];
		struct rows r = t[0];

#pragma unroll
		for (int k = 1; k <= LAST; k++) {
#pragma unroll
			for (int pair = 0; pair < 2; pair++) {
				r.low[pair] = sx_pair_max(r.low[pair], t[k].low[pair]);
				r.high[pair] = sx_pair_max(r.high[pair], t[k].high[pair]);
			}
		}
		line[i / STARTS][i % STARTS] = levels_of(r);
	}
	__syncthreads();
	for (int i = me; i < (HIGH - LAST) * STARTS; i += THREADS) {
		const int x = x0 + i % STARTS, y = y0 + i / STARTS;
		struct levels l = line[i / STARTS][i % STARTS];

#pragma unroll
		for (int k = 1; k <= LAST; k++) {
			const struct levels more = line[i / STARTS + k][i % STARTS];

			l.ends = sx_pair_max(l.ends, more.ends);
			l.along = max(l.along, more.along);
		}
		square[i / STARTS][i % STARTS] =
			x >= -1 && y >= -1 && x + LAST <= w.tiles_x && y + LAST <= w.tiles_y
				? sx_flat_bits((uint8_t)(255 - (l.ends & 0xffff)), (uint8_t)(l.ends >> 16),
					       (uint8_t)l.along)
				: 0;
	}
	__syncthreads();

	const int i = me % TILES_X, j = me / TILES_X, x = x0 + BESIDE + i, y = y0 + BESIDE + j;
	uint8_t flat = 0;

	if (x >= w.tiles_x || y >= w.tiles_y)
		return;
	for (int k = 0; k < BESIDE * BESIDE; k++)
		flat |= square[j + k / BESIDE][i + k % BESIDE];
	p.flat[(size_t)y * p.flat_pitch + (size_t)x] = flat;
}

extern "C" cudaError_t sx_flat_cuda_run(const struct sx_image grey[2], const struct sx_image flat[2],
					cudaStream_t stream)
{
	struct flat_work w = {};

	for (int side = 0; side < 2; side++) {
		w.image[side].grey = (const uint8_t *)grey[side].data;
		w.image[side].grey_pitch = grey[side].pitch;
		w.image[side].flat = (uint8_t *)flat[side].data;
		w.image[side].flat_pitch = flat[side].pitch;
	}
	w.width = grey[0].width;
	w.height = grey[0].height;
	w.tiles_x = flat[0].width;
	w.tiles_y = flat[0].height;
	SX_LAUNCH(find_flat,
		  dim3((unsigned)(w.tiles_x + TILES_X - 1) / TILES_X,
		       (unsigned)(w.tiles_y + TILES_Y - 1) / TILES_Y, 2),
		  THREADS, 0, stream, w);
	return SX_LAUNCHED();
}
